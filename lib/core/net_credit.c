// SPDX-License-Identifier: BSD-3-Clause
// See net_credit.h.
#include "net_credit.h"

#include "net_queue.h"
#include "tunables.h"
#include "wait.h"
#include "world.h"

#include <stdlib.h>

// Each counts for some bytes more than it has. LEAST has room for several of the longest; where there are few
// PEs, each may have more. A quarter of it is told at a time.
enum {
    EACH = 128,
    LEAST = HOSTILE ? 8 * (LIMIT_AM_FAR + EACH) : 1 << 20,
    TIMES = HOSTILE ? 1 : 2,
    FEW_PES = 64,
};
static uint64_t most;

// Of a PE of another node, in bytes since the start.
static struct credit {
    _Atomic uint64_t sent, known; // to it, and of them taken as far as known here
    _Atomic uint64_t taken, told; // from it, and what it was told of that
} * credits;

int credit_up(void)
{
    credits = calloc((size_t)world.npes, sizeof *credits);
    most = LEAST * (uint64_t)(world.npes <= FEW_PES ? TIMES : 1);
    return credits ? 0 : -1;
}

void credit_down(void)
{
    free(credits);
    credits = NULL;
}

static bool try_use(struct credit *c, uint64_t n)
{
    uint64_t sent = atomic_load_explicit(&c->sent, memory_order_relaxed);
    do {
        if (sent + n - atomic_load_explicit(&c->known, memory_order_relaxed) > most)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&c->sent, &sent, sent + n, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool credit_use(int pe, size_t n, bool waits)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (!try_use(&credits[pe], n + EACH)) {
        if (!waits)
            return false;
        waiter_step(&w);
    }
    return true;
}

void credit_return(int pe, size_t n)
{
    atomic_fetch_sub_explicit(&credits[pe].sent, n + EACH, memory_order_relaxed);
}

// Messages of several of its threads may overtake each other.
void credit_told(int pe, uint64_t taken)
{
    struct credit *c = &credits[pe];
    uint64_t known = atomic_load_explicit(&c->known, memory_order_relaxed);
    uint64_t sent = atomic_load_explicit(&c->sent, memory_order_relaxed);
    while (taken > known && taken <= sent &&
           !atomic_compare_exchange_weak_explicit(&c->known, &known, taken, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    bell_check(&world_ctl(world.me)->bell);
}

struct came *credit_taken(int from, size_t n)
{
    struct credit *c = &credits[from];
    uint64_t taken = atomic_fetch_add_explicit(&c->taken, n + EACH, memory_order_relaxed) + n +
                     EACH;
    uint64_t told = atomic_load_explicit(&c->told, memory_order_relaxed);
    if (taken - told < most / 4 ||
        !atomic_compare_exchange_strong_explicit(&c->told, &told, taken, memory_order_relaxed,
                                                 memory_order_relaxed))
        return NULL;
    struct net_head tell = {.kind = NET_TAKEN, .from = world.me, .arg = taken};
    return came_new(from, &tell, 0);
}
