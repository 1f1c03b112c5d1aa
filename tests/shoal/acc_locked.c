// SPDX-License-Identifier: BSD-3-Clause
// shoal_accv_locked: elements of PE 0's private memory, changed by PEs of its node, and by some of others, with a
// get and a put while they hold the word, and by the rest with the call: nothing is lost, and no two get the same
// old value. While the word is held nothing happens, and then all in its order; under another word things go on.
// Atomics beside them lose nothing. Accumulates of many rows without a lock. What the call refuses.
// PES: 2 4 7
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TIMES = 300, WORDS = 40, ROW = 30 };

static struct {
    uint64_t lock, go, pad[6];
} * control;
static long *words; // private
static shoal_rptr_t lock_at, words_at;
static bool is_here;

static void take(void)
{
    uint64_t one = 1, none = 0, old = 1;
    while (old) {
        CHECK_EQ(shoal_atomic(lock_at, SHOAL_CSWAP, SHOAL_UINT64, &one, &none, &old, NULL, NULL),
                 SHOAL_OK);
        shoal_progress();
    }
}

static uint64_t words_seen(void)
{
    long word = -1;
    CHECK_EQ(shoal_get(&word, words_at, sizeof word, NULL, NULL), SHOAL_OK);
    return (uint64_t)word;
}

static void give(void)
{
    uint64_t none = 0;
    CHECK_EQ(shoal_quiet(0), SHOAL_OK);
    CHECK_EQ(shoal_atomic(lock_at, SHOAL_SET, SHOAL_UINT64, &none, NULL, NULL, NULL, NULL),
             SHOAL_OK);
}

// Without being atomic; the first word's old value.
static long change_by_hand(long operand)
{
    long copy[WORDS];
    take();
    CHECK_EQ(shoal_get(copy, words_at, sizeof copy, NULL, NULL), SHOAL_OK);
    for (int i = 0; i < WORDS; i++)
        copy[i] += operand;
    CHECK_EQ(shoal_put(words_at, copy, sizeof copy, NULL, NULL), SHOAL_OK);
    give();
    return copy[0] - operand;
}

// In three parts.
static long change_by_call(long operand, bool fetches)
{
    long in[WORDS], old[WORDS] = {-1};
    shoal_part_t part[] = {{words_at, in, 8},
                           {shoal_rptr_add(words_at, 8), in + 1, 80},
                           {shoal_rptr_add(words_at, 88), in + 11, (WORDS - 11) * 8}};
    for (int i = 0; i < WORDS; i++)
        in[i] = operand;
    CHECK_EQ(
        shoal_accv_locked(lock_at, part, 3, fetches ? old : NULL, SHOAL_SUM, SHOAL_INT64, NULL),
        SHOAL_OK);
    return old[0];
}

static void all_at_once(void)
{
    static long *seen;
    seen = shmem_calloc((size_t)npes * TIMES, sizeof *seen);
    shmem_barrier_all();
    for (int i = 0; i < TIMES; i++) {
        bool by_hand = is_here || i % 8 == 7;
        long old = by_hand ? change_by_hand(1) : change_by_call(1, i % 4 != 2);
        if (old >= 0 && CHECK(old < (long)npes * TIMES)) // else nobody asked for it
            shmem_long_atomic_inc(&seen[old], 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EACH(i, WORDS, words[i], (long)npes * TIMES);
        CHECK_EACH(i, npes * TIMES, seen[i] <= 1, 1);
        memset(words, 0, WORDS * sizeof *words);
    }
    shmem_barrier_all();
    shmem_free(seen);
}

// A PE holds PE 0's word, another one of its node if there is one; the last PE, of the other node, asks for a row of
// changes, and the first goes on when these have come as far as they can. It tells nobody.
static void in_order(void)
{
    long value[ROW];
    shoal_event_t event[ROW], *all[ROW];
    shoal_part_t part[ROW];
    int holder = npes > 3 ? 1 : 0;
    uint64_t go = 1;
    size_t done = 0;
    if (me == holder)
        take();
    shmem_barrier_all();
    for (int i = 0; i < ROW && me == npes - 1; i++) {
        value[i] = i + 1;
        part[i] = (shoal_part_t){words_at, &value[i], sizeof *value};
        all[i] = &event[i];
        CHECK_EQ(shoal_accv_locked(lock_at, &part[i], 1, NULL, SHOAL_SET, SHOAL_INT64, &event[i]),
                 SHOAL_OK);
    }
    if (me == npes - 1) {
        long now = -1; // a get passes by what waits for the lock
        CHECK_EQ(shoal_get(&now, words_at, sizeof now, NULL, NULL), SHOAL_OK);
        CHECK_EQ(now, 0);
        CHECK_EQ(shoal_test(ROW, all, &done, NULL), SHOAL_OK);
        CHECK_EQ(done, 0);
        shmem_uint64_p(&control->go, go, holder);
    }
    if (me == holder) {
        shmem_uint64_wait_until(&control->go, SHMEM_CMP_EQ, go);
        usleep(20000); // all others sleep
        atomic_store_explicit((_Atomic uint64_t *)shmem_ptr(&control->lock, 0), 0,
                              memory_order_release);
    }
    if (me == npes - 1) {
        CHECK_EQ(shoal_wait(ROW, all, ROW, &done, NULL), SHOAL_OK);
        for (int i = 0; i < ROW; i++)
            CHECK_EQ(event[i].status, SHOAL_OK);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(words[0], ROW);
        CHECK_EQ(control->lock, 0);
    }
    shmem_barrier_all();
}

// Who holds one word waits for an operation under another one, while somebody else's waits for the first.
static void two_words(void)
{
    shoal_rptr_t other;
    uint64_t *go = &control->pad[2], before = words_seen();
    long one = 1;
    shoal_part_t part = {words_at, &one, sizeof one};
    CHECK_EQ(shoal_rptr_symmetric(&control->pad[1], 0, &other), SHOAL_OK);
    shmem_barrier_all();
    if (me == npes - 2) {
        shmem_uint64_wait_until(go, SHMEM_CMP_NE, 0);
        CHECK_EQ(shoal_accv_locked(lock_at, &part, 1, NULL, SHOAL_SUM, SHOAL_INT64, NULL),
                 SHOAL_OK);
    }
    if (me == npes - 1) {
        take();
        shmem_uint64_p(go, 1, npes - 2);
        shmem_quiet();
        usleep(5000);
        CHECK_EQ(shoal_accv_locked(other, &part, 1, NULL, SHOAL_SUM, SHOAL_INT64, NULL), SHOAL_OK);
        give();
    }
    shmem_barrier_all();
    CHECK_EQ(words_seen(), before + 2);
    shmem_barrier_all();
}

// Atomics without the lock lose nothing either. All of PE 0's node change the words until the last PE is done.
static void beside_atomics(void)
{
    enum { MANY = 512, MOST = 1000 };
    static long shared[MANY], ones[MANY], rounds;
    shoal_rptr_t at;
    shoal_part_t part = {.local = ones, .n = sizeof ones};
    long own = 0, one = 1;
    CHECK_EQ(shoal_rptr_symmetric(shared, 0, &at), SHOAL_OK);
    part.remote = at;
    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    uint64_t *is_over = &control->pad[3];
    shmem_barrier_all();
    for (; is_here && !shmem_uint64_atomic_fetch(is_over, 0); own++)
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(shoal_atomic(shoal_rptr_add(at, i * (ptrdiff_t)sizeof one), SHOAL_SUM,
                                  SHOAL_INT64, &one, NULL, NULL, NULL, NULL),
                     SHOAL_OK);
    for (; me == npes - 1 && own < MOST; own++)
        CHECK_EQ(shoal_accv_locked(lock_at, &part, 1, NULL, SHOAL_SUM, SHOAL_INT64, NULL),
                 SHOAL_OK);
    if (me == npes - 1)
        shmem_uint64_atomic_set(is_over, 1, 0);
    shmem_long_atomic_add(&rounds, own, 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EACH(i, MANY, shared[i], rounds);
    shmem_barrier_all();
}

// Rows of elements, each by itself, many of them.
static void rows(void)
{
    enum { MANY = 3000 };
    static uint64_t sums[2 * MANY], ones[MANY];
    shoal_rptr_t at;
    ptrdiff_t there = 2 * sizeof *sums, here = sizeof *ones;
    size_t count[] = {sizeof *sums, MANY};
    CHECK_EQ(shoal_rptr_symmetric(sums, 0, &at), SHOAL_OK);
    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    CHECK_EQ(
        shoal_acc(at, &there, ones, &here, count, 1, SHOAL_SUM, SHOAL_UINT64, NULL, NULL, NULL),
        SHOAL_OK);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EACH(i, 2 * MANY, sums[i], i % 2 ? 0 : (uint64_t)npes);
}

static void refuse(void)
{
    long in[WORDS + 1] = {0}, old[WORDS + 1];
    shoal_rptr_t own;
    shoal_part_t part = {words_at, in, 8};
    CHECK_EQ(shoal_rptr_symmetric(&control->lock, npes - 1, &own), SHOAL_OK);
#define REFUSED(lock, old, op, type, status) \
    CHECK_EQ(shoal_accv_locked(lock, &part, 1, old, op, type, NULL), status)
    if (is_here) {
        REFUSED(lock_at, NULL, SHOAL_SUM, SHOAL_INT64, SHOAL_EINVAL);
        return;
    }
    REFUSED(own, NULL, SHOAL_SUM, SHOAL_INT64, SHOAL_EINVAL);      // another PE's
    REFUSED(words_at, NULL, SHOAL_SUM, SHOAL_INT64, SHOAL_EINVAL); // private
    REFUSED(lock_at, NULL, SHOAL_CSWAP, SHOAL_INT64, SHOAL_EINVAL);
    REFUSED(lock_at, NULL, SHOAL_AND, SHOAL_DOUBLE, SHOAL_EINVAL);
    REFUSED(lock_at, NULL, SHOAL_SUM, SHOAL_COMPLEX_DOUBLE, SHOAL_EINVAL);
    REFUSED(shoal_rptr_add(lock_at, 4), NULL, SHOAL_SUM, SHOAL_INT64, SHOAL_EINVAL);
    part.n = 9;
    REFUSED(lock_at, old, SHOAL_SUM, SHOAL_INT64, SHOAL_EINVAL);
    part.n = sizeof in;
    REFUSED(lock_at, old, SHOAL_SUM, SHOAL_INT64, SHOAL_ERANGE);
}

int main(void)
{
    shoal_region_t region;
    shoal_key_t *key, theirs;
    check_skip_under_tsan();
    check_start();
    key = shmem_malloc(sizeof *key);
    control = shmem_calloc(1, sizeof *control);
    words = calloc(WORDS, sizeof *words);
    CHECK_EQ(shoal_region_register(words, WORDS * sizeof *words, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, key), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, key, sizeof theirs, 0);
    CHECK_EQ(shoal_rptr(&theirs, 0, &words_at), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&control->lock, 0, &lock_at), SHOAL_OK);
    is_here = shmem_ptr(control, 0) != NULL;
    CHECK_EQ(is_here, me < npes - npes / 2);
    all_at_once();
    in_order();
    if (npes > 3) // two of the other node
        two_words();
    beside_atomics();
    rows();
    refuse();
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(words);
    shmem_free(control);
    shmem_free(key);
    return check_done();
}
