// SPDX-License-Identifier: BSD-3-Clause
// Partitioned messages have tags of their own, 2^28 of them: when all have been used, one that lives
// keeps its own.
// PES: 2
// TIMEOUT: 150
#include "mpi_check.h"

enum { FEW = 4, MANY = 1 << 20, LAP = 256 }; // LAP * MANY tags

static long in[2][FEW], out[2][FEW];

int main(void)
{
    MPI_Request r[2], other;
    mpi_start();
    int source = me == 1 ? 0 : MPI_PROC_NULL; // others look on
    for (int i = 0; i < 2; i++) {
        if (me)
            OK(MPI_Precv_init(in[i], FEW, 1, MPI_LONG, source, i, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &r[i]));
        else
            OK(MPI_Psend_init(out[i], FEW, 1, MPI_LONG, 1, i, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &r[i]));
        for (int k = 0; k < LAP && !me && i == 0; k++) {
            OK(MPI_Psend_init(out[0], k ? MANY : MANY - FEW, 0, MPI_LONG, 1, 2, MPI_COMM_WORLD,
                              MPI_INFO_NULL, &other));
            OK(MPI_Request_free(&other));
        }
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < FEW; k++)
            out[i][k] = 100 * i + k + 1;
    OK(MPI_Startall(2, r));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 1; i >= 0 && !me; i--)
        OK(MPI_Pready_range(0, FEW - 1, r[i]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 && me == 1; i++)
        for (int k = 0; k < FEW; k++)
            CHECK_EQ(in[i][k], 100 * i + k + 1);
    for (int i = 0; i < 2; i++)
        OK(MPI_Request_free(&r[i]));
    return mpi_done();
}
