// SPDX-License-Identifier: BSD-3-Clause
// Derived types, drawn at random, on every side of puts, gets and accumulates, with and without
// requests, against packing and unpacking of a copy. In windows allocated, created and dynamic.
// PES: 2
#include "rma_check.h"

enum { BYTES = 1024, MOST = 20, ROUNDS = 400 };
enum flavor { ALLOCATED, CREATED, DYNAMIC, FLAVORS };
enum action { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, ACTIONS };

#define BASICS(X)              \
    X(MPI_SIGNED_CHAR, int8_t) \
    X(MPI_SHORT, short)        \
    X(MPI_INT, int)            \
    X(MPI_LONG, long)          \
    X(MPI_DOUBLE, double)      \
    X(MPI_LONG_DOUBLE, long double)
#define X(type, c_type) {type, sizeof(c_type)},
static const struct basic {
    MPI_Datatype type;
    size_t size;
} basics[] = {BASICS(X)};
#undef X
enum { BASIC_TYPES = sizeof basics / sizeof *basics };

static MPI_Win win;
static MPI_Aint base; // displacement of the window's first byte
static int target;
static uint64_t seed;
// The window and the result as they are to be; what is read, and the operands.
static _Alignas(64) char window[BYTES], result[BYTES], got[BYTES], fetched[BYTES], in[BYTES];

// ---- Types of n elements; none reaches beyond 3 * n
static MPI_Datatype draw_indexed(MPI_Datatype basic, int n)
{
    MPI_Datatype t;
    int blocks = 0, lengths[MOST], places[MOST], at = 0;
    for (int left = n; left > 0; left -= lengths[blocks++]) {
        lengths[blocks] = 1 + (int)rnd_below(&seed, left < 3 ? (size_t)left : 3);
        places[blocks] = at + (int)rnd_below(&seed, 2);
        at = places[blocks] + lengths[blocks];
    }
    for (int i = 0, k = blocks - 1; i < k && blocks % 2; i++, k--) { // backward
        int length = lengths[i], place = places[i];
        lengths[i] = lengths[k], places[i] = places[k];
        lengths[k] = length, places[k] = place;
    }
    OK(MPI_Type_indexed(blocks, lengths, places, basic, &t));
    return t;
}

static MPI_Datatype draw_struct(const struct basic *basic, int n)
{
    MPI_Datatype t, types[MOST];
    MPI_Aint places[MOST], at = 0;
    int lengths[MOST];
    for (int i = 0; i < n; i++) {
        types[i] = basic->type;
        lengths[i] = 1;
        places[i] = at + (MPI_Aint)(rnd_below(&seed, 2) * basic->size);
        at = places[i] + (MPI_Aint)basic->size;
    }
    OK(MPI_Type_create_struct(n, lengths, places, types, &t));
    return t;
}

static MPI_Datatype draw_spread(const struct basic *basic, int n)
{
    MPI_Datatype t, wide;
    OK(MPI_Type_create_resized(basic->type, 0, 2 * (MPI_Aint)basic->size, &wide));
    OK(MPI_Type_contiguous(n, wide, &t));
    OK(MPI_Type_free(&wide));
    return t;
}

static MPI_Datatype draw_type(const struct basic *basic, int n)
{
    MPI_Datatype t;
    switch (rnd_below(&seed, 5)) {
    case 0: OK(MPI_Type_contiguous(n, basic->type, &t)); break;
    case 1: OK(MPI_Type_vector(n, 1, 1 + (int)rnd_below(&seed, 3), basic->type, &t)); break;
    case 2: t = draw_indexed(basic->type, n); break;
    case 3: t = draw_struct(basic, n); break;
    default: t = draw_spread(basic, n);
    }
    OK(MPI_Type_commit(&t));
    return t;
}

static void draw_values(const struct basic *basic, char *to)
{
    memset(to, 0, BYTES);
    for (size_t at = 0; at < BYTES; at += basic->size) {
        int value = (int)rnd_below(&seed, 5);
#define X(c_name, c_type)        \
    if (basic->type == (c_name)) \
        *(c_type *)(to + at) = (c_type)value;
        BASICS(X)
#undef X
    }
}

// ---- One operation
struct job {
    enum action action;
    const struct basic *basic;
    int n;
    MPI_Datatype origin, result, there;
    MPI_Aint disp; // in the window
    MPI_Op op;
    bool has_request;
};

static struct job draw(void)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_REPLACE};
    struct job j;
    j.action = (enum action)rnd_below(&seed, ACTIONS);
    j.basic = &basics[rnd_below(&seed, BASIC_TYPES)];
    j.n = 1 + (int)rnd_below(&seed, MOST);
    j.origin = draw_type(j.basic, j.n);
    j.result = draw_type(j.basic, j.n);
    j.there = draw_type(j.basic, j.n);
    j.disp = (MPI_Aint)(rnd_below(&seed, 4) * j.basic->size);
    j.op = j.action == FETCH ? MPI_NO_OP : ops[rnd_below(&seed, 3)];
    j.has_request = rnd_below(&seed, 2);
    draw_values(j.basic, in);
    draw_values(j.basic, window);
    memset(result, 0, BYTES);
    memset(fetched, 0, BYTES);
    return j;
}

static void job_free(struct job *j)
{
    OK(MPI_Type_free(&j->origin));
    OK(MPI_Type_free(&j->result));
    OK(MPI_Type_free(&j->there));
}

static void start(const struct job *j, MPI_Request *r)
{
    MPI_Aint disp = base + j->disp;
    switch ((int)j->action) {
    case PUT: OK(MPI_Rput(in, 1, j->origin, target, disp, 1, j->there, win, r)); break;
    case GET: OK(MPI_Rget(fetched, 1, j->result, target, disp, 1, j->there, win, r)); break;
    case ACCUMULATE:
        OK(MPI_Raccumulate(in, 1, j->origin, target, disp, 1, j->there, j->op, win, r));
        break;
    case GET_ACCUMULATE:
        OK(MPI_Rget_accumulate(in, 1, j->origin, fetched, 1, j->result, target, disp, 1, j->there,
                               j->op, win, r));
        break;
    case FETCH:
        OK(MPI_Rget_accumulate(NULL, 0, MPI_DATATYPE_NULL, fetched, 1, j->result, target, disp, 1,
                               j->there, j->op, win, r));
    }
}

static void call(const struct job *j)
{
    MPI_Aint disp = base + j->disp;
    switch ((int)j->action) {
    case PUT: OK(MPI_Put(in, 1, j->origin, target, disp, 1, j->there, win)); break;
    case GET: OK(MPI_Get(fetched, 1, j->result, target, disp, 1, j->there, win)); break;
    case ACCUMULATE:
        OK(MPI_Accumulate(in, 1, j->origin, target, disp, 1, j->there, j->op, win));
        break;
    case GET_ACCUMULATE:
        OK(MPI_Get_accumulate(in, 1, j->origin, fetched, 1, j->result, target, disp, 1, j->there,
                              j->op, win));
        break;
    case FETCH:
        OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, fetched, 1, j->result, target, disp, 1,
                              j->there, j->op, win));
    }
}

// ---- What is to come of it
static int pack(const void *from, MPI_Datatype t, char *to)
{
    int n = 0;
    OK(MPI_Pack(from, 1, t, to, BYTES, &n, MPI_COMM_SELF));
    return n;
}

static void unpack(const char *from, int n, void *to, MPI_Datatype t)
{
    int at = 0;
    OK(MPI_Unpack(from, n, &at, to, 1, t, MPI_COMM_SELF));
}

static void apply(const struct job *j)
{
    _Alignas(64) char operands[BYTES], values[BYTES];
    int n = pack(in, j->origin, operands);
    pack(window + j->disp, j->there, values);
    if (j->action == GET || j->action == GET_ACCUMULATE || j->action == FETCH)
        unpack(values, n, result, j->result);
    if (j->action == GET || j->action == FETCH)
        return;
    if (j->action == PUT || j->op == MPI_REPLACE)
        memcpy(values, operands, (size_t)n);
    else
        OK(MPI_Reduce_local(operands, values, j->n, j->basic->type, j->op));
    unpack(values, n, window + j->disp, j->there);
}

static void one(void)
{
    struct job j = draw();
    MPI_Request r = MPI_REQUEST_NULL;
    OK(MPI_Put(window, BYTES, MPI_BYTE, target, base, BYTES, MPI_BYTE, win));
    OK(MPI_Win_flush(target, win));
    if (j.has_request)
        start(&j, &r);
    else
        call(&j);
    apply(&j);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    job_free(&j);
    OK(MPI_Win_flush(target, win));
    OK(MPI_Get(got, BYTES, MPI_BYTE, target, base, BYTES, MPI_BYTE, win));
    OK(MPI_Win_flush(target, win));
    bool same = CHECK_MEM(got, window, BYTES, "the window");
    if (!CHECK_MEM(fetched, result, BYTES, "the result") || !same)
        fprintf(stderr, "action %d, basic type %d, %d elements\n", j.action,
                (int)(j.basic - basics), j.n);
}

static void by_flavor(enum flavor flavor, int rounds)
{
    char *memory;
    base = 0;
    if (flavor == ALLOCATED) {
        OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    } else {
        memory = must_alloc(BYTES);
        if (flavor == CREATED) {
            OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        } else {
            OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
            OK(MPI_Win_attach(win, memory, BYTES));
            OK(MPI_Get_address(memory, &base));
            OK(MPI_Bcast(&base, 1, MPI_AINT, target, MPI_COMM_WORLD));
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < rounds && me == 0; i++)
        one();
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    if (flavor != ALLOCATED)
        free(memory);
}

int main(void)
{
    mpi_start();
    target = npes - 1;
    int rounds = fewer(ROUNDS);
    for (int flavor = 0; flavor < FLAVORS; flavor++)
        by_flavor((enum flavor)flavor, rounds);
    return mpi_done();
}
