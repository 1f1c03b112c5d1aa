// SPDX-License-Identifier: BSD-3-Clause
// Global and static variables are symmetric: .data and .bss, function statics, large arrays, arrays
// that start mid-page; put, get, atomics and collectives on them, from and to every PE.
#include "../check.h"

int in_data = 41;
int in_bss;
static long hidden_data[5] = {1, 2, 3, 4, 5};
static char odd_bytes[3] = {7, 8, 9};
static double big_bss[100000];
static int big_data[30000] = {5, 6, 7};
static struct {
    char c;
    int64_t v;
    short tail[3];
} record = {'x', 99, {1, 2, 3}};

static long *function_static(void)
{
    static long counter = 1000;
    return &counter;
}

static void initial_values(void)
{
    CHECK_EQ(in_data, 41);
    CHECK_EQ(in_bss, 0);
    CHECK_EACH(i, 5, hidden_data[i], i + 1);
    CHECK_EQ(odd_bytes[2], 9);
    CHECK_EQ(*function_static(), 1000);
    CHECK(big_data[0] == 5 && big_data[1] == 6 && big_data[2] == 7 && big_data[29999] == 0);
    CHECK(record.c == 'x' && record.v == 99 && record.tail[2] == 3);
    CHECK_EACH(i, 100000, big_bss[i], 0);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shmem_int_g(&in_data, pe), 41);
        CHECK_EQ(shmem_long_g(function_static(), pe), 1000);
        CHECK_EQ(shmem_int_g(&big_data[2], pe), 7);
    }
    shmem_barrier_all();
}

static void puts_and_gets(void)
{
    shmem_int_p(&in_data, me + 1, right_pe());
    shmem_int_p(&in_bss, me + 2, right_pe());
    long v[5] = {me, me, me, me, me};
    shmem_long_put(hidden_data, v, 5, right_pe());
    shmem_putmem(odd_bytes + 1, &(char){(char)(me + 3)}, 1, right_pe());
    shmem_int64_p(&record.v, -me, right_pe());
    shmem_short_p(&record.tail[1], (short)me, right_pe());
    shmem_barrier_all();
    int from = left_pe();
    CHECK_EQ(in_data, from + 1);
    CHECK_EQ(in_bss, from + 2);
    CHECK_EACH(i, 5, hidden_data[i], from);
    CHECK(odd_bytes[0] == 7 && odd_bytes[1] == (char)(from + 3) && odd_bytes[2] == 9);
    CHECK(record.c == 'x' && record.v == -from && record.tail[0] == 1 && record.tail[1] == from &&
          record.tail[2] == 3);
    // What the owner stores is seen by the others.
    in_bss = 1000 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(shmem_int_g(&in_bss, pe), 1000 + pe);
    shmem_barrier_all();
}

static void big_arrays(void)
{
    for (size_t i = 0; i < 100000; i++)
        big_bss[i] = me * 1e6 + (double)i;
    shmem_barrier_all();
    double *got = must_alloc(sizeof big_bss);
    shmem_double_get(got, big_bss, 100000, right_pe());
    CHECK_EACH(i, 100000, got[i], right_pe() * 1e6 + (double)i);
    free(got);
    shmem_barrier_all();
    int *ints = must_alloc(sizeof big_data);
    for (int i = 0; i < 30000; i++)
        ints[i] = me * 100000 + i;
    shmem_int_put_nbi(big_data, ints, 30000, right_pe());
    shmem_barrier_all();
    CHECK_EACH(i, 30000, big_data[i], left_pe() * 100000 + (int)i);
    free(ints);
    shmem_barrier_all();
}

static void atomics(void)
{
    static uint64_t mask;
    long *counter = function_static();
    shmem_long_atomic_add(counter, me + 1, 0);
    shmem_uint64_atomic_or(&mask, UINT64_C(1) << (me % 64), npes - 1);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(*counter, 1000 + (long)npes * (npes + 1) / 2);
    if (me == npes - 1)
        CHECK_EQ(mask, npes >= 64 ? UINT64_MAX : (UINT64_C(1) << npes) - 1);
    static int flag;
    shmem_int_atomic_set(&flag, me + 1, right_pe());
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, left_pe() + 1);
    shmem_barrier_all();
}

static void collectives(void)
{
    static long source[3], dest[3], all[3 * 64];
    for (int i = 0; i < 3; i++)
        source[i] = me * 10 + i;
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 3), 0);
    CHECK_EACH(i, 3, dest[i], (long)npes * (npes - 1) / 2 * 10 + npes * (long)i);
    if (npes > 64)
        return;
    CHECK_EQ(shmem_long_fcollect(SHMEM_TEAM_WORLD, all, source, 3), 0);
    CHECK_EACH(i, 3 * npes, all[i], (long)(i / 3 * 10 + i % 3));
}

// Private things stay private: the stack and the C heap of two PEs never mix.
static void private_memory(void)
{
    int on_stack = me;
    int *on_heap = must_alloc(sizeof(int));
    *on_heap = me * 2;
    shmem_barrier_all();
    CHECK(on_stack == me && *on_heap == me * 2);
    free(on_heap);
}

int main(void)
{
    check_start();
    initial_values();
    puts_and_gets();
    big_arrays();
    atomics();
    collectives();
    private_memory();
    return check_done();
}
