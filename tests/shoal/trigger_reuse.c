// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// A work that was run is armed again, on another counter, while the thread that ran it still runs the next
// of the first counter: another thread of that PE runs it then, and both are ordered by the owner alone.
#include "counters.h"

#include <pthread.h>

enum { ROUNDS = 20, THREADS = 2 };
enum { LONG = 8 << 20 };

static uint64_t word[THREADS], told[THREADS]; // symmetric; told: the round to count
static shoal_ct_t gate[THREADS], done, long_done;

static void *count_when_told(void *arg)
{
    uintptr_t t = (uintptr_t)arg;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        shmem_uint64_wait_until(&told[t], SHMEM_CMP_GE, round);
        CHECK_EQ(shoal_ct_inc(1, gate[t], (shoal_ct_value_t){1, 0}), SHOAL_OK);
    }
    return NULL;
}

static void arm(uintptr_t t, uint64_t round, void *to, void *from, size_t n, shoal_ct_t done_ct)
{
    shoal_work_t work = {.kind = SHOAL_WORK_PUT, .local = from, .n = n};
    CHECK_EQ(shoal_rptr_symmetric(to, 0, &work.remote), SHOAL_OK);
    CHECK_EQ(shoal_trigger(&work, gate[t], round, done_ct, NULL), SHOAL_OK);
}

static void release(uintptr_t t, uint64_t round)
{
    shmem_uint64_p(&told[t], round, 0);
}

static void wait_for(shoal_ct_t ct, uint64_t least)
{
    CHECK_EQ(shoal_ct_wait(1, &ct, &least, NULL), SHOAL_OK);
}

static void own(void *to, void *from)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t value[THREADS] = {round, round + 100};
        arm(0, round, &word[0], &value[0], sizeof value[0], done);
        arm(0, round, to, from, LONG, long_done);
        release(0, round);
        wait_for(done, 2 * round - 1); // thread 0 copies much now
        arm(1, round, &word[1], &value[1], sizeof value[1], done);
        release(1, round);
        wait_for(done, 2 * round);
        wait_for(long_done, round);
    }
}

int main(void)
{
    pthread_t thread[THREADS];
    check_start_threads();
    void *to = shmem_malloc(LONG), *from = shmem_malloc(LONG);
    for (int t = 0; t < THREADS; t++)
        gate[t] = must_ct(SHMEM_TEAM_WORLD);
    done = must_ct(SHMEM_TEAM_WORLD);
    long_done = must_ct(SHMEM_TEAM_WORLD);
    shmem_barrier_all();
    for (uintptr_t t = 0; me == 0 && t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, count_when_told, (void *)t), 0);
    if (me == 1)
        own(to, from);
    for (int t = 0; me == 0 && t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK(word[0] == ROUNDS && word[1] == ROUNDS + 100);
    shmem_free(from);
    shmem_free(to);
    return check_done();
}
