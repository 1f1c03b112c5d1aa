// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI among 4 and more ranks: messages from several, received by their sources or from any; all-to-all of
// long blocks; patterns of short messages; a long reduction and a long broadcast. The source compiles
// with any MPI. mpi_many PREFIX: what the figures' names begin with.
#include "mpi_bench.h"

#include <stdbool.h>

// ---- From the first few ranks to rank 0: ns a message
static double from_several(int senders, int is_any)
{
    enum { WINDOWS = 1000, WINDOW = 64 }; // those who wait in the barrier yield for the first ms
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int w = 0; w < WINDOWS; w++) {
        for (int i = 0; i < WINDOW * senders && me == 0; i++)
            MPI_Recv(in, 8, MPI_BYTE, is_any ? MPI_ANY_SOURCE : 1 + i % senders, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int s = 1; s <= senders && me == 0; s++)
            MPI_Send(out, 0, MPI_BYTE, s, 1, MPI_COMM_WORLD);
        for (int i = 0; i < WINDOW && me > 0 && me <= senders; i++)
            MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        if (me > 0 && me <= senders)
            MPI_Recv(in, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double took = (now_ns() - start) / WINDOWS / WINDOW / senders;
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void several(void)
{
    double any[ROUNDS], named[ROUNDS];
    for (int senders = 1; senders < npes; senders *= 2) {
        for (int r = 0; r < ROUNDS; r += was_near()) {
            named[r] = from_several(senders, 0);
            any[r] = from_several(senders, 1);
        }
        tell("named_from", senders, named, "ns");
        tell("any_from", senders, any, "ns");
    }
}

// ---- Patterns of messages, 1 KB each
enum { KB = 1024, BURST = 16, MOST = 16 };

static MPI_Request request[2 * BURST * MOST];

static void pattern_all_to_all(void)
{
    int n = 0;
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            MPI_Irecv(in + pe * KB, KB, MPI_BYTE, pe, 0, MPI_COMM_WORLD, &request[n++]);
    for (int i = 1; i < npes; i++)
        MPI_Isend(out, KB, MPI_BYTE, (me + i) % npes, 0, MPI_COMM_WORLD, &request[n++]);
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

// Between rank 0 and all others.
static void burst(bool sends)
{
    int n = 0, first = me == 0, last = me == 0 ? npes - 1 : 0;
    for (int i = 0; i < BURST; i++)
        for (int pe = first; pe <= last; pe++)
            if (sends)
                MPI_Isend(out, KB, MPI_BYTE, pe, 0, MPI_COMM_WORLD, &request[n++]);
            else
                MPI_Irecv(in + pe * KB, KB, MPI_BYTE, pe, 0, MPI_COMM_WORLD, &request[n++]);
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

static void pattern_all_to_one(void)
{
    burst(me != 0);
}

static void pattern_one_to_all(void)
{
    burst(me == 0);
}

// Down a binomial tree and up one, by messages.
static void tree_broadcast(char *data, int n)
{
    int bit = 1;
    for (; bit < npes && !(me & bit); bit *= 2)
        ;
    if (me)
        MPI_Recv(data, n, MPI_BYTE, me - bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (bit /= 2; bit; bit /= 2)
        if (me + bit < npes)
            MPI_Send(data, n, MPI_BYTE, me + bit, 0, MPI_COMM_WORLD);
}

static void pattern_broadcast(void)
{
    tree_broadcast(in, KB);
}

static void tree_reduce(double *sum, double *other, int n)
{
    for (int bit = 1; bit < npes; bit *= 2) {
        if (me & bit) {
            MPI_Send(sum, n, MPI_DOUBLE, me - bit, 0, MPI_COMM_WORLD);
            return;
        }
        if (me + bit >= npes)
            continue;
        MPI_Recv(other, n, MPI_DOUBLE, me + bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            sum[i] += other[i];
    }
}

static void pattern_reduce(void)
{
    tree_reduce((double *)(void *)out, (double *)(void *)in, KB / 8);
}

static void pattern_latency(void)
{
    if (me == 0)
        MPI_Send(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (me < 2)
        MPI_Recv(in, 8, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1)
        MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void patterns(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"to_all", pattern_all_to_all},   {"to_one", pattern_all_to_one},
                 {"from_one", pattern_one_to_all}, {"broadcast", pattern_broadcast},
                 {"reduce", pattern_reduce},       {"latency", pattern_latency}};
    memset(out, 0, KB);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && npes <= MOST; k++) {
        double took[ROUNDS];
        char name[32];
        for (int r = 0; r < ROUNDS; r += was_near())
            EACH_OF(100, took[r], kinds[k].run());
        snprintf(name, sizeof name, "pattern_%s", kinds[k].name);
        tell(name, npes, took, "ns");
    }
}

// ---- A long reduction, by the library and by a tree
static void reductions(void)
{
    enum { LONG = 65536 };
    double whole[ROUNDS], tree[ROUNDS], *sum = (double *)(void *)out, *other = (double *)(void *)in;
    memset(out, 0, LONG * sizeof *sum);
    for (int r = 0; r < ROUNDS; r += was_near()) {
        EACH_OF(10, whole[r], MPI_Reduce(sum, other, LONG, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
        EACH_OF(10, tree[r], tree_reduce(sum, other, LONG));
    }
    tell("reduce_65536", npes, whole, "ns");
    tell("tree_reduce_65536", npes, tree, "ns");
}

static void all_to_all(int n)
{
    double took[ROUNDS];
    char name[32];
    for (int r = 0; r < ROUNDS; r += was_near())
        EACH_OF(50, took[r], MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD));
    snprintf(name, sizeof name, "alltoall_%d", n);
    tell(name, npes, took, "ns");
}

static void long_broadcast(void)
{
    enum { BYTES = 14 << 20 };
    char *data = malloc(BYTES);
    double took[ROUNDS], tree[ROUNDS];
    memset(data, 1, BYTES);
    for (int r = 0; r < ROUNDS; r += was_near()) {
        EACH_OF(3, took[r], MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD));
        EACH_OF(3, tree[r], tree_broadcast(data, BYTES));
    }
    tell("bcast_14680064", npes, took, "ns");
    tell("tree_bcast_14680064", npes, tree, "ns");
    free(data);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    all_to_all(24 << 10);
    several();
    patterns();
    reductions();
    long_broadcast();
    return bench_done();
}
