// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// MPI_Reduce_local: every predefined operator with every predefined type that the standard's table
// allows, and none else; users' functions.
// PES: 1
#include <check.h>
#include <complex.h>
#include <limits.h>
#include <mpi.h>
#include <sys/mman.h>

enum { N = 37 }; // whole vectors and a rest

#define TEST(T, type, op, x, y, expression)                              \
    do {                                                                 \
        T in[N], inout[N], a, b;                                         \
        for (int i = 0; i < N; i++) {                                    \
            in[i] = (T)(x);                                              \
            inout[i] = (T)(y);                                           \
        }                                                                \
        CHECK_EQ(MPI_Reduce_local(in, inout, N, type, op), MPI_SUCCESS); \
        for (int i = 0; i < N; i++) {                                    \
            a = (T)(x);                                                  \
            b = (T)(y);                                                  \
            if (!CHECK(inout[i] == (T)(expression)))                     \
                fprintf(stderr, "%s %s at %d\n", #type, #op, i);         \
        }                                                                \
    } while (0)

#define ORDER(T, type)                                         \
    TEST(T, type, MPI_SUM, i * 3 + 1, 7 - i, a + b);           \
    TEST(T, type, MPI_PROD, i % 5 + 1, i % 3 + 1, a * b);      \
    TEST(T, type, MPI_MIN, i * 2 % 19, i % 11, a < b ? a : b); \
    TEST(T, type, MPI_MAX, i * 2 % 19, i % 11, a < b ? b : a);
#define LOGIC(T, type)                                           \
    TEST(T, type, MPI_LAND, i % 2, i % 3, (a != 0) && (b != 0)); \
    TEST(T, type, MPI_LOR, i % 2, i % 3, (a != 0) || (b != 0));  \
    TEST(T, type, MPI_LXOR, i % 2, i % 3, (a != 0) != (b != 0));
#define BITS(T, type)                                  \
    TEST(T, type, MPI_BAND, i * 5, i * 3 + 64, a & b); \
    TEST(T, type, MPI_BOR, i * 5, i * 3 + 64, a | b);  \
    TEST(T, type, MPI_BXOR, i * 5, i * 3 + 64, a ^ b);
#define INTEGER(T, type) ORDER(T, type) LOGIC(T, type) BITS(T, type)
#define COMPLEX(T, type)                                 \
    TEST(T, type, MPI_SUM, i + 2 * I, 3 - i * I, a + b); \
    TEST(T, type, MPI_PROD, i + 2 * I, 3 - i * I, a * b);

static void test_integers(void)
{
    INTEGER(int, MPI_INT)
    INTEGER(long, MPI_LONG) INTEGER(short, MPI_SHORT) INTEGER(unsigned short, MPI_UNSIGNED_SHORT)
        INTEGER(unsigned, MPI_UNSIGNED) INTEGER(unsigned long, MPI_UNSIGNED_LONG)
            INTEGER(long long, MPI_LONG_LONG_INT)
                INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG)
                    INTEGER(signed char, MPI_SIGNED_CHAR) INTEGER(unsigned char, MPI_UNSIGNED_CHAR)
}

static void test_sized_integers(void)
{
    INTEGER(int8_t, MPI_INT8_T)
    INTEGER(int16_t, MPI_INT16_T) INTEGER(int32_t, MPI_INT32_T) INTEGER(int64_t, MPI_INT64_T)
        INTEGER(uint8_t, MPI_UINT8_T) INTEGER(uint16_t, MPI_UINT16_T)
            INTEGER(uint32_t, MPI_UINT32_T) INTEGER(uint64_t, MPI_UINT64_T)
}

static void test_other_integers(void)
{
    INTEGER(MPI_Aint, MPI_AINT)
    INTEGER(MPI_Count, MPI_COUNT) INTEGER(MPI_Offset, MPI_OFFSET) INTEGER(int, MPI_INTEGER)
        INTEGER(int8_t, MPI_INTEGER1) INTEGER(int16_t, MPI_INTEGER2) INTEGER(int32_t, MPI_INTEGER4)
            INTEGER(int64_t, MPI_INTEGER8) INTEGER(__int128, MPI_INTEGER16)
}

static void test_other_numbers(void)
{
    ORDER(float, MPI_FLOAT)
    ORDER(double, MPI_DOUBLE) ORDER(long double, MPI_LONG_DOUBLE) ORDER(float, MPI_REAL)
        ORDER(double, MPI_DOUBLE_PRECISION) ORDER(float, MPI_REAL4) ORDER(double, MPI_REAL8)
            COMPLEX(float complex, MPI_C_COMPLEX) COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX)
                COMPLEX(long double complex, MPI_C_LONG_DOUBLE_COMPLEX)
                    COMPLEX(float complex, MPI_COMPLEX) COMPLEX(double complex, MPI_DOUBLE_COMPLEX)
                        COMPLEX(float complex, MPI_COMPLEX8) COMPLEX(double complex, MPI_COMPLEX16)
                            COMPLEX(float complex, MPI_CXX_FLOAT_COMPLEX) LOGIC(bool, MPI_C_BOOL)
                                LOGIC(bool, MPI_CXX_BOOL) LOGIC(int, MPI_LOGICAL)
                                    LOGIC(int8_t, MPI_LOGICAL1) LOGIC(int16_t, MPI_LOGICAL2)
                                        LOGIC(int64_t, MPI_LOGICAL8) BITS(unsigned char, MPI_BYTE)
}

static void test_overflow(void)
{
    int in[2] = {INT_MAX, INT_MIN}, inout[2] = {1, -1};
    MPI_Reduce_local(in, inout, 2, MPI_INT, MPI_SUM);
    CHECK_EQ(inout[0], INT_MIN);
    CHECK_EQ(inout[1], INT_MAX);
    int8_t small[1] = {100}, more[1] = {100};
    MPI_Reduce_local(small, more, 1, MPI_INT8_T, MPI_SUM);
    CHECK_EQ(more[0], (int8_t)200);
}

#define PLACE(V, J, type)                                                       \
    do {                                                                        \
        struct {                                                                \
            V value;                                                            \
            J index;                                                            \
        } in[N], low[N], high[N];                                               \
        memset(low, 0x5a, sizeof low);                                          \
        for (int i = 0; i < N; i++) {                                           \
            in[i].value = (V)(i % 7);                                           \
            in[i].index = (J)(i % 3);                                           \
            low[i].value = high[i].value = (V)(i % 5);                          \
            low[i].index = high[i].index = 1;                                   \
        }                                                                       \
        CHECK_EQ(MPI_Reduce_local(in, low, N, type, MPI_MINLOC), MPI_SUCCESS);  \
        CHECK_EQ(MPI_Reduce_local(in, high, N, type, MPI_MAXLOC), MPI_SUCCESS); \
        for (int i = 0; i < N; i++) {                                           \
            int a = i % 7, b = i % 5, ia = i % 3, first = ia < 1 ? ia : 1;      \
            CHECK_EQ(low[i].value, a < b ? a : b);                              \
            CHECK_EQ(low[i].index, a<b ? ia : a> b ? 1 : first);                \
            CHECK_EQ(high[i].value, a > b ? a : b);                             \
            CHECK_EQ(high[i].index, a > b ? ia : a < b ? 1 : first);            \
        }                                                                       \
    } while (0)

static void test_places(void)
{
    PLACE(float, int, MPI_FLOAT_INT);
    PLACE(double, int, MPI_DOUBLE_INT);
    PLACE(long, int, MPI_LONG_INT);
    PLACE(int, int, MPI_2INT);
    PLACE(short, int, MPI_SHORT_INT);
    PLACE(long double, int, MPI_LONG_DOUBLE_INT);
    PLACE(float, float, MPI_2REAL);
    PLACE(double, double, MPI_2DOUBLE_PRECISION);
    PLACE(int, int, MPI_2INTEGER);
}

static void test_refused(void)
{
    static const struct {
        MPI_Op op;
        MPI_Datatype type;
    } bad[] = {{MPI_SUM, MPI_BYTE},      {MPI_BAND, MPI_DOUBLE}, {MPI_LAND, MPI_FLOAT},
               {MPI_MIN, MPI_C_COMPLEX}, {MPI_SUM, MPI_C_BOOL},  {MPI_MINLOC, MPI_INT},
               {MPI_SUM, MPI_2INT},      {MPI_LOR, MPI_BYTE},    {MPI_SUM, MPI_WCHAR},
               {MPI_MAX, MPI_LOGICAL},   {MPI_SUM, MPI_PACKED},  {MPI_REPLACE, MPI_INT},
               {MPI_NO_OP, MPI_INT},     {MPI_BOR, MPI_C_BOOL},  {MPI_OP_NULL, MPI_INT},
               {MPI_SUM, MPI_CHARACTER}};
    char a[64] = {0}, b[64] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int class;
        MPI_Error_class(MPI_Reduce_local(a, b, 1, bad[i].type, bad[i].op), &class);
        if (!CHECK_EQ(class, MPI_ERR_OP))
            fprintf(stderr, "case %zu\n", i);
    }
    int class;
    MPI_Error_class(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), &class);
    CHECK_EQ(class, MPI_ERR_COUNT);
    MPI_Error_class(MPI_Reduce_local(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM), &class);
    CHECK_EQ(class, MPI_ERR_TYPE);
    MPI_Error_class(MPI_Reduce_local(a, a, 1, MPI_INT, MPI_SUM), &class);
    CHECK_EQ(class, MPI_ERR_BUFFER);
    MPI_Op sum = MPI_SUM;
    MPI_Error_class(MPI_Op_free(&sum), &class);
    CHECK_EQ(class, MPI_ERR_OP);
}

// ---- Users' functions
static MPI_Count calls, seen;
static MPI_Datatype seen_type;
static void subtract(void *in, void *inout, int *len, MPI_Datatype *type)
{
    calls++;
    seen += *len;
    seen_type = *type;
    for (int i = 0; i < *len && i < 4; i++)
        ((int *)inout)[2 * i] = ((int *)in)[2 * i] - ((int *)inout)[2 * i];
}

static void subtract_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int one = (int)*len;
    seen = 0;
    subtract(in, inout, &one, type);
}

static char *far_in, *far_inout; // NULL: anywhere

static void count_only(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    CHECK(*len > 0);
    CHECK(!far_in || ((char *)in == far_in + seen && (char *)inout == far_inout + seen));
    calls++;
    seen += *len;
}

static void test_users(void)
{
    MPI_Datatype every_other, empty;
    MPI_Type_create_resized(MPI_INT, 0, 8, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Op op[2];
    MPI_Op_create(subtract, 0, &op[0]);
    MPI_Op_create_c(subtract_c, 1, &op[1]);
    for (int k = 0; k < 2; k++) {
        int in[6] = {10, 0, 20, 0, 30, 0}, inout[6] = {1, 9, 2, 9, 3, 9}, commute;
        MPI_Op_commutative(op[k], &commute);
        CHECK_EQ(commute, k);
        seen = 0;
        CHECK_EQ(MPI_Reduce_local(in, inout, 3, every_other, op[k]), MPI_SUCCESS);
        CHECK(seen_type == every_other && seen == 3);
        static const int want[6] = {9, 9, 18, 9, 27, 9};
        CHECK_EACH(i, 6, inout[i], want[i]);
        MPI_Op_free(&op[k]);
        CHECK(op[k] == MPI_OP_NULL);
    }
    MPI_Op_create(count_only, 1, &op[0]); // more than an int counts: several calls
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int x, y;
    calls = seen = 0;
    MPI_Count n = (MPI_Count)INT_MAX * 2 + 5;
    CHECK_EQ(MPI_Reduce_local_c(&x, &y, n, empty, op[0]), MPI_SUCCESS);
    CHECK_EQ(calls, 3);
    CHECK_EQ(seen, n);
    void *nowhere = mmap(NULL, 2 * (size_t)n, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); // nobody reads it
    if (nowhere != MAP_FAILED) {
        far_in = nowhere;
        far_inout = far_in + n;
        calls = seen = 0;
        CHECK_EQ(MPI_Reduce_local_c(far_in, far_inout, n, MPI_BYTE, op[0]), MPI_SUCCESS);
        CHECK(calls == 3 && seen == n);
        munmap(nowhere, 2 * (size_t)n);
    }
    MPI_Op_free(&op[0]);
    MPI_Type_free(&empty);
    MPI_Type_free(&every_other);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_integers();
    test_sized_integers();
    test_other_integers();
    test_other_numbers();
    test_overflow();
    test_places();
    test_refused();
    test_users();
    MPI_Finalize();
    return check_done();
}
