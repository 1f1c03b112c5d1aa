// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI's collectives of blocks of 256 bytes, 4 KB, 64 KB and 1 MB a process, several in a row until all
// have done them, of data that is written before and read by who has got it, as programs do. The source
// compiles with any MPI.
#include "mpi_bench.h"

enum { TIMES = 9 };

// What a process gives and gets, in blocks: GROUP is one for each process. Between the root and all, or
// among all.
enum blocks { ONE, GROUP };
enum { BCAST, REDUCE, ALLREDUCE, ALLTOALL, ALLGATHER, ALLGATHERV, GATHER, SCATTER, KINDS };
static const struct kind {
    const char *name;
    bool root_gives, root_gets;
    enum blocks gives, gets;
} kinds[KINDS] = {
    [BCAST] = {"bcast", true, false, ONE, ONE},
    [REDUCE] = {"reduce", false, true, ONE, ONE},
    [ALLREDUCE] = {"allreduce", false, false, ONE, ONE},
    [ALLTOALL] = {"alltoall", false, false, GROUP, GROUP},
    [ALLGATHER] = {"allgather", false, false, ONE, GROUP},
    [ALLGATHERV] = {"allgatherv", false, false, ONE, GROUP},
    [GATHER] = {"gather", false, true, ONE, GROUP},
    [SCATTER] = {"scatter", true, false, GROUP, ONE},
};

static int *counts, *starts; // of each process's block

static void call(int kind, char *from, char *to, int n)
{
    MPI_Comm c = MPI_COMM_WORLD;
    switch (kind) {
    case BCAST: MPI_Bcast(from, n, MPI_BYTE, 0, c); break;
    case REDUCE: MPI_Reduce(from, to, n / 8, MPI_DOUBLE, MPI_SUM, 0, c); break;
    case ALLREDUCE: MPI_Allreduce(from, to, n / 8, MPI_DOUBLE, MPI_SUM, c); break;
    case ALLTOALL: MPI_Alltoall(from, n, MPI_BYTE, to, n, MPI_BYTE, c); break;
    case ALLGATHER: MPI_Allgather(from, n, MPI_BYTE, to, n, MPI_BYTE, c); break;
    case ALLGATHERV: MPI_Allgatherv(from, n, MPI_BYTE, to, counts, starts, MPI_BYTE, c); break;
    case GATHER: MPI_Gather(from, n, MPI_BYTE, to, n, MPI_BYTE, 0, c); break;
    default: MPI_Scatter(from, n, MPI_BYTE, to, n, MPI_BYTE, 0, c); break;
    }
}

static int bytes_of(enum blocks blocks, int n)
{
    return blocks == GROUP ? npes * n : n;
}

static void call_and_use(int kind, char *from, char *to, int n)
{
    const struct kind *k = &kinds[kind];
    bool is_bcast = kind == BCAST; // in place
    if (me == 0 || !k->root_gives)
        write_data(from, bytes_of(k->gives, n));
    call(kind, from, to, n);
    if (is_bcast ? me != 0 : me == 0 || !k->root_gets)
        read_data(is_bcast ? from : to, bytes_of(k->gets, n));
}

static double measure(int kind, char *from, char *to, int n)
{
    double ns;
    EACH_OF(n > 65536 ? 5 : 50, ns, call_and_use(kind, from, to, n));
    return ns;
}

static void report(int kind, char *from, char *to, int n)
{
    double took[TIMES];
    char name[32];
    measure(kind, from, to, n);
    for (int i = 0; i < TIMES; i += was_near())
        took[i] = measure(kind, from, to, n);
    snprintf(name, sizeof name, "coll_%s_%d", kinds[kind].name, n);
    tell_one(name, npes, median(took, TIMES), "ns");
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    is_used = true;
    counts = malloc((size_t)npes * sizeof *counts);
    starts = malloc((size_t)npes * sizeof *starts);
    for (int n = 256; n <= 1 << 20; n *= 16) {
        for (int i = 0; i < npes; i++) {
            counts[i] = n;
            starts[i] = i * n;
        }
        size_t bytes = (size_t)npes * (size_t)n;
        char *from = malloc(bytes), *to = malloc(bytes);
        memset(from, 1, bytes);
        memset(to, 1, bytes);
        for (int kind = 0; kind < KINDS; kind++)
            report(kind, from, to, n);
        free(from);
        free(to);
    }
    free(counts);
    free(starts);
    return bench_done();
}
