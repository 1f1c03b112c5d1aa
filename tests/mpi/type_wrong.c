// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Wrong arguments of calls on datatypes: the class that each gets, and that no output was written.
// PES: 1
#include "mpi_check.h"

#define WRONG(call, class) CHECK_EQ(class_of(call), class)

// darray of 1 dimension; what differs from 8 elements in blocks of 2 on 4 processes, of which it is the last.
static int darray(int size, int rank, int gsize, int distrib, int darg, int psize)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int error = MPI_Type_create_darray(size, rank, 1, &gsize, &distrib, &darg, &psize, MPI_ORDER_C,
                                       MPI_INT, &t);
    if (!error)
        MPI_Type_free(&t);
    return error;
}

static void wrong_arrays(void)
{
    const int dflt = MPI_DISTRIBUTE_DFLT_DARG, block = MPI_DISTRIBUTE_BLOCK, c = MPI_ORDER_C;
    int one = 1, four = 4, zero = 0, less = -1;
    MPI_Datatype t = MPI_DATATYPE_NULL;
    WRONG(MPI_Type_create_subarray(0, &four, &one, &zero, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, NULL, &one, &zero, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, NULL, &zero, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, &one, NULL, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, &one, &zero, c, MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &zero, &one, &zero, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, &zero, &zero, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, &one, &less, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, &four, &one, &four, c, MPI_INT, &t), MPI_ERR_ARG);
    CHECK_EQ(darray(4, 3, 8, block, 2, 4), MPI_SUCCESS);
    CHECK_EQ(darray(4, 3, 8, block, dflt, 4), MPI_SUCCESS);
    WRONG(MPI_Type_create_darray(4, 3, 1, &four, NULL, &dflt, &four, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_darray(4, 3, 1, NULL, &block, &dflt, &four, c, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(darray(0, 0, 8, block, 2, 4), MPI_ERR_ARG);
    WRONG(darray(4, 4, 8, block, 2, 4), MPI_ERR_RANK);
    WRONG(darray(4, -1, 8, block, 2, 4), MPI_ERR_RANK);
    WRONG(darray(4, 3, 0, block, 2, 4), MPI_ERR_ARG);
    WRONG(darray(4, 3, 8, 99, 2, 4), MPI_ERR_ARG);
    WRONG(darray(4, 3, 8, block, 0, 4), MPI_ERR_ARG);
    WRONG(darray(4, 3, 8, block, 1, 4), MPI_ERR_ARG); // of 8 only 4
    WRONG(darray(4, 3, 8, block, 2, 0), MPI_ERR_ARG);
    WRONG(darray(4, 3, 8, block, 4, 2), MPI_ERR_ARG);
    WRONG(darray(4, 3, 8, MPI_DISTRIBUTE_NONE, dflt, 4), MPI_ERR_ARG);
    CHECK_EQ(darray(1, 0, 8, MPI_DISTRIBUTE_NONE, dflt, 1), MPI_SUCCESS);
    CHECK_EQ(darray(4, 3, 8, MPI_DISTRIBUTE_CYCLIC, 1, 4), MPI_SUCCESS);
    CHECK(t == MPI_DATATYPE_NULL);
}

static void wrong_outputs(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    MPI_Aint lb = 0;
    MPI_Count large = 7;
    char buffer[16] = {0};
    int n = 7, position = 0;
    WRONG(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_dup(MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_match_size(99, 4, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_create_f90_integer(4, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_get_name(MPI_INT, NULL, &n), MPI_ERR_ARG);
    WRONG(MPI_Type_size_c(MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_get_extent(MPI_INT, &lb, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_get_envelope(MPI_INT, &n, &n, NULL, &n), MPI_ERR_ARG);
    WRONG(MPI_Type_get_envelope_c(MPI_INT, &large, &large, NULL, &large, &n), MPI_ERR_ARG);
    WRONG(MPI_Type_get_envelope_c(MPI_INT, &large, &large, &large, NULL, &n), MPI_ERR_ARG);
    WRONG(MPI_Type_commit(&(MPI_Datatype){MPI_REAL2}), MPI_ERR_TYPE);
    WRONG(MPI_Pack(buffer, 1, MPI_INT, buffer + 4, 8, &(int){-1}, MPI_COMM_SELF), MPI_ERR_ARG);
    WRONG(MPI_Pack(buffer, 0, MPI_INT, buffer + 4, 8, &(int){9}, MPI_COMM_SELF), MPI_ERR_ARG);
    WRONG(MPI_Pack(MPI_BOTTOM, 1, MPI_INT, buffer, 16, &position, MPI_COMM_SELF), MPI_ERR_BUFFER);
    WRONG(MPI_Unpack(buffer, 16, NULL, buffer, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG);
    WRONG(MPI_Pack_size_c((MPI_Count)1 << 62, MPI_INT, MPI_COMM_SELF, &large),
          MPI_ERR_VALUE_TOO_LARGE);
    WRONG(MPI_Pack_size_c(1, MPI_INT, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
    WRONG(MPI_Pack_external_size("external32", 1, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK(t == MPI_DATATYPE_NULL && n == 7 && large == 7 && position == 0);
    CHECK_EQ(MPI_Pack(buffer, 0, MPI_INT, buffer, 8, &(int){8}, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(MPI_Pack(NULL, 0, MPI_INT, NULL, 0, &position, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(MPI_Unpack(NULL, 0, &position, NULL, 0, MPI_INT, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(MPI_Pack_size(1 << 30, MPI_INT, MPI_COMM_SELF, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_UNDEFINED);
}

static void handles(void)
{
    MPI_Datatype t, none = MPI_DATATYPE_NULL, freed, loose;
    int lengths[2] = {1, -1}, disps[2] = {0, 1}, n = 0, buffer[4] = {0};
    MPI_Type_contiguous(2, MPI_INT, &freed);
    loose = freed;
    WRONG(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    WRONG(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_contiguous(1, (MPI_Datatype)MPI_SUM, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(2, lengths, disps, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(2, NULL, disps, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(2, disps, NULL, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_indexed_block(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_struct(2, disps, (MPI_Aint[]){0, 8}, NULL, &t), MPI_ERR_ARG);
    WRONG(MPI_Type_create_struct(1, disps, (MPI_Aint[]){0}, &none, &t), MPI_ERR_TYPE);
    WRONG(MPI_Type_create_subarray(1, (int[]){4}, (int[]){5}, (int[]){0}, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){3}, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){0}, 99, MPI_INT, &t),
          MPI_ERR_ARG);
    WRONG(MPI_Type_create_darray(4, 0, 1, (int[]){4}, (int[]){MPI_DISTRIBUTE_BLOCK},
                                 (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){3}, MPI_ORDER_C,
                                 MPI_INT, &t),
          MPI_ERR_ARG);
    WRONG(MPI_Type_commit(&none), MPI_ERR_TYPE);
    WRONG(MPI_Type_free(&none), MPI_ERR_TYPE);
    t = MPI_INT;
    WRONG(MPI_Type_free(&t), MPI_ERR_TYPE);
    MPI_Datatype of_it, twice = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &twice);
    MPI_Type_contiguous(2, twice, &of_it);
    t = twice;
    MPI_Type_free(&twice);
    WRONG(MPI_Type_free(&t), MPI_ERR_TYPE); // its memory is there: of_it is made of it
    MPI_Type_free(&of_it);
    WRONG(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
    WRONG(MPI_Type_get_contents(loose, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_ARG);
    WRONG(MPI_Pack(buffer, 1, loose, buffer, 16, &n, MPI_COMM_WORLD), MPI_ERR_TYPE);
    WRONG(MPI_Pack(buffer, 1, MPI_INT, buffer, 16, &n, MPI_COMM_NULL), MPI_ERR_COMM);
    WRONG(MPI_Pack(buffer, 1, MPI_INT, buffer + 1, 3, &n, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    WRONG(MPI_Pack(buffer, 1, MPI_INT, NULL, 16, &n, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    WRONG(MPI_Pack(buffer, -1, MPI_INT, buffer, 16, &n, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Type_set_name(none, "x"), MPI_ERR_TYPE);
    CHECK_EQ(n, 0);
    MPI_Type_free(&freed);
    CHECK(freed == MPI_DATATYPE_NULL);
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    wrong_arrays();
    wrong_outputs();
    handles();
    return mpi_done();
}
