// SPDX-License-Identifier: BSD-3-Clause
// Rows of short operations on windows of other nodes, which go together: puts, gets, accumulates of several
// types and operators, with and without the old values, and a compare-and-swap now and then, in any order,
// against a model, in windows of shared and of private memory, under every lock. Accumulates on an element take
// effect in the order of the calls, whatever comes between. Each origin has a part of each window to itself;
// one part is all ranks'. They have gone together: a counter tells. What only reads, writes nothing; and a
// word is one, wherever the displacement of its type leads to.
// PES: 2 4
// ALSO: 7
// ENV: SHOAL_VNODES=2
#include "rma_check.h"

#include <sys/mman.h>

enum { N = 64, HALF = N / 2, ROUNDS = 3, OPERATIONS = 400, MOST = 64 };
enum lock { SHARED, EXCLUSIVE, ALL, FENCE, LOCKS };

struct part {
    long put[N], got[N], changed[N];
    long double wide[HALF];
};

static struct part *window, model[MOST]; // mine of each target's window
static long *sums, added[MOST];          // behind the parts of a window
static MPI_Win win;
static MPI_Datatype gaps; // 3 of every other long
static uint64_t seed;
static bool is_put[MOST][N]; // since the last flush

static struct {
    long in, want;
} fetched[OPERATIONS];
static long operands[OPERATIONS][2]; // they stay until all is complete
static int fetches;

static void set(struct part *p, int target, int origin)
{
    for (int i = 0; i < N; i++) {
        p->put[i] = -1;
        p->got[i] = target * 1000 + origin * 100 + i;
        p->changed[i] = i;
        p->wide[i / 2] = i;
    }
}

static void set_all(void)
{
    for (int pe = 0; pe < npes; pe++) {
        set(&window[pe], me, pe);
        set(&model[pe], pe, me);
    }
    memset(sums, 0, N * sizeof *sums);
    memset(added, 0, sizeof added);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static MPI_Aint at(const void *in_model, int target)
{
    const char *first = (const char *)&model[target];
    return me * (MPI_Aint)sizeof(struct part) + ((const char *)in_model - first);
}

static long *expect(long want)
{
    fetched[fetches].want = want;
    fetched[fetches].in = -77;
    return &fetched[fetches++].in;
}

static long change(MPI_Op op, long by, long there)
{
    return op == MPI_SUM       ? there + by
           : op == MPI_REPLACE ? by
           : op == MPI_MAX     ? (there > by ? there : by)
           : op == MPI_BXOR    ? (there ^ by)
                               : !there != !by;
}

// Not kept: it has gaps.
static void change_some(int target, int i)
{
    static const long by[] = {5, 6, 7};
    long *there = &model[target].changed[i < N - 6 ? i : N - 6];
    OK(MPI_Accumulate(by, 3, MPI_LONG, target, at(there, target), 1, gaps, MPI_SUM, win));
    for (int k = 0; k < 3; k++)
        there[2 * k] += by[k];
}

static void change_one(int target, long *there, long operand[2])
{
    const MPI_Op ops[] = {MPI_SUM, MPI_SUM, MPI_SUM, MPI_REPLACE, MPI_MAX, MPI_BXOR, MPI_LXOR};
    MPI_Op op = ops[rnd_below(&seed, 7)];
    MPI_Aint to = at(there, target);
    long was = *there;
    *operand = (long)rnd_below(&seed, 50);
    switch (rnd_below(&seed, 16)) {
    case 0:
    case 1:
        OK(MPI_Fetch_and_op(operand, expect(was), MPI_LONG, target, to, op, win));
        *there = change(op, *operand, was);
        break;
    case 2:
    case 3:
        OK(MPI_Get_accumulate(operand, 1, MPI_LONG, expect(was), 1, MPI_LONG, target, to, 1,
                              MPI_LONG, op, win));
        *there = change(op, *operand, was);
        break;
    case 4: OK(MPI_Fetch_and_op(NULL, expect(was), MPI_LONG, target, to, MPI_NO_OP, win)); break;
    case 5:
        operand[1] = was + (long)rnd_below(&seed, 2);
        OK(MPI_Compare_and_swap(operand, operand + 1, expect(was), MPI_LONG, target, to, win));
        *there = operand[1] == was ? *operand : was;
        break;
    default:
        OK(MPI_Accumulate(operand, 1, MPI_LONG, target, to, 1, MPI_LONG, op, win));
        *there = change(op, *operand, was);
    }
}

// No atomic covers these: changed within the target's lock.
static void change_wide(int target, int i)
{
    static const long double by[] = {1, 2};
    long double *there = &model[target].wide[i / 2];
    int n = 1 + (i % 2 && i / 2 + 1 < HALF);
    OK(MPI_Accumulate(by, n, MPI_LONG_DOUBLE, target, at(there, target), n, MPI_LONG_DOUBLE,
                      MPI_SUM, win));
    for (int k = 0; k < n; k++)
        there[k] += by[k];
}

static void one_operation(int round, int target, int k)
{
    enum { PUT, GET, WIDE, ADD, CHANGE, KINDS = 6 };
    int i = (int)rnd_below(&seed, N);
    size_t kind = round == 0 ? rnd_below(&seed, KINDS) : round == 1 ? WIDE : CHANGE;
    struct part *m = &model[target];
    long *operand = operands[k];
    switch (kind) {
    case PUT:
        if (is_put[target][i]) // which of two would stay, nobody knows
            break;
        is_put[target][i] = true;
        m->put[i] = *operand = (long)rnd_below(&seed, 1000);
        OK(MPI_Put(operand, 1, MPI_LONG, target, at(&m->put[i], target), 1, MPI_LONG, win));
        break;
    case GET:
        OK(MPI_Get(expect(m->got[i]), 1, MPI_LONG, target, at(&m->got[i], target), 1, MPI_LONG,
                   win));
        break;
    case WIDE: change_wide(target, i); break;
    case ADD:
        *operand = 1;
        added[target]++;
        OK(MPI_Accumulate(operand, 1, MPI_LONG, target,
                          npes * (MPI_Aint)sizeof(struct part) + i * (MPI_Aint)sizeof(long), 1,
                          MPI_LONG, MPI_SUM, win));
        break;
    default:
        if (rnd_below(&seed, 16))
            change_one(target, &m->changed[i], operand);
        else
            change_some(target, i);
    }
}

static void check_fetched(void)
{
    CHECK_EACH(i, fetches, fetched[i].in, fetched[i].want);
    fetches = 0;
    memset(is_put, 0, sizeof is_put);
}

// To `targets` of them, from the first on: in the first round all kinds, then more of one kind in a row.
static void row(int round, enum lock lock, int first, int targets)
{
    if (lock == ALL)
        OK(MPI_Win_lock_all(0, win));
    else if (lock == FENCE)
        OK(MPI_Win_fence(0, win));
    else
        OK(MPI_Win_lock(lock == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, first, 0, win));
    for (int k = 0; k < OPERATIONS; k++) {
        one_operation(round, first + (int)rnd_below(&seed, (size_t)targets), k);
        if (lock == ALL && rnd_below(&seed, 100) == 0) {
            OK(MPI_Win_flush_all(win));
            check_fetched();
        }
    }
    if (lock == ALL)
        OK(MPI_Win_unlock_all(win));
    else if (lock == FENCE)
        OK(MPI_Win_fence(0, win));
    else
        OK(MPI_Win_unlock(first, win));
    check_fetched();
}

static void check_part(int target)
{
    struct part now;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    OK(MPI_Get(&now, sizeof now, MPI_BYTE, target, at(&model[target], target), sizeof now, MPI_BYTE,
               win));
    OK(MPI_Win_unlock(target, win));
    CHECK_EACH(i, N, now.put[i], model[target].put[i]);
    CHECK_EACH(i, N, now.changed[i], model[target].changed[i]);
    CHECK_EACH(i, HALF, now.wide[i], model[target].wide[i]);
}

static void rows(enum lock lock)
{
    long all[MOST], sum = 0;
    bool one_by_one = lock == SHARED || lock == EXCLUSIVE;
    set_all();
    for (int round = 0; round < (npes > 4 ? 1 : ROUNDS); round++)
        for (int first = 0; first < (one_by_one ? npes : 1); first++)
            row(round, lock, first, one_by_one ? 1 : npes);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int target = 0; target < npes; target++)
        check_part(target);
    OK(MPI_Allreduce(added, all, npes, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    for (int i = 0; i < N; i++)
        sum += sums[i];
    OK(MPI_Win_unlock(me, win));
    CHECK_EQ(sum, all[me]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Requests that bring nothing are done at once; the origin's buffer is free then.
static void with_requests(void)
{
    static long value, back[N];
    MPI_Request r;
    int other = (me + 1) % npes;
    set_all();
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < N; i++) {
        value = 10 * i;
        OK(MPI_Rput(&value, 1, MPI_LONG, other, at(&model[other].put[i], other), 1, MPI_LONG, win,
                    &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        value = 3;
        OK(MPI_Raccumulate(&value, 1, MPI_LONG, other, at(&model[other].changed[i], other), 1,
                           MPI_LONG, MPI_SUM, win, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        value = -1;
    }
    OK(MPI_Win_flush(other, win));
    for (int i = 0; i < N; i++) {
        OK(MPI_Rget(&back[i], 1, MPI_LONG, other, at(&model[other].put[i], other), 1, MPI_LONG, win,
                    &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(back[i], 10 * i);
        OK(MPI_Rget_accumulate(NULL, 0, MPI_LONG, &back[i], 1, MPI_LONG, other,
                               at(&model[other].changed[i], other), 1, MPI_LONG, MPI_NO_OP, win,
                               &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(back[i], i + 3);
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// The type begins 4 bytes behind the displacement, which is thus none of a word; others add there, too.
static void displaced(void)
{
    enum { TIMES = 300 };
    static const long one = 1;
    MPI_Datatype type;
    MPI_Aint to = npes * (MPI_Aint)sizeof(struct part);
    set_all();
    OK(MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){4}, MPI_LONG, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < TIMES; i++)
        if (i % 2)
            OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, to, 1, MPI_LONG, MPI_SUM, win));
        else
            OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, to - 4, 1, type, MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Type_free(&type));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    CHECK_EQ(sums[0], me ? 0 : TIMES * npes);
    OK(MPI_Win_unlock(me, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void read_only(void)
{
    enum { BYTES = 65536 };
    long got[N],
        *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED))
        return;
    for (int i = 0; i < N; i++)
        memory[i] = me * 100 + i;
    OK(MPI_Win_create(memory, BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_EQ(mprotect(memory, BYTES, PROT_READ), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int target = 0; target < npes; target++) {
        for (int i = 0; i < N; i++)
            OK(MPI_Fetch_and_op(NULL, &got[i], MPI_LONG, target, i, MPI_NO_OP, win));
        OK(MPI_Win_flush(target, win));
        CHECK_EACH(i, N, got[i], target * 100 + (long)i);
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    CHECK_EQ(munmap(memory, BYTES), 0);
}

int main(void)
{
    check_skip_under_tsan(); // the orders of other nodes
    mpi_start();
    struct counter together = counter_start("gathered");
    MPI_Aint bytes = npes * (MPI_Aint)sizeof(struct part) + N * (MPI_Aint)sizeof(long);
    seed = (uint64_t)me + 1;
    OK(MPI_Type_vector(3, 1, 2, MPI_LONG, &gaps));
    OK(MPI_Type_commit(&gaps));
    for (int allocated = 0; allocated < 2; allocated++) {
        if (allocated) {
            OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win));
        } else {
            window = must_alloc((size_t)bytes);
            OK(MPI_Win_create(window, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        }
        sums = (long *)(window + npes);
        for (enum lock lock = 0; lock < LOCKS; lock++)
            rows(lock);
        with_requests();
        displaced();
        OK(MPI_Win_free(&win));
        if (!allocated)
            free(window);
    }
    read_only();
    OK(MPI_Type_free(&gaps));
    CHECK(counter_read(&together) > 0);
    counter_end(&together);
    return mpi_done();
}
