// SPDX-License-Identifier: BSD-3-Clause
// Accumulates are atomic element by element, whatever calls and operators meet on an element:
// tokens that are swapped stay the same set, counters that are raised in three ways lose nothing,
// nobody sees half of an element. In shared and in private memory, at straight and crooked places,
// and in shared memory of a window that is for long accumulates.
// ALSO: 16
// TIMEOUT: 120
#include "rma_check.h"

enum { BYTES = 256, MOST = 64, HOME = 0 };

static int times;
static MPI_Win win;

static void read_home(MPI_Aint disp, void *to, int n, MPI_Datatype type)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, HOME, 0, win));
    OK(MPI_Get(to, n, type, HOME, disp, n, type, win));
    OK(MPI_Win_unlock(HOME, win));
}

// An epoch of all, in which nobody goes on before these are there.
static void begin_with(const void *values, int n, MPI_Datatype type, MPI_Aint disp)
{
    OK(MPI_Win_lock_all(0, win));
    if (me == HOME)
        OK(MPI_Accumulate(values, n, type, HOME, disp, n, type, MPI_REPLACE, win));
    OK(MPI_Win_flush_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// ---- Tokens: rank r brings r + 1, the window has 0
static void read_token(MPI_Datatype type, const char *p, long *value)
{
    if (type == MPI_SIGNED_CHAR)
        *value = *(const signed char *)p;
    else if (type == MPI_SHORT)
        *value = *(const short *)p;
    else if (type == MPI_INT)
        *value = *(const int *)p;
    else if (type == MPI_LONG)
        *value = *(const long *)p;
    else if (type == MPI_LONG_DOUBLE)
        *value = (long)*(const long double *)p;
    else { // pairs have the value twice
        *value = ((const int *)p)[0];
        CHECK_EQ(((const int *)p)[1], *value);
    }
}

static void write_token(MPI_Datatype type, char *p, int value)
{
    memset(p, 0, 16);
    if (type == MPI_SIGNED_CHAR)
        *(signed char *)p = (signed char)value;
    else if (type == MPI_SHORT)
        *(short *)p = (short)value;
    else if (type == MPI_INT)
        *(int *)p = value;
    else if (type == MPI_LONG)
        *(long *)p = value;
    else if (type == MPI_LONG_DOUBLE)
        *(long double *)p = value;
    else
        ((int *)p)[0] = ((int *)p)[1] = value;
}

static void tokens(MPI_Datatype type, MPI_Aint disp)
{
    _Alignas(16) char mine[16], got[16];
    long value, all[MOST + 1], seen[MOST + 1] = {0};
    uint64_t seed = (uint64_t)me;
    write_token(type, mine, 0);
    begin_with(mine, 1, type, disp);
    write_token(type, mine, me + 1);
    for (int i = 0; i < times; i++) {
        if (rnd_below(&seed, 3)) {
            OK(MPI_Fetch_and_op(mine, got, type, HOME, disp, MPI_REPLACE, win));
            OK(MPI_Win_flush(HOME, win));
            memcpy(mine, got, sizeof mine);
        } else {
            OK(MPI_Get_accumulate(NULL, 0, MPI_INT, got, 1, type, HOME, disp, 1, type, MPI_NO_OP,
                                  win));
            OK(MPI_Win_flush(HOME, win));
        }
        read_token(type, got, &value);
        CHECK(value >= 0 && value <= npes);
    }
    read_token(type, mine, &value);
    OK(MPI_Allgather(&value, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
    OK(MPI_Fetch_and_op(NULL, got, type, HOME, disp, MPI_NO_OP, win));
    OK(MPI_Win_unlock_all(win));
    read_token(type, got, &all[npes]);
    for (int i = 0; i <= npes; i++)
        if (all[i] >= 0 && all[i] <= npes)
            seen[all[i]]++;
    CHECK_EACH(i, npes + 1, seen[i], 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// ---- Counters, raised by arrays, by single calls and by comparing and swapping
static void counters(MPI_Aint disp)
{
    enum { N = 8 };
    int ones[N], got, want, zero = 0, sums[N] = {0}, all[N], result[N];
    uint64_t seed = (uint64_t)me + 99;
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        if (me == HOME)
            OK(MPI_Accumulate(&zero, 1, MPI_INT, HOME, disp + 4 * i, 1, MPI_INT, MPI_REPLACE, win));
    }
    OK(MPI_Win_flush_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < times; i++) {
        int at = (int)rnd_below(&seed, N), n = 1 + (int)rnd_below(&seed, (size_t)(N - at));
        MPI_Aint there = disp + 4 * at;
        switch (rnd_below(&seed, 4)) {
        case 0: OK(MPI_Accumulate(ones, n, MPI_INT, HOME, there, n, MPI_INT, MPI_SUM, win)); break;
        case 1:
            OK(MPI_Get_accumulate(ones, n, MPI_INT, result, n, MPI_INT, HOME, there, n, MPI_INT,
                                  MPI_SUM, win));
            break;
        case 2:
            n = 1;
            OK(MPI_Fetch_and_op(ones, &got, MPI_INT, HOME, there, MPI_SUM, win));
            break;
        default:
            n = 1;
            OK(MPI_Fetch_and_op(NULL, &want, MPI_INT, HOME, there, MPI_NO_OP, win));
            OK(MPI_Win_flush(HOME, win));
            for (;; want = got) {
                int more = want + 1;
                OK(MPI_Compare_and_swap(&more, &want, &got, MPI_INT, HOME, there, win));
                OK(MPI_Win_flush(HOME, win));
                if (got == want)
                    break;
            }
        }
        for (int k = at; k < at + n; k++)
            sums[k]++;
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Allreduce(sums, all, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    read_home(disp, result, N, MPI_INT);
    CHECK_EACH(i, N, result[i], all[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// ---- Long arrays of bytes, which are changed many at a time, against single bytes
static void small_elements(MPI_Aint disp)
{
    enum { N = 101 };
    unsigned char ones[N], zeros[N] = {0}, got[N], all[N], sums[N] = {0};
    uint64_t seed = (uint64_t)me + 7;
    memset(ones, 1, sizeof ones);
    begin_with(zeros, N, MPI_UNSIGNED_CHAR, disp);
    for (int i = 0; i < times; i++) {
        int at = (int)rnd_below(&seed, N), n = i % 2 ? 1 : 1 + (int)rnd_below(&seed, N - at);
        if (n == 1)
            OK(MPI_Fetch_and_op(ones, got, MPI_UNSIGNED_CHAR, HOME, disp + at, MPI_SUM, win));
        else
            OK(MPI_Accumulate(ones, n, MPI_UNSIGNED_CHAR, HOME, disp + at, n, MPI_UNSIGNED_CHAR,
                              MPI_SUM, win));
        for (int k = at; k < at + n; k++)
            sums[k]++;
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Allreduce(sums, all, N, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD));
    read_home(disp, got, N, MPI_BYTE);
    CHECK_EACH(i, N, got[i], all[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// ---- Arrays of real numbers, and single ones, by every call
static void real_elements(MPI_Aint disp)
{
    enum { N = 15 };
    double ones[N], zeros[N] = {0}, got[N], all[N], sums[N] = {0};
    uint64_t seed = (uint64_t)me + 11;
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    begin_with(zeros, N, MPI_DOUBLE, disp);
    for (int i = 0; i < times; i++) {
        int at = (int)rnd_below(&seed, N), n = i % 3 ? 1 : 1 + (int)rnd_below(&seed, N - at);
        MPI_Aint there = disp + (MPI_Aint)sizeof(double) * at;
        if (i % 3 == 0)
            OK(MPI_Accumulate(ones, n, MPI_DOUBLE, HOME, there, n, MPI_DOUBLE, MPI_SUM, win));
        else if (i % 3 == 1)
            OK(MPI_Fetch_and_op(ones, got, MPI_DOUBLE, HOME, there, MPI_SUM, win));
        else
            OK(MPI_Get_accumulate(ones, n, MPI_DOUBLE, got, n, MPI_DOUBLE, HOME, there, n,
                                  MPI_DOUBLE, MPI_SUM, win));
        for (int k = at; k < at + n; k++)
            sums[k]++;
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Allreduce(sums, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    read_home(disp, got, N, MPI_DOUBLE);
    CHECK_EACH(i, N, got[i], all[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// ---- The largest of all, with who gave it, in pairs with gaps; sums of what is wider than a word
static void wide(MPI_Aint disp)
{
    struct {
        double value;
        int index;
    } pair = {0, 0}, top = {-1, -1}, result;
    double complex_one[2] = {1, -1}, complex_sum[2] = {0, 0};
    uint64_t seed = (uint64_t)me + 5;
    OK(MPI_Win_lock_all(0, win));
    if (me == HOME) {
        OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, HOME, disp, 1, MPI_DOUBLE_INT, MPI_REPLACE,
                          win));
        OK(MPI_Accumulate(complex_sum, 1, MPI_C_DOUBLE_COMPLEX, HOME, disp + 32, 1,
                          MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, win));
    }
    OK(MPI_Win_flush_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < times; i++) {
        pair.value = 1 + (double)(rnd(&seed) % 100000) * MOST + me;
        pair.index = (int)((long)pair.value % MOST);
        if (pair.value > top.value)
            top = pair;
        OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, HOME, disp, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
                          win));
        OK(MPI_Accumulate(complex_one, 1, MPI_C_DOUBLE_COMPLEX, HOME, disp + 32, 1,
                          MPI_C_DOUBLE_COMPLEX, MPI_SUM, win));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Allreduce(MPI_IN_PLACE, &top, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    read_home(disp, &result, 1, MPI_DOUBLE_INT);
    read_home(disp + 32, complex_sum, 1, MPI_C_DOUBLE_COMPLEX);
    CHECK_EQ(result.value, top.value);
    CHECK_EQ(result.index, top.index);
    CHECK_EQ(complex_sum[0], (double)times * npes);
    CHECK_EQ(complex_sum[1], -(double)times * npes);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Programs move structures as bytes, and nobody is to see two of them mixed: more than the standard
// promises, as usual elsewhere.
static void structures(MPI_Aint disp)
{
    enum { WORDS = 3 };
    uint64_t mine[WORDS], got[WORDS];
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < WORDS; k++)
            mine[k] = (uint64_t)(me * times + i) * UINT64_C(0x0101010101010101);
        OK(MPI_Accumulate(mine, sizeof mine, MPI_BYTE, HOME, disp, sizeof mine, MPI_BYTE,
                          MPI_REPLACE, win));
        OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, got, sizeof got, MPI_BYTE, HOME, disp, sizeof got,
                              MPI_BYTE, MPI_NO_OP, win));
        OK(MPI_Win_flush(HOME, win));
        CHECK_EACH(k, WORDS, got[k], got[0]);
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(void)
{
    char *memory;
    mpi_start();
    times = fewer(400);
    if (npes > MOST)
        return mpi_done();
    MPI_Info coarse;
    OK(MPI_Info_create(&coarse));
    OK(MPI_Info_set(coarse, "mpi_accumulate_granularity", "4096"));
    for (int shared = 0; shared < 3; shared++) {
        const MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_SHORT,       MPI_INT,
                                      MPI_LONG,        MPI_LONG_DOUBLE, MPI_2INT};
        if (shared) {
            OK(MPI_Win_allocate(BYTES, 1, shared == 2 ? coarse : MPI_INFO_NULL, MPI_COMM_WORLD,
                                &memory, &win));
        } else {
            memory = must_alloc(BYTES);
            OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        }
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            for (int crooked = 0; crooked < 2; crooked++)
                tokens(types[i], 64 + crooked);
        for (int crooked = 0; crooked < 2; crooked++) {
            counters(64 + crooked);
            structures(192 + crooked);
            wide(128 + crooked);
            small_elements(64 + crooked);
            real_elements(64 + crooked);
        }
        OK(MPI_Win_free(&win));
        if (!shared)
            free(memory);
    }
    OK(MPI_Info_free(&coarse));
    return mpi_done();
}
