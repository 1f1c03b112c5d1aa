// SPDX-License-Identifier: BSD-3-Clause
// The room of long nonblocking collectives is kept for the next ones, though others were before them that needed
// less: no new pages, but for the first few times.
// PES: 2 3
#include "mpi_check.h"

#include <sys/resource.h>

enum { AT_ONCE = 8, SHORT = 1 << 15, LONG = 1 << 18 }; // elements
enum { TIMES = 12, WARM = 4 };
enum { FEW = 512 };          // pages, of 4096 and more
enum { SELDOM = TIMES / 2 }; // now and then more are under way at once than ever before

static double *in, *out;

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void reduce(int n)
{
    MPI_Request r[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        double *mine = in + (size_t)i * LONG;
        mine[0] = me + i;
        mine[n - 1] = me - i;
        OK(MPI_Iallreduce(mine, out + (size_t)i * LONG, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                          &r[i]));
    }
    OK(MPI_Waitall(AT_ONCE, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < AT_ONCE; i++) {
        double sum = npes * (npes - 1) / 2.0;
        CHECK_EQ(out[(size_t)i * LONG], sum + npes * i);
        CHECK_EQ(out[(size_t)i * LONG + (size_t)n - 1], sum - npes * i);
    }
}

int main(void)
{
    int often = 0;
    mpi_start();
    in = calloc((size_t)AT_ONCE * LONG, sizeof *in);
    out = calloc((size_t)AT_ONCE * LONG, sizeof *out);
    for (int i = 0; i < TIMES; i++)
        reduce(SHORT);
    for (int i = 0; i < WARM + TIMES; i++) {
        long before = faults();
        reduce(LONG);
        often += i >= WARM && faults() - before > FEW;
    }
    CHECK(often <= SELDOM);
    free(in);
    free(out);
    return mpi_done();
}
