// SPDX-License-Identifier: BSD-3-Clause
// Random collectives: up to 8 pending at a time and completed in any order, in all forms, with int and
// with MPI_Count, over communicators of some or all processes in any order. Datatypes have gaps and
// negative displacements and differ between the processes and between the two sides; types,
// operators and communicators are freed while the calls are pending. What lies in gaps and around
// the buffers stays as it was, and a receive from any source takes none of the messages. Every other
// buffer is memory that the processes of a node reach.
#include "coll_check.h"

enum { TURNS = 40, AT_ONCE = 8, MOST = 16, INTS = 6, MARGIN = 256, LONGEST = 6000 };

// What all processes draw alike, and what each draws by itself.
static uint64_t shared = 5, own;

static int draw(int n)
{
    return (int)rnd_below(&shared, (size_t)n);
}

static int draw_own(int n)
{
    return (int)rnd_below(&own, (size_t)n);
}

// ---- Elements of `n` ints at offsets that are in bytes, as is the extent
struct layout {
    MPI_Datatype type;
    int n;
    MPI_Aint at[INTS], extent;
};

static void resize(struct layout *l, MPI_Datatype plain, MPI_Aint lb, MPI_Aint extent)
{
    OK(MPI_Type_create_resized(plain, lb, extent, &l->type));
    OK(MPI_Type_free(&plain));
    l->extent = extent;
}

static struct layout make_layout(int n)
{
    enum { DENSE, EVERY_OTHER, BACKWARDS, SHUFFLED, WITH_GAPS, KINDS };
    struct layout l = {.n = n};
    MPI_Datatype plain;
    int kind = draw_own(KINDS), step = kind == EVERY_OTHER ? 2 : kind == BACKWARDS ? -2 : 1;
    for (int i = 0; i < n; i++)
        l.at[i] = 4 * (kind == SHUFFLED ? n - 1 - i - 2 : kind == WITH_GAPS ? 3 * i + 1 : step * i);
    if (kind <= BACKWARDS) {
        OK(MPI_Type_vector(n, 1, step, MPI_INT, &l.type));
        l.extent = 4 * (n - 1) * (step < 0 ? -step : step) + 4;
    } else {
        OK(MPI_Type_create_hindexed_block(n, 1, l.at, MPI_INT, &plain));
        resize(&l, plain, -8, kind == SHUFFLED ? 4 * n : 12 * n + 12);
    }
    OK(MPI_Type_commit(&l.type));
    return l;
}

static struct layout any_layout(void)
{
    static const int n[] = {1, 2, 3, 6};
    return make_layout(n[draw_own(4)]);
}

// ---- Buffers
struct buffer {
    char *memory, *base, *want; // want: the whole memory as it is to be
    size_t size;
    bool is_shared;
};

static struct buffer new_buffer(MPI_Aint bytes)
{
    struct buffer b = {.size = (size_t)bytes + 2 * MARGIN, .is_shared = draw_own(2)};
    if (b.is_shared)
        OK(MPI_Alloc_mem((MPI_Aint)b.size, MPI_INFO_NULL, &b.memory));
    else
        b.memory = must_alloc(b.size);
    b.want = must_alloc(b.size);
    memset(b.memory, 0xee, b.size);
    b.base = b.memory + MARGIN;
    return b;
}

static int value(int call, int from, int to, int i)
{
    return call * 7919 + from * 1000003 + to * 10007 + i;
}

static void store(char *base, const struct layout *l, int n, int call, int from, int to)
{
    for (int i = 0; i < n; i++) {
        int v = value(call, from, to, i);
        memcpy(base + i / l->n * l->extent + l->at[i % l->n], &v, sizeof v);
    }
}

static void drop_buffer(struct buffer *b)
{
    if (b->is_shared)
        OK(MPI_Free_mem(b->memory));
    else
        free(b->memory);
    free(b->want);
}

// ---- Calls
struct call {
    int number, kind, form, root, total; // total: ints that one process gives another
    bool big, in_place;
    MPI_Comm comm;
    int rank, size;
    struct buffer from, to;
    struct layout out, in; // of calls with one type a side
    struct layout outs[MOST], ins[MOST];
    int counts[2][MOST], displs[2][MOST];
    MPI_Count long_counts[2][MOST];
    MPI_Aint long_displs[2][MOST];
    MPI_Datatype types[2][MOST];
    MPI_Op op;
    MPI_Request request;
    bool is_started;
};

#define START(S, NAME, INAME, ...) \
    OK(COLL(c->form, S, NAME, INAME, &c->request, c->comm, __VA_ARGS__))
#define EITHER(NAME, INAME, ...)                 \
    do {                                         \
        if (c->big)                              \
            START(_c, NAME, INAME, __VA_ARGS__); \
        else                                     \
            START(, NAME, INAME, __VA_ARGS__);   \
    } while (0)

static void keep_want(struct call *c)
{
    memcpy(c->to.want, c->to.memory, c->to.size);
}

static char *wanted(const struct call *c)
{
    return c->to.want + MARGIN;
}

// Blocks of the receive buffer from all.
static MPI_Aint block_bytes(const struct layout *l, int total)
{
    return total / l->n * l->extent;
}

static void use_buffers(struct call *c, int sent, int received)
{
    c->out = any_layout();
    c->in = any_layout();
    c->from = new_buffer(block_bytes(&c->out, c->total) * sent);
    c->to = new_buffer(block_bytes(&c->in, c->total) * received);
}

static void bcast(struct call *c)
{
    use_buffers(c, 0, 1);
    if (c->rank == c->root)
        store(c->to.base, &c->in, c->total, c->number, c->root, 0);
    keep_want(c);
    store(wanted(c), &c->in, c->total, c->number, c->root, 0);
    EITHER(Bcast, Ibcast, c->to.base, c->total / c->in.n, c->in.type, c->root);
}

static void gathers(struct call *c, bool all)
{
    bool gets = all || c->rank == c->root, in_place = gets && c->in_place;
    use_buffers(c, 1, c->size);
    MPI_Aint block = block_bytes(&c->in, c->total);
    int sent = c->total / c->out.n, received = c->total / c->in.n;
    void *from = in_place ? MPI_IN_PLACE : c->from.base;
    store(c->from.base, &c->out, c->total, c->number, c->rank, 0);
    if (in_place)
        store(c->to.base + c->rank * block, &c->in, c->total, c->number, c->rank, 0);
    keep_want(c);
    for (int p = 0; gets && p < c->size; p++)
        store(wanted(c) + p * block, &c->in, c->total, c->number, p, 0);
    if (all)
        EITHER(Allgather, Iallgather, from, sent, c->out.type, c->to.base, received, c->in.type);
    else
        EITHER(Gather, Igather, from, sent, c->out.type, c->to.base, received, c->in.type, c->root);
}

static void gather(struct call *c)
{
    gathers(c, false);
}

static void allgather(struct call *c)
{
    gathers(c, true);
}

static void scatter(struct call *c)
{
    bool in_place = c->rank == c->root && c->in_place;
    use_buffers(c, c->size, 1);
    MPI_Aint block = block_bytes(&c->out, c->total);
    for (int p = 0; p < c->size; p++)
        store(c->from.base + p * block, &c->out, c->total, c->number, c->rank, p);
    keep_want(c);
    if (!in_place)
        store(wanted(c), &c->in, c->total, c->number, c->root, c->rank);
    EITHER(Scatter, Iscatter, c->from.base, c->total / c->out.n, c->out.type,
           in_place ? MPI_IN_PLACE : c->to.base, c->total / c->in.n, c->in.type, c->root);
}

static void alltoall(struct call *c)
{
    use_buffers(c, c->size, c->size);
    MPI_Aint out = block_bytes(&c->out, c->total), in = block_bytes(&c->in, c->total);
    for (int p = 0; p < c->size; p++) {
        store(c->from.base + p * out, &c->out, c->total, c->number, c->rank, p);
        if (c->in_place)
            store(c->to.base + p * in, &c->in, c->total, c->number, c->rank, p);
    }
    keep_want(c);
    for (int p = 0; p < c->size; p++)
        store(wanted(c) + p * in, &c->in, c->total, c->number, p, c->rank);
    EITHER(Alltoall, Ialltoall, c->in_place ? MPI_IN_PLACE : c->from.base, c->total / c->out.n,
           c->out.type, c->to.base, c->total / c->in.n, c->in.type);
}

// Block p of side s: its count, and its place in bytes or in extents. The next place.
static int set_block(struct call *c, int s, int p, const struct layout *l, int total, int at,
                     bool in_bytes)
{
    int n = total / l->n;
    c->counts[s][p] = n;
    c->displs[s][p] = at;
    c->long_counts[s][p] = n;
    c->long_displs[s][p] = at;
    c->types[s][p] = l->type;
    return at + (in_bytes ? n * (int)l->extent + 128 : n + draw_own(3));
}

// From p to q go (p + q) % 3 parts of the total.
static void allgatherv(struct call *c)
{
    int at = 0;
    c->out = any_layout();
    c->in = any_layout();
    for (int p = c->size - 1; p >= 0; p--)
        at = set_block(c, 1, p, &c->in, p % 3 * c->total, at, false);
    c->from = new_buffer(block_bytes(&c->out, 2 * c->total));
    c->to = new_buffer(at * c->in.extent);
    int mine = c->rank % 3 * c->total;
    store(c->from.base, &c->out, mine, c->number, c->rank, 0);
    keep_want(c);
    for (int p = 0; p < c->size; p++)
        store(wanted(c) + c->displs[1][p] * c->in.extent, &c->in, p % 3 * c->total, c->number, p,
              0);
    if (c->big)
        START(_c, Allgatherv, Iallgatherv, c->from.base, mine / c->out.n, c->out.type, c->to.base,
              c->long_counts[1], c->long_displs[1], c->in.type);
    else
        START(, Allgatherv, Iallgatherv, c->from.base, mine / c->out.n, c->out.type, c->to.base,
              c->counts[1], c->displs[1], c->in.type);
}

static void alltoallw(struct call *c)
{
    int out = 0, in = 0;
    for (int p = 0; p < c->size; p++) {
        int total = (c->rank + p) % 3 * c->total;
        c->outs[p] = any_layout();
        c->ins[p] = any_layout();
        out = set_block(c, 0, p, &c->outs[p], total, out, true);
        in = set_block(c, 1, p, &c->ins[p], total, in, true);
    }
    c->from = new_buffer(out);
    c->to = new_buffer(in);
    keep_want(c);
    for (int p = 0; p < c->size; p++) {
        int total = (c->rank + p) % 3 * c->total;
        store(c->from.base + c->displs[0][p], &c->outs[p], total, c->number, c->rank, p);
        store(wanted(c) + c->displs[1][p], &c->ins[p], total, c->number, p, c->rank);
    }
    if (c->big)
        START(_c, Alltoallw, Ialltoallw, c->from.base, c->long_counts[0], c->long_displs[0],
              c->types[0], c->to.base, c->long_counts[1], c->long_displs[1], c->types[1]);
    else
        START(, Alltoallw, Ialltoallw, c->from.base, c->counts[0], c->displs[0], c->types[0],
              c->to.base, c->counts[1], c->displs[1], c->types[1]);
}

// ---- Reductions, of pairs with a gap between and before them
enum { FIRST = -4, SECOND = 8, PAIR = 20 };

static void read_pair(const char *base, int i, int pair[2])
{
    memcpy(&pair[0], base + i * PAIR + FIRST, sizeof(int));
    memcpy(&pair[1], base + i * PAIR + SECOND, sizeof(int));
}

static void store_pair(char *base, int i, const int pair[2])
{
    memcpy(base + i * PAIR + FIRST, &pair[0], sizeof(int));
    memcpy(base + i * PAIR + SECOND, &pair[1], sizeof(int));
}

static void compose_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < (int)*n; i++) {
        int first[2], second[2];
        read_pair(in, i, first);
        read_pair(inout, i, second);
        combine(first, second);
        store_pair(inout, i, second);
    }
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Count count = *n;
    compose_c(in, inout, &count, type);
}

static void give_pairs(char *base, int n, int number, int rank)
{
    for (int i = 0; i < n; i++)
        store_pair(base, i, (int[]){factor(number, rank, i), factor(number, rank, i + 1)});
}

// Of the first ranks.
static void want_pairs(struct call *c, int ranks)
{
    for (int i = 0; i < c->total; i++) {
        int sum[2] = {1, 0};
        for (int p = 0; p < ranks; p++) {
            int next[2] = {factor(c->number, p, i), factor(c->number, p, i + 1)};
            combine(sum, next);
            memcpy(sum, next, sizeof sum);
        }
        store_pair(wanted(c), i, sum);
    }
}

static void *load_pairs(struct call *c, bool in_place)
{
    MPI_Datatype plain;
    OK(MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){FIRST, SECOND}, MPI_INT, &plain));
    resize(&c->in, plain, -8, PAIR);
    OK(MPI_Type_commit(&c->in.type));
    OK(c->big ? MPI_Op_create_c(compose_c, 0, &c->op) : MPI_Op_create(compose, 0, &c->op));
    c->from = new_buffer(PAIR * c->total);
    c->to = new_buffer(PAIR * c->total);
    give_pairs(in_place ? c->to.base : c->from.base, c->total, c->number, c->rank);
    keep_want(c);
    return in_place ? MPI_IN_PLACE : c->from.base;
}

static void reduce(struct call *c)
{
    void *from = load_pairs(c, c->in_place && c->rank == c->root);
    if (c->rank == c->root)
        want_pairs(c, c->size);
    EITHER(Reduce, Ireduce, from, c->to.base, c->total, c->in.type, c->op, c->root);
}

static void allreduce(struct call *c)
{
    void *from = load_pairs(c, c->in_place);
    want_pairs(c, c->size);
    EITHER(Allreduce, Iallreduce, from, c->to.base, c->total, c->in.type, c->op);
}

static void scan(struct call *c)
{
    void *from = load_pairs(c, c->in_place);
    want_pairs(c, c->rank + 1);
    EITHER(Scan, Iscan, from, c->to.base, c->total, c->in.type, c->op);
}

static void exscan(struct call *c)
{
    void *from = load_pairs(c, c->in_place);
    if (c->rank)
        want_pairs(c, c->rank);
    EITHER(Exscan, Iexscan, from, c->to.base, c->total, c->in.type, c->op);
}

// ---- One of them
static void (*const calls[])(struct call *) = {bcast,     gather,     allgather, scatter,
                                               alltoall,  allgatherv, alltoallw, reduce,
                                               allreduce, scan,       exscan};
enum { CALLS = sizeof calls / sizeof *calls };

static void free_layout(struct layout *l)
{
    if (l->extent)
        OK(MPI_Type_free(&l->type));
}

static void begin(struct call *c, int number, MPI_Comm comm)
{
    static const int totals[] = {0, 6, 12, 60, 600, LONGEST};
    *c = (struct call){.number = number, .comm = comm, .op = MPI_OP_NULL};
    c->request = MPI_REQUEST_NULL;
    OK(MPI_Comm_rank(comm, &c->rank));
    OK(MPI_Comm_size(comm, &c->size));
    c->kind = draw(CALLS);
    c->form = draw(3);
    c->big = draw(2);
    c->in_place = draw(3) == 0;
    c->root = draw(c->size);
    c->total = totals[draw(6)];
    calls[c->kind](c);
    free_layout(&c->out);
    free_layout(&c->in);
    for (int p = 0; p < c->size; p++) {
        free_layout(&c->outs[p]);
        free_layout(&c->ins[p]);
    }
    if (c->op != MPI_OP_NULL)
        OK(MPI_Op_free(&c->op));
    c->is_started = c->form != 2 || draw(2);
    if (c->form == 2 && c->is_started)
        OK(MPI_Start(&c->request));
}

static void finish(struct call *c)
{
    int flag = c->form == 0;
    while (!flag && draw_own(2))
        OK(MPI_Test(&c->request, &flag, MPI_STATUS_IGNORE));
    if (!flag)
        OK(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    if (c->form == 2)
        OK(MPI_Request_free(&c->request));
    if (!CHECK_MEM(c->to.memory, c->to.want, c->to.size, "received"))
        fprintf(stderr, "call %d: kind %d form %d total %d root %d big %d in place %d\n", c->number,
                c->kind, c->form, c->total, c->root, c->big, c->in_place);
    drop_buffer(&c->from);
    drop_buffer(&c->to);
}

static MPI_Comm make_comm(void)
{
    MPI_Comm comm;
    switch (draw(3)) {
    case 0: OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); break;
    case 1: OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm)); break;
    default: OK(MPI_Comm_split(MPI_COMM_WORLD, me * me % 3, me ^ 1, &comm)); break;
    }
    for (int i = draw(2) * 5; i > 0; i--)
        OK(MPI_Barrier(comm));
    return comm;
}

static void turn(int number)
{
    static struct call call[AT_ONCE];
    int n = 1 + draw(AT_ONCE), got = -1, rank, size;
    size_t order[AT_ONCE];
    MPI_Comm comm = make_comm();
    MPI_Request any;
    MPI_Status status;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any));
    for (int i = 0; i < n; i++)
        begin(&call[i], number * AT_ONCE + i, comm);
    OK(MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, number, comm));
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < n; i++)
        order[i] = (size_t)i;
    rnd_shuffle(&own, (size_t)n, order);
    for (int i = 0; i < n; i++)
        if (!call[order[i]].is_started)
            OK(MPI_Start(&call[order[i]].request));
    for (int i = 0; i < n; i++)
        finish(&call[order[i]]);
    OK(MPI_Wait(&any, &status));
    CHECK(got == number && status.MPI_TAG == number);
    CHECK_EQ(status.MPI_SOURCE, (rank + size - 1) % size);
}

int main(void)
{
    mpi_start();
    CHECK(npes <= MOST);
    own = (uint64_t)me;
    for (int i = 0; i < TURNS; i++)
        turn(i);
    return mpi_done();
}
