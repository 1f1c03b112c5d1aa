// SPDX-License-Identifier: BSD-3-Clause
// PEs: all but PE 0 wait, long enough to sleep, in every call that waits; the handlers of the
// messages that PE 0 sends them run all the same, for PE 0 goes on only when they have.
#include "../check.h"

#include <shoal.h>
#include <time.h>

enum { HIT = 1, FREE_THEM };

static shoal_ct_t hits, gate;
static uint64_t word, freed;

static void on_hit(const shoal_am_t *am)
{
    CHECK_EQ(shoal_am_reply(am, FREE_THEM, 0, NULL, 0), SHOAL_OK);
    CHECK_EQ(shoal_ct_inc(0, hits, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void on_free(const shoal_am_t *am)
{
    CHECK_EQ(am->is_reply, 1);
    freed++;
}

// The tenth message lets go whoever waits for this PE's word.
static void on_word(const shoal_am_t *am)
{
    on_hit(am);
    word += am->arg;
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

// PE 0: lets the others fall asleep by calling nothing of ours for a while, then sends.
static void wake_all(int id, uint64_t arg)
{
    static uint64_t expected;
    for (volatile int i = 0; i < 20 * 1000 * 1000; i++)
        ;
    for (int pe = 1; pe < npes; pe++)
        CHECK_EQ(shoal_am_request(pe, id, arg, NULL, 0), SHOAL_OK);
    expected += (uint64_t)npes - 1;
    CHECK_EQ(shoal_ct_wait(1, &hits, &expected, &(size_t){0}), SHOAL_OK);
    while (freed < expected)
        look();
}

static void in_barrier(void)
{
    if (me == 0)
        wake_all(HIT, 0);
    shmem_barrier_all();
}

static void in_collective(void)
{
    static long one = 1, sum;
    if (me == 0)
        wake_all(HIT, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    CHECK_EQ(sum, npes);
}

static void in_wait_until(void)
{
    if (me == 0)
        wake_all(HIT + 2, 5);
    else
        shmem_wait_until(&word, SHMEM_CMP_EQ, UINT64_C(5));
    shmem_barrier_all();
    word = 0;
}

static void in_lock(void)
{
    static long lock;
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 0)
        wake_all(HIT, 0);
    else
        shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

static void in_ct_wait(void)
{
    if (me == 0) {
        wake_all(HIT, 0);
        for (int pe = 1; pe < npes; pe++)
            CHECK_EQ(shoal_ct_inc(pe, gate, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    } else {
        CHECK_EQ(shoal_ct_wait(1, &gate, &(uint64_t){1}, &(size_t){0}), SHOAL_OK);
    }
    shmem_barrier_all();
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Who waits for long sleeps: it takes no core. (Between nodes it looks at the network.)
static void costs_nothing(void)
{
    enum { MS = 200 };
    uint64_t is_here = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, 0, &is_here), SHOAL_OK);
    shmem_barrier_all();
    double start = cpu_seconds();
    if (me == 0) {
        nanosleep(&(struct timespec){.tv_nsec = MS * 1000000L}, NULL);
        for (int pe = 1; pe < npes; pe++)
            CHECK_EQ(shoal_ct_inc(pe, gate, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    } else {
        CHECK_EQ(shoal_ct_wait(1, &gate, &(uint64_t){2}, &(size_t){0}), SHOAL_OK);
        CHECK(cpu_seconds() - start < MS * 1e-3 / 2 || !is_here);
    }
    shmem_barrier_all();
}

static void in_shoal_wait(void)
{
    const shoal_coll_t barrier = {.kind = SHOAL_COLL_BARRIER};
    shoal_event_t event = {0}, *list[] = {&event};
    if (me == 0)
        wake_all(HIT, 0);
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &barrier, &event), SHOAL_OK);
    CHECK_EQ(shoal_wait(1, list, 1, NULL, NULL), SHOAL_OK);
    if (me == 0)
        wake_all(HIT, 0);
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &barrier, NULL), SHOAL_OK);
}

// The last thing the others do is to wait for PE 0 in the library's end.
static void in_finalize(void)
{
    if (me == 0)
        wake_all(HIT, 0);
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &hits), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &gate), SHOAL_OK);
    CHECK_EQ(shoal_am_register(HIT, on_hit, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(FREE_THEM, on_free, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(HIT + 2, on_word, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) {
        in_barrier();
        in_collective();
        in_wait_until();
        in_lock();
    }
    in_ct_wait();
    costs_nothing();
    in_shoal_wait();
    in_finalize();
    return check_done();
}
