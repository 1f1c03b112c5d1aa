// SPDX-License-Identifier: BSD-3-Clause
// This PE, its peers on the node, and where symmetric memory lies. See job.h for the picture.
#ifndef SHOAL_CORE_WORLD_H
#define SHOAL_CORE_WORLD_H

#include "compiler.h"
#include "job.h"
#include "wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct world {
    // What every operation reads, in one line.
    LINE_ALIGNED int me;
    int npes;
    unsigned direct_first; // PEs [direct_first, +direct_count) are reached by load and store; none
    unsigned direct_count; // before shmem_init and after shmem_finalize. On the node, if not all of it
    ptrdiff_t slice_size;
    ptrdiff_t to_first; // from an own address to the first PE's: -me * slice_size
    uintptr_t heap;
    size_t heap_size;
    char *ctl; // the own slice
    char *slices; // the first PE's, which is there only when that PE is on this node
    uintptr_t data; // static data: the main program's writable segment
    size_t data_size;

    LINE_ALIGNED char *data_peers; // every PE's static data, data_size apart; mapped as slices are
    int first, end; // this node's PEs are among [first, end)
    int node, nodes;
    struct job *job;
    int job_fd;
    // By enum world_user: initializations not yet matched by a finalization. Changed with a lock; that the
    // library is up, its own threads and those of the program see while another one enters or leaves.
    _Atomic int users[2];
    int thread_level;
    bool forked; // this is a child of a PE, not a PE
    bool crowded; // more PEs than cores
};

HIDDEN extern struct world world;

// The program's threads are in the library one at a time (shoal_threads), and the library's own leave
// alone what these need no lock for then: the inbox, and what is known of peers.
HIDDEN extern bool world_takes_turns;

static inline bool world_has_one_thread(void) // in the inbox
{
    return likely(world_takes_turns) || is_single_threaded();
}

// Start-up and shutdown: one table of steps, walked up and down. Whoever enters first, through
// shmem.h or shoal.h, brings the library up, whoever leaves last takes it down: both collective;
// the last to leave waits until every PE has come so far or has left the program.
enum world_user { WORLD_SHMEM, WORLD_SHOAL };
int world_enter(enum world_user user); // 0; 1: this user had entered before; -1 after one line
bool world_leave(enum world_user user); // true: it was the last
int32_t world_life(void); // which one of the library this is; the same number on all PEs
// Before WORLD_SHMEM leaves for the last time: all PEs have come so far, whatever else they still use, or
// have left the program.
void world_end_shmem(void);
void world_finalized_by(const char *call); // see shoal_finalized_by
// fn() is called when WORLD_SHMEM has left for the last time. False: it is not there.
bool world_leave_after(void (*fn)(void));

// By the only user: see world_takes_turns. Until another one enters.
void world_promise_turns(bool it_does);

// fn(pe, arg) when a PE is found dead by a thread that waits; NULL: none.
void world_watch_failures(void (*fn)(int pe, void *arg), void *arg);

// Ends the job: exit(status) here, and on every other PE as soon as it looks.
_Noreturn void world_global_exit(int status);
bool world_ends_job(void); // this process has called it, and first
// If it was called: exit. For a thread of the program's, with no lock, where its wait looks at nothing else.
void world_follow_exit(void);

static inline bool world_is_up(void)
{
    return atomic_load_explicit(&world.users[WORLD_SHMEM], memory_order_relaxed) |
           atomic_load_explicit(&world.users[WORLD_SHOAL], memory_order_relaxed);
}

static inline struct pe_ctl *world_ctl(int pe)
{
    return (struct pe_ctl *)(world.slices + pe * world.slice_size);
}

// Is pe on this node, its memory mapped here?
static inline bool world_is_here(int pe)
{
    return world.nodes == 1 || world.job->pe[pe].node == world.node;
}

// Are all PEs reached by load and store?
static inline bool world_is_direct(void)
{
    return world.direct_count == (unsigned)world.npes;
}

// Is this one? No PE is before the library is up, after, and to a child of a PE.
static inline bool world_is_direct_to(int pe)
{
    return (unsigned)pe - world.direct_first < world.direct_count;
}

// Is [addr, addr + n) within this PE's symmetric heap or static data?
static inline bool world_in_heap(const void *addr, size_t n)
{
    uintptr_t offset = (uintptr_t)addr - world.heap;
    return offset < world.heap_size && n <= world.heap_size - offset;
}

static inline bool world_in_data(const void *addr, size_t n)
{
    uintptr_t offset = (uintptr_t)addr - world.data;
    return offset < world.data_size && n <= world.data_size - offset;
}

// Where the symmetric [addr, addr + n) lies for PE pe, or NULL when it is not all symmetric, pe
// is out of range or not reached by load and store, or the library is not up. The caller then
// takes the slow path, which finds out which: the checks cost the fast path nothing extra.
static inline void *peer_at(const void *addr, size_t n, int pe)
{
    char *at;
    if (unlikely(!world_is_direct_to(pe)))
        return NULL;
    if (likely(world_in_heap(addr, n)))
        at = (char *)addr + world.to_first + pe * world.slice_size;
    else if (likely(world_in_data(addr, n)))
        at = world.data_peers + (size_t)pe * world.data_size + ((uintptr_t)addr - world.data);
    else
        return NULL;
    if (!at)
        __builtin_unreachable(); // the caller's test is one with the tests above
    return at;
}

// The same without the checks and whatever SHOAL_DIRECT says, for PEs on this node and arguments
// that the caller has checked.
static inline void *shared_at(const void *addr, int pe)
{
    if (likely(world_in_heap(addr, 1)))
        return (char *)addr + world.to_first + pe * world.slice_size;
    return world.data_peers + (size_t)pe * world.data_size + ((uintptr_t)addr - world.data);
}

// After storing to pe's memory: wake it if it sleeps. (On another node its heartbeat does.)
static inline void peer_wake(int pe)
{
    if (likely(world_is_here(pe)))
        bell_check(&world_ctl(pe)->bell);
}

#endif
