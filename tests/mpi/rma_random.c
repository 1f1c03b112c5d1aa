// SPDX-License-Identifier: BSD-3-Clause
// Every flavor of window, every way to synchronize, every operation, at random, against a model. All
// ranks draw the same numbers, so each knows what all of them do. A window is slots; in a round a
// slot is for one thing: a put or a fetching operation of one rank, gets, or accumulates of many with
// one operator.
// ALSO: 16
// TIMEOUT: 120
#include "rma_check.h"

#include <stddef.h>

enum { SLOTS = 24, SLOT = 96, BYTES = SLOTS * SLOT, ROUNDS = 6, MOST = 64 };

enum flavor {
    MALLOCED,
    ALLOC_MEM,
    STATIC,
    SYMMETRIC,
    ALLOCATED,
    COARSE,
    SHARED,
    NONCONTIG,
    DYNAMIC,
    DYNAMIC_SHARED,
    FLAVORS
};
enum way { FENCE, POST_START, LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_ALL, NOCHECK, WAYS };
enum action { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, ACTIONS };

static char in_static[BYTES];
static char *model[MOST]; // of each rank's window

// ---- Element types: how many bytes, and what operators do to them
enum element { CHAR, SHORT, INT, LONG, DOUBLE, LONG_DOUBLE, TWO_INT, SHORT_INT, ELEMENTS };
struct short_int {
    short value;
    int index;
};
static const size_t sizes[] = {1, 2, 4, 8, 8, 16, 8, 8};
static MPI_Datatype datatype(enum element e)
{
    const MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_SHORT,       MPI_INT,  MPI_LONG,
                                  MPI_DOUBLE,      MPI_LONG_DOUBLE, MPI_2INT, MPI_SHORT_INT};
    return types[e];
}

static bool is_pair(enum element e)
{
    return e == TWO_INT || e == SHORT_INT;
}

static bool is_integer(enum element e)
{
    return e <= LONG;
}

static long double load(enum element e, const char *p)
{
    switch (e) {
    case CHAR: return *(const signed char *)p;
    case SHORT: return *(const short *)p;
    case INT: return *(const int *)p;
    case LONG: return *(const long *)p;
    case DOUBLE: return *(const double *)p;
    case LONG_DOUBLE: return *(const long double *)p;
    case TWO_INT: return ((const int *)p)[0] * 1000.0L + ((const int *)p)[1];
    default: {
        const struct short_int *s = (const void *)p;
        return s->value * 1000.0L + s->index;
    }
    }
}

static void store(enum element e, char *p, long value, int index)
{
    switch (e) {
    case CHAR: *(signed char *)p = (signed char)value; break;
    case SHORT: *(short *)p = (short)value; break;
    case INT: *(int *)p = (int)value; break;
    case LONG: *(long *)p = value; break;
    case DOUBLE: *(double *)p = (double)value; break;
    case LONG_DOUBLE: *(long double *)p = value; break;
    case TWO_INT: ((int *)p)[0] = (int)value, ((int *)p)[1] = index; break;
    default: *(struct short_int *)p = (struct short_int){.value = (short)value, .index = index};
    }
}

// ---- What happens in a slot in a round
struct job {
    enum action action;
    enum element element;
    MPI_Op op;
    int origin;      // of what one rank does
    uint64_t askers; // bits: ranks that take part in accumulates and gets
    int count, gap;  // elements, and from one to the next
    int first;       // element that begins
};

static MPI_Op draw_op(uint64_t *seed, enum element e)
{
    const MPI_Op numbers[] = {MPI_SUM, MPI_MAX, MPI_MIN}, bits[] = {MPI_BXOR, MPI_BAND, MPI_BOR},
                 truths[] = {MPI_LOR, MPI_LXOR, MPI_LAND};
    if (is_pair(e))
        return rnd_below(seed, 2) ? MPI_MINLOC : MPI_MAXLOC;
    size_t kind = is_integer(e) ? rnd_below(seed, 3) : 0;
    return (kind == 0 ? numbers : kind == 1 ? bits : truths)[rnd_below(seed, 3)];
}

static struct job draw(uint64_t *seed)
{
    struct job j;
    j.action = (enum action)rnd_below(seed, ACTIONS);
    j.element = (enum element)rnd_below(seed, j.action == COMPARE_AND_SWAP ? LONG + 1 : ELEMENTS);
    j.op = draw_op(seed, j.element);
    if (j.action == GET_ACCUMULATE || j.action == FETCH_AND_OP) {
        size_t k = rnd_below(seed, 4);
        j.op = k == 0 ? MPI_REPLACE : k == 1 ? MPI_NO_OP : j.op;
    }
    j.origin = (int)rnd_below(seed, (size_t)npes);
    j.askers = rnd(seed);
    bool one = j.action == FETCH_AND_OP || j.action == COMPARE_AND_SWAP;
    int room = SLOT / (int)sizes[j.element];
    j.gap = one ? 1 : 1 + (int)rnd_below(seed, 3);
    j.count = one ? 1 : 1 + (int)rnd_below(seed, (size_t)((room - 1) / j.gap + 1));
    j.first = (int)rnd_below(seed, (size_t)(room - (j.count - 1) * j.gap));
    return j;
}

static bool takes_part(const struct job *j, int rank)
{
    bool many = j->action == GET || j->action == ACCUMULATE;
    return many ? (j->askers >> (rank % 60) & 1) != 0 : j->origin == rank;
}

// Operand of one rank: small, so that sums are exact and fit.
static void operands(const struct job *j, int rank, int target, int slot, char *out)
{
    for (int i = 0; i < j->count; i++)
        store(j->element, out + (size_t)i * sizes[j->element],
              (rank * 3 + target * 5 + slot + i) % 7 - 2, rank + i);
}

static void reduce(const struct job *j, const char *in, char *inout)
{
    if (j->action == PUT || j->op == MPI_REPLACE)
        store(j->element, inout, 0, 0), memcpy(inout, in, sizes[j->element]);
    else if (j->op != MPI_NO_OP)
        OK(MPI_Reduce_local(in, inout, 1, datatype(j->element), j->op));
}

static char *element_at(const struct job *j, char *window, int slot, int i)
{
    return window + (size_t)slot * SLOT + (size_t)(j->first + i * j->gap) * sizes[j->element];
}

// ---- One call. Between its begin and its end no other has its buffers.
static struct {
    _Alignas(16) char in[SLOT], out[SLOT], swap[SLOT];
} buffers[MOST][SLOTS];

static void call(const struct job *j, MPI_Win win, int target, MPI_Aint base, int slot,
                 bool passive)
{
    char *in = buffers[target][slot].in, *out = buffers[target][slot].out;
    char *swap = buffers[target][slot].swap;
    MPI_Datatype type = datatype(j->element), there = type;
    MPI_Aint disp = base + slot * SLOT + j->first * (MPI_Aint)sizes[j->element];
    MPI_Request r = MPI_REQUEST_NULL;
    int there_count = j->count;
    memset(out, 0, SLOT);
    operands(j, me, target, slot, in);
    if (j->gap > 1) {
        OK(MPI_Type_vector(j->count, 1, j->gap, type, &there));
        OK(MPI_Type_commit(&there));
        there_count = 1;
    }
    const char *old = element_at(j, model[target], slot, 0);
    bool request = passive && slot % 2;
    switch ((int)j->action) {
    case PUT:
        if (request)
            OK(MPI_Rput(in, j->count, type, target, disp, there_count, there, win, &r));
        else
            OK(MPI_Put(in, j->count, type, target, disp, there_count, there, win));
        break;
    case GET:
        if (request)
            OK(MPI_Rget(out, j->count, type, target, disp, there_count, there, win, &r));
        else
            OK(MPI_Get(out, j->count, type, target, disp, there_count, there, win));
        break;
    case ACCUMULATE:
        if (request)
            OK(MPI_Raccumulate(in, j->count, type, target, disp, there_count, there, j->op, win,
                               &r));
        else
            OK(MPI_Accumulate(in, j->count, type, target, disp, there_count, there, j->op, win));
        break;
    case GET_ACCUMULATE:
        if (request)
            OK(MPI_Rget_accumulate(in, j->count, type, out, j->count, type, target, disp,
                                   there_count, there, j->op, win, &r));
        else
            OK(MPI_Get_accumulate(in, j->count, type, out, j->count, type, target, disp,
                                  there_count, there, j->op, win));
        break;
    case FETCH_AND_OP: OK(MPI_Fetch_and_op(in, out, type, target, disp, j->op, win)); break;
    case COMPARE_AND_SWAP:
        memcpy(swap, old, sizes[j->element]);
        if (slot % 3 == 0)
            swap[0] ^= 1; // does not match
        OK(MPI_Compare_and_swap(in, swap, out, type, target, disp, win));
        break;
    }
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (passive)
        OK(MPI_Win_flush(target, win));
    if (passive && j->action != PUT && j->action != ACCUMULATE)
        for (int i = 0; i < j->count; i++)
            CHECK_EQ(load(j->element, out + (size_t)i * sizes[j->element]),
                     load(j->element, element_at(j, model[target], slot, i)));
    if (j->gap > 1)
        OK(MPI_Type_free(&there));
}

static void apply(const struct job *j, int target, int slot)
{
    _Alignas(16) char in[SLOT];
    if (j->action == GET || (j->action == COMPARE_AND_SWAP && slot % 3 == 0))
        return;
    for (int rank = 0; rank < npes; rank++) {
        if (!takes_part(j, rank))
            continue;
        operands(j, rank, target, slot, in);
        for (int i = 0; i < j->count; i++) {
            const char *from = in + (size_t)i * sizes[j->element];
            char *to = element_at(j, model[target], slot, i);
            if (j->action == COMPARE_AND_SWAP)
                memcpy(to, from, sizes[j->element]);
            else
                reduce(j, from, to);
        }
    }
}

// ---- Synchronization
struct sync {
    MPI_Win win;
    MPI_Group all;
    enum way way;
};

static void begin(const struct sync *s)
{
    if (s->way == FENCE)
        OK(MPI_Win_fence(0, s->win));
    if (s->way == POST_START) {
        OK(MPI_Win_post(s->all, 0, s->win));
        OK(MPI_Win_start(s->all, 0, s->win));
    }
    if (s->way == LOCK_ALL || s->way == NOCHECK)
        OK(MPI_Win_lock_all(s->way == NOCHECK ? MPI_MODE_NOCHECK : 0, s->win));
}

static void begin_target(const struct sync *s, int target)
{
    if (s->way == LOCK_SHARED || s->way == LOCK_EXCLUSIVE)
        OK(MPI_Win_lock(s->way == LOCK_SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0,
                        s->win));
}

static void end_target(const struct sync *s, int target)
{
    if (s->way == LOCK_SHARED || s->way == LOCK_EXCLUSIVE)
        OK(MPI_Win_unlock(target, s->win));
}

static void end(const struct sync *s)
{
    if (s->way == FENCE)
        OK(MPI_Win_fence(0, s->win));
    if (s->way == POST_START) {
        OK(MPI_Win_complete(s->win));
        OK(MPI_Win_wait(s->win));
    }
    if (s->way == LOCK_ALL || s->way == NOCHECK)
        OK(MPI_Win_unlock_all(s->win));
    if (s->way > POST_START)
        OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Elements of the types that the round uses, here and in the model.
static void prepare(const struct job *jobs, char *window)
{
    for (int target = 0; target < npes; target++) {
        memset(model[target], 0, BYTES);
        for (int slot = 0; slot < SLOTS; slot++) {
            const struct job *j = &jobs[target * SLOTS + slot];
            for (int i = 0; i < j->count; i++)
                store(j->element, element_at(j, model[target], slot, i), (slot + i + target) % 5,
                      slot);
        }
    }
    memcpy(window, model[me], BYTES);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void round_of(const struct sync *s, const MPI_Aint *bases, char *window, uint64_t *seed)
{
    struct job *jobs = must_alloc((size_t)npes * SLOTS * sizeof *jobs);
    for (int i = 0; i < npes * SLOTS; i++)
        jobs[i] = draw(seed);
    prepare(jobs, window);
    begin(s);
    for (int t = 0; t < npes; t++) {
        int target = (me + t) % npes;
        begin_target(s, target);
        for (int slot = 0; slot < SLOTS; slot++)
            if (takes_part(&jobs[target * SLOTS + slot], me))
                call(&jobs[target * SLOTS + slot], s->win, target, bases[target], slot,
                     s->way > POST_START);
        end_target(s, target);
    }
    end(s);
    for (int target = 0; target < npes; target++)
        for (int slot = 0; slot < SLOTS; slot++)
            apply(&jobs[target * SLOTS + slot], target, slot);
    if (s->way > POST_START)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, s->win));
    for (int slot = 0; slot < SLOTS; slot++) {
        const struct job *j = &jobs[me * SLOTS + slot];
        for (int i = 0; i < j->count; i++)
            CHECK_EQ(load(j->element, element_at(j, window, slot, i)),
                     load(j->element, element_at(j, model[me], slot, i)));
    }
    if (s->way > POST_START)
        OK(MPI_Win_unlock(me, s->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(jobs);
}

// ---- Windows
static char *make(enum flavor f, MPI_Win *win)
{
    char *p = NULL;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    if (f == NONCONTIG)
        OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    if (f == COARSE)
        OK(MPI_Info_set(info, "mpi_accumulate_granularity", "1024"));
    if (f == MALLOCED || f == DYNAMIC)
        p = must_alloc(BYTES);
    else if (f == ALLOC_MEM || f == DYNAMIC_SHARED)
        OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &p));
    else if (f == STATIC)
        p = in_static;
    else if (f == SYMMETRIC)
        p = must_shmalloc(BYTES);
    if (f <= SYMMETRIC)
        OK(MPI_Win_create(p, BYTES, 1, info, MPI_COMM_WORLD, win));
    else if (f == ALLOCATED || f == COARSE)
        OK(MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &p, win));
    else if (f == SHARED || f == NONCONTIG)
        OK(MPI_Win_allocate_shared(BYTES, 1, info, MPI_COMM_WORLD, &p, win));
    else {
        OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, win));
        OK(MPI_Win_attach(*win, p, BYTES));
    }
    OK(MPI_Info_free(&info));
    return p;
}

static void unmake(enum flavor f, MPI_Win *win, char *p)
{
    if (f >= DYNAMIC)
        OK(MPI_Win_detach(*win, p));
    OK(MPI_Win_free(win));
    if (f == MALLOCED || f == DYNAMIC)
        free(p);
    else if (f == ALLOC_MEM || f == DYNAMIC_SHARED)
        OK(MPI_Free_mem(p));
    else if (f == SYMMETRIC)
        shmem_free(p);
}

static void try(enum flavor f, MPI_Group all, int rounds, uint64_t *seed)
{
    MPI_Win win;
    MPI_Aint bases[MOST] = {0}, mine = 0;
    char *window = make(f, &win);
    if (f >= DYNAMIC) {
        OK(MPI_Get_address(window, &mine));
        OK(MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    }
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            struct sync s = {win, all, (enum way)way};
            round_of(&s, bases, window, seed);
        }
    unmake(f, &win, window);
}

int main(void)
{
    MPI_Group all;
    uint64_t seed = 6;
    mpi_start();
    if (npes > MOST)
        return mpi_done();
    shmem_init();
    for (int i = 0; i < npes; i++)
        model[i] = must_alloc(BYTES);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    bool shared = one_node();
    for (int f = 0; f < FLAVORS; f++)
        if (shared || (f != SHARED && f != NONCONTIG))
            try((enum flavor)f, all, fewer(ROUNDS), &seed);
    OK(MPI_Group_free(&all));
    for (int i = 0; i < npes; i++)
        free(model[i]);
    shmem_finalize();
    return mpi_done();
}
