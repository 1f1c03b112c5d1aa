// SPDX-License-Identifier: BSD-3-Clause
// A region that is gone, of a PE that may be on another node: making a pointer from its key may
// succeed, and using one never does, by any call and of any length. On the node that is seen at once,
// and nothing is counted; else what the call has begun is counted as a failure.
#include "counters.h"

enum { SIZE = 100000, FEW = 8 };

static shoal_key_t mine, theirs;
static shoal_rptr_t own, other; // of shoal_rptr_private
static uint64_t word;
static unsigned char *memory, *local;
static shoal_ct_t count_of;
static bool is_here; // the right neighbour

static void in_event(int status, shoal_event_t *event, int line)
{
    shoal_event_t *all[] = {event};
    if (status == SHOAL_OK) {
        CHECK_EQ(shoal_wait(1, all, 1, NULL, NULL), SHOAL_OK);
        status = event->status;
    }
    check_eq(__FILE__, line, "in_event", status, SHOAL_EKEY, "the status");
}

static void refuse(shoal_rptr_t r, size_t n)
{
    const size_t count[] = {n};
    shoal_part_t part = {r, local, n};
    shoal_event_t event = {0};
    CHECK_EQ(shoal_put(r, local, n, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_get(local, r, n, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_puts(r, NULL, local, NULL, count, 0, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_getv(&part, 1, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_acc(r, NULL, local, NULL, count, 0, SHOAL_SUM, SHOAL_UINT64, NULL, NULL, NULL),
             SHOAL_EKEY);
    in_event(shoal_put(r, local, n, NULL, &event), &event, __LINE__);
    in_event(shoal_get(local, r, n, NULL, &event), &event, __LINE__);
    const shoal_comp_t comp = {.initiator_ct = count_of};
    CHECK_EQ(shoal_ct_set(me, count_of, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    CHECK_EQ(shoal_put(r, local, n, &comp, NULL), SHOAL_EKEY);
    VALUE_IS(count_of, 0, !is_here);
}

static void refuse_words(shoal_rptr_t r)
{
    uint64_t one = 1, old = 77;
    CHECK_EQ(shoal_atomic(r, SHOAL_SUM, SHOAL_UINT64, &one, NULL, NULL, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_atomic(r, SHOAL_NOOP, SHOAL_UINT64, NULL, NULL, &old, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(old, 77);
}

// The data comes and the signal cannot.
static void refuse_signal(shoal_rptr_t r)
{
    const shoal_comp_t comp = {
        .initiator_ct = count_of, .signal = &r, .signal_value = 1, .signal_op = SHMEM_SIGNAL_SET};
    uint64_t one = 1;
    CHECK_EQ(shoal_ct_set(me, count_of, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    CHECK_EQ(shoal_put(symmetric(&word, right_pe()), &one, sizeof one, &comp, NULL), SHOAL_EKEY);
    VALUE_IS(count_of, 0, !is_here);
}

// From another node, at once.
static void refuse_private(void)
{
    CHECK_EQ(shoal_rptr_private(memory, &own), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&other, &own, sizeof other, right_pe());
    if (!is_here) {
        CHECK_EQ(shoal_put(other, local, FEW, NULL, NULL), SHOAL_EKEY);
        CHECK_EQ(shoal_get(local, other, SIZE, NULL, NULL), SHOAL_EKEY);
        CHECK(shoal_direct(other, 1) == NULL);
    }
}

int main(void)
{
    shoal_region_t region;
    shoal_rptr_t r = {0}, again = {0};
    check_start();
    is_here = shmem_ptr(&word, right_pe()) != NULL;
    memory = must_alloc(SIZE);
    local = must_alloc(SIZE);
    memset(memory, 1, SIZE);
    memset(local, 2, SIZE);
    count_of = must_ct(SHMEM_TEAM_WORLD);
    CHECK_EQ(shoal_region_register(memory, SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &mine), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &mine, sizeof theirs, right_pe());
    CHECK_EQ(shoal_rptr(&theirs, 0, &r), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    shmem_barrier_all();
    refuse_private();
    int status = shoal_rptr(&theirs, 0, &again);
    CHECK_EQ(status, is_here ? SHOAL_EKEY : SHOAL_OK);
    for (int i = 0; i < 2; i++) {
        shoal_rptr_t used = i && status == SHOAL_OK ? again : r;
        refuse(used, FEW);
        refuse(used, SIZE - SIZE % FEW);
        refuse_words(used);
        refuse_signal(used);
    }
    shmem_barrier_all();
    CHECK_EACH(i, SIZE, memory[i], 1);
    CHECK_EACH(i, SIZE, local[i], 2);
    free(memory);
    free(local);
    return check_done();
}
