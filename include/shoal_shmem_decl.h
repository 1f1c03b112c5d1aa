// SPDX-License-Identifier: BSD-3-Clause
// The routines of OpenSHMEM 1.6 in the order of the specification's chapters 9 and 10.
//
// This is a body, not a header: shmem.h includes it with SHOAL_FN(name) = name and pshmem.h with
// SHOAL_FN(name) = p##name, so every prototype is written once. It has no include guard and takes
// its own macros away at the end.
//
// What holds for all routines and is not repeated below:
//   Names      TYPE, NAME: a row of the table given (shoal_types.h). BITS: 8, 16, 32, 64, 128.
//              SHOAL_CTX_PAIR(RET, NAME, ARGS) declares shmem_NAME(ARGS), which works on
//              SHMEM_CTX_DEFAULT, and shmem_ctx_NAME(ctx, ARGS).
//   PEs        pe counts from 0 in the team of the context; without a context, in the world team.
//   Units      nelems and strides count elements of TYPE (of BITS bits; "mem": bytes).
//   Symmetric  a pointer to an object that has the same symmetric address on every PE: from
//              shmem_malloc and relatives, or a global or static variable of the executable.
//   Errors     routines that return no status end the job with a message that names the call, the
//              argument, the PE and the remedy (SHOAL_CHECK=0 drops what costs time: whether buffers
//              of collectives are symmetric, and whether PEs make the same heap calls).
//   Threads    at SHMEM_THREAD_MULTIPLE any thread may call any routine at any time, except that
//              init and finalize exclude every other call, a private or serialized context has
//              one user at a time, and a collective has one caller per PE and team at a time.
//   Progress   a call completes without the target PE calling the library, unless a comment here
//              says "collective".

#define SHOAL_CTX_PAIR(RET, NAME, ...)          \
    RET SHOAL_FN(shmem_##NAME)(__VA_ARGS__);    \
    RET SHOAL_FN(shmem_ctx_##NAME)(shmem_ctx_t ctx, __VA_ARGS__);

// ---------------------------------------------------------------------------------------------
// 9.1 Library setup, exit and query

// 9.1.1 Collective over all PEs. May be called again; each call needs its own shmem_finalize. The
// thread level is SHMEM_THREAD_MULTIPLE. Ends the job when the library cannot start.
void SHOAL_FN(shmem_init)(void);

// 9.1.2, 9.1.3 This PE's number, 0 to shmem_n_pes() - 1, and how many PEs the job has.
int SHOAL_FN(shmem_my_pe)(void);
int SHOAL_FN(shmem_n_pes)(void);

// 9.1.4 Collective. The call that matches the first init completes all communication, waits for
// every PE and frees everything, teams and shareable contexts included; others are barriers.
void SHOAL_FN(shmem_finalize)(void);

// 9.1.5 *initialized becomes nonzero between init and the matching finalize. Always callable.
void SHOAL_FN(shmem_query_initialized)(int *initialized);

// 9.1.6 Ends the whole job from one PE with this exit status; does not return, is not collective.
SHOAL_NORETURN void SHOAL_FN(shmem_global_exit)(int status);

// 9.1.7, 9.1.8 1 when pe can be addressed; 1 when addr is symmetric and reachable on pe; else 0.
int SHOAL_FN(shmem_pe_accessible)(int pe);
int SHOAL_FN(shmem_addr_accessible)(const void *addr, int pe);

// 9.1.9, 9.1.10 A local address for plain loads and stores to dest (symmetric) on pe, or NULL when
// pe is on another node. For SHMEM_TEAM_INVALID: NULL. The result is not a symmetric address.
void *SHOAL_FN(shmem_ptr)(const void *dest, int pe);
void *SHOAL_FN(shmem_team_ptr)(shmem_team_t team, const void *dest, int pe);

// 9.1.11, 9.1.12 The version of OpenSHMEM, and SHMEM_VENDOR_STRING into a buffer of at least
// SHMEM_MAX_NAME_LEN bytes.
void SHOAL_FN(shmem_info_get_version)(int *major, int *minor);
void SHOAL_FN(shmem_info_get_name)(char *name);

// 9.1.13 and annex: deprecated since 1.2. start_pes ignores npes and finalizes at exit.
SHOAL_DEPRECATED("use shmem_init")
void SHOAL_FN(start_pes)(int npes);
SHOAL_DEPRECATED("use shmem_my_pe")
int SHOAL_FN(_my_pe)(void);
SHOAL_DEPRECATED("use shmem_n_pes")
int SHOAL_FN(_num_pes)(void);

// ---------------------------------------------------------------------------------------------
// 9.2 Thread support

// 9.2.1 As shmem_init, asking for a level SHMEM_THREAD_*. *provided is the level in force, which
// every call of a job sees alike. 0, or nonzero when the library cannot start.
int SHOAL_FN(shmem_init_thread)(int requested, int *provided);

// 9.2.2 The level in force.
void SHOAL_FN(shmem_query_thread)(int *provided);

// ---------------------------------------------------------------------------------------------
// 9.3 Memory management: collective over the world team with the same arguments on every PE. Sizes
// are bytes. Allocation ends in a barrier, free begins with one; a zero size or a null pointer
// makes them return at once, with NULL. NULL on every PE when the heap is exhausted (a message
// then tells what was asked, what is left and that SHMEM_SYMMETRIC_SIZE raises it).

// 9.3.1, 9.3.2
void *SHOAL_FN(shmem_malloc)(size_t size);
void SHOAL_FN(shmem_free)(void *ptr);

// 9.3.3 Keeps the contents up to the smaller size and the allocation's hints. NULL leaves the old
// block as it was; size 0 frees it.
void *SHOAL_FN(shmem_realloc)(void *ptr, size_t size);

// 9.3.4 alignment: a power of two and a multiple of sizeof(void *).
void *SHOAL_FN(shmem_align)(size_t alignment, size_t size);

// 9.3.5 hints: 0 or SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE.
void *SHOAL_FN(shmem_malloc_with_hints)(size_t size, long hints);

// 9.3.6 count * size bytes, all zero; NULL when the product overflows.
void *SHOAL_FN(shmem_calloc)(size_t count, size_t size);

// Deprecated since 1.2, annex: the same under their old names.
SHOAL_DEPRECATED("use shmem_malloc")
void *SHOAL_FN(shmalloc)(size_t size);
SHOAL_DEPRECATED("use shmem_free")
void SHOAL_FN(shfree)(void *ptr);
SHOAL_DEPRECATED("use shmem_realloc")
void *SHOAL_FN(shrealloc)(void *ptr, size_t size);
SHOAL_DEPRECATED("use shmem_align")
void *SHOAL_FN(shmemalign)(size_t alignment, size_t size);

// ---------------------------------------------------------------------------------------------
// 9.4 Team management

// 9.4.1, 9.4.2 This PE's number in the team, and the team's size; -1 for SHMEM_TEAM_INVALID.
int SHOAL_FN(shmem_team_my_pe)(shmem_team_t team);
int SHOAL_FN(shmem_team_n_pes)(shmem_team_t team);

// 9.4.4 Fills the members of *config whose SHMEM_TEAM_* bits are in config_mask. 0, or nonzero for
// SHMEM_TEAM_INVALID.
int SHOAL_FN(shmem_team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t *config);

// 9.4.5 The number in dest_team of the PE that is src_pe in src_team; -1 when it is not a member or
// either team is SHMEM_TEAM_INVALID.
int SHOAL_FN(shmem_team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

// 9.4.6 Collective over parent_team: the PEs start, start + stride, ... (size of them, numbers in
// parent_team). 0 with *new_team the team, or SHMEM_TEAM_INVALID for a PE outside it; nonzero and
// SHMEM_TEAM_INVALID on every PE when it cannot be made.
int SHOAL_FN(shmem_team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
                                       const shmem_team_config_t *config, long config_mask,
                                       shmem_team_t *new_team);

// 9.4.7 Collective over parent_team: PE number p gets the coordinates x = p % xrange, y = p / xrange
// and two teams, its row (numbered by x) and its column (numbered by y). Returns as above.
int SHOAL_FN(shmem_team_split_2d)(shmem_team_t parent_team, int xrange,
                                  const shmem_team_config_t *xaxis_config, long xaxis_mask,
                                  shmem_team_t *xaxis_team,
                                  const shmem_team_config_t *yaxis_config, long yaxis_mask,
                                  shmem_team_t *yaxis_team);

// 9.4.8 Collective over team, which must not be predefined. Its shareable contexts go with it, its
// private ones must be gone. Nothing happens for SHMEM_TEAM_INVALID.
void SHOAL_FN(shmem_team_destroy)(shmem_team_t team);

// ---------------------------------------------------------------------------------------------
// 9.5 Communication management: contexts. Not collective. options: 0 or SHMEM_CTX_SERIALIZED,
// SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE or'ed together.

// 9.5.1, 9.5.2 0 with the context in *ctx, or nonzero with SHMEM_CTX_INVALID there; a failure is not
// an error and may be tried again.
int SHOAL_FN(shmem_ctx_create)(long options, shmem_ctx_t *ctx);
int SHOAL_FN(shmem_team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);

// 9.5.3 Does a quiet first. Nothing happens for SHMEM_CTX_INVALID.
void SHOAL_FN(shmem_ctx_destroy)(shmem_ctx_t ctx);

// 9.5.4 *team is the context's team. 0, or nonzero with SHMEM_TEAM_INVALID for SHMEM_CTX_INVALID.
int SHOAL_FN(shmem_ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);

// ---------------------------------------------------------------------------------------------
// 9.6 Remote memory access. put: dest is symmetric, source local; get: the other way round. A put
// returns when source may be reused, not when dest has changed (see 9.12); a get returns when dest
// holds the data. Buffers must not overlap.

// 9.6.1.1 put: nelems elements.
#define SHOAL_DECL(TYPE, NAME) \
    SHOAL_CTX_PAIR(void, NAME##_put, TYPE *dest, const TYPE *source, size_t nelems, int pe)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) \
    SHOAL_CTX_PAIR(void, put##BITS, void *dest, const void *source, size_t nelems, int pe)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL
SHOAL_CTX_PAIR(void, putmem, void *dest, const void *source, size_t nelems, int pe)

// 9.6.1.2 p: one element, by value.
#define SHOAL_DECL(TYPE, NAME) SHOAL_CTX_PAIR(void, NAME##_p, TYPE *dest, TYPE value, int pe)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.6.1.3 iput: element i goes from source[i * sst] to dest[i * dst].
#define SHOAL_STRIDED(NAME, TYPE)                                                          \
    SHOAL_CTX_PAIR(void, NAME, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                   size_t nelems, int pe)
#define SHOAL_DECL(TYPE, NAME) SHOAL_STRIDED(NAME##_iput, TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) SHOAL_STRIDED(iput##BITS, void)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.6.1.4 ibput: nblocks blocks of bsize elements; block i goes from source + i * sst to
// dest + i * dst; both strides are at least bsize.
#define SHOAL_BLOCKS(NAME, TYPE)                                                           \
    SHOAL_CTX_PAIR(void, NAME, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                   size_t bsize, size_t nblocks, int pe)
#define SHOAL_DECL(TYPE, NAME) SHOAL_BLOCKS(NAME##_ibput, TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) SHOAL_BLOCKS(ibput##BITS, void)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.6.1.5 get: nelems elements.
#define SHOAL_DECL(TYPE, NAME) \
    SHOAL_CTX_PAIR(void, NAME##_get, TYPE *dest, const TYPE *source, size_t nelems, int pe)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) \
    SHOAL_CTX_PAIR(void, get##BITS, void *dest, const void *source, size_t nelems, int pe)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL
SHOAL_CTX_PAIR(void, getmem, void *dest, const void *source, size_t nelems, int pe)

// 9.6.1.6 g: returns one element.
#define SHOAL_DECL(TYPE, NAME) SHOAL_CTX_PAIR(TYPE, NAME##_g, const TYPE *source, int pe)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.6.1.7 iget, 9.6.1.8 ibget: strides as for iput and ibput.
#define SHOAL_DECL(TYPE, NAME) SHOAL_STRIDED(NAME##_iget, TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) SHOAL_STRIDED(iget##BITS, void)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME) SHOAL_BLOCKS(NAME##_ibget, TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) SHOAL_BLOCKS(ibget##BITS, void)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.6.2 put_nbi, get_nbi: return at once; neither buffer may be touched before a quiet on the same
// context.
#define SHOAL_DECL(TYPE, NAME)                                                                 \
    SHOAL_CTX_PAIR(void, NAME##_put_nbi, TYPE *dest, const TYPE *source, size_t nelems, int pe) \
    SHOAL_CTX_PAIR(void, NAME##_get_nbi, TYPE *dest, const TYPE *source, size_t nelems, int pe)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES)                                                                   \
    SHOAL_CTX_PAIR(void, put##BITS##_nbi, void *dest, const void *source, size_t nelems, int pe) \
    SHOAL_CTX_PAIR(void, get##BITS##_nbi, void *dest, const void *source, size_t nelems, int pe)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL
SHOAL_CTX_PAIR(void, putmem_nbi, void *dest, const void *source, size_t nelems, int pe)
SHOAL_CTX_PAIR(void, getmem_nbi, void *dest, const void *source, size_t nelems, int pe)

// ---------------------------------------------------------------------------------------------
// 9.7 Atomic memory operations on one symmetric, naturally aligned element of pe. Atomic among all
// AMOs and the routines of 9.11 on the same type; not ordered with anything else (see 9.12). The
// fetching forms return the value before the change; the others return when issued.

// 9.7.1.1 fetch, 9.7.1.2 set, 9.7.1.4 swap: the 14 extended types.
#define SHOAL_DECL(TYPE, NAME)                                                  \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch, const TYPE *source, int pe)          \
    SHOAL_CTX_PAIR(void, NAME##_atomic_set, TYPE *dest, TYPE value, int pe)        \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_swap, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_EXTENDED_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.7.1.3 compare_swap (stores value where dest equals cond), 9.7.1.5 to 9.7.1.8 inc and add: the
// 12 standard types.
#define SHOAL_DECL(TYPE, NAME)                                                           \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_compare_swap, TYPE *dest, TYPE cond, TYPE value, int pe) \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch_inc, TYPE *dest, int pe)                       \
    SHOAL_CTX_PAIR(void, NAME##_atomic_inc, TYPE *dest, int pe)                             \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch_add, TYPE *dest, TYPE value, int pe)           \
    SHOAL_CTX_PAIR(void, NAME##_atomic_add, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.7.1.9 to 9.7.1.14 and, or, xor: the 7 bitwise types.
#define SHOAL_DECL(TYPE, NAME)                                                 \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch_and, TYPE *dest, TYPE value, int pe) \
    SHOAL_CTX_PAIR(void, NAME##_atomic_and, TYPE *dest, TYPE value, int pe)       \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch_or, TYPE *dest, TYPE value, int pe)  \
    SHOAL_CTX_PAIR(void, NAME##_atomic_or, TYPE *dest, TYPE value, int pe)        \
    SHOAL_CTX_PAIR(TYPE, NAME##_atomic_fetch_xor, TYPE *dest, TYPE value, int pe) \
    SHOAL_CTX_PAIR(void, NAME##_atomic_xor, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_BITWISE_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.7.2 The same without waiting: the old value reaches *fetch (local) by the next quiet on the
// same context.
#define SHOAL_DECL(TYPE, NAME)                                                            \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_nbi, TYPE *fetch, const TYPE *source, int pe)   \
    SHOAL_CTX_PAIR(void, NAME##_atomic_swap_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_EXTENDED_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)                                                             \
    SHOAL_CTX_PAIR(void, NAME##_atomic_compare_swap_nbi, TYPE *fetch, TYPE *dest, TYPE cond,  \
                   TYPE value, int pe)                                                        \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_inc_nbi, TYPE *fetch, TYPE *dest, int pe)        \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_add_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)                                                                   \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_and_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe) \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_or_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)  \
    SHOAL_CTX_PAIR(void, NAME##_atomic_fetch_xor_nbi, TYPE *fetch, TYPE *dest, TYPE value, int pe)
SHOAL_AMO_BITWISE_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// Deprecated since 1.4: the names of 9.7.1 without "atomic", on the default context.
#define SHOAL_DECL(TYPE, NAME)                                             \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_fetch")                      \
    TYPE SHOAL_FN(shmem_##NAME##_fetch)(const TYPE *source, int pe);          \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_set")                        \
    void SHOAL_FN(shmem_##NAME##_set)(TYPE *dest, TYPE value, int pe);        \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_swap")                       \
    TYPE SHOAL_FN(shmem_##NAME##_swap)(TYPE *dest, TYPE value, int pe);
SHOAL_AMO_OLD_EXTENDED_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)                                                   \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_compare_swap")                     \
    TYPE SHOAL_FN(shmem_##NAME##_cswap)(TYPE *dest, TYPE cond, TYPE value, int pe); \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_fetch_inc")                        \
    TYPE SHOAL_FN(shmem_##NAME##_finc)(TYPE *dest, int pe);                         \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_inc")                              \
    void SHOAL_FN(shmem_##NAME##_inc)(TYPE *dest, int pe);                          \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_fetch_add")                        \
    TYPE SHOAL_FN(shmem_##NAME##_fadd)(TYPE *dest, TYPE value, int pe);             \
    SHOAL_DEPRECATED("use shmem_" #NAME "_atomic_add")                              \
    void SHOAL_FN(shmem_##NAME##_add)(TYPE *dest, TYPE value, int pe);
SHOAL_AMO_OLD_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// ---------------------------------------------------------------------------------------------
// 9.8 Signaling. sig_addr: a symmetric uint64_t. sig_op: SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD.

// 9.8.3, 9.8.4 put, then update the signal on pe: who sees the new signal sees all of the data. The
// nbi forms leave source in use until a quiet on the same context. dest and sig_addr don't overlap.
#define SHOAL_PUT_SIGNAL(NAME, TYPE)                                                           \
    SHOAL_CTX_PAIR(void, NAME##_signal, TYPE *dest, const TYPE *source, size_t nelems,         \
                   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                    \
    SHOAL_CTX_PAIR(void, NAME##_signal_nbi, TYPE *dest, const TYPE *source, size_t nelems,     \
                   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
#define SHOAL_DECL(TYPE, NAME) SHOAL_PUT_SIGNAL(NAME##_put, TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(BITS, BYTES) SHOAL_PUT_SIGNAL(put##BITS, void)
SHOAL_SIZES(SHOAL_DECL)
#undef SHOAL_DECL
SHOAL_PUT_SIGNAL(putmem, void)

// 9.8.5, 9.8.7 Update the signal on pe alone. 9.8.6 reads the local one, atomically.
SHOAL_CTX_PAIR(void, signal_add, uint64_t *sig_addr, uint64_t signal, int pe)
uint64_t SHOAL_FN(shmem_signal_fetch)(const uint64_t *sig_addr);
SHOAL_CTX_PAIR(void, signal_set, uint64_t *sig_addr, uint64_t signal, int pe)

// ---------------------------------------------------------------------------------------------
// 9.9 Sessions: hints about the operations that follow on a context; they change no result and no
// ordering. Not collective; nothing happens for SHMEM_CTX_INVALID.

// 9.9.2 options: 0 or SHMEM_CTX_SESSION_BATCH. A second start adds options and replaces the members
// named in config_mask (SHMEM_CTX_SESSION_TOTAL_OPS).
void SHOAL_FN(shmem_ctx_session_start)(shmem_ctx_t ctx, long options,
                                       const shmem_ctx_session_config_t *config, long config_mask);
// 9.9.3 No effect when no session is open.
void SHOAL_FN(shmem_ctx_session_stop)(shmem_ctx_t ctx);

// ---------------------------------------------------------------------------------------------
// 9.10 Collectives. Every PE of the team calls, in the same order, with the same dest and source,
// both symmetric; dest must be ready on all PEs before any calls. On return dest holds the result
// and source may be reused on this PE; other PEs may still be inside. 0, or nonzero on failure.
// The forms with PE_start, logPE_stride, PE_size and pSync are deprecated since 1.5: they work over
// the PEs PE_start + i * 2^logPE_stride, i < PE_size; pSync is a symmetric array of SHMEM_*_SYNC_SIZE
// longs, SHMEM_SYNC_VALUE at the first use and again on return.

// 9.10.1 World barrier with a quiet on the default context first. 9.10.2: deprecated.
void SHOAL_FN(shmem_barrier_all)(void);
SHOAL_DEPRECATED("use shmem_quiet and shmem_team_sync")
void SHOAL_FN(shmem_barrier)(int PE_start, int logPE_stride, int PE_size, long *pSync);

// 9.10.3, 9.10.4 Barriers that complete memory stores but no remote updates. The active-set form is
// deprecated and carries no attribute, because the type-generic shmem_sync(team) names it.
int SHOAL_FN(shmem_team_sync)(shmem_team_t team);
void SHOAL_FN(shmem_sync)(int PE_start, int logPE_stride, int PE_size, long *pSync);
void SHOAL_FN(shmem_sync_all)(void);

// 9.10.5 alltoall: nelems elements from each PE to each, ordered by PE number.
// 9.10.6 alltoalls: the same with strides of dst and sst elements within both arrays.
// 9.10.7 broadcast: from PE_root (a number in the team) to dest of all, the root included.
// 9.10.8 collect: all source arrays in PE order into every dest, nelems may differ per PE; fcollect:
//        nelems is the same everywhere.
#define SHOAL_COLLECTIVES(PRE, POST, TYPE)                                                          \
    int SHOAL_FN(PRE##alltoall##POST)(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                      size_t nelems);                                               \
    int SHOAL_FN(PRE##alltoalls##POST)(shmem_team_t team, TYPE *dest, const TYPE *source,           \
                                       ptrdiff_t dst, ptrdiff_t sst, size_t nelems);                \
    int SHOAL_FN(PRE##broadcast##POST)(shmem_team_t team, TYPE *dest, const TYPE *source,           \
                                       size_t nelems, int PE_root);                                 \
    int SHOAL_FN(PRE##collect##POST)(shmem_team_t team, TYPE *dest, const TYPE *source,             \
                                     size_t nelems);                                                \
    int SHOAL_FN(PRE##fcollect##POST)(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                      size_t nelems);
#define SHOAL_DECL(TYPE, NAME) SHOAL_COLLECTIVES(shmem_##NAME##_, , TYPE)
SHOAL_RMA_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
SHOAL_COLLECTIVES(shmem_, mem, void)

// Deprecated since 1.5: elements of 32 and 64 bits over an active set. PE_root counts within the
// set, and broadcast leaves the root's dest alone.
#define SHOAL_ACTIVE_SET int PE_start, int logPE_stride, int PE_size
#define SHOAL_DECL(BITS)                                                                             \
    SHOAL_DEPRECATED("use shmem_alltoall")                                                           \
    void SHOAL_FN(shmem_alltoall##BITS)(void *dest, const void *source, size_t nelems,               \
                                        SHOAL_ACTIVE_SET, long *pSync);                              \
    SHOAL_DEPRECATED("use shmem_alltoalls")                                                          \
    void SHOAL_FN(shmem_alltoalls##BITS)(void *dest, const void *source, ptrdiff_t dst,              \
                                         ptrdiff_t sst, size_t nelems, SHOAL_ACTIVE_SET, long *pSync); \
    SHOAL_DEPRECATED("use shmem_broadcast")                                                          \
    void SHOAL_FN(shmem_broadcast##BITS)(void *dest, const void *source, size_t nelems, int PE_root, \
                                         SHOAL_ACTIVE_SET, long *pSync);                             \
    SHOAL_DEPRECATED("use shmem_collect")                                                            \
    void SHOAL_FN(shmem_collect##BITS)(void *dest, const void *source, size_t nelems,                \
                                       SHOAL_ACTIVE_SET, long *pSync);                               \
    SHOAL_DEPRECATED("use shmem_fcollect")                                                           \
    void SHOAL_FN(shmem_fcollect##BITS)(void *dest, const void *source, size_t nelems,               \
                                        SHOAL_ACTIVE_SET, long *pSync);
SHOAL_DECL(32)
SHOAL_DECL(64)
#undef SHOAL_DECL

// 9.10.9 Reductions: dest[j] = source[j] of all PEs combined, j < nreduce; dest and source are the
// same array or disjoint. Deprecated since 1.5: _to_all, with pWrk a symmetric array of
// max(nreduce / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements.
#define SHOAL_REDUCE(TYPE, NAME)                                                                     \
    int SHOAL_FN(shmem_##NAME)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce);
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_REDUCE(TYPE, NAME##_and_reduce)   \
    SHOAL_REDUCE(TYPE, NAME##_or_reduce)    \
    SHOAL_REDUCE(TYPE, NAME##_xor_reduce)
SHOAL_REDUCE_BITWISE_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_REDUCE(TYPE, NAME##_max_reduce)   \
    SHOAL_REDUCE(TYPE, NAME##_min_reduce)
SHOAL_REDUCE_ORDER_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_REDUCE(TYPE, NAME##_sum_reduce)   \
    SHOAL_REDUCE(TYPE, NAME##_prod_reduce)
SHOAL_REDUCE_ARITH_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_TO_ALL(TYPE, NAME)                                                            \
    SHOAL_DEPRECATED("use the team-based reduction")                                        \
    void SHOAL_FN(shmem_##NAME)(TYPE *dest, const TYPE *source, int nreduce,                \
                                SHOAL_ACTIVE_SET, TYPE *pWrk, long *pSync);
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_TO_ALL(TYPE, NAME##_and_to_all)   \
    SHOAL_TO_ALL(TYPE, NAME##_or_to_all)    \
    SHOAL_TO_ALL(TYPE, NAME##_xor_to_all)
SHOAL_TO_ALL_BITWISE_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_TO_ALL(TYPE, NAME##_max_to_all)   \
    SHOAL_TO_ALL(TYPE, NAME##_min_to_all)
SHOAL_TO_ALL_ORDER_TYPES(SHOAL_DECL)
#undef SHOAL_DECL
#define SHOAL_DECL(TYPE, NAME)              \
    SHOAL_TO_ALL(TYPE, NAME##_sum_to_all)   \
    SHOAL_TO_ALL(TYPE, NAME##_prod_to_all)
SHOAL_TO_ALL_ARITH_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.10.10 Prefix sums by PE number in the team: inscan counts this PE's source in, exscan does not.
#define SHOAL_DECL(TYPE, NAME)                                                               \
    int SHOAL_FN(shmem_##NAME##_sum_inscan)(shmem_team_t team, TYPE *dest, const TYPE *source,  \
                                            size_t nelems);                                     \
    int SHOAL_FN(shmem_##NAME##_sum_exscan)(shmem_team_t team, TYPE *dest, const TYPE *source,  \
                                            size_t nelems);
SHOAL_REDUCE_ARITH_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// ---------------------------------------------------------------------------------------------
// 9.11 Point-to-point synchronisation on this PE's own symmetric variables, compared as
// *ivar CMP value with CMP one of SHMEM_CMP_*. wait_until blocks only the calling thread, keeps
// communication going and uses no CPU when it waits long; test does not block. An update is complete
// when one of these reports it.

// 9.11.1, 9.11.8 One variable. test: 1 when the comparison holds, else 0.
// 9.11.2 to 9.11.7, 9.11.9 to 9.11.14 nelems variables; status (NULL, or nelems ints) leaves out the
// elements where it is nonzero. With nothing left the call returns at once.
//   all    until or whether every comparison holds (test: 1 or 0; nothing left: 1)
//   any    the index of one that holds (SIZE_MAX: none does, or nothing left)
//   some   how many hold, their indices in indices[] (room for nelems), in any order
//   vector element i is compared with cmp_values[i]
#define SHOAL_DECL(TYPE, NAME)                                                               \
    void SHOAL_FN(shmem_##NAME##_wait_until)(TYPE *ivar, int cmp, TYPE cmp_value);              \
    int SHOAL_FN(shmem_##NAME##_test)(TYPE *ivar, int cmp, TYPE cmp_value);                     \
    SHOAL_SYNC_MANY(TYPE, shmem_##NAME##_wait_until, void)                                      \
    SHOAL_SYNC_MANY(TYPE, shmem_##NAME##_test, int)
#define SHOAL_SYNC_MANY(TYPE, NAME, RET)                                                        \
    RET SHOAL_FN(NAME##_all)(TYPE *ivars, size_t nelems, const int *status, int cmp,            \
                             TYPE cmp_value);                                                   \
    size_t SHOAL_FN(NAME##_any)(TYPE *ivars, size_t nelems, const int *status, int cmp,         \
                                TYPE cmp_value);                                                \
    size_t SHOAL_FN(NAME##_some)(TYPE *ivars, size_t nelems, size_t *indices,                   \
                                 const int *status, int cmp, TYPE cmp_value);                   \
    RET SHOAL_FN(NAME##_all_vector)(TYPE *ivars, size_t nelems, const int *status, int cmp,     \
                                    const TYPE *cmp_values);                                    \
    size_t SHOAL_FN(NAME##_any_vector)(TYPE *ivars, size_t nelems, const int *status, int cmp,  \
                                       const TYPE *cmp_values);                                 \
    size_t SHOAL_FN(NAME##_some_vector)(TYPE *ivars, size_t nelems, size_t *indices,            \
                                        const int *status, int cmp, const TYPE *cmp_values);
SHOAL_SYNC_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// Deprecated since 1.5, without attribute because the type-generic test and wait_until name them.
#define SHOAL_DECL(TYPE, NAME)                                                  \
    void SHOAL_FN(shmem_##NAME##_wait_until)(TYPE *ivar, int cmp, TYPE cmp_value); \
    int SHOAL_FN(shmem_##NAME##_test)(TYPE *ivar, int cmp, TYPE cmp_value);
SHOAL_SYNC_OLD_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// Deprecated since 1.4: untyped names for long, and wait, which returns when *ivar != cmp_value.
SHOAL_DEPRECATED("use shmem_long_wait_until")
void SHOAL_FN(shmem_wait_until)(long *ivar, int cmp, long cmp_value);
SHOAL_DEPRECATED("use shmem_long_wait_until with SHMEM_CMP_NE")
void SHOAL_FN(shmem_wait)(long *ivar, long cmp_value);
#define SHOAL_DECL(TYPE, NAME)                                       \
    SHOAL_DEPRECATED("use shmem_" #NAME "_wait_until with SHMEM_CMP_NE") \
    void SHOAL_FN(shmem_##NAME##_wait)(TYPE *ivar, TYPE cmp_value);
SHOAL_WAIT_OLD_TYPES(SHOAL_DECL)
#undef SHOAL_DECL

// 9.11.15 The same for a signal; returns the value that satisfied the comparison.
uint64_t SHOAL_FN(shmem_signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

// ---------------------------------------------------------------------------------------------
// 9.12 Memory ordering, for the operations this PE issued on one context. Not collective; nothing
// happens for SHMEM_CTX_INVALID (with shmem_ctx_pe_quiet: if no PE is named).

// 9.12.1 Puts, AMOs, signals and stores before it arrive at each PE before those after it.
void SHOAL_FN(shmem_fence)(void);
void SHOAL_FN(shmem_ctx_fence)(shmem_ctx_t ctx);

// 9.12.2 Everything before it is complete and visible to all PEs, nonblocking operations included.
void SHOAL_FN(shmem_quiet)(void);
void SHOAL_FN(shmem_ctx_quiet)(shmem_ctx_t ctx);

// 9.12.3 The same for operations to the npes PEs in target_pes only.
SHOAL_CTX_PAIR(void, pe_quiet, const int *target_pes, size_t npes)

// ---------------------------------------------------------------------------------------------
// 9.13 Distributed locks. lock: a symmetric long, 0 before its first use; not reentrant. set waits
// its turn (first come, first served); test returns 0 with the lock taken, 1 when another holds it;
// clear does a quiet on the default context first.
void SHOAL_FN(shmem_clear_lock)(long *lock);
void SHOAL_FN(shmem_set_lock)(long *lock);
int SHOAL_FN(shmem_test_lock)(long *lock);

// ---------------------------------------------------------------------------------------------
// 10.1.1 For profiling tools to replace; the library's own does nothing. level: 0 off, 1 on, 2 on
// with a flush, others as the tool says.
void SHOAL_FN(shmem_pcontrol)(int level, ...);

#undef SHOAL_CTX_PAIR
#undef SHOAL_STRIDED
#undef SHOAL_BLOCKS
#undef SHOAL_PUT_SIGNAL
#undef SHOAL_COLLECTIVES
#undef SHOAL_ACTIVE_SET
#undef SHOAL_REDUCE
#undef SHOAL_TO_ALL
#undef SHOAL_SYNC_MANY
