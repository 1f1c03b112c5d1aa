// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// Messages that come before their receives need memory; those of the next burst get the same, and no new
// pages.
#include "mpi_check.h"

#include <malloc.h>

enum { BURST = 300, BYTES = 1000, ROUNDS = 60, FIRST = 10, MOST_FAULTS = 2000 }; // a burst has 75 pages

static void send_burst(int round)
{
    char data[BYTES];
    for (int i = 0; i < BURST; i++) {
        memset(data, round + i, sizeof data);
        MPI_Send(data, BYTES - i % 100, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, BURST, MPI_COMM_WORLD);
}

static void receive_burst(int round)
{
    char data[BYTES], want[BYTES];
    MPI_Status status;
    int n;
    MPI_Recv(NULL, 0, MPI_BYTE, 1, BURST, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE); // all others are there
    for (int i = 0; i < BURST; i++) {
        MPI_Recv(data, BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK_EQ(n, BYTES - i % 100);
        memset(want, round + i, sizeof want);
        CHECK_MEM(data, want, (size_t)n, "a message that was kept");
    }
}

int main(void)
{
    long before = 0;
    mpi_start();
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == FIRST)
            before = check_faults();
        malloc_trim(0); // what is free in the C library
        if (npes > 1 && me < 2)
            (me == 0 ? receive_burst : send_burst)(round);
    }
    CHECK(check_faults() - before < MOST_FAULTS);
    return mpi_done();
}
