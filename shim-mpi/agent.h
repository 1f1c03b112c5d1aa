// SPDX-License-Identifier: BSD-3-Clause
// A thread that makes progress while the program's own threads compute: what otherwise needs a process in
// the library, as to match a message with a receive from any source, or the next step of a collective
// that is made of messages, then needs none. With SHOAL_MPI_ASYNC_PROGRESS it attends to everything; else,
// with MPI_THREAD_MULTIPLE, to requests that ask for it, while there are any (request_attend).
#ifndef SHOAL_MPI_AGENT_H
#define SHOAL_MPI_AGENT_H

#include "shim.h"

// Called by threads of the program's that wait, and so make progress themselves. Those that count at once
// may count as one.
HIDDEN extern _Atomic bool agent_is_awake;
HIDDEN extern _Atomic uint64_t agent_waits;
static inline void agent_count_wait(void)
{
    if (likely(!atomic_load_explicit(&agent_is_awake, memory_order_relaxed)))
        return;
    uint64_t n = atomic_load_explicit(&agent_waits, memory_order_relaxed);
    atomic_store_explicit(&agent_waits, n + 1, memory_order_relaxed);
}

// All this is for where several threads work in the library (shim_threads).
int agent_up(bool for_all); // at once for everything, or when it is wanted; 0, or an error number: there is none
void agent_want(void);      // once more; where there can be no thread nothing happens
void agent_leave(void);
void agent_down(void); // and until it is up again there is none: who waits makes progress

#endif
