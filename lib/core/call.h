// SPDX-License-Identifier: BSD-3-Clause
// What this PE is doing, kept in its control block for whoever looks after it has died: one store
// as a call starts. Blocking calls clear the word when they return; for the others it says which
// call was the last.
#ifndef SHOAL_CORE_CALL_H
#define SHOAL_CORE_CALL_H

#include "compiler.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// X(identifier, name shown)
#define CALL_TABLE(X)                                                                          \
    X(none, "")                                                                                \
    X(init, "shmem_init") X(finalize, "shmem_finalize")                                        \
    X(put, "shmem_put") X(get, "shmem_get") X(put_nbi, "shmem_put_nbi")                        \
    X(get_nbi, "shmem_get_nbi") X(p, "shmem_p") X(g, "shmem_g")                                \
    X(iput, "shmem_iput") X(iget, "shmem_iget") X(ibput, "shmem_ibput")                        \
    X(ibget, "shmem_ibget") X(atomic, "shmem_atomic") X(put_signal, "shmem_put_signal")        \
    X(signal, "shmem_signal_set") X(fence, "shmem_fence") X(quiet, "shmem_quiet")              \
    X(wait_until, "shmem_wait_until") X(test, "shmem_test")                                    \
    X(signal_wait_until, "shmem_signal_wait_until") X(set_lock, "shmem_set_lock")              \
    X(malloc, "shmem_malloc") X(calloc, "shmem_calloc") X(align, "shmem_align")                \
    X(realloc, "shmem_realloc") X(free, "shmem_free")                                          \
    X(malloc_with_hints, "shmem_malloc_with_hints")                                            \
    X(barrier_all, "shmem_barrier_all") X(sync_all, "shmem_sync_all")                          \
    X(barrier, "shmem_barrier") X(sync, "shmem_sync") X(team_sync, "shmem_team_sync")          \
    X(broadcast, "shmem_broadcast") X(collect, "shmem_collect") X(fcollect, "shmem_fcollect")  \
    X(alltoall, "shmem_alltoall") X(alltoalls, "shmem_alltoalls") X(reduce, "shmem_reduce")    \
    X(scan, "shmem_scan") X(team_split, "shmem_team_split") X(team_destroy, "shmem_team_destroy") \
    X(wait, "shoal_wait") X(ct_wait, "shoal_ct_wait") X(coll, "a collective")                  \
    X(send, "a send")                                                                          \
    X(told, "") // what a layer above has told

#define X(id, name) CALL_##id,
enum call_id { CALL_TABLE(X) CALL_COUNT };
#undef X

// Behind the word in a PE's control block: what CALL_told is.
struct call_told {
    char what[36];
    int32_t tag; // -1: none
};

// "shmem_put"; "" for CALL_none, CALL_told or a number out of range.
const char *call_name(uint64_t word);
// "shmem_put to PE 1", "MPI receive from PE 1 (tag 7)"; "" for none. What is told may be torn.
void call_describe(uint64_t word, const struct call_told *told, char *text, size_t size);
int call_peer(uint64_t word);    // PE it names, -1: none
_Bool call_blocks(uint64_t word); // the PE was inside it, not merely past it

// The word of the main thread's control block; NULL in other threads.
extern TLS_FAST _Atomic uint64_t *call_slot;

#define CALL_BLOCKS (1u << 16)
#define CALL_WORD(id, pe) ((uint64_t)(id) | (uint64_t)((uint32_t)(pe) + 1) << 32)

// What a layer above waits for: it blocks, until call_leave.
void call_tell(const char *what, int pe, int tag);

// A call that returns at once: remembered as the last one.
static inline void call_note(enum call_id id, int pe)
{
    if (likely(call_slot != NULL))
        atomic_store_explicit(call_slot, CALL_WORD(id, pe), memory_order_relaxed);
}

// A call that may block: between enter and leave the PE is in it.
static inline void call_enter(enum call_id id)
{
    if (likely(call_slot != NULL))
        atomic_store_explicit(call_slot, CALL_WORD(id, -1) | CALL_BLOCKS, memory_order_relaxed);
}

static inline _Bool call_enter_first(enum call_id id, int pe) // false: it is in a call already
{
    if (!call_slot || atomic_load_explicit(call_slot, memory_order_relaxed) & CALL_BLOCKS)
        return 0;
    atomic_store_explicit(call_slot, CALL_WORD(id, pe) | CALL_BLOCKS, memory_order_relaxed);
    return 1;
}

static inline void call_leave(void)
{
    if (likely(call_slot != NULL))
        atomic_store_explicit(call_slot, 0, memory_order_relaxed);
}

#endif
