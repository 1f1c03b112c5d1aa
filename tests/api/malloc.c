// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap: malloc, calloc, align, realloc, malloc_with_hints, free; zero sizes,
// alignment, the same offset everywhere, use by others as soon as the call returns, contents kept.
#include "../check.h"

// Others can use the block at once: malloc is a barrier on its way out.
static void usable(char *p, size_t n)
{
    if (!CHECK(p != NULL))
        return;
    CHECK_EQ((uintptr_t)p % _Alignof(max_align_t), 0);
    char first = (char)(me + 1), last = (char)(me + 2);
    shmem_putmem(p, &first, 1, right_pe());
    if (n > 1)
        shmem_putmem(p + n - 1, &last, 1, right_pe());
    shmem_barrier_all();
    CHECK_EQ(p[0], (char)(left_pe() + 1));
    CHECK_EQ(n > 1 ? p[n - 1] : 0, n > 1 ? (char)(left_pe() + 2) : 0);
    CHECK_EQ(shmem_addr_accessible(p, right_pe()), 1);
    CHECK_EQ(shmem_addr_accessible(p + n - 1, right_pe()), 1);
    shmem_barrier_all();
}

static void sizes(void)
{
    static const size_t some[] = {1, 2, 7, 8, 15, 16, 17, 100, 4095, 4096, 4097, 100000, 3000000};
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char *p = shmem_malloc(some[i]);
        usable(p, some[i]);
        char *q = shmem_malloc_with_hints(some[i], hints[i % 4]);
        usable(q, some[i]);
        CHECK(p + some[i] <= q || q + some[i] <= p);
        shmem_free(p);
        shmem_free(q);
    }
}

static void nothing(void)
{
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_SIGNAL_REMOTE) == NULL);
    void *unknown = shmem_malloc_with_hints(100, 1L << 20); // a hint, so it harms nothing
    CHECK(unknown != NULL);
    shmem_free(unknown);
    CHECK(shmem_calloc(0, 8) == NULL);
    CHECK(shmem_calloc(8, 0) == NULL);
    CHECK(shmem_align(64, 0) == NULL);
    CHECK(shmem_realloc(NULL, 0) == NULL);
    shmem_free(NULL);
}

static void zeroed(void)
{
    char *dirty = must_shmalloc(50000);
    memset(dirty, 0xAB, 50000);
    shmem_free(dirty);
    char *p = shmem_calloc(5000, 10), *q = shmem_calloc(1, 3);
    if (!CHECK(p != NULL && q != NULL))
        return;
    CHECK_EACH(i, 50000, p[i], 0);
    CHECK(q[0] == 0 && q[1] == 0 && q[2] == 0);
    shmem_barrier_all();
    usable(p, 50000);
    shmem_free(p);
    shmem_free(q);
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL); // the product overflows
    CHECK(shmem_calloc(4, SIZE_MAX / 2) == NULL);
}

static void aligned(void)
{
    char *odd = must_shmalloc(3);
    for (size_t a = sizeof(void *); a <= 1 << 16; a *= 2) {
        char *p = shmem_align(a, 100 + a / 3);
        if (!CHECK(p != NULL))
            continue;
        CHECK_EQ((uintptr_t)p % a, 0);
        memset(p, 1, 100 + a / 3);
        shmem_barrier_all();
        shmem_free(p);
    }
    char *page = shmem_align(4096, 4096), *after = must_shmalloc(8);
    usable(page, 4096);
    shmem_free(after);
    shmem_free(page);
    shmem_free(odd);
}

// Growing and shrinking keep what fits in both sizes, also for what others put there.
static void resized(void)
{
    static const size_t steps[] = {10, 100, 100, 5000, 200000, 1500000, 70000, 300, 17, 1, 4096};
    enum { MOST = 1500000 };
    unsigned char *model = must_alloc(MOST), *p = shmem_realloc(NULL, 4),
                  *fence = must_shmalloc(64);
    if (!CHECK(p != NULL))
        return;
    size_t have = 4;
    fill(model, MOST, (unsigned)left_pe());
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        unsigned char *mine = must_alloc(have);
        fill(mine, have, (unsigned)me);
        shmem_putmem_nbi(p, mine, have, right_pe()); // realloc is a barrier on its way in
        p = shmem_realloc(p, steps[i]);
        if (!CHECK(p != NULL))
            break;
        free(mine);
        CHECK_MEM(p, model, have < steps[i] ? have : steps[i], "contents after realloc");
        have = steps[i];
        shmem_barrier_all();
        usable((char *)p, have);
    }
    CHECK(shmem_realloc(p, 0) == NULL); // frees
    // Nothing to be had: NULL, and the block is as it was.
    p = must_shmalloc(1000);
    fill(p, 1000, (unsigned)left_pe());
    CHECK(shmem_realloc(p, SIZE_MAX / 4) == NULL);
    CHECK_MEM(p, model, 1000, "contents after a failed realloc");
    shmem_barrier_all();
    usable((char *)p, 1000);
    shmem_free(p);
    shmem_free(fence);
    free(model);
}

// Two blocks are as far apart on every PE.
static void same_place(void)
{
    static size_t distance;
    char *a = must_shmalloc(5000), *b = must_shmalloc(77);
    distance = (size_t)b - (size_t)a;
    shmem_barrier_all();
    CHECK_EQ(shmem_size_g(&distance, right_pe()), distance);
    shmem_free(a);
    shmem_free(b);
}

int main(void)
{
    check_start();
    nothing();
    sizes();
    zeroed();
    aligned();
    resized();
    same_place();
    return check_done();
}
