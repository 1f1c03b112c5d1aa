// SPDX-License-Identifier: BSD-3-Clause
// Reductions by an operator of the program over elements of two arrays, whose distance is each process's
// own: none on some, where the elements have no gap. Relative to a buffer, and at absolute addresses
// (MPI_BOTTOM, MPI 5.0, "Predefined Datatypes and Constants"). Short and long, blocking, nonblocking and
// persistent: all processes go the same way.
#include "mpi_check.h"

enum { LONG = 40000, ROUNDS = 6, ELEMENTS = 1000 };

static int room[3 * LONG + 2];
static int *low = room, *high; // the arrays
static int n;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    CHECK_EQ(*count, 1);
    for (int i = 0; i < n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
        ((int *)inout)[high - low + i] += ((int *)in)[high - low + i];
    }
}

static void add_absolute(void *in, void *inout, int *count, MPI_Datatype *type)
{
    add((void *)((uintptr_t)in + (uintptr_t)low), (void *)((uintptr_t)inout + (uintptr_t)low),
        count, type);
}

static void begin(int round)
{
    memset(room, 0x55, sizeof room);
    for (int i = 0; i < n; i++) {
        low[i] = me + i + round;
        high[i] = me - i;
    }
}

static void check(int round)
{
    int wrong = 0, of_ranks = npes * (npes - 1) / 2;
    for (int i = 0; i < n; i++)
        wrong += low[i] != npes * (i + round) + of_ranks || high[i] != of_ranks - npes * i;
    CHECK_EQ(wrong, 0);
    if (high > low + n)
        CHECK_EQ(low[n], 0x55555555);
}

static void reduce_all(void *buf, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    for (int round = 0; round < ROUNDS; round++) {
        begin(round);
        OK(MPI_Allreduce(MPI_IN_PLACE, buf, 1, type, op, MPI_COMM_WORLD));
        check(round);
        begin(round);
        OK(MPI_Iallreduce(MPI_IN_PLACE, buf, 1, type, op, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(round);
        begin(round);
        OK(MPI_Reduce(me ? buf : MPI_IN_PLACE, me ? NULL : buf, 1, type, op, 0, MPI_COMM_WORLD));
        if (me == 0)
            check(round);
    }
    OK(MPI_Allreduce_init(MPI_IN_PLACE, buf, 1, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < ROUNDS; round++) {
        begin(round);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(round);
    }
    OK(MPI_Request_free(&request));
}

static MPI_Datatype two_arrays(MPI_Aint first, MPI_Aint second)
{
    MPI_Datatype type;
    OK(MPI_Type_create_hindexed_block(2, n, (MPI_Aint[]){first, second}, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

// Elements whose data begins after a gap: the operator's arguments are as aligned as the arrays.
struct element {
    _Alignas(16) double gap;
    double weight, vector[2];
};

static void heaviest(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    CHECK(((uintptr_t)in | (uintptr_t)inout) % 16 == 0);
    for (int i = 0; i < *count; i++)
        if (((struct element *)in)[i].weight > ((struct element *)inout)[i].weight) {
            ((struct element *)inout)[i].weight = ((struct element *)in)[i].weight;
            memcpy(((struct element *)inout)[i].vector, ((struct element *)in)[i].vector,
                   sizeof(double[2]));
        }
}

static void aligned(void)
{
    static struct element in[ELEMENTS], out[ELEMENTS];
    MPI_Datatype data, type;
    MPI_Op op;
    OK(MPI_Type_create_hindexed_block(1, 3, (MPI_Aint[]){offsetof(struct element, weight)},
                                      MPI_DOUBLE, &data));
    OK(MPI_Type_create_resized(data, 0, sizeof(struct element), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(heaviest, 1, &op));
    for (int i = 0; i < ELEMENTS; i++)
        in[i] = (struct element){-1, me, {me, i}};
    for (int count = 1; count <= ELEMENTS; count *= 10)
        for (int round = 0; round < 2 * ROUNDS; round++) {
            OK(MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD));
            CHECK_EACH(i, count, (int)out[i].vector[0], npes - 1);
            CHECK_EACH(i, count, (int)out[i].vector[1], i);
        }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&data));
}

int main(void)
{
    const int lengths[] = {1, 5, 100, 3000, LONG};
    MPI_Op relative, absolute;
    mpi_start();
    OK(MPI_Op_create(add, 1, &relative));
    OK(MPI_Op_create(add_absolute, 1, &absolute));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        n = lengths[i];
        high = low + n + (me ? me % 3 : 0);
        MPI_Datatype type = two_arrays(0, (high - low) * (MPI_Aint)sizeof(int));
        reduce_all(low, type, relative);
        OK(MPI_Type_free(&type));
        MPI_Aint at[2];
        OK(MPI_Get_address(low, &at[0]));
        OK(MPI_Get_address(high, &at[1]));
        type = two_arrays(at[0], at[1]);
        reduce_all(MPI_BOTTOM, type, absolute);
        OK(MPI_Type_free(&type));
    }
    aligned();
    OK(MPI_Op_free(&relative));
    OK(MPI_Op_free(&absolute));
    return mpi_done();
}
