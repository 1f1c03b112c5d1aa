// SPDX-License-Identifier: BSD-3-Clause
// Every prototype of OpenSHMEM 1.6, once. shmem.h includes this with SHOAL_FN(name) being the name
// and pshmem.h with its p-prefixed twin; hence no include guard. In the order of the
// specification's chapters.
//
// Everywhere: dest, source and ivar are symmetric where the comment says so, else local memory;
// nelems counts elements; pe is a PE of the world, or of the context's team where a ctx is given.
// A wrong argument ends the program with one line that names the call, the argument, the PE and
// what to do. All calls may be made by any thread under SHMEM_THREAD_MULTIPLE, collectives by one
// thread at a time for each team. Nothing on a node needs the target's help to progress.

// ---- Library setup, exit and query (1.6: "Library Setup, Exit, and Query Routines")
// init and finalize are collective and nest. init_thread returns 0 or, with a line on stderr,
// nonzero. finalize ends with a barrier.
void SHOAL_FN(shmem_init)(void);
int SHOAL_FN(shmem_init_thread)(int requested, int *provided);
void SHOAL_FN(shmem_query_thread)(int *provided);
void SHOAL_FN(shmem_query_initialized)(int *initialized);
void SHOAL_FN(shmem_finalize)(void);
SHOAL_NORETURN void SHOAL_FN(shmem_global_exit)(int status); // ends every PE; flushes stdio
int SHOAL_FN(shmem_my_pe)(void);
int SHOAL_FN(shmem_n_pes)(void);
int SHOAL_FN(shmem_pe_accessible)(int pe); // 1 or 0; never an error
int SHOAL_FN(shmem_addr_accessible)(const void *addr, int pe);
void *SHOAL_FN(shmem_ptr)(const void *dest, int pe); // local address of dest at pe, or NULL
void *SHOAL_FN(shmem_team_ptr)(shmem_team_t team, const void *dest, int pe);
void SHOAL_FN(shmem_info_get_version)(int *major, int *minor);
void SHOAL_FN(shmem_info_get_name)(char *name); // at most SHMEM_MAX_NAME_LEN bytes with the NUL

// ---- Memory management. Collective over the world, same arguments everywhere. Bytes, aligned to
// a cache line at least; NULL on every PE when it does not fit, which PE 0 explains.
void *SHOAL_FN(shmem_malloc)(size_t size);
void SHOAL_FN(shmem_free)(void *ptr);
void *SHOAL_FN(shmem_realloc)(void *ptr, size_t size);
void *SHOAL_FN(shmem_align)(size_t alignment, size_t size); // a power of two
void *SHOAL_FN(shmem_malloc_with_hints)(size_t size, long hints);
void *SHOAL_FN(shmem_calloc)(size_t count, size_t size);

// ---- Teams. split_* are collective over the parent and return 0, or nonzero on all its PEs.
int SHOAL_FN(shmem_team_my_pe)(shmem_team_t team); // -1 for SHMEM_TEAM_INVALID
int SHOAL_FN(shmem_team_n_pes)(shmem_team_t team);
int SHOAL_FN(shmem_team_get_config)(shmem_team_t team, long config_mask,
                                    shmem_team_config_t *config);
int SHOAL_FN(shmem_team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int SHOAL_FN(shmem_team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
                                       const shmem_team_config_t *config, long config_mask,
                                       shmem_team_t *new_team);
int SHOAL_FN(shmem_team_split_2d)(shmem_team_t parent_team, int xrange,
                                  const shmem_team_config_t *xaxis_config, long xaxis_mask,
                                  shmem_team_t *xaxis_team,
                                  const shmem_team_config_t *yaxis_config, long yaxis_mask,
                                  shmem_team_t *yaxis_team);
void SHOAL_FN(shmem_team_destroy)(shmem_team_t team);

// ---- Communication contexts and sessions. create returns 0 or nonzero; sessions are hints.
int SHOAL_FN(shmem_ctx_create)(long options, shmem_ctx_t *ctx);
int SHOAL_FN(shmem_team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);
void SHOAL_FN(shmem_ctx_destroy)(shmem_ctx_t ctx);
int SHOAL_FN(shmem_ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);
void SHOAL_FN(shmem_ctx_session_start)(shmem_ctx_t ctx, long options,
                                       const shmem_ctx_session_config_t *config, long config_mask);
void SHOAL_FN(shmem_ctx_session_stop)(shmem_ctx_t ctx);

// ---- Remote memory access. put: dest symmetric, the source may be reused on return; get: source
// symmetric. Strides in elements: iput and iget >= 1, ibput and ibget >= bsize.
#define SHOAL_X(TYPE, NAME)                                                                      \
    void SHOAL_FN(shmem_##NAME##_put)(TYPE * dest, const TYPE *source, size_t nelems, int pe);   \
    void SHOAL_FN(shmem_ctx_##NAME##_put)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,      \
                                          size_t nelems, int pe);                                \
    void SHOAL_FN(shmem_##NAME##_get)(TYPE * dest, const TYPE *source, size_t nelems, int pe);   \
    void SHOAL_FN(shmem_ctx_##NAME##_get)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,      \
                                          size_t nelems, int pe);                                \
    void SHOAL_FN(shmem_##NAME##_p)(TYPE * dest, TYPE value, int pe);                            \
    void SHOAL_FN(shmem_ctx_##NAME##_p)(shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe);       \
    TYPE SHOAL_FN(shmem_##NAME##_g)(const TYPE *source, int pe);                                 \
    TYPE SHOAL_FN(shmem_ctx_##NAME##_g)(shmem_ctx_t ctx, const TYPE *source, int pe);            \
    void SHOAL_FN(shmem_##NAME##_put_nbi)(TYPE * dest, const TYPE *source, size_t nelems,        \
                                          int pe);                                               \
    void SHOAL_FN(shmem_ctx_##NAME##_put_nbi)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,  \
                                              size_t nelems, int pe);                            \
    void SHOAL_FN(shmem_##NAME##_get_nbi)(TYPE * dest, const TYPE *source, size_t nelems,        \
                                          int pe);                                               \
    void SHOAL_FN(shmem_ctx_##NAME##_get_nbi)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,  \
                                              size_t nelems, int pe);                            \
    SHOAL_STRIDED(NAME##_iput, ctx_##NAME##_iput, TYPE)                                          \
    SHOAL_STRIDED(NAME##_iget, ctx_##NAME##_iget, TYPE)                                          \
    SHOAL_BLOCKED(NAME##_ibput, ctx_##NAME##_ibput, TYPE)                                        \
    SHOAL_BLOCKED(NAME##_ibget, ctx_##NAME##_ibget, TYPE)
#define SHOAL_STRIDED(name, ctx_name, TYPE)                                                      \
    void SHOAL_FN(shmem_##name)(TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,   \
                                size_t nelems, int pe);                                          \
    void SHOAL_FN(shmem_##ctx_name)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,            \
                                    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
#define SHOAL_BLOCKED(name, ctx_name, TYPE)                                                      \
    void SHOAL_FN(shmem_##name)(TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,   \
                                size_t bsize, size_t nblocks, int pe);                           \
    void SHOAL_FN(shmem_##ctx_name)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,            \
                                    ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,  \
                                    int pe);
SHOAL_RMA_TYPES(SHOAL_X)
#undef SHOAL_X

#define SHOAL_CONTIGUOUS(name, ctx_name)                                                         \
    void SHOAL_FN(shmem_##name)(void *dest, const void *source, size_t nelems, int pe);          \
    void SHOAL_FN(shmem_##ctx_name)(shmem_ctx_t ctx, void *dest, const void *source,             \
                                    size_t nelems, int pe);
#define SHOAL_X(BITS, BYTES)                                                                     \
    SHOAL_CONTIGUOUS(put##BITS, ctx_put##BITS) SHOAL_CONTIGUOUS(get##BITS, ctx_get##BITS)        \
    SHOAL_CONTIGUOUS(put##BITS##_nbi, ctx_put##BITS##_nbi)                                       \
    SHOAL_CONTIGUOUS(get##BITS##_nbi, ctx_get##BITS##_nbi)                                       \
    SHOAL_STRIDED(iput##BITS, ctx_iput##BITS, void)                                              \
    SHOAL_STRIDED(iget##BITS, ctx_iget##BITS, void)                                              \
    SHOAL_BLOCKED(ibput##BITS, ctx_ibput##BITS, void)                                            \
    SHOAL_BLOCKED(ibget##BITS, ctx_ibget##BITS, void)
SHOAL_SIZES(SHOAL_X)
#undef SHOAL_X
SHOAL_CONTIGUOUS(putmem, ctx_putmem) // nelems are bytes
SHOAL_CONTIGUOUS(getmem, ctx_getmem)
SHOAL_CONTIGUOUS(putmem_nbi, ctx_putmem_nbi)
SHOAL_CONTIGUOUS(getmem_nbi, ctx_getmem_nbi)
#undef SHOAL_CONTIGUOUS
#undef SHOAL_STRIDED
#undef SHOAL_BLOCKED

// ---- Atomic memory operations, naturally aligned symmetric words. _nbi: *fetch is valid after
// quiet.
#define SHOAL_AMO_VOID(NAME, op, ...)                                                            \
    void SHOAL_FN(shmem_##NAME##_atomic_##op)(__VA_ARGS__, int pe);                              \
    void SHOAL_FN(shmem_ctx_##NAME##_atomic_##op)(shmem_ctx_t ctx, __VA_ARGS__, int pe);
#define SHOAL_AMO_FETCH(TYPE, NAME, op, ...)                                                     \
    TYPE SHOAL_FN(shmem_##NAME##_atomic_##op)(__VA_ARGS__, int pe);                              \
    TYPE SHOAL_FN(shmem_ctx_##NAME##_atomic_##op)(shmem_ctx_t ctx, __VA_ARGS__, int pe);         \
    SHOAL_AMO_VOID(NAME, op##_nbi, TYPE *fetch, __VA_ARGS__)
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch, const TYPE *source)                                       \
    SHOAL_AMO_FETCH(TYPE, NAME, swap, TYPE *dest, TYPE value)                                    \
    SHOAL_AMO_VOID(NAME, set, TYPE *dest, TYPE value)
SHOAL_AMO_EXTENDED_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_AMO_FETCH(TYPE, NAME, compare_swap, TYPE *dest, TYPE cond, TYPE value)                 \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch_inc, TYPE *dest)                                           \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch_add, TYPE *dest, TYPE value)                               \
    SHOAL_AMO_VOID(NAME, inc, TYPE *dest)                                                        \
    SHOAL_AMO_VOID(NAME, add, TYPE *dest, TYPE value)
SHOAL_AMO_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch_and, TYPE *dest, TYPE value)                               \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch_or, TYPE *dest, TYPE value)                                \
    SHOAL_AMO_FETCH(TYPE, NAME, fetch_xor, TYPE *dest, TYPE value)                               \
    SHOAL_AMO_VOID(NAME, and, TYPE *dest, TYPE value)                                            \
    SHOAL_AMO_VOID(NAME, or, TYPE *dest, TYPE value)                                             \
    SHOAL_AMO_VOID(NAME, xor, TYPE *dest, TYPE value)
SHOAL_AMO_BITWISE_TYPES(SHOAL_X)
#undef SHOAL_X
#undef SHOAL_AMO_VOID
#undef SHOAL_AMO_FETCH

// ---- Signaling. The signal word (symmetric, 8-byte aligned) changes after the data is there.
#define SHOAL_SIGNAL(name, ctx_name, TYPE)                                                       \
    void SHOAL_FN(shmem_##name)(TYPE * dest, const TYPE *source, size_t nelems,                  \
                                uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);        \
    void SHOAL_FN(shmem_##ctx_name)(shmem_ctx_t ctx, TYPE * dest, const TYPE *source,            \
                                    size_t nelems, uint64_t *sig_addr, uint64_t signal,          \
                                    int sig_op, int pe);
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_SIGNAL(NAME##_put_signal, ctx_##NAME##_put_signal, TYPE)                               \
    SHOAL_SIGNAL(NAME##_put_signal_nbi, ctx_##NAME##_put_signal_nbi, TYPE)
SHOAL_RMA_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(BITS, BYTES)                                                                     \
    SHOAL_SIGNAL(put##BITS##_signal, ctx_put##BITS##_signal, void)                               \
    SHOAL_SIGNAL(put##BITS##_signal_nbi, ctx_put##BITS##_signal_nbi, void)
SHOAL_SIZES(SHOAL_X)
#undef SHOAL_X
SHOAL_SIGNAL(putmem_signal, ctx_putmem_signal, void)
SHOAL_SIGNAL(putmem_signal_nbi, ctx_putmem_signal_nbi, void)
#undef SHOAL_SIGNAL
uint64_t SHOAL_FN(shmem_signal_fetch)(const uint64_t *sig_addr); // of this PE
void SHOAL_FN(shmem_signal_set)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHOAL_FN(shmem_ctx_signal_set)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
void SHOAL_FN(shmem_signal_add)(uint64_t *sig_addr, uint64_t signal, int pe);
void SHOAL_FN(shmem_ctx_signal_add)(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

// ---- Collectives over a team. dest and source symmetric, the same on all PEs. Return 0, or
// nonzero for SHMEM_TEAM_INVALID. Results repeat bit for bit for a given number of PEs.
int SHOAL_FN(shmem_team_sync)(shmem_team_t team);
void SHOAL_FN(shmem_sync_all)(void);
void SHOAL_FN(shmem_barrier_all)(void); // completes this PE's operations first
#define SHOAL_COLL(name, TYPE)                                                                   \
    int SHOAL_FN(shmem_##name)(shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems);
#define SHOAL_COLL_STRIDED(name, TYPE)                                                           \
    int SHOAL_FN(shmem_##name)(shmem_team_t team, TYPE * dest, const TYPE *source,               \
                               ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
#define SHOAL_COLL_ROOT(name, TYPE)                                                              \
    int SHOAL_FN(shmem_##name)(shmem_team_t team, TYPE * dest, const TYPE *source,               \
                               size_t nelems, int PE_root);
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_COLL_ROOT(NAME##_broadcast, TYPE) SHOAL_COLL(NAME##_collect, TYPE)                     \
    SHOAL_COLL(NAME##_fcollect, TYPE) SHOAL_COLL(NAME##_alltoall, TYPE)                          \
    SHOAL_COLL_STRIDED(NAME##_alltoalls, TYPE)
SHOAL_RMA_TYPES(SHOAL_X)
#undef SHOAL_X
SHOAL_COLL_ROOT(broadcastmem, void)
SHOAL_COLL(collectmem, void)
SHOAL_COLL(fcollectmem, void)
SHOAL_COLL(alltoallmem, void)
SHOAL_COLL_STRIDED(alltoallsmem, void)
#undef SHOAL_COLL_STRIDED
#undef SHOAL_COLL_ROOT
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_COLL(NAME##_and_reduce, TYPE) SHOAL_COLL(NAME##_or_reduce, TYPE)                       \
    SHOAL_COLL(NAME##_xor_reduce, TYPE)
SHOAL_REDUCE_BITWISE_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME) SHOAL_COLL(NAME##_max_reduce, TYPE) SHOAL_COLL(NAME##_min_reduce, TYPE)
SHOAL_REDUCE_ORDER_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_COLL(NAME##_sum_reduce, TYPE) SHOAL_COLL(NAME##_prod_reduce, TYPE)                     \
    SHOAL_COLL(NAME##_sum_inscan, TYPE) SHOAL_COLL(NAME##_sum_exscan, TYPE)
SHOAL_REDUCE_ARITH_TYPES(SHOAL_X)
#undef SHOAL_X
#undef SHOAL_COLL

// ---- Point-to-point synchronization: symmetric variables of this PE, changed by others. A nonzero
// status leaves that variable out. any: an index or SIZE_MAX; some: how many, their indices.
#define SHOAL_P2P_ONE(TYPE, NAME)                                                                \
    void SHOAL_FN(shmem_##NAME##_wait_until)(TYPE * ivar, int cmp, TYPE cmp_value);              \
    int SHOAL_FN(shmem_##NAME##_test)(TYPE * ivar, int cmp, TYPE cmp_value);
#define SHOAL_P2P_SET(TYPE, NAME)                                                                \
    void SHOAL_FN(shmem_##NAME##_wait_until_all)(TYPE * ivars, size_t nelems, const int *status, \
                                                 int cmp, TYPE cmp_value);                       \
    size_t SHOAL_FN(shmem_##NAME##_wait_until_any)(TYPE * ivars, size_t nelems,                  \
                                                   const int *status, int cmp, TYPE cmp_value);  \
    size_t SHOAL_FN(shmem_##NAME##_wait_until_some)(TYPE * ivars, size_t nelems,                 \
                                                    size_t *indices, const int *status, int cmp, \
                                                    TYPE cmp_value);                             \
    int SHOAL_FN(shmem_##NAME##_test_all)(TYPE * ivars, size_t nelems, const int *status,        \
                                          int cmp, TYPE cmp_value);                              \
    size_t SHOAL_FN(shmem_##NAME##_test_any)(TYPE * ivars, size_t nelems, const int *status,     \
                                             int cmp, TYPE cmp_value);                           \
    size_t SHOAL_FN(shmem_##NAME##_test_some)(TYPE * ivars, size_t nelems, size_t *indices,      \
                                              const int *status, int cmp, TYPE cmp_value);
#define SHOAL_P2P_VECTOR(TYPE, NAME)                                                             \
    void SHOAL_FN(shmem_##NAME##_wait_until_all_vector)(TYPE * ivars, size_t nelems,             \
                                                        const int *status, int cmp,              \
                                                        const TYPE *cmp_values);                 \
    size_t SHOAL_FN(shmem_##NAME##_wait_until_any_vector)(TYPE * ivars, size_t nelems,           \
                                                          const int *status, int cmp,            \
                                                          const TYPE *cmp_values);               \
    size_t SHOAL_FN(shmem_##NAME##_wait_until_some_vector)(                                      \
        TYPE * ivars, size_t nelems, size_t *indices, const int *status, int cmp,                \
        const TYPE *cmp_values);                                                                 \
    int SHOAL_FN(shmem_##NAME##_test_all_vector)(TYPE * ivars, size_t nelems, const int *status, \
                                                 int cmp, const TYPE *cmp_values);               \
    size_t SHOAL_FN(shmem_##NAME##_test_any_vector)(TYPE * ivars, size_t nelems,                 \
                                                    const int *status, int cmp,                  \
                                                    const TYPE *cmp_values);                     \
    size_t SHOAL_FN(shmem_##NAME##_test_some_vector)(TYPE * ivars, size_t nelems,                \
                                                     size_t *indices, const int *status,         \
                                                     int cmp, const TYPE *cmp_values);
SHOAL_SYNC_TYPES(SHOAL_P2P_ONE)
SHOAL_SYNC_OLD_TYPES(SHOAL_P2P_ONE) // deprecated since 1.5
SHOAL_SYNC_TYPES(SHOAL_P2P_SET)
SHOAL_SYNC_TYPES(SHOAL_P2P_VECTOR)
#undef SHOAL_P2P_ONE
#undef SHOAL_P2P_SET
#undef SHOAL_P2P_VECTOR
uint64_t SHOAL_FN(shmem_signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

// ---- Memory ordering. fence: order of puts, atomics and signals to each PE; quiet: all complete
// and visible; pe_quiet: those to the named PEs.
void SHOAL_FN(shmem_fence)(void);
void SHOAL_FN(shmem_ctx_fence)(shmem_ctx_t ctx);
void SHOAL_FN(shmem_quiet)(void);
void SHOAL_FN(shmem_ctx_quiet)(shmem_ctx_t ctx);
void SHOAL_FN(shmem_pe_quiet)(const int *target_pes, size_t npes);
void SHOAL_FN(shmem_ctx_pe_quiet)(shmem_ctx_t ctx, const int *target_pes, size_t npes);

// ---- Distributed locks: a symmetric long, 0 at first; first come, first served.
void SHOAL_FN(shmem_set_lock)(long *lock);
void SHOAL_FN(shmem_clear_lock)(long *lock);
int SHOAL_FN(shmem_test_lock)(long *lock); // 0: taken

// ---- Profiling control: for tools; does nothing here.
void SHOAL_FN(shmem_pcontrol)(int level, ...);

// ---- Deprecated (1.6, annex "Deprecated API")
void SHOAL_FN(start_pes)(int npes);
int SHOAL_FN(_my_pe)(void);
int SHOAL_FN(_num_pes)(void);
void *SHOAL_FN(shmalloc)(size_t size);
void SHOAL_FN(shfree)(void *ptr);
void *SHOAL_FN(shrealloc)(void *ptr, size_t size);
void *SHOAL_FN(shmemalign)(size_t alignment, size_t size);
#define SHOAL_X(TYPE, NAME)                                                                      \
    void SHOAL_FN(shmem_##NAME##_add)(TYPE * dest, TYPE value, int pe);                          \
    TYPE SHOAL_FN(shmem_##NAME##_cswap)(TYPE * dest, TYPE cond, TYPE value, int pe);             \
    TYPE SHOAL_FN(shmem_##NAME##_fadd)(TYPE * dest, TYPE value, int pe);                         \
    TYPE SHOAL_FN(shmem_##NAME##_finc)(TYPE * dest, int pe);                                     \
    void SHOAL_FN(shmem_##NAME##_inc)(TYPE * dest, int pe);
SHOAL_AMO_OLD_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME)                                                                      \
    TYPE SHOAL_FN(shmem_##NAME##_fetch)(const TYPE *source, int pe);                             \
    void SHOAL_FN(shmem_##NAME##_set)(TYPE * dest, TYPE value, int pe);                          \
    TYPE SHOAL_FN(shmem_##NAME##_swap)(TYPE * dest, TYPE value, int pe);
SHOAL_AMO_OLD_EXTENDED_TYPES(SHOAL_X)
#undef SHOAL_X
void SHOAL_FN(shmem_wait)(long *ivar, long cmp_value);
void SHOAL_FN(shmem_wait_until)(long *ivar, int cmp, long cmp_value);
#define SHOAL_X(TYPE, NAME) void SHOAL_FN(shmem_##NAME##_wait)(TYPE * ivar, TYPE cmp_value);
SHOAL_WAIT_OLD_TYPES(SHOAL_X)
#undef SHOAL_X
// Active sets: PE_size PEs from PE_start, 2^logPE_stride apart; pSync symmetric, of the named size,
// all SHMEM_SYNC_VALUE before and after.
#define SHOAL_SET int PE_start, int logPE_stride, int PE_size, long *pSync
void SHOAL_FN(shmem_barrier)(SHOAL_SET);
void SHOAL_FN(shmem_sync)(SHOAL_SET);
#define SHOAL_X(BITS)                                                                            \
    void SHOAL_FN(shmem_broadcast##BITS)(void *dest, const void *source, size_t nelems,          \
                                         int PE_root, SHOAL_SET);                                \
    void SHOAL_FN(shmem_collect##BITS)(void *dest, const void *source, size_t nelems,            \
                                       SHOAL_SET);                                               \
    void SHOAL_FN(shmem_fcollect##BITS)(void *dest, const void *source, size_t nelems,           \
                                        SHOAL_SET);                                              \
    void SHOAL_FN(shmem_alltoall##BITS)(void *dest, const void *source, size_t nelems,           \
                                        SHOAL_SET);                                              \
    void SHOAL_FN(shmem_alltoalls##BITS)(void *dest, const void *source, ptrdiff_t dst,          \
                                         ptrdiff_t sst, size_t nelems, SHOAL_SET);
SHOAL_X(32) SHOAL_X(64)
#undef SHOAL_X
#define SHOAL_TO_ALL(op, TYPE, NAME)                                                             \
    void SHOAL_FN(shmem_##NAME##_##op##_to_all)(TYPE * dest, const TYPE *source, int nreduce,    \
                                                int PE_start, int logPE_stride, int PE_size,     \
                                                TYPE *pWrk, long *pSync);
#define SHOAL_X(TYPE, NAME)                                                                      \
    SHOAL_TO_ALL(and, TYPE, NAME) SHOAL_TO_ALL(or, TYPE, NAME) SHOAL_TO_ALL(xor, TYPE, NAME)
SHOAL_TO_ALL_BITWISE_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME) SHOAL_TO_ALL(max, TYPE, NAME) SHOAL_TO_ALL(min, TYPE, NAME)
SHOAL_TO_ALL_ORDER_TYPES(SHOAL_X)
#undef SHOAL_X
#define SHOAL_X(TYPE, NAME) SHOAL_TO_ALL(sum, TYPE, NAME) SHOAL_TO_ALL(prod, TYPE, NAME)
SHOAL_TO_ALL_ARITH_TYPES(SHOAL_X)
#undef SHOAL_X
#undef SHOAL_TO_ALL
#undef SHOAL_SET
