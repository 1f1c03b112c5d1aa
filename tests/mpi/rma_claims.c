// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of few and of many integers on the same elements lose nothing, however these are changed by
// turns: rows of few alone, rows of many alone, and both at once; in epochs of every kind; while somebody
// who has done his share stays in his epoch; with several threads, which begin in the middle.
// ALSO: 16
#include "rma_check.h"

#include <pthread.h>

enum { N = 200, HOME = 0, THREADS = 3, SHARES = 5 };

struct share {
    MPI_Win win;
    MPI_Datatype type, every_other;
    size_t size;
    int times, few_in_100;
    bool may_flush;
    uint64_t seed;
    long sums[N];
    long ones[N], old[N]; // of the type
};

enum epoch { LOCK_ALL, FENCE, LOCK, START, EPOCHS };

static MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG};

static long value_at(size_t size, const void *p, int i)
{
    switch (size) {
    case 1: return ((const signed char *)p)[i];
    case 2: return ((const short *)p)[i];
    case 4: return ((const int *)p)[i];
    default: return ((const long *)p)[i];
    }
}

static void set_at(size_t size, void *p, int i, long value)
{
    switch (size) {
    case 1: ((signed char *)p)[i] = (signed char)value; break;
    case 2: ((short *)p)[i] = (short)value; break;
    case 4: ((int *)p)[i] = (int)value; break;
    default: ((long *)p)[i] = value;
    }
}

static void swap_one(struct share *s, int at)
{
    long got[1] = {0}, want[1] = {0}, more[1] = {0};
    OK(MPI_Fetch_and_op(NULL, want, s->type, HOME, at, MPI_NO_OP, s->win));
    OK(MPI_Win_flush(HOME, s->win));
    for (;; memcpy(want, got, sizeof want)) {
        set_at(s->size, more, 0, value_at(s->size, want, 0) + 1);
        OK(MPI_Compare_and_swap(more, want, got, s->type, HOME, at, s->win));
        OK(MPI_Win_flush(HOME, s->win));
        if (value_at(s->size, got, 0) == value_at(s->size, want, 0))
            break;
    }
}

static void add_few(struct share *s, int at)
{
    s->sums[at]++;
    switch (rnd_below(&s->seed, s->may_flush ? 3 : 2)) {
    case 0: OK(MPI_Fetch_and_op(s->ones, s->old, s->type, HOME, at, MPI_SUM, s->win)); break;
    case 1: OK(MPI_Accumulate(s->ones, 1, s->type, HOME, at, 1, s->type, MPI_SUM, s->win)); break;
    default: swap_one(s, at);
    }
}

static void add_many(struct share *s)
{
    int at = (int)rnd_below(&s->seed, N / 2), n = N - at;
    switch (rnd_below(&s->seed, 3)) {
    case 0: OK(MPI_Accumulate(s->ones, n, s->type, HOME, at, n, s->type, MPI_SUM, s->win)); break;
    case 1:
        OK(MPI_Get_accumulate(s->ones, n, s->type, s->old, n, s->type, HOME, at, n, s->type,
                              MPI_SUM, s->win));
        break;
    default: // every other element of all
        at = N;
        OK(MPI_Accumulate(s->ones, N / 2, s->type, HOME, 0, 1, s->every_other, MPI_SUM, s->win));
        for (int i = 0; i < N; i += 2)
            s->sums[i]++;
    }
    for (int i = at; i < N; i++)
        s->sums[i]++;
}

static void *add(void *arg)
{
    struct share *s = arg;
    for (int i = 0; i < s->times; i++) {
        if ((int)rnd_below(&s->seed, 100) >= s->few_in_100)
            add_many(s);
        else // often the same few
            add_few(s, (int)rnd_below(&s->seed, i % 2 ? N : 3));
    }
    return NULL;
}

static void begin(enum epoch epoch, MPI_Win win, MPI_Group all)
{
    if (epoch == LOCK_ALL)
        OK(MPI_Win_lock_all(0, win));
    else if (epoch == FENCE)
        OK(MPI_Win_fence(0, win));
    else if (epoch == LOCK)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, HOME, 0, win));
    else {
        OK(MPI_Win_post(all, 0, win));
        OK(MPI_Win_start(all, 0, win));
    }
}

static void end(enum epoch epoch, MPI_Win win)
{
    if (epoch == LOCK_ALL)
        OK(MPI_Win_unlock_all(win));
    else if (epoch == FENCE)
        OK(MPI_Win_fence(0, win));
    else if (epoch == LOCK)
        OK(MPI_Win_unlock(HOME, win));
    else {
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
    }
}

static void check_sums(const struct share *s, void *memory, long sums[])
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, sums, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (me == HOME)
        for (int i = 0; i < N; i++) {
            long want = 0;
            set_at(s->size, &want, 0, sums[i]); // short ones wrap
            CHECK_EQ(value_at(s->size, memory, i), value_at(s->size, &want, 0));
        }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void share_init(struct share *s, MPI_Win win, MPI_Datatype type, int times, int salt)
{
    int size;
    OK(MPI_Type_size(type, &size));
    *s = (struct share){.win = win, .type = type, .size = (size_t)size, .times = times};
    s->seed = (uint64_t)(me * 100 + salt);
    for (int i = 0; i < N; i++)
        set_at(s->size, s->ones, i, 1);
    OK(MPI_Type_vector(N / 2, 1, 2, type, &s->every_other));
    OK(MPI_Type_commit(&s->every_other));
}

static void one_thread(MPI_Datatype type, enum epoch epoch, int times)
{
    static const int few_in_100[SHARES] = {100, 0, 100, 90, 50};
    struct share s;
    MPI_Group all;
    MPI_Win win;
    void *memory;
    share_init(&s, MPI_WIN_NULL, type, times, epoch);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Win_allocate((MPI_Aint)(N * s.size), (int)s.size, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                        &win));
    memset(memory, 0, N * s.size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    s.win = win;
    s.may_flush = epoch == LOCK_ALL || epoch == LOCK;
    for (int i = 0; i < SHARES; i++) {
        begin(epoch, win, all);
        s.few_in_100 = few_in_100[(i + (me % 3 == 2)) % SHARES];
        add(&s);
        if (epoch == LOCK_ALL) {
            if (me == 1) // stays as it is, while others go on
                add_few(&s, 0);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            s.few_in_100 = 0;
            if (me != 1)
                add(&s);
            OK(me % 2 ? MPI_Win_flush(HOME, win) : MPI_Win_flush_all(win));
        }
        end(epoch, win);
    }
    check_sums(&s, memory, s.sums);
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&all));
    OK(MPI_Type_free(&s.every_other));
}

static void several_threads(int times)
{
    struct share s[THREADS + 1];
    pthread_t thread[THREADS];
    MPI_Info info;
    MPI_Session session;
    MPI_Win win;
    void *memory;
    OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                        &win));
    memset(memory, 0, N * sizeof(int));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i <= THREADS; i++) {
        share_init(&s[i], win, MPI_INT, times, i);
        s[i].may_flush = true;
        s[i].few_in_100 = i == THREADS ? 100 : 40 * i;
    }
    add(&s[THREADS]);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    OK(MPI_Info_free(&info));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, add, &s[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(MPI_Win_unlock_all(win));
    for (int i = 0; i <= THREADS; i++) {
        OK(MPI_Type_free(&s[i].every_other));
        for (int k = 0; i && k < N; k++)
            s[0].sums[k] += s[i].sums[k];
    }
    check_sums(&s[0], memory, s[0].sums);
    OK(MPI_Win_free(&win));
    OK(MPI_Session_finalize(&session));
}

int main(void)
{
    mpi_start();
    int times = fewer(6000 / (npes + 1));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int epoch = LOCK_ALL; epoch < EPOCHS; epoch++)
            one_thread(types[i], (enum epoch)epoch, times);
    several_threads(times);
    return mpi_done();
}
