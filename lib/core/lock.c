// SPDX-License-Identifier: BSD-3-Clause
// Queue locks after Mellor-Crummey and Scott (ACM TOCS 9(1), 1991): each PE waits on a word of its
// own, in the order of arrival. The user's long holds both parts, on every PE its own:
//
//     | tail (32 bits, used on the lock's home PE) | node: WAITING, HELD, next PE + 1 (32 bits) |
//
// tail is the last in the queue + 1. All zero when free, as the user must initialize it. The home
// is picked by the address, so that locks spread over the PEs.
#include "lock.h"

#include "amo.h"
#include "log.h"
#include "wait.h"

#define WAITING (1u << 31)
#define HELD (1u << 30)
#define NEXT (HELD - 1)

struct lock_words {
    uint32_t tail, node;
};
_Static_assert(sizeof(struct lock_words) == sizeof(long), "a lock is a long");

AMO_SET(uint32_t, u32)
AMO_SWAP(uint32_t, u32)
AMO_CSWAP(uint32_t, u32)
AMO_BIT(or, OR, uint32_t, u32)
AMO_BIT(and, AND, uint32_t, u32)

static int home_of(const void *lock)
{
    uintptr_t base = world_in_heap(lock, 1) ? world.heap : world.data;
    return (int)(((uintptr_t)lock - base) / CACHE_LINE % (size_t)world.npes);
}

static struct lock_words *check_lock(const char *call, long *lock)
{
    check_up(call);
    check_symmetric(call, "lock", lock, sizeof *lock);
    check_aligned(call, "lock", lock, sizeof *lock);
    return (struct lock_words *)lock;
}

static uint32_t own_node(struct lock_words *l)
{
    return atomic_load_explicit((_Atomic uint32_t *)&l->node, memory_order_acquire);
}

// A word that no call of a lock has written.
COLD static _Noreturn void refuse_garbage(const char *call, const struct lock_words *l,
                                          uint32_t word)
{
    fatal(
        "%s: the lock at %p holds %#x, and is none yet: set it to 0 on every PE before its first use",
        call, (const void *)l, word);
}

static void check_free(const char *call, struct lock_words *l)
{
    uint32_t node = own_node(l);
    if (unlikely(node && (!(node & HELD) || (int)(node & NEXT) > world.npes)))
        refuse_garbage(call, l, node);
    if (unlikely(node))
        fatal("%s: this PE has taken the lock at %p already; shmem_clear_lock releases it", call,
              (void *)l);
}

static void check_tail(const char *call, struct lock_words *l, uint32_t tail)
{
    if (unlikely(tail > (uint32_t)world.npes))
        refuse_garbage(call, l, tail);
}

void lock_set(long *lock)
{
    static const char call[] = "shmem_set_lock";
    struct lock_words *l = check_lock(call, lock);
    uint32_t me = (uint32_t)world.me + 1;
    check_free(call, l);
    call_enter(CALL_set_lock);
    amo_set_u32(NULL, call, &l->node, WAITING | HELD, 0, world.me, false);
    uint32_t before = amo_swap_u32(NULL, call, &l->tail, me, 0, home_of(lock), true);
    check_tail(call, l, before);
    if (!before) {
        amo_and_u32(NULL, call, &l->node, ~WAITING, 0, world.me,
                    false); // a successor may be in it already
    } else {
        amo_or_u32(NULL, call, &l->node, me, 0, (int)before - 1, false);
        call_enter(CALL_set_lock);
        struct waiter w = waiter_start(&world_ctl(world.me)->bell);
        while (own_node(l) & WAITING) // pairs with the release in lock_clear
            waiter_step(&w);
    }
    call_leave();
}

int lock_test(long *lock)
{
    static const char call[] = "shmem_test_lock";
    struct lock_words *l = check_lock(call, lock);
    check_free(call, l);
    uint32_t me = (uint32_t)world.me + 1;
    amo_set_u32(NULL, call, &l->node, HELD, 0, world.me, false);
    uint32_t tail = amo_cswap_u32(NULL, call, &l->tail, me, 0, home_of(lock), true);
    if (tail == 0)
        return 0;
    check_tail(call, l, tail);
    amo_set_u32(NULL, call, &l->node, 0, 0, world.me, false);
    return 1;
}

void lock_clear(long *lock)
{
    static const char call[] = "shmem_clear_lock";
    struct lock_words *l = check_lock(call, lock);
    uint32_t me = (uint32_t)world.me + 1;
    if (!(own_node(l) & HELD))
        fatal("%s: this PE does not hold the lock at %p", call, (void *)lock);
    remote_flush(); // what was put under the lock is there before the lock is free
    uint32_t next = own_node(l) & NEXT;
    if (!next && amo_cswap_u32(NULL, call, &l->tail, 0, me, home_of(lock), true) == me) {
        amo_set_u32(NULL, call, &l->node, 0, 0, world.me, false);
        return;
    }
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (!(next = own_node(l) & NEXT)) // whoever took the tail is about to say so
        waiter_step(&w);
    amo_set_u32(NULL, call, &l->node, 0, 0, world.me, false);
    amo_and_u32(NULL, call, &l->node, ~WAITING, 0, (int)next - 1, false);
    remote_push();
}
