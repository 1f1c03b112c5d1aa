// SPDX-License-Identifier: BSD-3-Clause
// Every collective in its three forms, at lengths on both sides of the thresholds, from every root,
// in place and not, with an operator that does not commute; values tell where they come from.
// ALSO: 16
#include "mpi_check.h"

enum { LONGEST = 30000 };

static MPI_Comm comm;
static int *out, *in, *want, *counts, *displs;

// One call in one of its forms.
#define DO(form, NAME, INAME, INIT, ...)                     \
    do {                                                     \
        MPI_Request r_;                                      \
        if ((form) == 0) {                                   \
            OK(NAME(__VA_ARGS__, comm));                     \
        } else if ((form) == 1) {                            \
            OK(INAME(__VA_ARGS__, comm, &r_));               \
            OK(MPI_Wait(&r_, MPI_STATUS_IGNORE));            \
        } else {                                             \
            OK(INIT(__VA_ARGS__, comm, MPI_INFO_NULL, &r_)); \
            OK(MPI_Start(&r_));                              \
            OK(MPI_Wait(&r_, MPI_STATUS_IGNORE));            \
            OK(MPI_Request_free(&r_));                       \
        }                                                    \
    } while (0)

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i;
}

static void load(int n, int blocks)
{
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < n; i++)
            out[b * n + i] = value(me, b, i);
    memset(in, 0xee, sizeof(int) * (size_t)n * (size_t)(npes > blocks ? npes : blocks));
}

static void bcast(int n, int root, int form)
{
    for (int i = 0; i < n; i++)
        in[i] = me == root ? value(root, 0, i) : -1;
    DO(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, in, n, MPI_INT, root);
    CHECK_EACH(i, n, in[i], value(root, 0, (int)i));
}

static void gather_scatter(int n, int root, int form, bool in_place)
{
    load(n, 1);
    if (in_place && me == root)
        memcpy(in + root * n, out, sizeof(int) * (size_t)n);
    DO(form, MPI_Gather, MPI_Igather, MPI_Gather_init, in_place && me == root ? MPI_IN_PLACE : out,
       n, MPI_INT, in, n, MPI_INT, root);
    for (int p = 0; me == root && p < npes; p++)
        CHECK_EACH(i, n, in[p * n + (int)i], value(p, 0, (int)i));
    load(n, npes);
    DO(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, out, n, MPI_INT,
       in_place && me == root ? MPI_IN_PLACE : in, n, MPI_INT, root);
    if (!(in_place && me == root))
        CHECK_EACH(i, n, in[i], value(root, me, (int)i));
}

// Blocks of n + rank elements, one element apart, in the opposite order.
static int layout(int n)
{
    int at = 0;
    for (int p = npes - 1; p >= 0; p--) {
        counts[p] = n + p;
        displs[p] = at;
        at += counts[p] + 1;
    }
    return at;
}

static void with_counts(int n, int root, int form)
{
    layout(n);
    load(n + npes, 1);
    DO(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, out, n + me, MPI_INT, in, counts, displs,
       MPI_INT, root);
    for (int p = 0; me == root && p < npes; p++)
        CHECK_EACH(i, counts[p], in[displs[p] + (int)i], value(p, 0, (int)i));
    load(n + npes, 1);
    DO(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, out, n + me, MPI_INT, in, counts,
       displs, MPI_INT);
    for (int p = 0; p < npes; p++)
        CHECK_EACH(i, counts[p], in[displs[p] + (int)i], value(p, 0, (int)i));
    for (int p = 0; p < npes; p++)
        for (int i = 0; i < counts[p]; i++)
            out[displs[p] + i] = value(me, p, i);
    DO(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, out, counts, displs, MPI_INT, in,
       n + me, MPI_INT, root);
    CHECK_EACH(i, n + me, in[i], value(root, me, (int)i));
}

static void allgather(int n, int form, bool in_place)
{
    load(n, 1);
    if (in_place)
        memcpy(in + me * n, out, sizeof(int) * (size_t)n);
    DO(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in_place ? MPI_IN_PLACE : out, n,
       MPI_INT, in, n, MPI_INT);
    for (int p = 0; p < npes; p++)
        CHECK_EACH(i, n, in[p * n + (int)i], value(p, 0, (int)i));
}

static void alltoall(int n, int form, bool in_place)
{
    load(n, npes);
    if (in_place)
        memcpy(in, out, sizeof(int) * (size_t)(n * npes));
    DO(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, in_place ? MPI_IN_PLACE : out, n,
       MPI_INT, in, n, MPI_INT);
    for (int p = 0; p < npes; p++)
        CHECK_EACH(i, n, in[p * n + (int)i], value(p, me, (int)i));
}

// From p to q: n + (p + q) % 3 elements, at a distance of n + 3.
static void alltoallvw(int n, int form)
{
    int rdispls[npes], rcounts[npes];
    MPI_Datatype types[npes];
    for (int p = 0; p < npes; p++) {
        counts[p] = rcounts[p] = n + (me + p) % 3;
        displs[p] = p * (n + 3);
        rdispls[p] = (npes - 1 - p) * (n + 3);
        types[p] = MPI_INT;
        for (int i = 0; i < counts[p]; i++)
            out[displs[p] + i] = value(me, p, i);
    }
    DO(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, out, counts, displs, MPI_INT, in,
       rcounts, rdispls, MPI_INT);
    for (int p = 0; p < npes; p++)
        CHECK_EACH(i, rcounts[p], in[rdispls[p] + (int)i], value(p, me, (int)i));
    memset(in, 0, sizeof(int) * (size_t)(npes * (n + 3)));
    for (int p = 0; p < npes; p++) {
        displs[p] *= (int)sizeof(int);
        rdispls[p] *= (int)sizeof(int);
    }
    DO(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, out, counts, displs, types, in,
       rcounts, rdispls, types);
    for (int p = 0; p < npes; p++)
        CHECK_EACH(i, rcounts[p], in[rdispls[p] / (int)sizeof(int) + (int)i], value(p, me, (int)i));
}

// ---- Reductions. An element of the operator that does not commute: pairs (a, b) are the maps
// x -> a x + b, combined modulo a prime.
enum { PRIME = 10007 };
static MPI_Datatype pair;
static MPI_Op compose;

static void combine(const int *first, int *second) // second = first then second
{
    int a = first[0] * second[0] % PRIME, b = (second[0] * first[1] + second[1]) % PRIME;
    second[0] = a;
    second[1] = b;
}

static void compose_all(void *invec, void *inoutvec, int *len, MPI_Datatype *type)
{
    CHECK(*type == pair);
    for (int i = 0; i < *len; i++)
        combine((int *)invec + 2 * i, (int *)inoutvec + 2 * i);
}

static int factor(int p, int i)
{
    return (p * 37 + i * 5 + 2) % PRIME;
}

// The maps of ranks [from, to), combined in order, for n elements from element `at` on.
static void expect(int from, int to, int at, int n)
{
    for (int i = 0; i < n; i++) {
        int *w = want + 2 * i;
        w[0] = 1;
        w[1] = 0;
        for (int p = from; p < to; p++) {
            int next[2] = {factor(p, at + i), factor(p, at + i + 1)};
            combine(w, next);
            w[0] = next[0];
            w[1] = next[1];
        }
    }
}

static void load_pairs(int *to, int n)
{
    for (int i = 0; i < n; i++) {
        to[2 * i] = factor(me, i);
        to[2 * i + 1] = factor(me, i + 1);
    }
}

static void reductions(int n, int root, int form, bool in_place)
{
    const void *from = in_place ? MPI_IN_PLACE : (void *)out;
    int *own = in_place ? in : out;
    memset(in, 0, sizeof(int) * 2 * (size_t)n);
    load_pairs(me == root ? own : out, n);
    DO(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, me == root ? from : out, in, n, pair,
       compose, root);
    expect(0, npes, 0, n);
    if (me == root)
        CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)n, "reduce");
    load_pairs(own, n);
    DO(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, from, in, n, pair, compose);
    CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)n, "allreduce");
    load_pairs(own, n);
    DO(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, from, in, n, pair, compose);
    expect(0, me + 1, 0, n);
    CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)n, "scan");
    load_pairs(own, n);
    DO(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, from, in, n, pair, compose);
    expect(0, me, 0, n);
    if (me > 0)
        CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)n, "exscan");
}

static void reduce_scatters(int n, int form, bool in_place)
{
    const void *from = in_place ? MPI_IN_PLACE : (void *)out;
    int *own = in_place ? in : out, total = 0, at = 0;
    load_pairs(own, n * npes);
    DO(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
       from, in, n, pair, compose);
    expect(0, npes, me * n, n);
    CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)n, "reduce_scatter_block");
    for (int p = 0; p < npes; p++) {
        counts[p] = n + p % 2;
        at += p < me ? counts[p] : 0;
        total += counts[p];
    }
    load_pairs(own, total);
    DO(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from, in, counts,
       pair, compose);
    expect(0, npes, at, counts[me]);
    CHECK_MEM(in, want, sizeof(int) * 2 * (size_t)counts[me], "reduce_scatter");
}

// Arguments that only the root's process uses may be anything elsewhere, MPI_IN_PLACE as well.
static void insignificant(void)
{
    bool root = me == npes - 1;
    int mine = me, n = root ? 1 : -7;
    MPI_Datatype type = root ? MPI_INT : MPI_DATATYPE_NULL;
    for (int i = 0; i < npes; i++) {
        counts[i] = root ? 1 : -1;
        displs[i] = i;
        out[i] = i * 3;
    }
    for (int form = 0; form < 3; form++) {
        void *from = root ? out : MPI_IN_PLACE, *to = root ? in : MPI_IN_PLACE;
        int *where = form ? counts : NULL; // not even an array
        DO(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, from, n, type, &mine, 1, MPI_INT,
           npes - 1);
        CHECK_EQ(mine, me * 3);
        DO(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, from, root ? counts : where,
           root ? displs : where, type, &mine, 1, MPI_INT, npes - 1);
        DO(form, MPI_Gather, MPI_Igather, MPI_Gather_init, &mine, 1, MPI_INT, to, n, type,
           npes - 1);
        if (root)
            CHECK_EACH(i, npes, in[i], (int)i * 3);
        DO(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, &mine, 1, MPI_INT, to,
           root ? counts : where, root ? displs : where, type, npes - 1);
        DO(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, &mine, to, 1, MPI_INT, MPI_SUM,
           npes - 1);
        if (root)
            CHECK_EQ(in[0], 3 * npes * (npes - 1) / 2);
    }
}

// So may the receive buffer of rank 0 in an exclusive scan, but for one in place.
static void exclusive_scan(void)
{
    int own = me + 1, before = -1, sum = me * (me + 1) / 2;
    for (int form = 0; form < 3; form++) {
        int *const other[] = {NULL, &own, MPI_IN_PLACE};
        int *to = me ? &before : other[form];
        DO(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, &own, to, 1, MPI_INT, MPI_SUM);
        CHECK_EQ(before, me ? sum : -1);
        to = me ? &before : other[(form + 1) % 3];
        DO(form, MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, &own, to, 1, MPI_INT, MPI_SUM);
        CHECK_EQ(own, me + 1);
        int both = own;
        DO(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, MPI_IN_PLACE, &both, 1, MPI_INT,
           MPI_SUM);
        CHECK_EQ(both, me ? sum : own);
    }
}

// Several at once on one communicator, completed in the opposite order.
static void several(void)
{
    enum { AT_ONCE = 6 };
    int a[AT_ONCE], sum[AT_ONCE], b[AT_ONCE];
    MPI_Request r[2 * AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        a[i] = me + i;
        b[i] = me == i % npes ? i * 11 : -1;
        OK(MPI_Iallreduce(&a[i], &sum[i], 1, MPI_INT, MPI_SUM, comm, &r[2 * i]));
        OK(MPI_Ibcast(&b[i], 1, MPI_INT, i % npes, comm, &r[2 * i + 1]));
    }
    OK(MPI_Barrier(comm));
    for (int i = 2 * AT_ONCE - 1; i >= 0; i--)
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    CHECK_EACH(i, AT_ONCE, sum[i], npes * (npes - 1) / 2 + npes * (int)i);
    CHECK_EACH(i, AT_ONCE, b[i], (int)i * 11);
}

int main(void)
{
    static const int lengths[] = {0, 1, 3, 100, 700, LONGEST};
    mpi_start();
    comm = MPI_COMM_WORLD;
    size_t room = sizeof(int) * 2 * (size_t)(LONGEST + npes + 3) * (size_t)npes;
    out = malloc(room), in = malloc(room), want = malloc(room);
    counts = malloc(sizeof(int) * (size_t)npes), displs = malloc(sizeof(int) * (size_t)npes);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(compose_all, 0, &compose));
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int form = 0; form < 3; form++) {
            int n = lengths[l], root = (int)(l + (size_t)form) % npes;
            bool in_place = (l + (size_t)form) % 2;
            if (n == LONGEST && form == 1)
                continue;
            if (form == 2)
                OK(MPI_Barrier(comm));
            bcast(n, root, form);
            gather_scatter(n, root, form, in_place);
            with_counts(n, root, form);
            allgather(n, form, in_place);
            alltoall(n, form, in_place);
            alltoallvw(n, form);
            reductions(n, root, form, in_place);
            reduce_scatters(n, form, !in_place);
        }
    insignificant();
    exclusive_scan();
    several();
    OK(MPI_Op_free(&compose));
    OK(MPI_Type_free(&pair));
    return mpi_done();
}
