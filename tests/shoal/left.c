// SPDX-License-Identifier: BSD-3-Clause
// PE 1 ends, without shoal_finalize, and leaves keys of its private memory and works with operands
// there: who uses them is told, and waits for nobody.
// PES: 2
// NODES: 1
// TIMEOUT: 30
#include "counters.h"

#include <time.h>

enum { WORKS = 400, LEFT_MS = 10000 }; // more than an inbox has room for

static shoal_key_t key; // of PE 1
static long ready, put_there[WORKS];

static void leave(shoal_ct_t start, shoal_ct_t done)
{
    long *mine = must_alloc(sizeof *mine);
    shoal_region_t region;
    *mine = 7;
    CHECK_EQ(shoal_region_register(mine, sizeof *mine, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_putmem(&key, &key, sizeof key, 0);
    for (int i = 0; i < WORKS; i++) {
        shoal_work_t work = {.kind = SHOAL_WORK_PUT, .local = mine, .n = sizeof *mine};
        CHECK_EQ(shoal_rptr_symmetric(&put_there[i], 0, &work.remote), SHOAL_OK);
        CHECK_EQ(shoal_trigger(&work, start, 1, done, NULL), SHOAL_OK);
    }
    shmem_fence();
    shmem_long_p(&ready, 1, 0);
    shmem_quiet();
    exit(check_failures > 0);
}

static void wait_until_gone(void)
{
    uint64_t status = SHOAL_PE_RUNNING;
    shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
    for (int ms = 0; ms < LEFT_MS && status != SHOAL_PE_GONE; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CHECK_EQ(shoal_query(SHOAL_Q_STATUS, 1, &status), SHOAL_OK);
    }
    CHECK_EQ(status, SHOAL_PE_GONE);
}

int main(void)
{
    check_start();
    shoal_init();
    shoal_ct_t start = must_ct(SHMEM_TEAM_WORLD), done = must_ct(SHMEM_TEAM_WORLD);
    if (me == 1)
        leave(start, done);
    wait_until_gone();
    shoal_rptr_t theirs;
    long value = 1;
    CHECK_EQ(shoal_rptr(&key, 0, &theirs), SHOAL_OK);
    int status = SHOAL_OK;
    for (int ms = 0; ms < LEFT_MS && status == SHOAL_OK;
         ms++) { // its process may end a while later
        status = shoal_get(&value, theirs, sizeof value, NULL, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    CHECK_EQ(status, SHOAL_EFAULT);
    CHECK_EQ(shoal_put(theirs, &value, sizeof value, NULL, NULL), SHOAL_EFAULT);
    count(1, start, 1, 0);
    CHECK_EQ(put_there[0], 0);
    CHECK_EQ(put_there[WORKS - 1], 0);
    exit(check_failures > 0); // the other one does not finalize
}
