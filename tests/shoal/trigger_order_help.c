// SPDX-License-Identifier: BSD-3-Clause
// Works of one threshold, of which the first needs the help of the PE whose private memory it goes to:
// those behind it come later all the same. PE 0's put long data there and then say so.
// PES: 2 4
// ENV: SHOAL_CROSS_MEMORY=0
#include "counters.h"

enum { ROUNDS = 50, LONG = 1 << 16 };

static shoal_key_t keys[2]; // keys[1]: of PE 1's block
static long told;

static void send(unsigned char *data, int round, shoal_ct_t start, shoal_ct_t done)
{
    static long number;
    uint64_t both = 2 * (uint64_t)round;
    memset(data, round, LONG);
    number = round;
    shoal_work_t put = {.kind = SHOAL_WORK_PUT, .local = data, .n = LONG};
    shoal_work_t tell = {.kind = SHOAL_WORK_PUT, .local = &number, .n = sizeof number};
    CHECK_EQ(shoal_rptr(&keys[1], 0, &put.remote), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&told, 1, &tell.remote), SHOAL_OK);
    CHECK_EQ(shoal_trigger(&put, start, (uint64_t)round, done, NULL), SHOAL_OK);
    CHECK_EQ(shoal_trigger(&tell, start, (uint64_t)round, done, NULL), SHOAL_OK);
    count(0, start, 1, 0);
    CHECK_EQ(shoal_ct_wait(1, &done, &both, NULL), SHOAL_OK);
}

int main(void)
{
    check_start();
    shoal_init();
    shoal_ct_t start = must_ct(SHMEM_TEAM_INVALID), done = must_ct(SHMEM_TEAM_INVALID);
    unsigned char *block = must_alloc(LONG), *data = shoal_alloc(LONG);
    shoal_region_t region;
    CHECK(data != NULL);
    CHECK_EQ(shoal_region_register(block, LONG, &region), SHOAL_OK);
    if (me == 1) {
        CHECK_EQ(shoal_region_key(region, &keys[1]), SHOAL_OK);
        shmem_putmem(&keys[1], &keys[1], sizeof keys[1], 0);
    }
    for (int round = 1; round <= ROUNDS; round++) {
        shmem_barrier_all();
        if (me == 0)
            send(data, round, start, done);
        if (me == 1) {
            shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
            CHECK_EQ(block[0], round);
            CHECK_EQ(block[LONG - 1], round);
        }
    }
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    shoal_free(data);
    free(block);
    shoal_finalize();
    return check_done();
}
