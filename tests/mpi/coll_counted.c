// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgatherv of short blocks, many in a row, where the communicator goes over to the runtime's
// collectives: blocks of all lengths from nothing to some KB, in any order with room between them, in
// place or not, of types with gaps on one side or the other; what lies between the blocks stays.
#include "mpi_check.h"

enum { ROUNDS = 400, MOST = 1200, RANKS = 16 };

static uint64_t state;

static int below(int n) // the same on all ranks
{
    return (int)rnd_below(&state, (size_t)n);
}

static int value(int round, int rank, int i)
{
    return round * 1000003 + rank * 4099 + i;
}

static void one(int round, MPI_Datatype spread)
{
    static int out[2 * MOST], in[2 * RANKS * (MOST + 8)];
    int counts[RANKS], displs[RANKS], at = 0;
    size_t order[RANKS];
    int most = (int[]){1, 4, 14, 15, 64, MOST}[below(6)];
    bool gaps_out = below(2), gaps_in = below(2), in_place = below(3) == 0;
    int step = gaps_in ? 2 : 1, step_out = gaps_out ? 2 : 1;
    MPI_Datatype from = gaps_out ? spread : MPI_INT, to = gaps_in ? spread : MPI_INT;
    for (int r = 0; r < npes; r++)
        order[r] = (size_t)r;
    rnd_shuffle(&state, (size_t)npes, order);
    for (int r = 0; r < npes; r++) {
        size_t rank = order[r];
        counts[rank] = below(4) ? below(most + 1) : below(2) * most;
        displs[rank] = at += below(3);
        at += counts[rank];
    }
    memset(in, 0x77, sizeof in);
    for (int i = 0; i < counts[me]; i++) {
        out[step_out * i] = value(round, me, i);
        if (in_place)
            in[step * (displs[me] + i)] = value(round, me, i);
    }
    OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : out, in_place ? 0 : counts[me], from, in, counts,
                      displs, to, MPI_COMM_WORLD));
    for (int r = 0; r < npes; r++)
        for (int i = 0; i < counts[r]; i++) {
            int *got = &in[step * (displs[r] + i)];
            CHECK_EQ(*got, value(round, r, i));
            *got = 0x77777777;
        }
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        CHECK_EQ(in[i], 0x77777777);
}

int main(void)
{
    MPI_Datatype spread; // an int, and a gap as long
    mpi_start();
    CHECK(npes <= RANKS);
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread));
    OK(MPI_Type_commit(&spread));
    for (int round = 0; round < ROUNDS; round++)
        one(round, spread);
    OK(MPI_Type_free(&spread));
    return mpi_done();
}
