// SPDX-License-Identifier: BSD-3-Clause
// Waiting for and testing symmetric variables. See p2p.h.
#include "p2p.h"

#include "inbox.h"
#include "log.h"
#include "net.h"
#include "remote.h"
#include "shmem.h"
#include "wait.h"
#include "world.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { TESTS_PER_YIELD = 64, TESTS_ALONE = 1024 };

// acquire: pairs with the release (or the fence before it) of whoever stored the variable, so that
// what was put before it is visible when it is.
#define LOAD(TYPE) \
    (int64_t)atomic_load_explicit((const _Atomic TYPE *)ivars + i, memory_order_acquire)
#define PLAIN(TYPE) (int64_t)((const TYPE *)values)[i]

static inline int64_t load_variable(const void *ivars, size_t i, enum p2p_kind kind)
{
    switch (kind) {
    case P2P_S16: return LOAD(int16_t);
    case P2P_S32: return LOAD(int32_t);
    case P2P_U16: return LOAD(uint16_t);
    case P2P_U32: return LOAD(uint32_t);
    default: return LOAD(int64_t);
    }
}

static inline int64_t load_value(const void *values, size_t i, enum p2p_kind kind)
{
    switch (kind) {
    case P2P_S16: return PLAIN(int16_t);
    case P2P_S32: return PLAIN(int32_t);
    case P2P_U16: return PLAIN(uint16_t);
    case P2P_U32: return PLAIN(uint32_t);
    default: return PLAIN(int64_t);
    }
}

static inline bool compare(int64_t a, int cmp, int64_t b, bool is_unsigned)
{
    // 64-bit unsigned order is signed order with the top bit flipped.
    int64_t flip = is_unsigned ? INT64_MIN : 0;
    switch (cmp) {
    case SHMEM_CMP_EQ: return a == b;
    case SHMEM_CMP_NE: return a != b;
    case SHMEM_CMP_GT: return (a ^ flip) > (b ^ flip);
    case SHMEM_CMP_GE: return (a ^ flip) >= (b ^ flip);
    case SHMEM_CMP_LT: return (a ^ flip) < (b ^ flip);
    default: return (a ^ flip) <= (b ^ flip);
    }
}

static inline bool fulfils(const struct p2p_set *set, size_t i, uint64_t *value)
{
    int64_t is = load_variable(set->ivars, i, set->kind);
    *value = (uint64_t)is;
    return compare(is, set->cmp, load_value(set->values, set->vector ? i : 0, set->kind),
                   set->kind == P2P_U64);
}

static inline bool holds(const struct p2p_set *set, size_t i)
{
    uint64_t value;
    return fulfils(set, i, &value);
}

static bool is_cmp(int cmp)
{
    return cmp == SHMEM_CMP_EQ || cmp == SHMEM_CMP_NE || cmp == SHMEM_CMP_GT ||
           cmp == SHMEM_CMP_GE || cmp == SHMEM_CMP_LT || cmp == SHMEM_CMP_LE;
}

static size_t kind_size(enum p2p_kind kind)
{
    static const size_t size[] = {2, 4, 8, 2, 4, 8};
    return size[kind];
}

COLD static void explain(const struct p2p_set *set)
{
    const char *argument = set->is_signal ? "sig_addr" : "ivar";
    check_up(set->call);
    if (!is_cmp(set->cmp))
        fatal("%s: argument cmp is %d, not one of SHMEM_CMP_*", set->call, set->cmp);
    check_symmetric(set->call, argument, set->ivars, BYTES_OF(set->n, kind_size(set->kind)));
    check_aligned(set->call, argument, set->ivars, kind_size(set->kind));
    if (!set->values)
        fatal("%s: argument cmp_values is NULL, with %zu words to compare", set->call, set->n);
}

static void check(const struct p2p_set *set)
{
    size_t size = kind_size(set->kind), bytes = BYTES_OF(set->n, size);
    bool is_there = world_in_heap(set->ivars, bytes) || world_in_data(set->ivars, bytes);
    if (unlikely(!world_is_up() || world.forked || !is_cmp(set->cmp) ||
                 (set->n && (!is_there || (uintptr_t)set->ivars % size || !set->values))))
        explain(set);
}

static void check_indices(const struct p2p_set *set, enum p2p_want want, const size_t *indices)
{
    if (want == P2P_SOME && set->n && !indices)
        fatal("%s: argument indices is NULL: it needs room for %zu", set->call, set->n);
}

// Starts anywhere, so that a series of calls returns every index that fulfils its comparison,
// whatever other sets the thread looks at in between.
static size_t look_any(const struct p2p_set *set)
{
    static TLS_FAST uint32_t random = 1;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    size_t i = set->n ? random % set->n : 0;
    for (size_t k = 0; k < set->n; k++, i = i + 1 < set->n ? i + 1 : 0)
        if (!(set->status && set->status[i]) && holds(set, i))
            return i;
    return SIZE_MAX;
}

static size_t look(const struct p2p_set *set, enum p2p_want want, size_t *indices)
{
    size_t found = 0, wanted = 0;
    if (want == P2P_ANY)
        return look_any(set);
    for (size_t i = 0; i < set->n; i++) {
        if (set->status && set->status[i])
            continue;
        wanted++;
        if (holds(set, i)) {
            if (indices)
                indices[found] = i;
            found++;
        } else if (want == P2P_ALL) {
            return 0;
        }
    }
    return want == P2P_ALL ? found == wanted : found;
}

// A loop around a test is a wait too: it lets the network move, and others run now and then, which may
// have to share this core though there are enough.
static void let_others_run(void)
{
    static TLS_FAST unsigned failed;
    net_poke();
    inbox_poll();
    if (++failed % (world.crowded ? TESTS_PER_YIELD : TESTS_ALONE) == 0)
        sched_yield();
}

size_t p2p_look(const struct p2p_set *set, enum p2p_want want, size_t *indices)
{
    check(set);
    check_indices(set, want, indices);
    call_note(CALL_test, -1);
    size_t got = look(set, want, indices);
    if (got == (want == P2P_ANY ? SIZE_MAX : 0))
        let_others_run();
    return got;
}

static bool is_empty(const struct p2p_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (!set->status || !set->status[i])
            return false;
    return true;
}

size_t p2p_wait(const struct p2p_set *set, enum p2p_want want, size_t *indices)
{
    size_t none = want == P2P_ANY ? SIZE_MAX : 0, got = none;
    check(set);
    check_indices(set, want, indices);
    if (is_empty(set))
        return none;
    call_enter(CALL_wait_until);
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while ((got = look(set, want, indices)) == none)
        waiter_step(&w);
    call_leave();
    return got;
}

uint64_t p2p_wait_one(const struct p2p_set *set)
{
    uint64_t value; // the one that fulfils the comparison: another look might find another
    check(set);
    if (unlikely(!fulfils(set, 0, &value))) {
        call_enter(set->is_signal ? CALL_signal_wait_until : CALL_wait_until);
        struct waiter w = waiter_start(&world_ctl(world.me)->bell);
        while (!fulfils(set, 0, &value))
            waiter_step(&w);
        call_leave();
    }
    return value;
}

bool p2p_test_one(const struct p2p_set *set)
{
    check(set);
    call_note(CALL_test, -1);
    if (holds(set, 0))
        return true;
    let_others_run();
    return false;
}
