// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Calls on datatypes: predefined ones, names, external32 byte by byte, large types, absolute
// addresses, parts of elements.
// PES: 1
#include <check.h>
#include <mpi.h>
#include <stddef.h>
#include <wchar.h>

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

static int size_of(MPI_Datatype type)
{
    int size = -1;
    MPI_Type_size(type, &size);
    return size;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQ(lb, 0);
    return extent;
}

static MPI_Aint true_extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(type, &lb, &extent);
    return extent;
}

static void test_predefined(void)
{
    static const struct {
        MPI_Datatype type;
        int size, extent, true_extent;
        const char *name;
    } t[] = {{MPI_CHAR, 1, 1, 1, "MPI_CHAR"},
             {MPI_WCHAR, sizeof(wchar_t), 4, 4, "MPI_WCHAR"},
             {MPI_LONG, 8, 8, 8, "MPI_LONG"},
             {MPI_LONG_DOUBLE, 16, 16, 16, "MPI_LONG_DOUBLE"},
             {MPI_LOGICAL, 4, 4, 4, "MPI_LOGICAL"},
             {MPI_COMPLEX32, 32, 32, 32, "MPI_COMPLEX32"},
             {MPI_SHORT_INT, 6, 8, 8, "MPI_SHORT_INT"},
             {MPI_DOUBLE_INT, 12, 16, 12, "MPI_DOUBLE_INT"},
             {MPI_LONG_DOUBLE_INT, 20, 32, 20, "MPI_LONG_DOUBLE_INT"},
             {MPI_2DOUBLE_PRECISION, 16, 16, 16, "MPI_2DOUBLE_PRECISION"},
             {MPI_PACKED, 1, 1, 1, "MPI_PACKED"},
             {MPI_COUNT, 8, 8, 8, "MPI_COUNT"},
             {MPI_C_BOOL, 1, 1, 1, "MPI_C_BOOL"},
             {MPI_INTEGER16, 16, 16, 16, "MPI_INTEGER16"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int n, integers, addresses, types, combiner;
        CHECK_EQ(size_of(t[i].type), t[i].size);
        CHECK_EQ(extent_of(t[i].type), t[i].extent);
        CHECK_EQ(true_extent_of(t[i].type), t[i].true_extent);
        MPI_Type_get_name(t[i].type, name, &n);
        CHECK(strcmp(name, t[i].name) == 0 && n == (int)strlen(name));
        MPI_Type_get_envelope(t[i].type, &integers, &addresses, &types, &combiner);
        CHECK(combiner == MPI_COMBINER_NAMED && integers + addresses + types == 0);
    }
    CHECK_EQ(size_of(MPI_REAL2), MPI_UNDEFINED); // optional, and not here
    MPI_Datatype none;
    CHECK_EQ(class_of(MPI_Type_contiguous(1, MPI_REAL2, &none)), MPI_ERR_TYPE);
}

static void test_names(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "x", longest[MPI_MAX_OBJECT_NAME + 9];
    int n = -1;
    MPI_Datatype t, copy;
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK_EQ(MPI_Type_get_name(t, name, &n), MPI_SUCCESS);
    CHECK(n == 0 && name[0] == 0);
    CHECK_EQ(MPI_Type_set_name(t, "two"), MPI_SUCCESS);
    MPI_Type_get_name(t, name, &n);
    CHECK(n == 3 && strcmp(name, "two") == 0);
    MPI_Type_dup(t, &copy); // which has no name of its own
    MPI_Type_get_name(copy, name, &n);
    CHECK(n == 0 && name[0] == 0);
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    longest[MPI_MAX_OBJECT_NAME - 1] = 0;
    MPI_Type_set_name(t, longest);
    MPI_Type_get_name(t, name, &n);
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && strcmp(name, longest) == 0);
    CHECK_EQ(class_of(MPI_Type_set_name(t, NULL)), MPI_ERR_ARG);
    CHECK_EQ(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &n), MPI_SUCCESS);
    CHECK(n == 17 && strcmp(name, "MPI_DATATYPE_NULL") == 0);
    MPI_Type_free(&t);
    MPI_Type_free(&copy);
}

static void test_found(void)
{
    MPI_Datatype a, b;
    int p, combiner, n, x, arguments[2];
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a);
    CHECK_EQ(size_of(a), 8);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &a);
    CHECK_EQ(size_of(a), 8);
    CHECK_EQ(class_of(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &a)), MPI_ERR_ARG);
    MPI_Type_create_f90_real(15, 300, &a);
    MPI_Type_create_f90_real(15, 300, &b);
    CHECK(a == b && size_of(a) == 8);
    MPI_Type_get_envelope(a, &n, &x, &x, &combiner);
    CHECK(n == 2 && combiner == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(a, 2, 0, 0, arguments, NULL, NULL);
    CHECK(arguments[0] == 15 && arguments[1] == 300);
    CHECK_EQ(class_of(MPI_Type_free(&a)), MPI_ERR_TYPE);
    double u = 2, v = 3;
    CHECK_EQ(MPI_Reduce_local(&u, &v, 1, a, MPI_PROD), MPI_SUCCESS);
    CHECK_EQ(v, 6);
    MPI_Type_create_f90_integer(9, &a);
    CHECK_EQ(size_of(a), 4);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &a);
    CHECK_EQ(size_of(a), 8);
    CHECK_EQ(class_of(MPI_Type_create_f90_integer(100, &a)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &a)), MPI_ERR_ARG);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &a);
    CHECK(a == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_CHAR, &a);
    CHECK(a == MPI_DATATYPE_NULL);
    (void)p;
}

static void external(MPI_Datatype type, int count, const void *values, const char *bytes, int n)
{
    char out[64] = {0}, back[64] = {0}, whole[64];
    MPI_Aint size, position = 0, extent = extent_of(type);
    MPI_Pack_external_size("external32", count, type, &size);
    CHECK_EQ(size, n);
    CHECK_EQ(MPI_Pack_external("external32", values, count, type, out, 64, &position), MPI_SUCCESS);
    CHECK_EQ(position, n);
    CHECK_MEM(out, bytes, n, "external32");
    position = 0;
    MPI_Unpack_external("external32", out, n, &position, back, count, type);
    CHECK_EQ(position, n);
    memset(whole, 0, sizeof whole);
    memcpy(whole, values, (size_t)(extent * count));
    CHECK_MEM(back, whole, extent * count, "from external32");
}

static void test_external(void)
{
    int i[2] = {0x01020304, -2};
    long l[2] = {0x01020304, -2};
    unsigned long ul = 0xfffffffe;
    short s = 0x0102;
    double d = 1.0, z[2] = {1, -2};
    long double ld = 0;
    float f = -2;
    wchar_t w = 0x20ac;
    bool b = true;
    external(MPI_INT, 2, i, "\1\2\3\4\xff\xff\xff\xfe", 8);
    external(MPI_LONG, 2, l, "\1\2\3\4\xff\xff\xff\xfe", 8);
    external(MPI_UNSIGNED_LONG, 1, &ul, "\xff\xff\xff\xfe", 4);
    external(MPI_SHORT, 1, &s, "\1\2", 2);
    external(MPI_INT64_T, 1, l, "\0\0\0\0\1\2\3\4", 8);
    external(MPI_DOUBLE, 1, &d, "\x3f\xf0\0\0\0\0\0\0", 8);
    external(MPI_FLOAT, 1, &f, "\xc0\0\0\0", 4);
    external(MPI_C_DOUBLE_COMPLEX, 1, z, "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16);
    external(MPI_WCHAR, 1, &w, "\x20\xac", 2);
    external(MPI_C_BOOL, 1, &b, "\1", 1);
    external(MPI_CHAR, 5, "hello", "hello", 5);
    memset(&ld, 0, sizeof ld);
    ld = 1.5L;
    char out[16];
    MPI_Aint position = 0;
    MPI_Pack_external("external32", &ld, 1, MPI_LONG_DOUBLE, out, 16, &position);
    CHECK_MEM(out, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, "long double");
    ld = 0;
    position = 0;
    MPI_Unpack_external("external32", out, 16, &position, &ld, 1, MPI_LONG_DOUBLE);
    CHECK_EQ(ld, 1.5L);
    CHECK_EQ(class_of(MPI_Pack_external("native", i, 1, MPI_INT, out, 16, &position)),
             MPI_ERR_UNSUPPORTED_DATAREP);
}

struct mixed {
    char c;
    long l;
    short s[2];
};

// Two of two, with a gap: the same bytes one after the other.
static void external_gaps(MPI_Datatype mixed)
{
    MPI_Datatype two, four;
    char in[36], again[36];
    MPI_Aint size = 0, position = 0;
    MPI_Type_contiguous(2, mixed, &two);
    MPI_Type_vector(2, 1, 2, two, &four);
    MPI_Type_commit(&four);
    struct mixed many[6] = {{'a', 1, {2, 3}},   {'b', 4, {5, 6}},   {0}, {0},
                            {'c', -7, {-8, 9}}, {'d', 10, {11, 12}}},
                 got[6] = {{0}};
    MPI_Pack_external_size("external32", 1, four, &size);
    CHECK_EQ(size, sizeof in);
    CHECK_EQ(MPI_Pack_external("external32", many, 1, four, in, sizeof in, &position), MPI_SUCCESS);
    CHECK_EQ(position, sizeof in);
    CHECK_MEM(in + 18, "c\xff\xff\xff\xf9\xff\xf8\0\11d\0\0\0\12\0\13\0\14", 18, "the second two");
    position = 0;
    MPI_Unpack_external("external32", in, sizeof in, &position, got, 1, four);
    position = 0;
    MPI_Pack_external("external32", got, 1, four, again, sizeof again, &position);
    CHECK_MEM(again, in, sizeof in, "there and back");
    CHECK(got[1].l == 4 && got[2].l == 0 && got[5].s[1] == 12);
    MPI_Type_free(&two);
    MPI_Type_free(&four);
}

// A struct of which a part is of no elements.
static void external_hollow(void)
{
    MPI_Datatype empty, hollow;
    MPI_Aint needed = 0;
    MPI_Type_contiguous(0, MPI_LONG, &empty);
    MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 8, 8},
                           (MPI_Datatype[]){MPI_CHAR, empty, MPI_INT}, &hollow);
    MPI_Pack_external_size("external32", 3, hollow, &needed);
    CHECK_EQ(needed, 15);
    MPI_Type_free(&empty);
    MPI_Type_free(&hollow);
}

static void test_external_mixed(void)
{
    char out[16];
    MPI_Aint position = 0;
    struct mixed v = {'x', -1, {1, 2}}, back = {0, 0, {0, 0}};
    MPI_Datatype mixed;
    MPI_Type_create_struct(3, (int[]){1, 1, 2},
                           (MPI_Aint[]){0, (char *)&v.l - (char *)&v, (char *)v.s - (char *)&v},
                           (MPI_Datatype[]){MPI_CHAR, MPI_LONG, MPI_SHORT}, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Pack_external("external32", &v, 1, mixed, out, 16, &position);
    CHECK_EQ(position, 9);
    CHECK_MEM(out, "x\xff\xff\xff\xff\0\1\0\2", 9, "mixed");
    position = 0;
    MPI_Unpack_external("external32", out, 9, &position, &back, 1, mixed);
    CHECK(back.c == 'x' && back.l == -1 && back.s[0] == 1 && back.s[1] == 2);
    external_gaps(mixed);
    external_hollow();
    MPI_Type_free(&mixed);
}

static void test_large(void)
{
    MPI_Datatype big, bigger, none;
    MPI_Count size, lb, extent, elements;
    int small, x;
    CHECK_EQ(MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_INT, &big), MPI_SUCCESS);
    MPI_Type_size_c(big, &size);
    CHECK_EQ(size, (MPI_Count)1 << 35);
    MPI_Type_size(big, &small);
    CHECK_EQ(small, MPI_UNDEFINED);
    CHECK_EQ(class_of(MPI_Type_get_envelope(big, &x, &x, &x, &x)), MPI_ERR_TYPE);
    MPI_Type_vector(1000, 1, 2, big, &bigger);
    MPI_Type_get_extent_x(bigger, &lb, &extent);
    CHECK_EQ(extent, ((MPI_Count)1 << 35) * 1999);
    MPI_Type_commit(&big);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_c(&status, big, (MPI_Count)1 << 33);
    MPI_Get_elements_x(&status, big, &elements);
    CHECK_EQ(elements, (MPI_Count)1 << 33);
    MPI_Get_elements(&status, big, &small);
    CHECK_EQ(small, MPI_UNDEFINED);
    MPI_Get_count(&status, big, &small);
    CHECK_EQ(small, 1);
    MPI_Datatype alone; // a stride that nothing is apart
    CHECK_EQ(MPI_Type_vector_c(1, 3, INT64_MAX / 2, MPI_INT, &alone), MPI_SUCCESS);
    MPI_Type_get_extent_c(alone, &lb, &extent);
    CHECK_EQ(extent, 12);
    MPI_Type_free(&alone);
    CHECK_EQ(class_of(MPI_Type_contiguous_c(INT64_MAX / 2, MPI_INT, &none)),
             MPI_ERR_VALUE_TOO_LARGE);
    CHECK_EQ(class_of(MPI_Type_vector_c(2, 1, INT64_MAX, MPI_INT, &none)), MPI_ERR_VALUE_TOO_LARGE);
    MPI_Type_free(&big);
    MPI_Type_free(&bigger);
}

static void test_bottom(void)
{
    int a = 1, b = 2, packed[2] = {0}, position = 0;
    MPI_Aint at[2];
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(&b, &at[1]);
    CHECK_EQ(MPI_Aint_add(at[0], MPI_Aint_diff(at[1], at[0])), at[1]);
    MPI_Datatype both;
    MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &both);
    MPI_Type_commit(&both);
    MPI_Pack(MPI_BOTTOM, 1, both, packed, sizeof packed, &position, MPI_COMM_SELF);
    CHECK(packed[0] == 1 && packed[1] == 2 && position == 8);
    packed[0] = 5;
    position = 0;
    MPI_Unpack(packed, 8, &position, MPI_BOTTOM, 1, both, MPI_COMM_SELF);
    CHECK(a == 5 && b == 2);
    MPI_Type_free(&both);
}

static void test_elements(void)
{
    // double, int, double of two pairs: three elements, and no whole number of pairs.
    MPI_Status status;
    int n;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_BYTE, 20);
    MPI_Get_elements(&status, MPI_DOUBLE_INT, &n);
    CHECK_EQ(n, 3);
    MPI_Get_count(&status, MPI_DOUBLE_INT, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_elements(&status, MPI_DOUBLE, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK_EQ(n, 5);
    CHECK_EQ(class_of(MPI_Get_count(&status, MPI_DATATYPE_NULL, &n)), MPI_ERR_TYPE);
    MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 3); // a pair, and the value of another
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK_EQ(n, 20);
    MPI_Get_elements(&status, MPI_DOUBLE_INT, &n);
    CHECK_EQ(n, 3);
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    CHECK_EQ(class_of(MPI_Status_set_elements(&status, nothing, 1)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Status_set_elements(MPI_STATUS_IGNORE, MPI_INT, 1)), MPI_ERR_ARG);
    MPI_Status_set_elements(&status, nothing, 0);
    MPI_Get_elements(&status, nothing, &n);
    CHECK_EQ(n, 0);
    MPI_Get_count(&status, nothing, &n);
    CHECK_EQ(n, 0);
    MPI_Type_free(&nothing);
}

// char, 2 shorts, 3 ints: what is there of one that is cut anywhere.
static void test_parts(void)
{
    static const struct {
        int bytes, elements;
    } cut[] = {{0, 0},  {1, 1},  {2, MPI_UNDEFINED},
               {3, 2},  {5, 3},  {7, MPI_UNDEFINED},
               {9, 4},  {13, 5}, {17, 6},
               {18, 7}, {22, 9}, {34, 12}};
    MPI_Datatype t;
    MPI_Status status;
    int n;
    memset(&status, 0, sizeof status);
    MPI_Type_create_struct(3, (int[]){1, 2, 3}, (MPI_Aint[]){0, 2, 8},
                           (MPI_Datatype[]){MPI_CHAR, MPI_SHORT, MPI_INT}, &t);
    MPI_Type_commit(&t);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        MPI_Status_set_elements(&status, MPI_BYTE, cut[i].bytes);
        MPI_Get_elements(&status, t, &n);
        CHECK_EQ(n, cut[i].elements);
        MPI_Get_count(&status, t, &n);
        CHECK_EQ(n, cut[i].bytes % 17 ? MPI_UNDEFINED : cut[i].bytes / 17);
        if (cut[i].elements == MPI_UNDEFINED)
            continue;
        MPI_Status_set_elements(&status, t, cut[i].elements);
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK_EQ(n, cut[i].bytes);
    }
    MPI_Type_free(&t);
}

// Calls that move nothing want no commit (MPI 5.0, "Datatype Commit").
static void test_uncommitted(void)
{
    MPI_Datatype three;
    MPI_Status status;
    MPI_Aint address = 0;
    MPI_Count count = 0;
    int n = 0;
    memset(&status, 0, sizeof status);
    MPI_Type_contiguous(3, MPI_INT, &three);
    CHECK_EQ(MPI_Status_set_elements(&status, three, 6), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_count(&status, three, &n), MPI_SUCCESS);
    CHECK_EQ(n, 2);
    CHECK_EQ(MPI_Status_set_elements_c(&status, three, 4), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_elements(&status, three, &n), MPI_SUCCESS);
    CHECK_EQ(n, 4);
    CHECK_EQ(MPI_Get_elements_c(&status, three, &count), MPI_SUCCESS);
    CHECK_EQ(count, 4);
    CHECK_EQ(MPI_Pack_size(2, three, MPI_COMM_SELF, &n), MPI_SUCCESS);
    CHECK_EQ(n, 24);
    CHECK_EQ(MPI_Pack_external_size("external32", 2, three, &address), MPI_SUCCESS);
    CHECK_EQ(address, 24);
    CHECK_EQ(class_of(MPI_Get_elements(&status, MPI_REAL2, &n)), MPI_ERR_TYPE); // there is none
    CHECK_EQ(class_of(MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_SELF, &n)), MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Pack_size(1, (MPI_Datatype)MPI_SUM, MPI_COMM_SELF, &n)), MPI_ERR_TYPE);
    CHECK_EQ(n, 24);
    MPI_Type_free(&three);
}

// Types of types: where nothing else has them all go with the last.
static void test_nested(void)
{
    enum { DEPTH = 400000 };
    MPI_Datatype t, of_it, fork;
    MPI_Type_contiguous(2, MPI_INT, &t);
    for (int i = 0; i < DEPTH; i++) {
        CHECK_EQ(MPI_Type_dup(t, &of_it), MPI_SUCCESS);
        if (i == DEPTH / 4)
            fork = t;
        else
            MPI_Type_free(&t);
        t = of_it;
    }
    MPI_Type_free(&t);
    int n = 0;
    MPI_Type_size(fork, &n);
    CHECK_EQ(n, 8);
    MPI_Type_free(&fork);
}

// A struct of an int and the type before, which no other form is the same as. Where another one within it is
// an error it is one of MPI_ERR_TYPE; else it is packed and unpacked.
static void test_deep(void)
{
    enum { DEPTH = 10000, INTS = 4 * DEPTH };
    MPI_Datatype t = MPI_INT, of_it, row;
    int error = MPI_SUCCESS, n = 0, size, pos = 0;
    for (; n < DEPTH && !error; n++) {
        error = MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4 + n % 3 * 4},
                                       (MPI_Datatype[]){MPI_INT, t}, &of_it);
        if (error)
            break;
        CHECK_EQ(MPI_Type_create_resized(of_it, 0, 16, &row), MPI_SUCCESS);
        MPI_Type_free(&of_it);
        if (n)
            MPI_Type_free(&t);
        t = row;
    }
    CHECK(n >= 1000 && (n == DEPTH || class_of(error) == MPI_ERR_TYPE));
    MPI_Type_commit(&t);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 4 * (n + 1));
    char *from = calloc(INTS, sizeof(int)), *packed = malloc((size_t)size);
    CHECK_EQ(MPI_Pack(from, 1, t, packed, size, &pos, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(pos, size);
    free(packed);
    free(from);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_predefined();
    test_names();
    test_found();
    test_external();
    test_external_mixed();
    test_large();
    test_bottom();
    test_elements();
    test_parts();
    test_uncommitted();
    test_nested();
    test_deep();
    MPI_Finalize();
    return check_done();
}
