// SPDX-License-Identifier: BSD-3-Clause
// Every predefined type with every predefined operator, by every call that takes both, against
// MPI_Reduce_local, which also says what is refused; and MPI_Compare_and_swap with every type. In
// windows allocated and created, for long accumulates and locked exclusively; at straight and
// crooked places.
// PES: 2
#include "rma_check.h"

enum { N = 9, WIDEST = 32, BYTES = N * WIDEST, AT = 64 };

// ---- Elements: one number, or two
typedef float float128 __attribute__((mode(TF))); // IEEE binary128, by whatever name
#define NUMBERS(X)     \
    X(BOOL, bool)      \
    X(I8, int8_t)      \
    X(U8, uint8_t)     \
    X(I16, int16_t)    \
    X(U16, uint16_t)   \
    X(I32, int32_t)    \
    X(U32, uint32_t)   \
    X(I64, int64_t)    \
    X(U64, uint64_t)   \
    X(I128, __int128)  \
    X(F32, float)      \
    X(F64, double)     \
    X(LD, long double) \
    X(F128, float128)
#define X(name, type) name,
enum number { NUMBERS(X) };
#undef X

static void store(enum number number, char *p, int value)
{
    switch (number) {
#define X(name, type) \
    case name: *(type *)p = (type)value; break;
        NUMBERS(X)
#undef X
    }
}

// Exact: the numbers here are small.
static long double load(enum number number, const char *p)
{
    switch (number) {
#define X(name, type) \
    case name: return (long double)*(const type *)p;
        NUMBERS(X)
#undef X
    }
    return -1;
}

#define ONE(type, number)             \
    {                                 \
        MPI_##type, number, number, 0 \
    }
#define TWO(type, first, second, second_at)  \
    {                                        \
        MPI_##type, first, second, second_at \
    }
static const struct element {
    MPI_Datatype type;
    enum number first, second;
    size_t second_at; // 0: there is no second
} elements[] = {
    ONE(AINT, I64),
    ONE(COUNT, I64),
    ONE(OFFSET, I64),
    ONE(PACKED, U8),
    ONE(SHORT, I16),
    ONE(INT, I32),
    ONE(LONG, I64),
    ONE(LONG_LONG_INT, I64),
    ONE(UNSIGNED_SHORT, U16),
    ONE(UNSIGNED, U32),
    ONE(UNSIGNED_LONG, U64),
    ONE(UNSIGNED_LONG_LONG, U64),
    ONE(FLOAT, F32),
    ONE(DOUBLE, F64),
    ONE(LONG_DOUBLE, LD),
    ONE(LOGICAL, I32),
    ONE(INTEGER, I32),
    ONE(REAL, F32),
    ONE(DOUBLE_PRECISION, F64),
    ONE(CHARACTER, U8),
    ONE(C_BOOL, BOOL),
    ONE(CXX_BOOL, BOOL),
    ONE(WCHAR, U32),
    ONE(INT8_T, I8),
    ONE(UINT8_T, U8),
    ONE(CHAR, I8),
    ONE(SIGNED_CHAR, I8),
    ONE(UNSIGNED_CHAR, U8),
    ONE(BYTE, U8),
    ONE(INT16_T, I16),
    ONE(UINT16_T, U16),
    ONE(INT32_T, I32),
    ONE(UINT32_T, U32),
    ONE(INT64_T, I64),
    ONE(UINT64_T, U64),
    ONE(LOGICAL1, I8),
    ONE(LOGICAL2, I16),
    ONE(LOGICAL4, I32),
    ONE(LOGICAL8, I64),
    ONE(LOGICAL16, I128),
    ONE(INTEGER1, I8),
    ONE(INTEGER2, I16),
    ONE(INTEGER4, I32),
    ONE(INTEGER8, I64),
    ONE(INTEGER16, I128),
    ONE(REAL4, F32),
    ONE(REAL8, F64),
    ONE(REAL16, F128),
    TWO(C_COMPLEX, F32, F32, 4),
    TWO(C_DOUBLE_COMPLEX, F64, F64, 8),
    TWO(C_LONG_DOUBLE_COMPLEX, LD, LD, sizeof(long double)),
    TWO(CXX_FLOAT_COMPLEX, F32, F32, 4),
    TWO(CXX_DOUBLE_COMPLEX, F64, F64, 8),
    TWO(CXX_LONG_DOUBLE_COMPLEX, LD, LD, sizeof(long double)),
    TWO(COMPLEX, F32, F32, 4),
    TWO(DOUBLE_COMPLEX, F64, F64, 8),
    TWO(COMPLEX8, F32, F32, 4),
    TWO(COMPLEX16, F64, F64, 8),
    TWO(COMPLEX32, F128, F128, 16),
    TWO(FLOAT_INT, F32, I32, 4),
    TWO(DOUBLE_INT, F64, I32, 8),
    TWO(LONG_INT, I64, I32, 8),
    TWO(2INT, I32, I32, 4),
    TWO(SHORT_INT, I16, I32, 4),
    TWO(LONG_DOUBLE_INT, LD, I32, sizeof(long double)),
    TWO(2REAL, F32, F32, 4),
    TWO(2DOUBLE_PRECISION, F64, F64, 8),
    TWO(2INTEGER, I32, I32, 4),
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

// MPI_REPLACE and MPI_NO_OP last: MPI_Reduce_local does not take them.
static const MPI_Op ops[] = {MPI_SUM,    MPI_PROD,   MPI_MIN,     MPI_MAX,  MPI_BAND,
                             MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                             MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
enum { OPS = sizeof ops / sizeof *ops };

enum call { ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, RACCUMULATE, RGET_ACCUMULATE, CALLS };
enum way { ALLOCATED, CREATED, COARSE, EXCLUSIVE, WAYS };

static MPI_Win win;
static int target;
static _Alignas(64) char in[BYTES], old[BYTES], want[BYTES], got[BYTES], result[BYTES];

static MPI_Aint extent_of(const struct element *e)
{
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(e->type, &lb, &extent));
    return extent;
}

static void draw(const struct element *e, char *array, unsigned seed)
{
    MPI_Aint extent = extent_of(e);
    memset(array, 0, BYTES);
    for (int i = 0; i < N; i++) {
        store(e->first, array + i * extent, (int)((seed * 7 + (unsigned)i * 13) % 9) - 2);
        if (e->second_at)
            store(e->second, array + i * extent + e->second_at,
                  (int)((seed + (unsigned)i * 5) % 7) - 1);
    }
}

static bool are_equal(const struct element *e, const char *a, const char *b, int n)
{
    MPI_Aint extent = extent_of(e);
    for (int i = 0; i < n; i++, a += extent, b += extent)
        if (load(e->first, a) != load(e->first, b) ||
            load(e->second, a + e->second_at) != load(e->second, b + e->second_at))
            return false;
    return true;
}

static void write_window(MPI_Aint disp, const char *from)
{
    OK(MPI_Put(from, BYTES, MPI_BYTE, target, disp, BYTES, MPI_BYTE, win));
    OK(MPI_Win_flush(target, win));
}

static void read_window(MPI_Aint disp, char *to)
{
    OK(MPI_Get(to, BYTES, MPI_BYTE, target, disp, BYTES, MPI_BYTE, win));
    OK(MPI_Win_flush(target, win));
}

// ---- One call
static int change(enum call call, MPI_Datatype t, MPI_Op op, MPI_Aint disp)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    switch ((int)call) {
    case ACCUMULATE: error = MPI_Accumulate(in, N, t, target, disp, N, t, op, win); break;
    case GET_ACCUMULATE:
        error = MPI_Get_accumulate(in, N, t, result, N, t, target, disp, N, t, op, win);
        break;
    case FETCH_AND_OP: error = MPI_Fetch_and_op(in, result, t, target, disp, op, win); break;
    case RACCUMULATE: error = MPI_Raccumulate(in, N, t, target, disp, N, t, op, win, &r); break;
    case RGET_ACCUMULATE:
        error = MPI_Rget_accumulate(in, N, t, result, N, t, target, disp, N, t, op, win, &r);
        break;
    }
    if (!error)
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(target, win));
    return error;
}

// What is to be in the window: false when the operator does not take the type.
static bool expect(const struct element *e, MPI_Op op, int n)
{
    memcpy(want, old, BYTES);
    if (op == MPI_REPLACE)
        memcpy(want, in, (size_t)(n * extent_of(e)));
    return op == MPI_REPLACE || op == MPI_NO_OP ||
           MPI_Reduce_local(in, want, n, e->type, op) == MPI_SUCCESS;
}

static bool fits(const struct element *e, enum call call, MPI_Op op, MPI_Aint disp)
{
    int n = call == FETCH_AND_OP ? 1 : N;
    bool fetches = call != ACCUMULATE && call != RACCUMULATE;
    bool is_taken = expect(e, op, n) && (fetches || op != MPI_NO_OP);
    write_window(disp, old);
    int error = change(call, e->type, op, disp);
    read_window(disp, got);
    if (!is_taken)
        return class_of(error) == MPI_ERR_OP && memcmp(got, old, BYTES) == 0;
    return error == MPI_SUCCESS && are_equal(e, got, want, N) &&
           (!fetches || are_equal(e, result, old, n));
}

static void complain(const struct element *e, const char *what, MPI_Aint disp)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    if (check_failures > CHECK_SHOWN)
        return;
    OK(MPI_Type_get_name(e->type, name, &n));
    fprintf(stderr, "%s %s at %d\n", name, what, (int)disp);
}

static void combine(const struct element *e, size_t op, enum call call, int crooked)
{
    static const char *const calls[] = {"accumulate", "get_accumulate", "fetch_and_op",
                                        "raccumulate", "rget_accumulate"};
    char what[64];
    unsigned seed = (unsigned)(e - elements);
    draw(e, in, seed + (unsigned)op);
    draw(e, old, seed + 3 * (unsigned)op + 5);
    if (CHECK(fits(e, call, ops[op], AT + crooked)))
        return;
    snprintf(what, sizeof what, "by %s with operator %zu", calls[call], op);
    complain(e, what, AT + crooked);
}

// ---- Compare and swap: what MPI_BXOR or MPI_LAND takes is an integer, a logical or bytes
static bool is_swapped(const struct element *e)
{
    return MPI_Reduce_local(in, want, 1, e->type, MPI_BXOR) == MPI_SUCCESS ||
           MPI_Reduce_local(in, want, 1, e->type, MPI_LAND) == MPI_SUCCESS;
}

static bool swap_fits(const struct element *e, bool matches, MPI_Aint disp)
{
    char compare[WIDEST];
    bool is_taken = is_swapped(e);
    memcpy(compare, old, WIDEST);
    compare[0] ^= !matches;
    write_window(disp, old);
    int error = MPI_Compare_and_swap(in, compare, result, e->type, target, disp, win);
    OK(MPI_Win_flush(target, win));
    read_window(disp, got);
    if (!is_taken)
        return class_of(error) == MPI_ERR_TYPE && memcmp(got, old, BYTES) == 0;
    memcpy(want, old, BYTES);
    if (matches)
        memcpy(want, in, (size_t)extent_of(e));
    return error == MPI_SUCCESS && memcmp(got, want, BYTES) == 0 && are_equal(e, result, old, 1);
}

static void compare_and_swap(const struct element *e, bool matches, int crooked)
{
    draw(e, in, 1);
    draw(e, old, 2);
    if (!CHECK(swap_fits(e, matches, AT + crooked)))
        complain(e, "by compare_and_swap", AT + crooked);
}

// ---- All of them, or a sample where each takes a thousand times as long
static void all_of_them(void)
{
    unsigned turn = 0, step = one_node() ? 1 : 151;
    if (me != 0)
        return;
    for (const struct element *e = elements; e < elements + ELEMENTS; e++)
        for (int crooked = 0; crooked < 2; crooked++) {
            for (size_t op = 0; op < OPS; op++)
                for (int call = 0; call < CALLS; call++)
                    if (turn++ % step == 0)
                        combine(e, op, (enum call)call, crooked);
            for (int matches = 0; matches < 2; matches++)
                if (turn++ % step < 8)
                    compare_and_swap(e, matches, crooked);
        }
}

static void by_way(enum way way)
{
    MPI_Info info;
    char *memory;
    OK(MPI_Info_create(&info));
    if (way == COARSE)
        OK(MPI_Info_set(info, "mpi_accumulate_granularity", "4096"));
    if (way == CREATED) {
        memory = must_alloc(AT + 1 + BYTES);
        OK(MPI_Win_create(memory, AT + 1 + BYTES, 1, info, MPI_COMM_WORLD, &win));
    } else
        OK(MPI_Win_allocate(AT + 1 + BYTES, 1, info, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (me == 0)
        OK(MPI_Win_lock(way == EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
    all_of_them();
    if (me == 0)
        OK(MPI_Win_unlock(target, win));
    OK(MPI_Win_free(&win));
    if (way == CREATED)
        free(memory);
}

int main(void)
{
    mpi_start();
    target = npes - 1;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int way = 0; way < WAYS; way++)
        by_way((enum way)way);
    return mpi_done();
}
