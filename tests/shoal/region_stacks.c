// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// ENV: SHOAL_CROSS_MEMORY=0
// TIMEOUT: 20
// Regions on the stacks of threads, which the system keeps after their end and unmaps at some later
// one: also at that of the library's own threads, where nobody is left to hear of it.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 8, SIZE = 1 << 16 };

static pthread_barrier_t all_there;

static void *work(void *unused)
{
    char on_stack[SIZE];
    shoal_region_t region;
    shoal_key_t key;
    CHECK_EQ(shoal_region_register(on_stack, SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    pthread_barrier_wait(&all_there); // so each has a stack of its own
    return unused;
}

int main(void)
{
    pthread_t thread[THREADS];
    check_start_threads();
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    shmem_barrier_all();
    return check_done();
}
