// SPDX-License-Identifier: BSD-3-Clause
// Long collectives over several nodes, blocking, nonblocking and persistent, of the world, of a part of it in
// which nodes have different numbers of processes, and of one whose ranks go from node to node: sums have the
// bits of the ranks' order from the last one on, wherever the ranks are; blocks come to their places; of lengths
// about those where a way, a segment or a window begins, in place and not, with counts, some of them 0. And an
// allreduction of the world's sends no more between nodes than a word and an answer in each of its columns.
// PES: 12
// ENV: SHOAL_VNODES=3
// TIMEOUT: 120
#include "coll_check.h"

enum { LONG = 140003, LONGEST = 400003, WINDOW = 33000, FORMS = 3 }; // doubles

static double *from, *to;
static MPI_Comm comm;
static int rank, size;

static int ask(int what, int pe)
{
    uint64_t n = 0;
    CHECK_EQ(shoal_query(what, pe, &n), SHOAL_OK);
    return (int)n;
}

// Does data go 48 bytes at a time (HOSTILE)? Then the shortest of each have to do.
static bool is_slow(void)
{
    return ask(SHOAL_Q_AM_MAX, 0) < 1024;
}

static double given(int r, int i)
{
    return 1.0 / (3 + 7 * r + i) * (i % 2 ? 1e17 : 1);
}

static double sum(int i)
{
    double all = given(size - 1, i);
    for (int r = size - 2; r >= 0; r--)
        all = given(r, i) + all;
    return all;
}

static void lay(bool in_place, int n)
{
    for (int i = 0; i < LONGEST; i++)
        from[i] = to[i] = -1;
    for (int i = 0; i < n; i++)
        (in_place ? to : from)[i] = given(rank, i);
}

// n elements from the first one on, and no more.
static void check_sums(const char *what, int form, int first, int n, int kept)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += to[i] != sum(first + i);
    for (int i = kept; i < LONGEST; i++)
        wrong += to[i] != -1;
    if (!CHECK_EQ(wrong, 0))
        fprintf(stderr, "    %s, form %d, %d elements of %d processes\n", what, form, n, size);
}

static void reductions(int form, bool in_place, int n)
{
    MPI_Request r;
    const void *own = in_place ? MPI_IN_PLACE : from;
    lay(in_place, n);
    OK(COLL(form, , Allreduce, Iallreduce, &r, comm, own, to, n, MPI_DOUBLE, MPI_SUM));
    if (form < 2 || !in_place) { // which has its result for the second run
        coll_finish(form, &r);
        check_sums("MPI_Allreduce", form, 0, n, n);
    } else {
        OK(MPI_Request_free(&r));
    }
    int root = n % size;
    if (n * (int)sizeof(double) < 1 << 19 || (form == 2 && in_place))
        return; // by pairs
    lay(in_place && rank == root, n);
    if (rank != root)
        for (int i = 0; i < n; i++)
            from[i] = given(rank, i);
    OK(COLL(form, , Reduce, Ireduce, &r, comm, rank == root ? own : from, to, n, MPI_DOUBLE,
            MPI_SUM, root));
    coll_finish(form, &r);
    if (rank == root)
        check_sums("MPI_Reduce", form, 0, n, n);
    else
        check_sums("MPI_Reduce", form, 0, 0, 0);
}

static void blocks(int form, bool in_place, int n)
{
    MPI_Request r;
    const void *own = in_place ? MPI_IN_PLACE : from;
    int counts[12], at = 0, all = n * size;
    if (form == 2 && in_place)
        return;
    lay(in_place, all);
    OK(COLL(form, , Reduce_scatter_block, Ireduce_scatter_block, &r, comm, own, to, n, MPI_DOUBLE,
            MPI_SUM));
    coll_finish(form, &r);
    check_sums("MPI_Reduce_scatter_block", form, rank * n, n, in_place ? all : n);
    for (int i = 0; i < size; i++)
        counts[i] = i % 3 == 1 ? 0 : n - i;
    for (int i = 0; i < rank; i++)
        at += counts[i];
    lay(in_place, all);
    OK(COLL(form, , Reduce_scatter, Ireduce_scatter, &r, comm, own, to, counts, MPI_DOUBLE,
            MPI_SUM));
    coll_finish(form, &r);
    check_sums("MPI_Reduce_scatter", form, at, counts[rank], in_place ? all : counts[rank]);
}

static double mark(int source, int dest, int i)
{
    return source * 1e9 + dest * 1e7 + i;
}

static void check_blocks(const char *what, int form, int dest, const int *n, const int *at)
{
    int wrong = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n[r]; i++)
            wrong += to[at[r] + i] != mark(r, dest, i);
    if (!CHECK_EQ(wrong, 0))
        fprintf(stderr, "    %s, form %d, %d elements of %d processes\n", what, form, n[0], size);
}

static void moves(int form, bool in_place, int n)
{
    MPI_Request r;
    int equal[12], counts[12], equal_at[12], at[12], next = 0;
    for (int i = 0; i < size; i++) {
        equal[i] = n;
        equal_at[i] = i * n;
        counts[i] = i % 3 == 1 ? 0 : n - i;
        at[i] = next + i;
        next = at[i] + counts[i];
    }
    lay(false, 0);
    double *own = in_place ? to + rank * n : from;
    for (int i = 0; i < n; i++)
        own[i] = mark(rank, 0, i);
    OK(COLL(form, , Allgather, Iallgather, &r, comm, in_place ? MPI_IN_PLACE : (void *)from, n,
            MPI_DOUBLE, to, n, MPI_DOUBLE));
    coll_finish(form, &r);
    check_blocks("MPI_Allgather", form, 0, equal, equal_at);
    lay(false, 0);
    own = in_place ? to + at[rank] : from;
    for (int i = 0; i < counts[rank]; i++)
        own[i] = mark(rank, 0, i);
    OK(COLL(form, , Allgatherv, Iallgatherv, &r, comm, in_place ? MPI_IN_PLACE : (void *)from,
            counts[rank], MPI_DOUBLE, to, counts, at, MPI_DOUBLE));
    coll_finish(form, &r);
    check_blocks("MPI_Allgatherv", form, 0, counts, at);
    if (form == 2 && in_place)
        return;
    lay(false, 0);
    for (int i = 0; i < n * size; i++)
        (in_place ? to : from)[i] = mark(rank, i / n, i % n);
    OK(COLL(form, , Alltoall, Ialltoall, &r, comm, in_place ? MPI_IN_PLACE : (void *)from, n,
            MPI_DOUBLE, to, n, MPI_DOUBLE));
    coll_finish(form, &r);
    check_blocks("MPI_Alltoall", form, rank, equal, equal_at);
}

// Of n doubles, which on every second rank have a gap behind each; from a rank of each node.
static void broadcast(int form, int n)
{
    MPI_Request r;
    MPI_Datatype spread;
    int root = n % size, step = rank % 2 + 1, wrong = 0;
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, step * (MPI_Aint)sizeof(double), &spread));
    OK(MPI_Type_commit(&spread));
    lay(false, 0);
    for (int i = 0; rank == root && i < n; i++)
        to[step * i] = mark(root, 0, i);
    OK(COLL(form, , Bcast, Ibcast, &r, comm, to, n, spread, root));
    coll_finish(form, &r);
    for (int i = 0; i < n; i++)
        wrong += to[step * i] != mark(root, 0, i) || (step == 2 && to[2 * i + 1] != -1);
    for (int i = step * n; i < LONGEST; i++)
        wrong += to[i] != -1;
    if (!CHECK_EQ(wrong, 0))
        fprintf(stderr, "    MPI_Bcast, form %d, %d elements of %d processes\n", form, n, size);
    OK(MPI_Type_free(&spread));
}

static void all_of(MPI_Comm of)
{
    enum { LENGTHS = 5, EACH = 4 };
    static const int lengths[LENGTHS] = {2051, 2048, 65536, 65537, LONG},
                     each[EACH] = {600, 13, 1024, 1025};
    comm = of;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int form = 0; form < FORMS; form++)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < (is_slow() ? 1 : LENGTHS); i++) {
                reductions(form, in_place, lengths[i]);
                broadcast(form, lengths[i] + in_place);
            }
            for (int i = 0; i < (is_slow() ? 1 : EACH); i++) {
                moves(form, in_place, each[i]);
                blocks(form, in_place, each[i]);
            }
            if (!is_slow())
                blocks(form, in_place, WINDOW);
        }
}

static void few_messages(void)
{
    enum { N = 4096 };
    int nodes = ask(SHOAL_Q_NODE, npes - 1) + 1, before = ask(SHOAL_Q_SENT_FAR, 0), all = 0;
    OK(MPI_Allreduce(from, to, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    int mine = ask(SHOAL_Q_SENT_FAR, 0) - before;
    OK(MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    int most = 2 * 2 * (nodes - 1) * (npes / nodes); // half of them answers, if any
    CHECK(me || npes % nodes || is_slow() || all <= most);
}

static void nothing(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

// However many there are of them.
static void elements_of_no_size(void)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request r;
    OK(MPI_Type_contiguous(0, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(nothing, 1, &op));
    for (int form = 0; form < FORMS; form++) {
        OK(COLL(form, _c, Reduce_scatter_block, Ireduce_scatter_block, &r, MPI_COMM_WORLD, from, to,
                (MPI_Count)1 << 40, type, op));
        coll_finish(form, &r);
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
}

int main(void)
{
    MPI_Comm part, round;
    mpi_start();
    from = malloc(LONGEST * sizeof *from);
    to = malloc(LONGEST * sizeof *to);
    all_of(MPI_COMM_WORLD);
    few_messages();
    elements_of_no_size();
    OK(MPI_Comm_split(MPI_COMM_WORLD, me < npes - 2 ? 0 : MPI_UNDEFINED, me, &part));
    if (part != MPI_COMM_NULL) {
        all_of(part);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, me % 4 * npes + me, &round));
    all_of(round);
    OK(MPI_Comm_free(&round));
    free(from);
    free(to);
    return mpi_done();
}
