// SPDX-License-Identifier: BSD-3-Clause
// A long random sequence of allocations, resizings and frees, the same on all PEs: blocks never
// overlap, keep their contents, and lie at the same place on every PE; nothing is lost over time.
#include "../check.h"

enum { BLOCKS = 120, STEPS = 1500 };

static struct {
    unsigned char *p;
    size_t n;
    unsigned seed;
} blocks[BLOCKS];

static size_t some_size(uint64_t *seed)
{
    static const size_t most[] = {16, 64, 300, 5000, 60000};
    return 1 + rnd_below(seed, most[rnd_below(seed, 5)]);
}

static void expect_contents(int i, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (blocks[i].p[k] != fill_byte(blocks[i].seed, k)) {
            CHECK_EQ(blocks[i].p[k], fill_byte(blocks[i].seed, k));
            return;
        }
}

static void allocate(int i, uint64_t *seed, int step)
{
    size_t n = some_size(seed), align = (size_t)8 << rnd_below(seed, 8);
    unsigned char *p;
    switch (rnd_below(seed, 4)) {
    case 0:
        p = shmem_calloc(n, 1);
        for (size_t k = 0; p != NULL && k < n; k++)
            if (!CHECK_EQ(p[k], 0))
                break;
        break;
    case 1:
        p = shmem_align(align, n);
        CHECK_EQ((uintptr_t)p % align, 0);
        break;
    case 2: p = shmem_malloc_with_hints(n, SHMEM_MALLOC_SIGNAL_REMOTE); break;
    default: p = shmem_malloc(n);
    }
    if (!CHECK(p != NULL))
        return;
    blocks[i].p = p;
    blocks[i].n = n;
    blocks[i].seed = (unsigned)(step * 64 + me);
    fill(p, n, blocks[i].seed);
}

static void resize(int i, uint64_t *seed, int step)
{
    size_t n = some_size(seed), kept = n < blocks[i].n ? n : blocks[i].n;
    unsigned char *p = shmem_realloc(blocks[i].p, n);
    if (!CHECK(p != NULL))
        return;
    blocks[i].p = p;
    expect_contents(i, kept);
    blocks[i].n = n;
    blocks[i].seed = (unsigned)(step * 64 + me);
    fill(p, n, blocks[i].seed);
}

static void release(int i)
{
    expect_contents(i, blocks[i].n);
    shmem_free(blocks[i].p);
    blocks[i].p = NULL;
}

static void sequence(const unsigned char *base)
{
    static uint64_t places, highest, lowest;
    uint64_t seed = 42;
    for (int step = 0; step < STEPS; step++) {
        int i = (int)rnd_below(&seed, BLOCKS);
        if (blocks[i].p == NULL)
            allocate(i, &seed, step);
        else if (rnd_below(&seed, 3) == 0)
            resize(i, &seed, step);
        else
            release(i);
        if (blocks[i].p != NULL)
            places = places * 31 + (uint64_t)(blocks[i].p - base);
    }
    CHECK_EQ(shmem_uint64_max_reduce(SHMEM_TEAM_WORLD, &highest, &places, 1), 0);
    CHECK_EQ(shmem_uint64_min_reduce(SHMEM_TEAM_WORLD, &lowest, &places, 1), 0);
    CHECK(highest == lowest);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].p != NULL)
            release(i);
}

int main(void)
{
    check_start();
    unsigned char *base = must_shmalloc(64);
    for (int i = 0; i < 2; i++)
        sequence(base);
    for (int i = 0; i < 500; i++) { // many times more than the heap holds, never more than 10 MB
        void *p = shmem_malloc(10000000);
        if (!CHECK(p != NULL))
            break;
        shmem_free(p);
    }
    shmem_free(base);
    return check_done();
}
