// SPDX-License-Identifier: BSD-3-Clause
// Triggered puts between private memories, for which PEs need each other's help, are under way when the
// last PE comes to shmem_finalize: nobody waits for the help of one that is past it.
// PES: 3
// NODES: 1
// ENV: SHOAL_CROSS_MEMORY=0
// TIMEOUT: 60
#include "counters.h"

#include <time.h>

enum { WORKS = 200, BYTES = 30000, LIVES = 4 };

static shoal_key_t key; // of PE 1

static void offer(char *mine)
{
    shoal_region_t region;
    CHECK_EQ(shoal_region_register(mine, BYTES, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_putmem(&key, &key, sizeof key, 0);
}

static void begin(char *mine)
{
    shoal_ct_t start = must_ct(SHMEM_TEAM_INVALID);
    shoal_work_t work = {.kind = SHOAL_WORK_PUT, .local = mine, .n = BYTES};
    CHECK_EQ(shoal_rptr(&key, 0, &work.remote), SHOAL_OK);
    for (int i = 0; i < WORKS; i++)
        CHECK_EQ(shoal_trigger(&work, start, 1, SHOAL_CT_NONE, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_inc(0, start, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

int main(void)
{
    char *mine = calloc(1, BYTES);
    for (int life = 0; life < LIVES; life++) {
        check_start();
        if (me == 1)
            offer(mine);
        shmem_barrier_all();
        if (me == 0)
            begin(mine);
        if (me == 2)
            nanosleep(&(struct timespec){.tv_nsec = 200000 << life}, NULL);
        shmem_finalize();
    }
    free(mine);
    return check_done();
}
