// SPDX-License-Identifier: BSD-3-Clause
// Waiting for memory that another thread or process will change: spin, then yield, then sleep.
//
//     struct waiter w = waiter_start(&bell);
//     while (!condition)
//         waiter_step(&w);
//
// The bell belongs to the memory waited for. Whoever changes that memory calls bell_check(), one
// load of a line that is normally shared, and rings when somebody sleeps.
//
// Who has a core of its own yields for a millisecond: to be woken takes a good part of that.
//
// No wake-up is lost, though the writer has no fence between its store and the load of `armed`:
// the sleeper arms the bell and then issues membarrier(GLOBAL_EXPEDITED), which acts as a full
// fence in every running writer, before it looks at the condition a last time. Either the writer's
// load comes after that fence and sees `armed`, or its store came before and the sleeper sees it.
// (Linux, 6.18 at least, passes over a core to which the process returns after it has registered on
// another, when nobody else ran there in between.) Sleeps are bounded all the same (1 ms growing to
// 16 ms): a user may change a word with a plain store through shmem_ptr(), which rings nothing.
// Where membarrier is forbidden they stay at 1 ms.
#ifndef SHOAL_BASE_WAIT_H
#define SHOAL_BASE_WAIT_H

#include "compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bell {
    _Atomic uint32_t armed; // 1: somebody sleeps or is about to
    _Atomic uint32_t seq;   // futex word, bumped by every ring
};

struct waiter {
    struct bell *bell;
    uint32_t steps;
    uint32_t yields;
    uint32_t seq;      // of the bell when it was armed,
    uint32_t second_seq; // and of wait_hooks.bell
    uint32_t sleep_us; // how long the last sleep could take
    uint32_t handled;  // steps in which there were messages, see waiter_turn
    uint32_t soon;     // steps until it yields again, after one in which the hooks did something
    bool is_for_near;  // PEs of this node make the condition true: where they share its cores they get
                       // this one before anything else is looked at
    bool is_begun;     // it is past its first spins
    bool is_beside;    // another PE waits on the same core
    bool is_armed;     // the bell is armed and the condition was not yet looked at again
    uint64_t deadline; // end of spinning, ns
    uint64_t linger;   // end of yielding where that is longer, see wait_hooks
};

// Called in every step that is past spinning; set by core. progress moves what needs moving, user
// what a library above moves (shoal_progress_hook), check leaves the process when the job has ended.
// A sleeper also listens to `bell`, so that progress runs when something comes for it.
enum { WAIT_CORES = 1024 };
struct wait_hooks {
    int (*progress)(void); // how much it did
    int (*_Atomic user)(void);
    void (*check)(void), (*check_apart)(void); // by the program's threads, and by the library's own
    void (*sleeps)(void);                      // before a thread does
    struct bell *bell;
    uint64_t linger_ns; // yields go on for so long at least, and again after a ring, because what
                        // progress serves for others does not show; 0 where cores are shared. Not
                        // 0: progress looks at a network, and spinning does nothing else
    _Atomic uint32_t *waited; // WAIT_CORES, shared by the PEs of a machine: the last PE that waited on
    uint32_t self;            // each core, and what this one writes there, not 0
};
extern struct wait_hooks wait_hooks;
extern TLS_FAST bool wait_is_ours; // a thread of the library's own: it runs check_apart, and not user

static inline void wait_check(void)
{
    void (*check)(void) = wait_is_ours ? wait_hooks.check_apart : wait_hooks.check;
    if (check)
        check();
}

// How long to spin before yielding, for `peers` processes on `cpus` cores that all may wait;
// spin_us -1: choose. Registers the process for membarrier. Call it before the first wait.
void wait_configure(int peers, int cpus, long spin_us);
void wait_spin_less(uint32_t steps); // before the clock is looked at

// Did this thread's process find another PE on its core when it waited last? Then whoever waits
// gives the core away soon. (Where PEs outnumber cores they do anyway, and this is false.)
bool wait_is_beside(void);

// A full fence in every process of the job that runs just now, without any of them taking part: the
// rare side of a protocol pays for the frequent one. False: the kernel forbids it, nothing happened.
bool wait_fence_everywhere(void);

uint64_t wait_now_ns(void); // monotonic
static inline uint64_t wait_now_ms(void)
{
    return wait_now_ns() / 1000000;
}
void waiter_pause(struct waiter *w); // past the first few spins
void wait_serve(void); // the hooks, where messages keep a loop from its pauses
void bell_ring(struct bell *bell);

static inline struct waiter waiter_start(struct bell *bell)
{
    return (struct waiter){.bell = bell};
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

extern _Atomic uint32_t wait_spins; // steps that only spin; 0 when PEs share cores

static inline void waiter_step(struct waiter *w)
{
    if (likely(w->steps++ < atomic_load_explicit(&wait_spins, memory_order_relaxed)))
        cpu_relax();
    else
        waiter_pause(w);
}

// The same in loops that look for messages themselves, and need no step where there were some: it spins again,
// for the next one may be near. While they go on coming the network and what a library above moves get their
// turns all the same.
static inline void waiter_turn(struct waiter *w, bool had_messages)
{
    enum { TURNS = 8 };
    if (!had_messages) {
        waiter_step(w);
        return;
    }
    w->steps = 0;
    if (++w->handled % TURNS == 0)
        wait_serve();
}

// Does somebody sleep who has to be woken?
static inline bool bell_is_armed(const struct bell *bell)
{
    // Pairs with the sleeper's membarrier; keeps the compiler from moving the load up.
    atomic_signal_fence(memory_order_seq_cst);
    return unlikely(atomic_load_explicit(&bell->armed, memory_order_relaxed));
}

static inline void bell_check(struct bell *bell)
{
    if (bell_is_armed(bell))
        bell_ring(bell);
}

#endif
