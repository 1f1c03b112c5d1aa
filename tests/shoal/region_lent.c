// SPDX-License-Identifier: BSD-3-Clause
// Pointers of shoal_rptr_lent: the neighbour gets and puts by them what is there then, whatever its node, whether
// the region is of the same bytes as the one before, or another one in that one's entry.
#include "../check.h"

#include <shoal.h>

enum { SIZE = 100000, LONG = 70000, SHORT = 24, TIMES = 12 };

static shoal_rptr_t mine, theirs;
static unsigned char *local, *want;

static void exchange(shoal_region_t region, size_t offset)
{
    CHECK_EQ(shoal_rptr_lent(region, offset, &mine), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &mine, sizeof theirs, (me + 1) % npes);
}

// What lies there is of `seed`, until the second half of it is put.
static void use(size_t offset, size_t n, unsigned seed)
{
    shoal_rptr_t at = shoal_rptr_add(theirs, (ptrdiff_t)offset);
    shoal_event_t done = {0}, *event[] = {&done};
    fill(want, SIZE, seed);
    memset(local, 0, SIZE);
    CHECK_EQ(shoal_get(local, at, n, NULL, NULL), SHOAL_OK);
    CHECK_MEM(local, want + offset, n, "bytes got");
    fill(want, SIZE, seed + 1);
    CHECK_EQ(shoal_put(shoal_rptr_add(at, (ptrdiff_t)(n / 2)), want + offset + n / 2, n / 2, NULL,
                       &done),
             SHOAL_OK);
    CHECK_EQ(shoal_wait(1, event, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet((me + 1) % npes), SHOAL_OK);
}

static void check_put(const unsigned char *memory, size_t offset, size_t n, unsigned seed)
{
    fill(want, SIZE, seed);
    CHECK_MEM(memory, want, offset + n / 2, "bytes before what was put");
    CHECK_MEM(memory + offset + n / 2 * 2, want + offset + n / 2 * 2, SIZE - offset - n / 2 * 2,
              "bytes after it");
    fill(want, SIZE, seed + 1);
    CHECK_MEM(memory + offset + n / 2, want + offset + n / 2, n / 2, "bytes put");
}

static void refuse_beyond(void)
{
    CHECK_EQ(shoal_get(local, shoal_rptr_add(theirs, SIZE - LONG + 1), LONG, NULL, NULL),
             SHOAL_ERANGE);
    CHECK_EQ(shoal_put(shoal_rptr_add(theirs, SIZE), local, SHORT, NULL, NULL), SHOAL_ERANGE);
    CHECK_EQ(shoal_get(local, shoal_rptr_add(theirs, -1), LONG, NULL, NULL), SHOAL_ERANGE);
}

// The first and third of three regions are of the same bytes.
static void take_turns(void)
{
    unsigned char *memory[2] = {malloc(SIZE), malloc(SIZE)};
    CHECK(memory[0] && memory[1]);
    for (unsigned i = 0; i < TIMES; i++) {
        shoal_region_t region;
        unsigned char *here = memory[i % 3 == 1];
        size_t offset = i % 2 ? 1000 + i : 0, n = i % 4 < 3 ? LONG : SHORT;
        unsigned seed = i * (unsigned)npes, owner = (unsigned)((me + 1) % npes);
        fill(here, SIZE, seed + (unsigned)me);
        CHECK_EQ(i % 5 ? shoal_region_lend(here, SIZE, &region)
                       : shoal_region_register(here, SIZE, &region),
                 SHOAL_OK);
        exchange(region, 0);
        use(offset, n, seed + owner);
        refuse_beyond();
        shmem_barrier_all();
        check_put(here, offset, n, seed + (unsigned)me);
        exchange(region, offset); // a pointer into it
        CHECK_EQ(shoal_get(local, theirs, n / 2, NULL, NULL), SHOAL_OK);
        fill(want, SIZE, seed + owner);
        CHECK_MEM(local, want + offset, n / 2, "bytes got by the second pointer");
        shmem_barrier_all();
        CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    }
    free(memory[0]);
    free(memory[1]);
}

static void refuse_all(void)
{
    shoal_region_t region;
    CHECK_EQ(shoal_region_lend(local, 0, &region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_lend(NULL, SIZE, &region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_lend(local, SIZE, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_lend(local, SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_rptr_lent(region, SIZE, &mine), SHOAL_OK);
    CHECK_EQ(shoal_rptr_lent(region, SIZE + 1, &mine), SHOAL_ERANGE);
    CHECK_EQ(shoal_rptr_lent(region, 0, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_lent(NULL, 0, &mine), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_lent(region, 0, &mine), SHOAL_OK);
    CHECK_EQ(shoal_get(want, mine, LONG, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    CHECK_EQ(shoal_get(want, mine, LONG, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_rptr_lent(region, 0, &mine), SHOAL_EINVAL);
}

int main(void)
{
    shoal_region_t region;
    CHECK_EQ(shoal_rptr_lent(NULL, 0, &mine), SHOAL_EINIT);
    CHECK_EQ(shoal_region_lend(&region, sizeof region, &region), SHOAL_EINIT);
    check_start();
    local = malloc(SIZE);
    want = malloc(SIZE);
    CHECK(local && want);
    take_turns();
    refuse_all();
    free(local);
    free(want);
    return check_done();
}
