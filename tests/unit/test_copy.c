// SPDX-License-Identifier: BSD-3-Clause
// Copies of every way there is, for lengths around those where the way changes, from and to every place in a
// line and some in a page: what is to be copied is, and nothing else.
#include "unit.h"

#include "copy.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 5 << 20, AROUND = 16 };

static unsigned char *from, *to; // at the start of a page

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 7 % 251 + 1);
}

// To one that lies `shift` bytes further in its page.
static void copies(void (*copy)(void *, const void *, size_t), size_t n, size_t start, size_t shift)
{
    unsigned char *source = from + start, *dest = to + AROUND + start + shift;
    memset(dest - AROUND, 0, n + 2 * AROUND);
    for (size_t i = 0; i < n; i++)
        source[i] = byte_at(i);
    copy(dest, source, n);
    assert_memory_equal(dest, source, n);
    for (size_t i = 0; i < AROUND; i++) {
        assert_int_equal(dest[-1 - (ptrdiff_t)i], 0);
        assert_int_equal(dest[n + i], 0);
    }
}

static void bytes(void *dest, const void *source, size_t n)
{
    copy_bytes(dest, source, n);
}

static void move(void *dest, const void *source, size_t n)
{
    copy_move(dest, source, n);
}

static void all_lengths(void)
{
    static const size_t lengths[] = {0,    1,     31,    2047,  2048,   2049,    4095,
                                     4096, 16383, 16384, 16385, 300000, 4194304, 4194305};
    static const size_t shifts[] = {0, 1, 8, 16, 48, 62, 63, 64, 128, 2048, 4032, 4095};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
            copies(bytes, lengths[l], 0, shifts[s]);
            copies(move, lengths[l], s % 3, (shifts[s] + 4096 - AROUND) % 4096);
        }
}

static void test_ways(void **state)
{
    (void)state;
#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
    const struct copy_ways is = copy_ways;
    for (int way = 0; way < 4; way++) { // whatever the processor is
        copy_ways.span = way & 1 ? COPY_MOST - COPY_LEAST : 0;
        copy_ways.shifts = way & 2 ? COPY_SHIFTS : 0;
        all_lengths();
    }
    copy_ways = is;
#endif
    all_lengths();
}

static void test_streaming(void **state)
{
    static const size_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 191, 192, 4096, 5001, 1 << 20};
    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t at = 0; at < 64; at++) {
            copies(copy_streaming, lengths[l], at, 0);
            copies(copy_streaming, lengths[l], 5, at);
        }
}

// Which of them is further on does not matter.
static void test_overlap(void **state)
{
    static const size_t lengths[] = {1, 100, 2048, 5000, 20000};
    static const ptrdiff_t shifts[] = {0, 1, -1, 8, -8, 63, -63, 4097, -4097};
    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
            unsigned char *source = from + 8192, *dest = source + shifts[s];
            for (size_t i = 0; i < lengths[l]; i++)
                source[i] = byte_at(i);
            copy_move(dest, source, lengths[l]);
            for (size_t i = 0; i < lengths[l]; i++)
                if (dest[i] != byte_at(i))
                    fail_msg("%zu bytes, %td apart: byte %zu", lengths[l], shifts[s], i);
        }
}

static void test_few(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 32; n++)
        for (size_t shift = 0; shift < 9; shift++)
            copies(copy_few, n, shift, shift);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways),
                                       cmocka_unit_test(test_streaming),
                                       cmocka_unit_test(test_overlap), cmocka_unit_test(test_few)};
    from = aligned_alloc(4096, ROOM);
    to = aligned_alloc(4096, ROOM);
    if (!from || !to)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(from);
    free(to);
    return failed;
}
