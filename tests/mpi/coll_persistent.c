// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: datatypes, operators and counts that are freed once the request is made; several
// runs of each with new data; several started at once, in orders that differ between the processes.
// PES: 1 2 4 7
#include "mpi_check.h"

#include <shoal.h>

enum { MOST = 16, RUNS = 3 };

// A block of two of every second int; one of each kind of peer, and each type is made anew.
static void make_types(MPI_Datatype *type, int n)
{
    for (int i = 0; i < n; i++) {
        OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type[i]));
        OK(MPI_Type_commit(&type[i]));
    }
}

// The handles stay in the caller's array, as the array of a persistent call has to.
static void free_types(const MPI_Datatype *type, int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Datatype t = type[i];
        OK(MPI_Type_free(&t));
    }
}

static struct {
    int out[4 * MOST], in[4 * MOST];
    int counts[MOST], displs[MOST];
    MPI_Count long_counts[MOST];
    MPI_Aint long_displs[MOST];
    MPI_Datatype sent[MOST], got[MOST];
} w;

static void run_typed(MPI_Request *r, const int *from, int n)
{
    MPI_Datatype other[2 * MOST];
    free_types(w.sent, n);
    free_types(w.got, n);
    make_types(other, 2 * n); // where the freed ones were
    for (int run = 0; run < RUNS; run++) {
        memset(w.in, 0xff, sizeof w.in);
        for (int i = 0; i < 4 * n; i++)
            w.out[i] = run * 1000 + me * 10 + i % 4;
        OK(MPI_Start(r));
        OK(MPI_Wait(r, MPI_STATUS_IGNORE));
        CHECK_EACH(i, 4 * n, w.in[i], i % 2 ? -1 : run * 1000 + from[i / 4] * 10 + (int)i % 4);
    }
    OK(MPI_Request_free(r));
    free_types(other, 2 * n);
}

static void typed(bool big)
{
    MPI_Request r;
    int from[MOST];
    make_types(w.sent, npes);
    make_types(w.got, npes);
    for (int i = 0; i < npes; i++)
        from[i] = i;
    if (big)
        OK(MPI_Alltoallw_init_c(w.out, w.long_counts, w.long_displs, w.sent, w.in, w.long_counts,
                                w.long_displs, w.got, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    else
        OK(MPI_Alltoallw_init(w.out, w.counts, w.displs, w.sent, w.in, w.counts, w.displs, w.got,
                              MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    run_typed(&r, from, npes);
}

static void typed_neighbors(bool big)
{
    MPI_Comm ring;
    MPI_Request r;
    int from[2] = {(me + npes - 1) % npes, (me + 1) % npes}, periodic = 1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &npes, &periodic, 0, &ring));
    make_types(w.sent, 2);
    make_types(w.got, 2);
    if (big)
        OK(MPI_Neighbor_alltoallw_init_c(w.out, w.long_counts, w.long_displs, w.sent, w.in,
                                         w.long_counts, w.long_displs, w.got, ring, MPI_INFO_NULL,
                                         &r));
    else
        OK(MPI_Neighbor_alltoallw_init(w.out, w.counts, w.long_displs, w.sent, w.in, w.counts,
                                       w.long_displs, w.got, ring, MPI_INFO_NULL, &r));
    OK(MPI_Comm_free(&ring));
    run_typed(&r, from, 2);
}

static void typed_at_once(void)
{
    MPI_Request r;
    make_types(w.sent, npes);
    memset(w.in, 0xff, sizeof w.in);
    for (int i = 0; i < 4 * npes; i++)
        w.out[i] = me;
    OK(MPI_Ialltoallw(w.out, w.counts, w.displs, w.sent, w.in, w.counts, w.displs, w.sent,
                      MPI_COMM_WORLD, &r));
    free_types(w.sent, npes);
    make_types(w.sent, npes);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    free_types(w.sent, npes);
    CHECK_EACH(i, 4 * npes, w.in[i], i % 2 ? -1 : (int)i / 4);
}

// ---- Several at once
enum { AT_ONCE = 10, LENGTH = 5000, BLOCK = 300 };

static struct {
    int word[2], sum[LENGTH], sums[LENGTH], all[MOST], scan, told[LENGTH];
    int blocks[MOST * BLOCK], swapped[MOST * BLOCK], gathered[MOST * BLOCK], joined[MOST * BLOCK];
} v;

static int in_block(int run, int from, int to, int i)
{
    return run * 100000 + from * 10000 + to * 1000 + i;
}

static void make_several(MPI_Request r[AT_ONCE])
{
    const MPI_Comm c = MPI_COMM_WORLD;
    MPI_Datatype two;
    OK(MPI_Type_contiguous(LENGTH / 2, MPI_INT, &two));
    OK(MPI_Type_commit(&two));
    OK(MPI_Bcast_init(&v.word[0], 1, MPI_INT, npes - 1, c, MPI_INFO_NULL, &r[0]));
    OK(MPI_Allreduce_init(v.sum, v.sums, LENGTH, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r[1]));
    OK(MPI_Allgather_init(&v.word[1], 1, MPI_INT, v.all, 1, MPI_INT, c, MPI_INFO_NULL, &r[2]));
    OK(MPI_Scan_init(&v.word[1], &v.scan, 1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r[3]));
    OK(MPI_Barrier_init(c, MPI_INFO_NULL, &r[4]));
    OK(MPI_Bcast_init(v.told, 2, two, 0, c, MPI_INFO_NULL, &r[5]));
    OK(MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &r[6]));
    OK(MPI_Alltoall_init(v.blocks, BLOCK, MPI_INT, v.swapped, BLOCK, MPI_INT, c, MPI_INFO_NULL,
                         &r[7]));
    OK(MPI_Gather_init(me == npes - 1 ? MPI_IN_PLACE : v.blocks, BLOCK, MPI_INT, v.gathered, BLOCK,
                       MPI_INT, npes - 1, c, MPI_INFO_NULL, &r[8]));
    OK(MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v.joined, BLOCK, MPI_INT, c,
                          MPI_INFO_NULL, &r[9]));
    OK(MPI_Type_free(&two));
}

static void load_several(int run)
{
    v.word[0] = me == npes - 1 ? run * 7 : -1;
    v.word[1] = run + me;
    for (int i = 0; i < LENGTH; i++) {
        v.sum[i] = run * 3 + me + i;
        v.told[i] = me == 0 ? run + i : -1;
    }
    memset(v.swapped, 0xff, sizeof v.swapped);
    memset(v.gathered, 0xff, sizeof v.gathered);
    memset(v.joined, 0xff, sizeof v.joined);
    for (int i = 0; i < npes * BLOCK; i++)
        v.blocks[i] = in_block(run, me, i / BLOCK, i % BLOCK);
    for (int i = 0; i < BLOCK; i++)
        v.gathered[me * BLOCK + i] = v.joined[me * BLOCK + i] = v.blocks[i];
}

static void check_several(int run)
{
    int ranks = npes * (npes - 1) / 2;
    CHECK_EQ(v.word[0], run * 7);
    CHECK_EACH(i, LENGTH, v.sums[i], ranks + npes * (run * 3 + (int)i));
    CHECK_EACH(i, npes, v.all[i], run + (int)i);
    CHECK_EQ(v.scan, (me + 1) * run + me * (me + 1) / 2);
    CHECK_EACH(i, LENGTH / 2 * 2, v.told[i], run + (int)i);
    CHECK_EACH(i, npes * BLOCK, v.swapped[i], in_block(run, (int)i / BLOCK, me, (int)i % BLOCK));
    CHECK_EACH(i, npes * BLOCK, v.joined[i], in_block(run, (int)i / BLOCK, 0, (int)i % BLOCK));
    CHECK_EACH(i, me == npes - 1 ? npes * BLOCK : 0, v.gathered[i],
               in_block(run, (int)i / BLOCK, 0, (int)i % BLOCK));
}

static void start_several(MPI_Request r[AT_ONCE], bool together)
{
    if (together)
        OK(MPI_Startall(AT_ONCE, r));
    for (int i = 0; !together && i < AT_ONCE; i++)
        OK(MPI_Start(&r[i]));
}

// Each in the order of the array, or in any.
static void wait_several(MPI_Request r[AT_ONCE], int run)
{
    int index, done = 0;
    if (run % 2) {
        OK(MPI_Waitall(AT_ONCE, r, MPI_STATUSES_IGNORE));
        return;
    }
    for (;;) {
        OK(MPI_Waitany(AT_ONCE, r, &index, MPI_STATUS_IGNORE));
        if (index == MPI_UNDEFINED)
            break;
        done++;
    }
    CHECK_EQ(done, AT_ONCE);
}

static void several(void)
{
    MPI_Request r[AT_ONCE];
    uint64_t own = (uint64_t)me;
    make_several(r);
    for (int run = 0; run < 4 * RUNS; run++) {
        for (int i = AT_ONCE - 1; i > 0; i--) {
            size_t k = rnd_below(&own, (size_t)i + 1);
            MPI_Request other = r[i];
            r[i] = r[k];
            r[k] = other;
        }
        load_several(run);
        start_several(r, run % 3);
        if (run % 4 == 3)
            OK(MPI_Barrier(MPI_COMM_WORLD));
        wait_several(r, run);
        check_several(run);
    }
    for (int i = 0; i < AT_ONCE; i++)
        OK(MPI_Request_free(&r[i]));
}

// Those that go by messages leave others their places among the runtime's collectives, of which there
// are 256.
static void many(void)
{
    enum { MANY = 300, LONG = 2000 }; // LONG: ints, of which messages take longer
    static MPI_Request r[MANY];
    static int ones[LONG], sums[LONG];
    MPI_Request sum;
    uint64_t is_crowded = 0, is_near = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_CROWDED, 0, &is_crowded), 0);
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, npes - 1 - me, &is_near), 0);
    if (is_crowded || !is_near || npes != 2)
        return;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Alltoall_init(v.blocks, BLOCK, MPI_INT, v.swapped, BLOCK, MPI_INT, MPI_COMM_WORLD,
                             MPI_INFO_NULL, &r[i]));
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Start(&r[i]));
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    }
    struct counter triggered = counter_start("coll_triggered");
    OK(MPI_Allreduce_init(ones, sums, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sum));
    OK(MPI_Start(&sum));
    OK(MPI_Wait(&sum, MPI_STATUS_IGNORE));
    CHECK_EQ(counter_read(&triggered), 1);
    counter_end(&triggered);
    OK(MPI_Request_free(&sum));
    for (int i = 0; i < MANY; i++)
        OK(MPI_Request_free(&r[i]));
}

// The arrays of counts are gone once the request is made.
static void counted(bool big)
{
    int *counts = must_alloc(2 * (size_t)npes * sizeof *counts), *displs = counts + npes;
    MPI_Count *wide = must_alloc((size_t)npes * sizeof *wide);
    MPI_Aint *at = must_alloc((size_t)npes * sizeof *at);
    MPI_Request r[2];
    for (int i = 0; i < npes; i++) {
        wide[i] = counts[i] = 2;
        at[i] = displs[i] = 2 * i;
    }
    if (big) {
        OK(MPI_Reduce_scatter_init_c(w.out, w.in, wide, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                     MPI_INFO_NULL, &r[0]));
        OK(MPI_Allgatherv_init_c(w.out, 2, MPI_INT, w.in + 2, wide, at, MPI_INT, MPI_COMM_WORLD,
                                 MPI_INFO_NULL, &r[1]));
    } else {
        OK(MPI_Reduce_scatter_init(w.out, w.in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                   MPI_INFO_NULL, &r[0]));
        OK(MPI_Allgatherv_init(w.out, 2, MPI_INT, w.in + 2, counts, displs, MPI_INT, MPI_COMM_WORLD,
                               MPI_INFO_NULL, &r[1]));
    }
    memset(counts, 0x7f, 2 * (size_t)npes * sizeof *counts);
    memset(wide, 0x7f, (size_t)npes * sizeof *wide);
    memset(at, 0x7f, (size_t)npes * sizeof *at);
    free(counts);
    free(wide);
    free(at);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < 2 * npes; i++)
            w.out[i] = run * 1000 + me * 10 + i;
        OK(MPI_Startall(2, r));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        CHECK_EACH(i, 2, w.in[i],
                   npes * (run * 1000 + 2 * me + (int)i) + 10 * npes * (npes - 1) / 2);
        CHECK_EACH(i, 2 * npes, w.in[2 + i], run * 1000 + (int)i / 2 * 10 + (int)i % 2);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

int main(void)
{
    mpi_start();
    CHECK(npes <= MOST);
    for (int i = 0; i < MOST; i++) {
        w.counts[i] = 1;
        w.long_counts[i] = 1;
        w.displs[i] = i * (int)(4 * sizeof(int));
        w.long_displs[i] = w.displs[i];
    }
    for (int big = 0; big < 2; big++) {
        typed(big);
        typed_neighbors(big);
        counted(big);
    }
    typed_at_once();
    several();
    many();
    return mpi_done();
}
