// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Keys and remote pointers that are stale, forged or reach too far: always an error, nothing is
// followed and nothing moves.
#include "../check.h"

#include <shoal.h>
#include <stddef.h>

enum { SIZE = 4096, FUZZ = 100000, TABLE = 4096 * 2 };

static struct {
    shoal_key_t heap, private, stale, reused;
    shoal_rptr_t without; // a region
    uint64_t base;
} names, theirs;
static unsigned char *heap, *private, *gone;
static unsigned char local[SIZE];
static uint64_t seed = 12345;

static void name(unsigned char *base, shoal_region_t *region, shoal_key_t *key)
{
    CHECK_EQ(shoal_region_register(base, SIZE, region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(*region, key), SHOAL_OK);
}

// Every way to use a remote pointer that is expected to be refused.
static void refuse_here(int line, shoal_rptr_t r, size_t n, int error)
{
    const ptrdiff_t stride[] = {8};
    const size_t count[] = {n, 1};
    shoal_part_t part = {r, local, n};
    int got[] = {
        shoal_put(r, local, n, NULL, NULL),
        shoal_get(local, r, n, NULL, NULL),
        shoal_puts(r, stride, local, stride, count, 1, NULL, NULL),
        shoal_gets(local, stride, r, stride, count, 1, NULL, NULL),
        shoal_putv(&part, 1, NULL, NULL),
        shoal_getv(&part, 1, NULL, NULL),
        shoal_acc(r, stride, local, stride, count, 1, SHOAL_SET, SHOAL_INT8, NULL, NULL, NULL),
        shoal_am_request_long(1, 0, local, n, r),
        shoal_direct(r, n) ? SHOAL_OK : error,
    };
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
        if (!check_eq(__FILE__, line, "refuse", got[i], error, "the status"))
            fprintf(stderr, "    in call %zu of refuse\n", i);
}
#define REFUSE(r, n, error) refuse_here(__LINE__, r, n, error)

// The atomic's extent is its type's.
static void refuse_atomic(shoal_rptr_t r, int error)
{
    uint64_t one = 1, old = 77;
    CHECK_EQ(shoal_atomic(r, SHOAL_SET, SHOAL_UINT64, &one, NULL, &old, NULL, NULL), error);
    CHECK_EQ(shoal_atomic(r, SHOAL_NOOP, SHOAL_UINT64, NULL, NULL, &old, NULL, NULL), error);
    CHECK_EQ(old, 77);
}

static void unharmed(void)
{
    shmem_barrier_all();
    CHECK_EACH(i, SIZE, heap[i], 1);
    CHECK_EACH(i, SIZE, private[i], 2);
    CHECK_EACH(i, SIZE, gone[i], 3);
    CHECK_EACH(i, SIZE, local[i], 4);
    shmem_barrier_all();
}

// A remote pointer made while its region lived, and the key, after the region has gone and after
// its slot in the table has been used again many times.
static void stale(void)
{
    shoal_region_t region, again = NULL;
    shoal_rptr_t r, unused = {.offset = 5};
    name(gone, &region, &names.stale);
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof names, right_pe());
    CHECK_EQ(shoal_rptr(&theirs.stale, 8, &r), SHOAL_OK);
    CHECK_EQ(shoal_put(r, "\3", 1, NULL, NULL), SHOAL_OK);
    for (int round = 0; round < 2; round++) {
        shmem_barrier_all();
        if (round == 0)
            CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
        else
            for (int i = 0; i < TABLE; i++) {
                name(gone, &again, &names.reused);
                CHECK(memcmp(&names.reused, &names.stale, sizeof names.stale) != 0);
                if (i < TABLE - 1)
                    CHECK_EQ(shoal_region_deregister(again), SHOAL_OK);
            }
        shmem_barrier_all();
        CHECK_EQ(shoal_rptr(&theirs.stale, 0, &unused), SHOAL_EKEY);
        CHECK_EQ(shoal_rptr_va(&theirs.stale, theirs.base, &unused), SHOAL_EKEY);
        CHECK_EQ(unused.offset, 5);
        REFUSE(r, 8, SHOAL_EKEY);
        REFUSE(r, 0, SHOAL_EKEY);
        refuse_atomic(r, SHOAL_EKEY);
    }
    shmem_getmem(&theirs, &names, sizeof names, right_pe());
    CHECK_EQ(shoal_rptr(&theirs.reused, 8, &r), SHOAL_OK);
    CHECK_EQ(shoal_put(r, "\3", 1, NULL, NULL), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(again), SHOAL_OK);
    unharmed();
}

static void range(const shoal_key_t *key)
{
    shoal_rptr_t r, unused = {.offset = 5};
    const uint64_t far[] = {SIZE + 1, SIZE * 2, UINT64_MAX, UINT64_MAX - SIZE, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        CHECK_EQ(shoal_rptr(key, far[i], &unused), SHOAL_ERANGE);
        CHECK_EQ(shoal_rptr(key, 8, &r), SHOAL_OK);
        REFUSE(shoal_rptr_add(r, (ptrdiff_t)(far[i] - 8)), 1, SHOAL_ERANGE);
        REFUSE(shoal_rptr_add(r, (ptrdiff_t)(far[i] - 8)), 0, SHOAL_ERANGE);
    }
    CHECK_EQ(unused.offset, 5);
    const size_t much[] = {SIZE, SIZE - 7, SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 8, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof much / sizeof much[0]; i++)
        REFUSE(r, much[i], SHOAL_ERANGE);
    REFUSE(shoal_rptr_add(r, -9), 8, SHOAL_ERANGE);
    refuse_atomic(shoal_rptr_add(r, SIZE - 12), SHOAL_ERANGE);
    CHECK_EQ(shoal_put(shoal_rptr_add(r, SIZE - 8), local, 0, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_get(local, shoal_rptr_add(r, SIZE - 8), 0, NULL, NULL), SHOAL_OK);
}

// Every bit flipped of a remote pointer's pe, stamp and region.
static void flipped_rptr(shoal_rptr_t good)
{
    for (unsigned bit = 8 * sizeof good.offset; bit < 8 * sizeof good; bit++) {
        shoal_rptr_t r = good;
        ((unsigned char *)&r)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        REFUSE(r, 8, SHOAL_EKEY);
        refuse_atomic(r, SHOAL_EKEY);
    }
}

// And of a key.
static void flipped(const shoal_key_t *key)
{
    shoal_rptr_t good, r;
    CHECK_EQ(shoal_rptr(key, 8, &good), SHOAL_OK);
    flipped_rptr(good);
    for (unsigned bit = 0; bit < 8 * sizeof key->bytes; bit++) {
        shoal_key_t forged = *key;
        forged.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        bool refused = CHECK_EQ(shoal_rptr(&forged, 8, &r), SHOAL_EKEY);
        refused &= CHECK_EQ(shoal_rptr_va(&forged, theirs.base + 8, &r), SHOAL_EKEY);
        if (!refused)
            fprintf(stderr, "    with byte %u of the key changed\n", bit / 8);
        bit += refused ? 0 : 7 - bit % 8; // a line a byte will do
    }
    r = good;
    r.pe = (good.pe + 1) % npes;
    if (npes > 1)
        REFUSE(r, 8, SHOAL_EKEY);
    r.pe = npes;
    REFUSE(r, 8, SHOAL_EKEY);
    r.pe = -1;
    REFUSE(r, 8, SHOAL_EKEY);
}

// A random remote pointer, small values of its parts more often than not.
static shoal_rptr_t random_rptr(void)
{
    return (shoal_rptr_t){.offset = rnd(&seed) >> rnd_below(&seed, 64),
                          .stamp = rnd(&seed) | 2,
                          .pe = (int)rnd_below(&seed, (size_t)npes + 2) - 1,
                          .region = (uint32_t)(rnd(&seed) >> (32 + rnd_below(&seed, 32)))};
}

static void fuzz(void)
{
    const uint64_t one = 1;
    for (int i = 0; i < FUZZ; i++) {
        shoal_key_t key;
        shoal_rptr_t r;
        for (size_t b = 0; b < sizeof key.bytes; b += 8)
            memcpy(key.bytes + b, &(uint64_t){rnd(&seed)}, 8);
        if (i % 2) // all but eight bytes of a good one
            memcpy(key.bytes + 8, theirs.heap.bytes + 8, sizeof key.bytes - 8);
        CHECK(shoal_rptr(&key, 0, &r) < 0);
        CHECK(shoal_rptr_va(&key, theirs.base, &r) < 0);
        r = random_rptr();
        size_t n = rnd(&seed) >> rnd_below(&seed, 64);
        CHECK(shoal_get(local, r, n, NULL, NULL) < 0);
        CHECK(shoal_put(r, local, n, NULL, NULL) < 0);
        CHECK(shoal_atomic(r, SHOAL_SUM, SHOAL_UINT64, &one, NULL, NULL, NULL, NULL) < 0);
        CHECK(shoal_direct(r, n) == NULL);
    }
}

// Wrong arguments: a code, and nothing is set.
static void arguments(void)
{
    shoal_region_t region = NULL;
    shoal_key_t key;
    shoal_rptr_t r = {.offset = 5};
    CHECK_EQ(shoal_region_register(NULL, SIZE, &region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_register(private, 0, &region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_register(private, SIZE_MAX, &region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_register(private, SIZE, NULL), SHOAL_EINVAL);
    CHECK(region == NULL);
    CHECK_EQ(shoal_region_key(NULL, &key), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_deregister(NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_deregister((shoal_region_t)(void *)private), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr(NULL, 0, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr(&theirs.heap, 0, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_va(NULL, 0, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_symmetric(private, me, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_symmetric(NULL, me, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_symmetric(heap, npes, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_symmetric(heap, -1, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_symmetric(heap, me, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_own(private, &r), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_own(heap, NULL), SHOAL_EINVAL);
    CHECK_EQ(r.offset, 5);
    name(private, &region, &key);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_EINVAL);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_EINVAL);
}

// The table is finite, and as large after it was full as before.
static void full_table(void)
{
    enum { MOST = 1 << 20 };
    shoal_region_t *region = must_alloc(MOST * sizeof(shoal_region_t));
    int last = 0;
    for (int round = 0; round < 2; round++) {
        int n = 0, status = SHOAL_OK;
        while (n < MOST && !(status = shoal_region_register(private + n % SIZE, 1, &region[n])))
            n++;
        CHECK(n > 100 && (n == MOST || status == SHOAL_ENOMEM));
        CHECK(round == 0 || n == last);
        last = n;
        while (n-- > 0)
            CHECK_EQ(shoal_region_deregister(region[n]), SHOAL_OK);
    }
    free(region);
}

int main(void)
{
    shoal_region_t of_heap, of_private;
    check_start();
    heap = must_shmalloc(SIZE);
    private = must_alloc(SIZE);
    gone = must_alloc(SIZE);
    memset(heap, 1, SIZE);
    memset(private, 2, SIZE);
    memset(gone, 3, SIZE);
    memset(local, 4, SIZE);
    names.base = (uint64_t)(uintptr_t)gone;
    stale();
    name(heap, &of_heap, &names.heap);
    name(private, &of_private, &names.private);
    names.base = (uint64_t)(uintptr_t)heap;
    CHECK_EQ(shoal_rptr_private(private, &names.without), SHOAL_OK);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        shmem_getmem(&theirs, &names, sizeof names, pe);
        range(&theirs.heap);
        range(&theirs.private);
        flipped(&theirs.heap);
        flipped_rptr(theirs.without);
    }
    fuzz();
    unharmed();
    arguments();
    full_table();
    unharmed();
    CHECK_EQ(shoal_region_deregister(of_heap), SHOAL_OK);
    CHECK_EQ(shoal_region_deregister(of_private), SHOAL_OK);
    return check_done();
}
