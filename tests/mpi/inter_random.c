// SPDX-License-Identifier: BSD-3-Clause
// Random collectives over intercommunicators of groups of any two sizes, whose ranks go up on one
// side and down on the other: in all forms, from every root, with counts that differ between the
// processes and between the directions, and an operator that does not commute.
// PES: 2 4 7
#include "coll_check.h"

enum { TURNS = 12, CALLS = 20, MOST = 16, LONGEST = 6000, NOTHING = -1 };

static uint64_t shared = 9; // state of what all processes draw alike
static MPI_Comm inter;
static int side, cut, rank, size, others; // of the own side; ranks of the world below cut: side 0
static MPI_Datatype pair;
static MPI_Op op;

static int draw(int n)
{
    return (int)rnd_below(&shared, (size_t)n);
}

static int world_rank(int of_side, int r)
{
    return of_side ? npes - 1 - r : r;
}

static int size_of(int of_side)
{
    return of_side ? npes - cut : cut;
}

// ---- Calls
struct call {
    int number, form, n;
    int root_side, root_rank, root; // root: the argument
    bool is_root, is_leaf;          // the root, or of the other side
    int *from, *to;
    int counts[MOST], displs[MOST], counts_in[MOST], displs_in[MOST];
    MPI_Datatype types[MOST];
    MPI_Request r;
};

#define CALL(NAME, INAME, ...)                                       \
    do {                                                             \
        OK(COLL(c->form, , NAME, INAME, &c->r, inter, __VA_ARGS__)); \
        coll_finish(c->form, &c->r);                                 \
    } while (0)

static int value(const struct call *c, int from, int to, int i)
{
    return c->number * 7919 + from * 100003 + to * 1007 + i;
}

static void store(const struct call *c, int at, int to, int n)
{
    for (int i = 0; i < n; i++)
        c->from[at + i] = value(c, me, to, i);
}

static void check(const struct call *c, int at, int from, int to, int n)
{
    CHECK_EACH(i, n, c->to[at + (int)i], value(c, from, to, (int)i));
}

static void bcast(struct call *c)
{
    if (c->root == MPI_PROC_NULL) { // what else it gives is not looked at
        CALL(Bcast, Ibcast, NULL, -3, MPI_DATATYPE_NULL, c->root);
        return;
    }
    store(c, 0, 0, c->n);
    CALL(Bcast, Ibcast, c->is_root ? c->from : c->to, c->n, MPI_INT, c->root);
    if (c->is_leaf)
        check(c, 0, world_rank(c->root_side, c->root_rank), 0, c->n);
}

static void gather(struct call *c)
{
    store(c, 0, 0, c->n);
    if (c->is_root)
        CALL(Gather, Igather, NULL, -1, MPI_DATATYPE_NULL, c->to, c->n, MPI_INT, c->root);
    else
        CALL(Gather, Igather, c->from, c->n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, c->root);
    for (int p = 0; c->is_root && p < others; p++)
        check(c, p * c->n, world_rank(!side, p), 0, c->n);
}

static void scatter(struct call *c)
{
    for (int p = 0; p < others; p++)
        store(c, p * c->n, p, c->n);
    if (c->is_root)
        CALL(Scatter, Iscatter, c->from, c->n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, c->root);
    else
        CALL(Scatter, Iscatter, NULL, -1, MPI_DATATYPE_NULL, c->to, c->n, MPI_INT, c->root);
    if (c->is_leaf)
        check(c, 0, world_rank(c->root_side, c->root_rank), rank, c->n);
}

// Every second process has nothing; blocks lie backwards, one element apart.
static int share(const struct call *c, int r)
{
    return r % 2 * c->n;
}

static void lay_out(struct call *c)
{
    for (int p = others - 1, at = 0; p >= 0; p--) {
        c->counts[p] = share(c, p);
        c->displs[p] = at + 1;
        at += c->counts[p] + 1;
    }
}

static void gatherv(struct call *c)
{
    lay_out(c);
    store(c, 0, 0, c->n);
    CALL(Gatherv, Igatherv, c->from, share(c, rank), MPI_INT, c->to, c->counts, c->displs, MPI_INT,
         c->root);
    for (int p = 0; c->is_root && p < others; p++)
        check(c, c->displs[p], world_rank(!side, p), 0, c->counts[p]);
}

static void scatterv(struct call *c)
{
    lay_out(c);
    for (int p = 0; p < others; p++)
        store(c, c->displs[p], p, c->counts[p]);
    CALL(Scatterv, Iscatterv, c->from, c->counts, c->displs, MPI_INT, c->to, share(c, rank),
         MPI_INT, c->root);
    if (c->is_leaf)
        check(c, 0, world_rank(c->root_side, c->root_rank), rank, share(c, rank));
}

// One side gives less than the other, or nothing.
static void allgather(struct call *c)
{
    int given[2] = {c->n, draw(3) ? c->n / 2 : 0};
    store(c, 0, 0, given[side]);
    CALL(Allgather, Iallgather, c->from, given[side], MPI_INT, c->to, given[!side], MPI_INT);
    for (int p = 0; p < others; p++)
        check(c, p * given[!side], world_rank(!side, p), 0, given[!side]);
}

static int part(const struct call *c, int of_side, int r)
{
    return c->n * ((r + of_side) % 3) / 2;
}

static void allgatherv(struct call *c)
{
    for (int p = 0, at = 0; p < others; p++) {
        c->counts[p] = part(c, !side, p);
        c->displs[p] = at;
        at += c->counts[p] + 1;
    }
    store(c, 0, 0, part(c, side, rank));
    CALL(Allgatherv, Iallgatherv, c->from, part(c, side, rank), MPI_INT, c->to, c->counts,
         c->displs, MPI_INT);
    for (int p = 0; p < others; p++)
        check(c, c->displs[p], world_rank(!side, p), 0, c->counts[p]);
}

static void alltoall(struct call *c)
{
    for (int p = 0; p < others; p++)
        store(c, p * c->n, p, c->n);
    CALL(Alltoall, Ialltoall, c->from, c->n, MPI_INT, c->to, c->n, MPI_INT);
    for (int p = 0; p < others; p++)
        check(c, p * c->n, world_rank(!side, p), rank, c->n);
}

static void alltoallvw(struct call *c, bool typed)
{
    int unit = typed ? (int)sizeof(int) : 1;
    for (int p = 0; p < others; p++) {
        c->counts[p] = c->counts_in[p] = (p + rank) % 2 * c->n;
        c->displs[p] = unit * p * (c->n + 1);
        c->displs_in[p] = unit * (others - 1 - p) * (c->n + 1);
        c->types[p] = MPI_INT;
        store(c, p * (c->n + 1), p, c->counts[p]);
    }
    if (typed)
        CALL(Alltoallw, Ialltoallw, c->from, c->counts, c->displs, c->types, c->to, c->counts_in,
             c->displs_in, c->types);
    else
        CALL(Alltoallv, Ialltoallv, c->from, c->counts, c->displs, MPI_INT, c->to, c->counts_in,
             c->displs_in, MPI_INT);
    for (int p = 0; p < others; p++)
        check(c, c->displs_in[p] / unit, world_rank(!side, p), rank, c->counts[p]);
}

static void alltoallv(struct call *c)
{
    alltoallvw(c, false);
}

static void alltoallw(struct call *c)
{
    alltoallvw(c, true);
}

// ---- Reductions
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    CHECK(*type == pair);
    for (int i = 0; i < *n; i++)
        combine((int *)in + 2 * i, (int *)inout + 2 * i);
}

static void give_pairs(const struct call *c, int n)
{
    for (int i = 0; i < n; i++) {
        c->from[2 * i] = factor(c->number, me, i);
        c->from[2 * i + 1] = factor(c->number, me, i + 1);
    }
}

// Of the other side's ranks in order, elements from `at` on.
static void check_pairs(const struct call *c, int at, int n)
{
    for (int i = 0; i < n; i++) {
        int sum[2] = {1, 0};
        for (int p = 0; p < others; p++) {
            int q = world_rank(!side, p);
            int next[2] = {factor(c->number, q, at + i), factor(c->number, q, at + i + 1)};
            combine(sum, next);
            memcpy(sum, next, sizeof sum);
        }
        CHECK_EACH(k, 2, c->to[2 * i + (int)k], sum[k]);
    }
}

static void reduce(struct call *c)
{
    give_pairs(c, c->n);
    if (c->is_root)
        CALL(Reduce, Ireduce, NULL, c->to, c->n, pair, op, c->root);
    else
        CALL(Reduce, Ireduce, c->from, NULL, c->n, pair, op, c->root);
    if (c->is_root)
        check_pairs(c, 0, c->n);
}

static void allreduce(struct call *c)
{
    give_pairs(c, c->n);
    CALL(Allreduce, Iallreduce, c->from, c->to, c->n, pair, op);
    check_pairs(c, 0, c->n);
}

// Both sides have as many elements in all.
static void reduce_scatter_block(struct call *c)
{
    int each = c->n % 50 * others;
    give_pairs(c, each * size);
    CALL(Reduce_scatter_block, Ireduce_scatter_block, c->from, c->to, each, pair, op);
    check_pairs(c, each * rank, each);
}

static void reduce_scatter(struct call *c)
{
    int all = c->n % 50 * size * others, last = size - 1;
    for (int p = 0; p < size; p++)
        c->counts[p] = p == last ? all : 0;
    give_pairs(c, all);
    CALL(Reduce_scatter, Ireduce_scatter, c->from, c->to, c->counts, pair, op);
    check_pairs(c, 0, c->counts[rank]);
}

// ---- One call
static void (*const calls[])(struct call *) = {bcast,
                                               gather,
                                               scatter,
                                               gatherv,
                                               scatterv,
                                               allgather,
                                               allgatherv,
                                               alltoall,
                                               alltoallv,
                                               alltoallw,
                                               reduce,
                                               allreduce,
                                               reduce_scatter_block,
                                               reduce_scatter};

static void one_call(int number)
{
    static struct call c;
    size_t kind = rnd_below(&shared, sizeof calls / sizeof *calls);
    c = (struct call){.number = number, .form = draw(3)};
    c.n = draw(4) == 0 ? 0 : draw(2) ? draw(20) : draw(LONGEST);
    c.root_side = draw(2);
    c.root_rank = draw(size_of(c.root_side));
    c.is_leaf = side != c.root_side;
    c.is_root = !c.is_leaf && rank == c.root_rank;
    c.root = c.is_leaf ? c.root_rank : c.is_root ? MPI_ROOT : MPI_PROC_NULL;
    size_t elements = (size_t)(c.n + npes + 50 * npes) * (size_t)npes;
    c.from = must_alloc(elements * 2 * sizeof(int));
    c.to = must_alloc(elements * 2 * sizeof(int));
    memset(c.to, 0xff, elements * 2 * sizeof(int));
    calls[kind](&c);
    if (!c.is_leaf && !c.is_root && kind < 5) // nothing comes to these of rooted ones
        CHECK_EACH(i, elements, c.to[i], NOTHING);
    free(c.from);
    free(c.to);
}

static void make_inter(int turn)
{
    MPI_Comm own, other;
    cut = 1 + draw(npes - 1);
    side = me >= cut;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, side ? -me : me, &own));
    OK(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, world_rank(!side, 0), turn, &inter));
    OK(MPI_Comm_free(&own));
    if (draw(2)) {
        OK(MPI_Comm_dup(inter, &other));
        OK(MPI_Comm_free(&inter));
        inter = other;
    }
    OK(MPI_Comm_rank(inter, &rank));
    OK(MPI_Comm_size(inter, &size));
    OK(MPI_Comm_remote_size(inter, &others));
}

int main(void)
{
    mpi_start();
    CHECK(npes <= MOST);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(compose, 0, &op));
    for (int turn = 0; turn < TURNS; turn++) {
        make_inter(turn);
        for (int i = 0; i < CALLS; i++)
            one_call(turn * CALLS + i);
        OK(MPI_Barrier(inter));
        OK(MPI_Comm_free(&inter));
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&pair));
    return mpi_done();
}
