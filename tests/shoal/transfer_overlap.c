// SPDX-License-Identifier: BSD-3-Clause
// A PE's transfers to and from its own memory, where the two sides overlap: as if through a copy.
#include "../check.h"

#include <shoal.h>

enum { SIZE = 20000 };

static unsigned char before[SIZE], want[SIZE];

static void overlap(unsigned char *memory, shoal_rptr_t r, size_t to, size_t from, size_t n)
{
    const shoal_comp_t none = {0};
    for (int how = 0; how < 4; how++) {
        memcpy(memory, before, SIZE);
        memcpy(want, before, SIZE);
        memmove(want + to, want + from, n);
        const shoal_comp_t *comp = how / 2 ? &none : NULL;
        if (how % 2)
            CHECK_EQ(shoal_put(shoal_rptr_add(r, (ptrdiff_t)to), memory + from, n, comp, NULL),
                     SHOAL_OK);
        else
            CHECK_EQ(shoal_get(memory + to, shoal_rptr_add(r, (ptrdiff_t)from), n, comp, NULL),
                     SHOAL_OK);
        CHECK_MEM(memory, want, SIZE, "after an overlapping transfer");
    }
}

int main(void)
{
    check_start();
    uint64_t seed = (uint64_t)me;
    unsigned char *memory[] = {must_shmalloc(SIZE), must_alloc(SIZE)};
    fill(before, SIZE, (unsigned)me);
    for (int k = 0; k < 2; k++) {
        shoal_region_t region;
        shoal_key_t key;
        shoal_rptr_t r;
        CHECK_EQ(shoal_region_register(memory[k], SIZE, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
        CHECK_EQ(shoal_rptr(&key, 0, &r), SHOAL_OK);
        for (int i = 0; i < 1000; i++) {
            size_t n = rnd(&seed) % SIZE >> rnd_below(&seed, 15), shift = rnd_below(&seed, 70);
            size_t at = rnd_below(&seed, SIZE - n > 70 ? SIZE - n - 70 : 1);
            n = n > SIZE - 70 ? SIZE - 70 : n;
            overlap(memory[k], r, at, at + shift, n);
            overlap(memory[k], r, at + shift, at, n);
        }
    }
    free(memory[1]);
    return check_done();
}
