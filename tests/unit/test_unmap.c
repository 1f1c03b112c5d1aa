// SPDX-License-Identifier: BSD-3-Clause
// What is told of memory that is watched when it is unmapped, moved or emptied, and that nobody waits
// for a watch that has ended.
#include "unit.h"

#include "unmap.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16 };

static _Atomic int begins, gones, empties, ends;
static _Atomic uintptr_t last_from, last_to;

static void begin(void)
{
    begins++;
}

static void gone(uintptr_t from, uintptr_t to)
{
    last_from = from;
    last_to = to;
    gones++;
}

static void emptied(uintptr_t from, uintptr_t to)
{
    last_from = from;
    last_to = to;
    empties++;
}

static void end(void)
{
    ends++;
}

static const struct unmap_calls calls = {begin, gone, emptied, end};

static char *map(void)
{
    void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static char *map_watched(void)
{
    char *p = map();
    unmap_settle_all();
    begins = gones = empties = ends = 0;
    if (unmap_watch(p, SIZE, &calls) != UNMAP_WATCHED)
        skip(); // userfaultfd is forbidden here
    return p;
}

static void is_told(const _Atomic int *what, const char *from, size_t n)
{
    unmap_settle_all();
    assert_true(*what > 0 && gones + empties == *what);
    assert_true(begins > 0 && ends == begins);
    assert_true(last_from == (uintptr_t)from && last_to == (uintptr_t)from + n);
}

static void test_told(void **state)
{
    char *p = map_watched();
    (void)state;
    assert_int_equal(munmap(p, SIZE), 0);
    is_told(&gones, p, SIZE);
    p = map_watched();
    assert_int_equal(munmap(p + SIZE / 2, SIZE / 2), 0);
    is_told(&gones, p + SIZE / 2, SIZE / 2);
    munmap(p, SIZE / 2);
    p = map_watched();
    char *to = map();
    assert_true(mremap(p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
    is_told(&gones, p, SIZE);
    munmap(to, SIZE);
    p = map_watched();
    memset(p, 1, SIZE);
    assert_int_equal(madvise(p, SIZE / 2, MADV_DONTNEED), 0);
    is_told(&empties, p, SIZE / 2);
    assert_int_equal(p[0] + p[SIZE - 1], 1);
    munmap(p, SIZE);
}

static void test_ended(void **state)
{
    char *p = map_watched();
    (void)state;
    unmap_forget(p, SIZE);
    assert_int_equal(munmap(p, SIZE), 0);
    unmap_settle_all();
    assert_int_equal(gones, 0);
    p = map_watched();
    unmap_down();
    assert_int_equal(munmap(p, SIZE), 0);
    assert_int_equal(gones, 0);
    p = map_watched(); // anew
    assert_int_equal(munmap(p, SIZE), 0);
    is_told(&gones, p, SIZE);
    unmap_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_told), cmocka_unit_test(test_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
