// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 4 7
// What shoal_query says of progress is kept for every pair: one PE computes without any call until
// the others have done to it all that they may without its help; what needs it happens when it
// comes, and not before.
#include "../check.h"

#include <shoal.h>

enum { WORDS = 100, MESSAGE = 3 };

typedef struct {
    shoal_key_t key; // of private memory
    uint64_t words[WORDS], sum;
} shown;

static shown symmetric;
static uint64_t done;    // others that have finished with this PE
static uint64_t needed;  // bits some of them found
static uint64_t handled; // here
static uint64_t *private;
static shoal_ct_t counter;

static void on_message(const shoal_am_t *am)
{
    handled += am->arg;
}

static uint64_t value(int pe, size_t i)
{
    return (uint64_t)(pe + 1) * 1000 + i;
}

static shoal_rptr_t at(const void *addr, int pe)
{
    shoal_rptr_t r = {0, 0, 0, 0};
    CHECK_EQ(shoal_rptr_symmetric(addr, pe, &r), SHOAL_OK);
    return r;
}

static void use_words(shoal_rptr_t words)
{
    uint64_t block[WORDS];
    CHECK_EQ(shoal_get(block, words, sizeof block, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    for (int i = npes; i < WORDS; i++)
        CHECK_EQ(block[i], i);
    CHECK_EQ(shoal_put(shoal_rptr_add(words, 8 * me), &(uint64_t){value(me, 0)}, 8, NULL, NULL),
             SHOAL_OK);
}

static void add(shoal_rptr_t sum)
{
    const size_t eight = 8;
    CHECK_EQ(shoal_atomic(sum, SHOAL_SUM, SHOAL_UINT64, &(uint64_t){1}, NULL, NULL, NULL, NULL),
             SHOAL_OK);
    CHECK_EQ(shoal_acc(sum, NULL, &(uint64_t){2}, NULL, &eight, 0, SHOAL_SUM, SHOAL_UINT64, NULL,
                       NULL, NULL),
             SHOAL_OK);
}

// To PE pe's memory, as far as the bits allow; with `late` the rest.
static void reach(int pe, uint64_t needs, bool late)
{
    shoal_key_t key;
    shoal_rptr_t theirs;
    shmem_getmem(&key, &symmetric.key, sizeof key, pe);
    CHECK_EQ(shoal_rptr(&key, 0, &theirs), SHOAL_OK);
    if (!!(needs & SHOAL_PROGRESS_RMA) == late) {
        use_words(at(symmetric.words, pe));
        add(at(&symmetric.sum, pe));
        CHECK_EQ(shoal_ct_inc(pe, counter, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    }
    if (!!(needs & SHOAL_PROGRESS_PRIVATE) == late)
        use_words(theirs);
    if (!!(needs & SHOAL_PROGRESS_ATOMIC) == late)
        add(shoal_rptr_add(theirs, 8 * WORDS));
    // One of them sends early all the same: nothing may come of it before the PE progresses.
    bool is_late = (needs & SHOAL_PROGRESS_AM) && me != (pe + 1) % npes;
    if (is_late == late)
        CHECK_EQ(shoal_am_request(pe, MESSAGE, (uint64_t)me + 1, NULL, 0), SHOAL_OK);
    shmem_quiet();
}

static void compute(void)
{
    volatile double x = 1;
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < (uint64_t)npes - 1)
        x = x * 0.999 + 1;
}

static void check_words(const uint64_t *words, uint64_t sum, bool all)
{
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(words[pe], pe == me || !all ? (uint64_t)pe : value(pe, 0));
    CHECK_EQ(sum, all ? 3 * ((uint64_t)npes - 1) : 0);
}

static void alone(void)
{
    compute();
    uint64_t bits = needed;
    CHECK_EQ(handled, 0); // no call has been made
    if (!(bits & SHOAL_PROGRESS_RMA)) {
        check_words(symmetric.words, symmetric.sum, true);
        CHECK_EQ(shoal_ct_at(counter)->success, npes - 1);
    }
    if (!(bits & SHOAL_PROGRESS_PRIVATE))
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(private[pe], pe == me ? (uint64_t)pe : value(pe, 0));
    CHECK_EQ(private[WORDS], bits & SHOAL_PROGRESS_ATOMIC ? 0 : 3 * ((uint64_t)npes - 1));
}

static void one_alone(int target)
{
    uint64_t needs = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_PROGRESS, target, &needs), SHOAL_OK);
    for (uint64_t i = 0; i < WORDS; i++)
        symmetric.words[i] = private[i] = i;
    symmetric.sum = private[WORDS] = handled = done = needed = 0;
    CHECK_EQ(shoal_ct_set(me, counter, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    shmem_barrier_all();
    if (me == target) {
        alone();
        shmem_barrier_all();
    } else {
        reach(target, needs, false);
        shmem_uint64_atomic_or(&needed, needs, target);
        shmem_uint64_atomic_inc(&done, target);
        shmem_barrier_all();
        reach(target, needs, true);
    }
    shmem_barrier_all();
    while (me == target && handled < (uint64_t)npes * ((uint64_t)npes + 1) / 2 - (uint64_t)me - 1)
        CHECK(shoal_progress() >= 0);
    if (me == target) {
        check_words(symmetric.words, symmetric.sum, true);
        check_words(private, private[WORDS], true);
    }
    shmem_barrier_all();
}

int main(void)
{
    shoal_region_t region;
    check_start();
    if (npes > 64)
        check_skip("more than 64 PEs");
    private = must_alloc(8 * (WORDS + 1));
    CHECK_EQ(shoal_region_register(private, 8 * (WORDS + 1), &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &symmetric.key), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &counter), SHOAL_OK);
    CHECK_EQ(shoal_am_register(MESSAGE, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int target = 0; target < npes; target++)
        one_alone(target);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(private);
    return check_done();
}
