// SPDX-License-Identifier: BSD-3-Clause
// One thread starts collectives on a team, more than may be under way at once, and others wait for
// them: an event belongs to no thread.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { WAITERS = 3, COUNT = 150, N = 20 };

typedef struct {
    shoal_event_t event;
    int64_t src[N], dst[N];
    _Atomic bool is_started;
} job;

static job jobs[COUNT]; // symmetric

static void *wait_for_some(void *arg)
{
    for (size_t k = (uintptr_t)arg; k < COUNT; k += WAITERS) {
        shoal_event_t *events[] = {&jobs[k].event};
        while (!jobs[k].is_started)
            sched_yield();
        CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
        CHECK_EQ(jobs[k].event.status, SHOAL_OK);
        CHECK_EACH(i, N, jobs[k].dst[i], npes * (npes - 1) / 2 + npes * ((int)i + 10 * (int)k));
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[WAITERS];
    check_start_threads();
    for (uintptr_t t = 0; t < WAITERS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, wait_for_some, (void *)t), 0);
    for (int k = 0; k < COUNT; k++) {
        job *j = &jobs[k];
        for (int i = 0; i < N; i++)
            j->src[i] = me + i + 10 * k;
        shoal_coll_t c = {.kind = SHOAL_COLL_ALLREDUCE,
                          .dst = j->dst,
                          .src = j->src,
                          .count = N,
                          .type = SHOAL_INT64,
                          .op = SHOAL_SUM};
        CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, &j->event), SHOAL_OK);
        j->is_started = true;
    }
    for (int t = 0; t < WAITERS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
    return check_done();
}
