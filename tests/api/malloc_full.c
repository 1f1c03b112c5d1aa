// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHMEM_SYMMETRIC_SIZE=2M
// A full heap: every call that allocates returns NULL, on every PE, what is allocated stays
// intact, and after freeing all of it there is as much room as in the beginning.
#include "../check.h"

enum { BLOCK = 16384, MOST = 4096 };

static unsigned char *blocks[MOST];

// Everybody has the same answer.
static bool agreed(bool yes)
{
    static int mine, sum;
    mine = yes;
    CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1), 0);
    CHECK(sum == 0 || sum == npes);
    return sum != 0;
}

static int fill_up(size_t size, int from)
{
    int n = from;
    while (n < MOST) {
        blocks[n] = shmem_malloc(size);
        if (!agreed(blocks[n] != NULL))
            break;
        fill(blocks[n], size, (unsigned)(n * 7 + me));
        n++;
    }
    return n;
}

static void nothing_left(void)
{
    CHECK(shmem_malloc(BLOCK) == NULL);
    CHECK(shmem_calloc(BLOCK, 1) == NULL);
    CHECK(shmem_align(4096, BLOCK) == NULL);
    CHECK(shmem_malloc_with_hints(BLOCK, 0) == NULL);
    CHECK(shmem_realloc(NULL, BLOCK) == NULL);
    CHECK(shmem_realloc(blocks[0], 20 * BLOCK) == NULL);
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    CHECK(shmem_malloc(SIZE_MAX - 100) == NULL);
    CHECK(shmem_align((size_t)1 << 40, 1) == NULL);
}

int main(void)
{
    check_start();
    CHECK(shmem_malloc((size_t)1 << 50) == NULL);
    unsigned char *model = must_alloc(BLOCK);
    for (int round = 0; round < 3; round++) {
        int n = fill_up(BLOCK, 0);
        CHECK(n >= 115 && n < MOST); // 2 MB hold 128 of them; some room may go to bookkeeping
        nothing_left();
        for (int i = 0; i < n; i++) {
            fill(model, BLOCK, (unsigned)(i * 7 + me));
            CHECK_MEM(blocks[i], model, BLOCK, "blocks of a full heap");
        }
        // Every second one goes, and the holes are filled again, with smaller ones too.
        for (int i = 0; i < n; i += 2)
            shmem_free(blocks[i]);
        for (int i = 0; i < n; i += 2) {
            blocks[i] = shmem_malloc(round == 1 ? BLOCK / 2 : BLOCK);
            CHECK(blocks[i] != NULL);
        }
        uint64_t seed = (uint64_t)round;
        for (int left = n; left > 0; left--) { // freed in any order
            int i = (int)rnd_below(&seed, (size_t)left);
            shmem_free(blocks[i]);
            blocks[i] = blocks[left - 1];
        }
        void *all = shmem_malloc((size_t)115 * BLOCK);
        CHECK(all != NULL);
        shmem_free(all);
    }
    free(model);
    return check_done();
}
