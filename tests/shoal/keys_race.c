// SPDX-License-Identifier: BSD-3-Clause
// A PE registers and deregisters in a hurry while others use its keys: each transfer sees the memory
// its key was made for, or is refused.
#include "../check.h"

#include <shoal.h>

enum { BUFFERS = 3, KEYS = 300 * 2 * BUFFERS, SIZE = 256, USES = 3000 };

static struct {
    shoal_key_t key[KEYS];
    uint64_t published, used;
    unsigned char own[BUFFERS][SIZE]; // those in shared memory
} owner;
static unsigned char *private[BUFFERS];

static unsigned char tag(int key)
{
    return (unsigned char)(key % (2 * BUFFERS) + 1);
}

// Key k is of buffer k % 6, which holds nothing but its number.
static unsigned char *buffer(int key)
{
    int b = key % (2 * BUFFERS);
    return b < BUFFERS ? owner.own[b] : private[b - BUFFERS];
}

// Until everybody has used enough of them.
static void own(void)
{
    shoal_region_t last = NULL;
    for (int k = 0; shmem_uint64_atomic_fetch(&owner.used, 0) < (uint64_t)(npes - 1) * USES; k++) {
        shoal_region_t region;
        CHECK_EQ(shoal_region_register(buffer(k), SIZE, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &owner.key[k % KEYS]), SHOAL_OK);
        shmem_uint64_atomic_set(&owner.published, (uint64_t)k + 1, 0);
        if (last)
            CHECK_EQ(shoal_region_deregister(last), SHOAL_OK);
        last = region;
        if (k % 16 == 0)
            shoal_progress();
    }
}

// Uses the key three times; a refused one must have been made for something that is gone.
static void use(uint64_t k)
{
    shoal_key_t key;
    shoal_rptr_t r;
    unsigned char got[SIZE];
    shmem_getmem(&key, &owner.key[k % KEYS], sizeof key, 0);
    int status = shoal_rptr(&key, 0, &r);
    for (int i = 0; i < 3 && status == SHOAL_OK; i++) {
        memset(got, 0, sizeof got);
        status = shoal_get(got, r, sizeof got, NULL, NULL);
        if (status == SHOAL_OK)
            CHECK_EACH(b, SIZE, got[b], tag((int)(k % KEYS)));
    }
    CHECK(status == SHOAL_OK || status == SHOAL_EKEY);
    shmem_uint64_atomic_inc(&owner.used, 0);
}

int main(void)
{
    check_start();
    for (int b = 0; b < BUFFERS; b++)
    private[b] = must_alloc(SIZE);
    for (int k = 0; k < 2 * BUFFERS; k++)
        memset(buffer(k), tag(k), SIZE);
    shmem_barrier_all();
    if (me == 0)
        own();
    uint64_t seed = (uint64_t)me;
    for (int i = 0; me != 0 && i < USES; i++) {
        uint64_t upto;
        while ((upto = shmem_uint64_atomic_fetch(&owner.published, 0)) == 0)
            shoal_progress();
        use(upto - 1 - rnd_below(&seed, upto < 3 ? 1 : 3));
    }
    shmem_barrier_all();
    return check_done();
}
