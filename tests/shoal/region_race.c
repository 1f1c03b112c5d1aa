// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// ENV: SHOAL_CROSS_MEMORY=0
// Threads map, register and unmap memory, so that one registers at an address that another is just
// about to have unmapped: the region that is new is not taken for the one that is gone.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>
#include <sys/mman.h>

enum { THREADS = 4, ROUNDS = 400, SIZE = 1 << 16 };

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        shoal_region_t region;
        shoal_key_t key;
        shoal_rptr_t r;
        void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        CHECK_EQ(shoal_region_register(p, SIZE, &region), SHOAL_OK);
        sched_yield();
        CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
        CHECK_EQ(shoal_rptr(&key, 0, &r), SHOAL_OK);
        if (i % 2) // else it is gone first
            CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
        CHECK_EQ(munmap(p, SIZE), 0);
        if (i % 2 == 0)
            CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    }
    return unused;
}

int main(void)
{
    pthread_t thread[THREADS];
    check_start_threads();
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    shmem_barrier_all();
    return check_done();
}
