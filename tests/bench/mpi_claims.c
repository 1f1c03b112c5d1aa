// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI beyond plain messages, between two ranks: the longest messages that travel in their envelope, and
// the next longer ones; messages that nobody has posted a receive for; synchronous messages that two cores
// can copy; messages that are on their way while one rank computes; strided data by types that mean the
// same. The source compiles with any MPI. mpi_claims PREFIX: what the figures' names begin with; link: a
// receive and a window's blocks beside computing alone, for a slow link.
#include "mpi_bench.h"

enum { BLOCKS = 1024, BLOCK = 64, STRIDE = 128 };

// ---- A part of the messages has come when its receives are posted: ns a message
static double unexpected(int n, int count, int percent)
{
    enum { MOST = 64, DONE = MOST };
    MPI_Request r[MOST];
    int posted = me == 1 ? count * (100 - percent) / 100 : 0, all = 0;
    for (; all < posted; all++)
        MPI_Irecv(in + (size_t)all * n, n, MPI_BYTE, 0, all, MPI_COMM_WORLD, &r[all]);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (; all < count && me == 0; all++)
        MPI_Isend(out + (size_t)all * n, n, MPI_BYTE, 1, all, MPI_COMM_WORLD, &r[all]);
    if (me == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, DONE, MPI_COMM_WORLD);
    else // all of them have come before
        MPI_Recv(NULL, 0, MPI_BYTE, 0, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (; all < count; all++)
        MPI_Irecv(in + (size_t)all * n, n, MPI_BYTE, 0, all, MPI_COMM_WORLD, &r[all]);
    MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return (now_ns() - start) / count;
}

static void waste(const char *name, int n, int count)
{
    double took[3][ROUNDS];
    for (int r = 0; r < ROUNDS; r += was_near())
        for (int k = 0; k < 3; k++)
            took[k][r] = unexpected(n, count, 50 * k);
    for (int k = 0; k < 3; k++)
        tell(name, 50 * k, took[k], "ns");
}

// ---- Where a rank computes
static void compute_for(double ns)
{
    for (double start = now_ns(); now_ns() - start < ns;)
        forget();
}

// Rank `who` computes, between starting its side and waiting for it; the other one only waits. The
// receive is posted first. How long it takes until both are through.
static double with_computing(int n, int who, double ns)
{
    MPI_Request r;
    if (me == 1)
        MPI_Irecv(in, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    if (me == 0)
        MPI_Isend(out, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r);
    if (me == who)
        compute_for(ns);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    double took = now_ns() - start, all;
    MPI_Allreduce(&took, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double received_late(int n, double ns)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns(), all;
    if (me == 0)
        MPI_Send(out, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        compute_for(ns);
    if (me == 1)
        MPI_Recv(in, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double took = now_ns() - start;
    MPI_Allreduce(&took, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

// Beside the longer of computing and the transfer, which takes twice as long when one core does all of
// it as when both do: the time to compute.
static void overlap(const char *name, int n, int who)
{
    double alone[ROUNDS], ratio[ROUNDS];
    for (int r = 0; r < ROUNDS; r += was_near())
        alone[r] = with_computing(n, -1, 0);
    double transfer = 2 * median(alone, ROUNDS);
    MPI_Bcast(&transfer, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; r < ROUNDS; r += was_near())
        ratio[r] = with_computing(n, who, transfer) / transfer;
    tell(name, n, ratio, "ratio");
}

enum { ON_A_LINK = 5 }; // times

// As long as the transfer takes, on a link that is slow; and where the receive begins after computing.
static void slow_link(int n)
{
    double alone[ON_A_LINK], with[ON_A_LINK], late[ON_A_LINK], transfer;
    for (int i = 0; i < ON_A_LINK; i++)
        alone[i] = with_computing(n, -1, 0);
    transfer = median(alone, ON_A_LINK);
    MPI_Bcast(&transfer, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ON_A_LINK; i++) {
        with[i] = with_computing(n, 1, transfer) / transfer;
        late[i] = received_late(n, transfer) / transfer;
    }
    tell_one("recv_overlap", n, median(with, ON_A_LINK), "ratio");
    tell_one("late", n, median(late, ON_A_LINK), "ratio");
}

// ---- Rank 0 gets blocks of rank 1's window, computes on each and puts it back: the next one is on its
// way meanwhile
enum { RMA_BLOCKS = 16, RMA_BLOCK = 128 << 10 };

static double get_compute_put(MPI_Win win, double ns)
{
    MPI_Request get = MPI_REQUEST_NULL, put[RMA_BLOCKS];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    if (me == 0)
        MPI_Rget(in, RMA_BLOCK, MPI_BYTE, 1, 0, RMA_BLOCK, MPI_BYTE, win, &get);
    for (int i = 0; i < RMA_BLOCKS && me == 0; i++) {
        char *block = in + (size_t)i * RMA_BLOCK;
        MPI_Wait(&get, MPI_STATUS_IGNORE);
        if (i + 1 < RMA_BLOCKS)
            MPI_Rget(block + RMA_BLOCK, RMA_BLOCK, MPI_BYTE, 1, (MPI_Aint)(i + 1) * RMA_BLOCK,
                     RMA_BLOCK, MPI_BYTE, win, &get);
        compute_for(ns);
        MPI_Rput(block, RMA_BLOCK, MPI_BYTE, 1, (MPI_Aint)i * RMA_BLOCK, RMA_BLOCK, MPI_BYTE, win,
                 &put[i]);
    }
    if (me == 0) {
        MPI_Waitall(RMA_BLOCKS, put, MPI_STATUSES_IGNORE);
        MPI_Win_flush(1, win);
    }
    double took = now_ns() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void rma_pipeline(void)
{
    double alone[ON_A_LINK], with[ON_A_LINK], comm;
    char *mine;
    MPI_Win win;
    MPI_Win_allocate(RMA_BLOCKS * RMA_BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    memset(mine, 1, RMA_BLOCKS * RMA_BLOCK);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ON_A_LINK; i++)
        alone[i] = get_compute_put(win, 0);
    comm = median(alone, ON_A_LINK);
    MPI_Bcast(&comm, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ON_A_LINK; i++)
        with[i] = get_compute_put(win, comm / RMA_BLOCKS) / comm;
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    tell_one("get_compute_put", RMA_BLOCKS, median(with, ON_A_LINK), "ratio");
}

// ---- Every other block
static double packed(MPI_Datatype type)
{
    enum { TRIPS = 20, BYTES = BLOCKS * BLOCK * 8 };
    static char bytes[BYTES];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int i = 0; i < 2 * TRIPS; i++) {
        int at = 0;
        if (i % 2 == me) {
            MPI_Pack(out, 1, type, bytes, BYTES, &at, MPI_COMM_WORLD);
            MPI_Send(bytes, at, MPI_PACKED, !me, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(bytes, BYTES, MPI_PACKED, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Unpack(bytes, BYTES, &at, in, 1, type, MPI_COMM_WORLD);
        }
    }
    return (now_ns() - start) / TRIPS / 2;
}

static void types(void)
{
    enum { KINDS = 4 };
    static const char *const names[KINDS] = {"type_vector", "type_hvector", "type_indexed",
                                             "type_subarray"};
    static int at[BLOCKS];
    MPI_Datatype type[KINDS];
    int sizes[2] = {BLOCKS, STRIDE}, part[2] = {BLOCKS, BLOCK}, first[2] = {0, 0};
    double took[KINDS][ROUNDS], pack[ROUNDS], both[ROUNDS];
    for (int i = 0; i < BLOCKS; i++)
        at[i] = i * STRIDE;
    MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_DOUBLE, &type[0]);
    MPI_Type_create_hvector(BLOCKS, BLOCK, 8 * STRIDE, MPI_DOUBLE, &type[1]);
    MPI_Type_create_indexed_block(BLOCKS, BLOCK, at, MPI_DOUBLE, &type[2]);
    MPI_Type_create_subarray(2, sizes, part, first, MPI_ORDER_C, MPI_DOUBLE, &type[3]);
    for (int k = 0; k < KINDS; k++)
        MPI_Type_commit(&type[k]);
    for (int r = 0; r < ROUNDS; r += was_near()) {
        for (int k = 0; k < KINDS; k++)
            took[k][r] = one_way(MPI_Send, 1, type[k], 20);
        pack[r] = packed(type[0]);
        both[r] = exchange(1, type[0], 20);
    }
    for (int k = 0; k < KINDS; k++) {
        tell(names[k], -1, took[k], "ns");
        MPI_Type_free(&type[k]);
    }
    tell("type_packed", -1, pack, "ns");
    tell("type_exchange", -1, both, "ns");
}

static void pairs(void)
{
    static const int sizes[] = {8, 4096, 16384, 65536, 262144, 524288};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double took[SIZES][ROUNDS], within[ROUNDS], beyond[ROUNDS];
    for (int r = 0; r < ROUNDS; r += was_near()) {
        within[r] = one_way(MPI_Send, 32, MPI_BYTE, 2000);
        beyond[r] = one_way(MPI_Send, 33, MPI_BYTE, 2000);
        for (int s = 0; s < SIZES; s++)
            took[s][r] = one_way(MPI_Ssend, sizes[s], MPI_BYTE, 100);
    }
    tell("inline", 32, within, "ns");
    tell("beyond_inline", 33, beyond, "ns");
    for (int s = 0; s < SIZES; s++)
        tell("ssend", sizes[s], took[s], "ns");
    waste("unexpected", LARGEST / 4, 4);
    waste("eager_unexpected", 1500, 64);
    for (int n = 1 << 20; n <= LARGEST; n *= 4) {
        overlap("send_overlap", n, 0);
        overlap("recv_overlap", n, 1);
    }
    types();
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    if (strcmp(prefix, "link") == 0) {
        slow_link(1 << 20);
        rma_pipeline();
    } else {
        pairs();
    }
    return bench_done();
}
