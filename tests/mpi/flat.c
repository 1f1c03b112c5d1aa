// SPDX-License-Identifier: BSD-3-Clause
// What a rank has of its own in memory: printed by rank 0 as the most of all ranks, in KB, after
// MPI_Init and after allreduces. flat.sh compares jobs of several sizes.
// PES: none
#include "mpi_check.h"

// Resident and of this process alone; what ranks share is there once for all of them.
static long own_kb(void)
{
    char line[256];
    long kb = 0, sum = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1 || sscanf(line, "Private_Clean: %ld", &kb) == 1)
            sum += kb;
    if (f)
        fclose(f);
    return sum;
}

static long most(long kb)
{
    long all = 0;
    OK(MPI_Allreduce(&kb, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    return all;
}

int main(void)
{
    static double in[1000], out[1000];
    mpi_start();
    long first = own_kb();
    for (int i = 0; i < 20; i++)
        OK(MPI_Allreduce(in, out, i % 2 ? 1 : 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    long second = own_kb();
    first = most(first);
    second = most(second);
    if (me == 0)
        printf("%ld %ld\n", first, second);
    return mpi_done();
}
