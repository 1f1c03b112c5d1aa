// SPDX-License-Identifier: BSD-3-Clause
// What a rank has of its own in memory: printed by rank 0 as the most of all ranks, in KB, after
// MPI_Init, after allreduces, and after each has talked to each; and how many bytes of malloc's a duplicate of
// the world takes, with its group. flat.sh compares jobs of several sizes.
// PES: none
#include "../heap.h"
#include "../proc.h"
#include "mpi_check.h"

#include <limits.h>
#include <unistd.h>

// Resident, of this process alone and written by it; what ranks share is there once for all of them. The
// least of some time: a page of another rank that this one has looked at first is its own until then.
static long own_kb(void)
{
    long least = LONG_MAX;
    for (int i = 0; i < 20; i++) {
        long now = proc_kb("/proc/self/smaps_rollup", "Private_Dirty:");
        least = now < least ? now : least;
        usleep(10000);
    }
    return least;
}

static long most(long kb)
{
    long all = 0;
    OK(MPI_Allreduce(&kb, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    return all;
}

// Those of the row that needs least: the others may have needed something that all to come need as well, as
// memory for a message that came early.
static long bytes_of_duplicate(void)
{
    enum { ROWS = 4, ROW = 16 };
    MPI_Comm c[ROWS * ROW];
    MPI_Group g[ROWS * ROW];
    long least = LONG_MAX;
    for (int row = 0; row < ROWS; row++) {
        size_t before = heap_bytes();
        for (int i = row * ROW; i < (row + 1) * ROW; i++) {
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &c[i]));
            OK(MPI_Comm_group(c[i], &g[i]));
        }
        long bytes = (long)(heap_bytes() - before) / ROW;
        least = bytes < least ? bytes : least;
    }
    for (int i = 0; i < ROWS * ROW; i++) {
        OK(MPI_Group_free(&g[i]));
        OK(MPI_Comm_free(&c[i]));
    }
    return least;
}

int main(void)
{
    static double in[1000], out[1000];
    mpi_start();
    long first = own_kb();
    for (int i = 0; i < 20; i++)
        OK(MPI_Allreduce(in, out, i % 2 ? 1 : 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    long second = own_kb();
    char byte = 0, other;
    for (int i = 1; i < npes; i++)
        OK(MPI_Sendrecv(&byte, 1, MPI_BYTE, (me + i) % npes, 0, &other, 1, MPI_BYTE,
                        (me - i + npes) % npes, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    long third = own_kb();
    first = most(first);
    second = most(second);
    third = most(third);
    long duplicate = most(bytes_of_duplicate());
    if (me == 0)
        printf("%ld %ld %ld %ld\n", first, second, third, duplicate);
    return mpi_done();
}
