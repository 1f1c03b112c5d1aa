// SPDX-License-Identifier: BSD-3-Clause
// How many short parts go by one message: as its room and the numbers of a record allow. Zero bytes, distances of
// more than 32 bits, and from which to which byte the parts reach.
#include "unit.h"

#include "cpus.h"
#include "net_vector.h"

enum { RECORD = 16, LONGEST = 1024, ROOM = 65536, MANY = UINT16_MAX + 2 };

static char data[4 * ROOM];
static shoal_part_t part[MANY];

// Parts of n bytes, one behind the other here and `step` apart there.
static void lay_out(size_t parts, int64_t step, size_t n)
{
    for (size_t i = 0; i < parts; i++)
        part[i] = (shoal_part_t){
            {.offset = (uint64_t)(1 + (int64_t)i * step), .pe = 1}, data + i * n, n};
}

static uint64_t records_of(size_t parts)
{
    struct operation op;
    const struct operation like = {.kind = SHOAL_WORK_PUT};
    vector_make(&like, part, parts, &op);
    return op.b;
}

// ---- Room
static void test_room(void **state)
{
    enum { PARTS = 10, N = 8 };
    const size_t all = RECORD + PARTS * N;
    (void)state;
    lay_out(PARTS, 100, N);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, PARTS, LONGEST, all), PARTS);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, PARTS, LONGEST, all - 1), PARTS - 1);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, PARTS, LONGEST, RECORD), 0);
    // What gets bring has as much room as their records.
    assert_int_equal(vector_fit(SHOAL_WORK_GET, part, PARTS, LONGEST, PARTS * N), PARTS);
    assert_int_equal(vector_fit(SHOAL_WORK_GET, part, PARTS, LONGEST, PARTS * N - 1), PARTS - 1);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, PARTS, N, all), PARTS);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, PARTS, N - 1, all), 0);
}

static void test_room_of_rows(void **state)
{
    struct rows rows = {.remote_step = 100, .parts = 10, .n = 8};
    (void)state;
    assert_int_equal(vector_fit_rows(&rows, LONGEST, RECORD + 80), 10);
    assert_int_equal(vector_fit_rows(&rows, LONGEST, RECORD + 79), 9);
    assert_int_equal(vector_fit_rows(&rows, LONGEST, RECORD), 0);
    assert_int_equal(vector_fit_rows(&rows, LONGEST, RECORD - 1), 0);
    assert_int_equal(vector_fit_rows(&rows, 8, ROOM), 10);
    assert_int_equal(vector_fit_rows(&rows, 7, ROOM), 0);
}

// ---- A record's own numbers: of parts 16 bits, of a step 32 with its sign
static void test_many(void **state)
{
    struct rows rows = {.remote_step = 1, .parts = MANY, .n = 1};
    (void)state;
    lay_out(MANY, 0, 0);
    assert_int_equal(vector_fit(SHOAL_WORK_PUT, part, MANY, LONGEST, ROOM), MANY);
    assert_int_equal(records_of(MANY), 2);
    assert_int_equal(vector_fit_rows(&rows, LONGEST, 2 * ROOM), UINT16_MAX);
}

static void test_far_apart(void **state)
{
    static const struct {
        int64_t step;
        uint64_t records;
    } all[] = {{INT32_MAX, 1},
               {INT32_MIN, 1},
               {(int64_t)INT32_MAX + 1, 3},
               {(int64_t)INT32_MIN - 1, 3},
               {INT64_C(1) << 32 | 8, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rows rows = {.remote_step = all[i].step, .parts = 3, .n = 8};
        lay_out(3, all[i].step, 8);
        assert_int_equal(records_of(3), all[i].records);
        assert_int_equal(vector_fit_rows(&rows, LONGEST, ROOM), all[i].records == 1 ? 3 : 0);
    }
}

// ---- Is it all within as many pages as there are parts? By the first and the last byte, in either direction.
static bool is_close(size_t parts, int64_t step, size_t n)
{
    static char message[ROOM];
    struct operation op;
    const struct operation like = {.kind = SHOAL_WORK_PUT};
    lay_out(parts, step, n);
    vector_make(&like, part, parts, &op);
    assert_true(op.n <= sizeof message);
    vector_fill(&op, part, parts, message);
    return vector_is_close(&op, message, parts);
}

static void test_close(void **state)
{
    const int64_t page = (int64_t)page_size();
    enum { PARTS = 5, N = 100 };
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        assert_true(is_close(PARTS, sign * page, N));
        // Together (PARTS + 1) pages less a byte, or more.
        int64_t step = ((PARTS + 1) * page - N) / (PARTS - 1);
        assert_true(is_close(PARTS, sign * (step - 1), N));
        assert_false(is_close(PARTS, sign * (step + 1), N));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),  cmocka_unit_test(test_room_of_rows),
        cmocka_unit_test(test_many),  cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_close),
    };
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
