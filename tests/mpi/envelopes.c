// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// MPI 5.0, "Decoding a Datatype": what MPI_Type_get_envelope and MPI_Type_get_contents tell of each
// constructor, of both forms.
// PES: 1
#include "mpi_check.h"

#define WRONG(call, class) CHECK_EQ(class_of(call), class)

enum { MOST = 16, DFLT = MPI_DISTRIBUTE_DFLT_DARG };

struct told {
    int combiner, ints, addresses, counts, types;
    MPI_Count number[MOST]; // integers, addresses, counts, one after the other
};

static int i[MOST];
static MPI_Aint a[MOST];
static MPI_Count c[MOST];
static MPI_Datatype t[MOST];

// Arrays that have one place less than is needed.
static void too_small(MPI_Datatype type, const struct told *w)
{
    int n[4] = {w->ints, w->addresses, w->counts, w->types};
    for (int k = 0; k < 4; k++) {
        if (n[k]-- == 0)
            continue;
        WRONG(MPI_Type_get_contents_c(type, n[0], n[1], n[2], n[3], i, a, c, t), MPI_ERR_ARG);
        if (!w->counts)
            WRONG(MPI_Type_get_contents(type, n[0], n[1], n[3], i, a, t), MPI_ERR_ARG);
        n[k]++;
        WRONG(MPI_Type_get_contents_c(type, n[0], n[1], n[2], n[3], k == 0 ? NULL : i,
                                      k == 1 ? NULL : a, k == 2 ? NULL : c, k == 3 ? NULL : t),
              MPI_ERR_ARG);
    }
}

static void contents(const struct told *w)
{
    CHECK_EACH(k, w->ints, i[k], w->number[k]);
    CHECK_EACH(k, w->addresses, a[k], w->number[w->ints + (int)k]);
    CHECK_EACH(k, w->counts, c[k], w->number[w->ints + w->addresses + (int)k]);
    for (int k = 0; k < w->types; k++)
        CHECK(t[k] == (k ? MPI_SHORT : MPI_INT));
    memset(i, 0, sizeof i);
    memset(a, 0, sizeof a);
    memset(t, 0, sizeof t);
}

static void expect(MPI_Datatype type, struct told w)
{
    MPI_Count n[4];
    int ints, addresses, types, combiner;
    OK(MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &combiner));
    CHECK_EQ(combiner, w.combiner);
    CHECK_EQ(n[0], w.ints);
    CHECK_EQ(n[1], w.addresses);
    CHECK_EQ(n[2], w.counts);
    CHECK_EQ(n[3], w.types);
    OK(MPI_Type_get_contents_c(type, n[0], n[1], n[2], n[3], i, a, c, t));
    contents(&w);
    if (w.counts) { // the other calls cannot say it
        WRONG(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner), MPI_ERR_TYPE);
        WRONG(MPI_Type_get_contents(type, MOST, MOST, MOST, i, a, t), MPI_ERR_TYPE);
    } else {
        OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
        CHECK(ints == w.ints && addresses == w.addresses && types == w.types);
        CHECK_EQ(combiner, w.combiner);
        OK(MPI_Type_get_contents(type, ints, addresses, types, i, a, t));
        contents(&w);
    }
    too_small(type, &w);
    if (w.types)
        OK(MPI_Type_free(
            &type)); // those without are of no constructor that the program has to free
}

// name(arguments, &type), whose combiner is MPI_COMBINER_what; the numbers that it tells follow.
#define EXPECT(what, ni, na, nc, nt, call, ...)                                          \
    do {                                                                                 \
        MPI_Datatype type = MPI_DATATYPE_NULL;                                           \
        OK(call);                                                                        \
        expect(type, (struct told){MPI_COMBINER_##what, ni, na, nc, nt, {__VA_ARGS__}}); \
    } while (0)

static int lengths[] = {1, 2}, at[] = {3, 7};
static MPI_Aint bytes[] = {8, 32};
static MPI_Count lengths_c[] = {1, 2}, at_c[] = {3, 7}, bytes_c[] = {8, 32};
static MPI_Datatype both[] = {MPI_INT, MPI_SHORT};

static void small(void)
{
    EXPECT(DUP, 0, 0, 0, 1, MPI_Type_dup(MPI_INT, &type), 0);
    EXPECT(CONTIGUOUS, 1, 0, 0, 1, MPI_Type_contiguous(3, MPI_INT, &type), 3);
    EXPECT(VECTOR, 3, 0, 0, 1, MPI_Type_vector(3, 2, 5, MPI_INT, &type), 3, 2, 5);
    EXPECT(HVECTOR, 2, 1, 0, 1, MPI_Type_create_hvector(3, 2, 20, MPI_INT, &type), 3, 2, 20);
    EXPECT(INDEXED, 5, 0, 0, 1, MPI_Type_indexed(2, lengths, at, MPI_INT, &type), 2, 1, 2, 3, 7);
    EXPECT(HINDEXED, 3, 2, 0, 1, MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type), 2, 1,
           2, 8, 32);
    EXPECT(INDEXED_BLOCK, 4, 0, 0, 1, MPI_Type_create_indexed_block(2, 2, at, MPI_INT, &type), 2, 2,
           3, 7);
    EXPECT(HINDEXED_BLOCK, 2, 2, 0, 1, MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &type),
           2, 2, 8, 32);
    EXPECT(STRUCT, 3, 2, 0, 2, MPI_Type_create_struct(2, lengths, bytes, both, &type), 2, 1, 2, 8,
           32);
    EXPECT(RESIZED, 0, 2, 0, 1, MPI_Type_create_resized(MPI_INT, -4, 16, &type), -4, 16);
    EXPECT(
        SUBARRAY, 8, 0, 0, 1,
        MPI_Type_create_subarray(2, at, lengths, (int[]){0, 5}, MPI_ORDER_FORTRAN, MPI_INT, &type),
        2, 3, 7, 1, 2, 0, 5, MPI_ORDER_FORTRAN);
    EXPECT(DARRAY, 12, 0, 0, 1,
           MPI_Type_create_darray(2, 1, 2, at, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                                  (int[]){DFLT, 4}, (int[]){2, 1}, MPI_ORDER_C, MPI_INT, &type),
           2, 1, 2, 3, 7, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, DFLT, 4, 2, 1, MPI_ORDER_C);
}

static void large(void)
{
    EXPECT(CONTIGUOUS, 0, 0, 1, 1, MPI_Type_contiguous_c(3, MPI_INT, &type), 3);
    EXPECT(VECTOR, 0, 0, 3, 1, MPI_Type_vector_c(3, 2, 5, MPI_INT, &type), 3, 2, 5);
    EXPECT(HVECTOR, 0, 0, 3, 1, MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &type), 3, 2, 20);
    EXPECT(INDEXED, 0, 0, 5, 1, MPI_Type_indexed_c(2, lengths_c, at_c, MPI_INT, &type), 2, 1, 2, 3,
           7);
    EXPECT(HINDEXED, 0, 0, 5, 1, MPI_Type_create_hindexed_c(2, lengths_c, bytes_c, MPI_INT, &type),
           2, 1, 2, 8, 32);
    EXPECT(INDEXED_BLOCK, 0, 0, 4, 1, MPI_Type_create_indexed_block_c(2, 2, at_c, MPI_INT, &type),
           2, 2, 3, 7);
    EXPECT(HINDEXED_BLOCK, 0, 0, 4, 1,
           MPI_Type_create_hindexed_block_c(2, 2, bytes_c, MPI_INT, &type), 2, 2, 8, 32);
    EXPECT(STRUCT, 0, 0, 5, 2, MPI_Type_create_struct_c(2, lengths_c, bytes_c, both, &type), 2, 1,
           2, 8, 32);
    EXPECT(RESIZED, 0, 0, 2, 1, MPI_Type_create_resized_c(MPI_INT, -4, 16, &type), -4, 16);
    EXPECT(SUBARRAY, 2, 0, 6, 1,
           MPI_Type_create_subarray_c(2, at_c, lengths_c, (MPI_Count[]){0, 5}, MPI_ORDER_C, MPI_INT,
                                      &type),
           2, MPI_ORDER_C, 3, 7, 1, 2, 0, 5);
    EXPECT(DARRAY, 10, 0, 2, 1,
           MPI_Type_create_darray_c(2, 1, 2, at_c,
                                    (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                                    (int[]){DFLT, 4}, (int[]){2, 1}, MPI_ORDER_C, MPI_INT, &type),
           2, 1, 2, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, DFLT, 4, 2, 1, MPI_ORDER_C, 3, 7);
}

static void of_fortran(void)
{
    EXPECT(F90_REAL, 2, 0, 0, 0, MPI_Type_create_f90_real(6, 30, &type), 6, 30);
    EXPECT(F90_COMPLEX, 2, 0, 0, 0, MPI_Type_create_f90_complex(MPI_UNDEFINED, 300, &type),
           MPI_UNDEFINED, 300);
    EXPECT(F90_INTEGER, 1, 0, 0, 0, MPI_Type_create_f90_integer(9, &type), 9);
}

static int bytes_of(MPI_Datatype type)
{
    int size = -1;
    OK(MPI_Type_size(type, &size));
    return size;
}

// The smallest type that has so many digits.
static void digits(void)
{
    static const int integers[][2] = {{0, 1}, {2, 1},  {3, 2},  {4, 2},   {5, 4},
                                      {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}},
                     reals[][3] = {{6, 37, 4},    {7, 37, 8},    {6, 38, 8},    {15, 307, 8},
                                   {16, 307, 16}, {15, 308, 16}, {33, 4931, 16}};
    MPI_Datatype type;
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
        OK(MPI_Type_create_f90_integer(integers[k][0], &type));
        CHECK_EQ(bytes_of(type), integers[k][1]);
    }
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
        OK(MPI_Type_create_f90_real(reals[k][0], reals[k][1], &type));
        CHECK_EQ(bytes_of(type), reals[k][2]);
        OK(MPI_Type_create_f90_complex(reals[k][0], reals[k][1], &type));
        CHECK_EQ(bytes_of(type), 2 * reals[k][2]);
    }
    WRONG(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
    WRONG(MPI_Type_create_f90_real(34, 1, &type), MPI_ERR_ARG);
    WRONG(MPI_Type_create_f90_complex(1, 4932, &type), MPI_ERR_ARG);
}

// A derived one that is part of another lives on, and is the program's to free once more.
static void derived(void)
{
    MPI_Datatype row, rows, got;
    int n = 0;
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &row));
    OK(MPI_Type_contiguous(2, row, &rows));
    OK(MPI_Type_free(&row));
    OK(MPI_Type_get_contents(rows, 1, 0, 1, &n, NULL, &got));
    CHECK_EQ(n, 2);
    OK(MPI_Type_free(&rows));
    CHECK_EQ(bytes_of(got), 3 * (int)sizeof(int));
    OK(MPI_Type_get_contents(got, 3, 0, 1, i, NULL, t));
    CHECK(i[0] == 3 && i[1] == 1 && i[2] == 2 && t[0] == MPI_INT);
    OK(MPI_Type_free(&got));
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    small();
    large();
    of_fortran();
    digits();
    derived();
    return mpi_done();
}
