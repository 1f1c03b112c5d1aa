// SPDX-License-Identifier: BSD-3-Clause
// Messages that puts from another node bring to a PE that is not in the library, more than its inbox
// holds: what else comes for it, the private memory that others read among it, does not wait for them;
// and all are there when it comes.
// PES: 2
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>
#include <unistd.h>

enum { COME = 1, MANY = 2000 };

static uint64_t word, is_read; // symmetric
static shoal_key_t key;        // of private memory of PE 0
static uint64_t come, sum;

static void on_come(const shoal_am_t *am)
{
    come++;
    sum += am->arg;
}

static void put_and_get(void)
{
    uint64_t one = 1, got = 0;
    shoal_rptr_t to, private;
    CHECK_EQ(shoal_rptr_symmetric(&word, 0, &to), SHOAL_OK);
    CHECK_EQ(shoal_rptr(&key, 0, &private), SHOAL_OK);
    for (uint64_t k = 1; k <= MANY; k++)
        CHECK_EQ(shoal_put(to, &one, sizeof one, &(shoal_comp_t){.am_id = COME, .am_arg = k}, NULL),
                 SHOAL_OK);
    CHECK_EQ(shoal_get(&got, private, sizeof got, NULL, NULL), SHOAL_OK);
    CHECK_EQ(got, 4711);
    shmem_uint64_p(&is_read, 1, 0);
    shmem_quiet();
}

int main(void)
{
    uint64_t *own = malloc(sizeof *own);
    shoal_region_t region = NULL;
    check_skip_under_tsan();
    check_start();
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_am_register(COME, on_come, NULL), SHOAL_OK);
    *own = 4711;
    if (me == 0) {
        CHECK_EQ(shoal_region_register(own, sizeof *own, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
        shmem_putmem(&key, &key, sizeof key, npes - 1);
    }
    shmem_barrier_all();
    if (me == npes - 1) // of the other node
        put_and_get();
    while (me == 0 && !*(volatile uint64_t *)&is_read) // outside the library
        usleep(1000);
    while (me == 0 && come < MANY)
        CHECK(shoal_progress() >= 0);
    CHECK(me || sum == (uint64_t)MANY * (MANY + 1) / 2);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(own);
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    return check_done();
}
