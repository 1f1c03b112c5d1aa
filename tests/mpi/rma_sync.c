// SPDX-License-Identifier: BSD-3-Clause
// Synchronization alone: locks that exclude and share and pass nobody by, counters behind locks,
// groups that overlap, epochs of several windows at once and over one buffer, flushes and flags,
// asserts.
// ALSO: 16
// TIMEOUT: 120
#include "rma_check.h"

enum { MOST = 64 };
static int times;

// ---- Locks: two words that are equal whenever nobody is between
static void exclusion(int target)
{
    MPI_Win win;
    long *p, pair[2];
    uint64_t seed = (uint64_t)me;
    OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    p[0] = p[1] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long added = 0, all;
    for (int i = 0; i < times; i++) {
        bool writes = rnd_below(&seed, 3) == 0;
        OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
        OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
        OK(MPI_Win_flush(target, win));
        CHECK_EQ(pair[0], pair[1]);
        if (writes) {
            added++;
            pair[0]++;
            OK(MPI_Put(&pair[0], 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
            OK(MPI_Win_flush(target, win));
            OK(MPI_Put(&pair[0], 1, MPI_LONG, target, 1, 1, MPI_LONG, win));
        }
        OK(MPI_Win_unlock(target, win));
    }
    OK(MPI_Allreduce(&added, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
    OK(MPI_Win_unlock(target, win));
    CHECK_EQ(pair[0], all);
    OK(MPI_Win_free(&win));
}

// An exclusive lock keeps those of MPI_Win_lock_all out, also loads and stores to own memory.
static void exclusion_of_all(void)
{
    MPI_Win win;
    long *p, value;
    OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    *p = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < times / 10; i++) {
        if (i % npes == me) {
            for (int r = 0; r < npes; r++) {
                OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win));
                value = -1;
                OK(MPI_Put(&value, 1, MPI_LONG, r, 0, 1, MPI_LONG, win));
                OK(MPI_Win_flush(r, win));
                value = i;
                OK(MPI_Put(&value, 1, MPI_LONG, r, 0, 1, MPI_LONG, win));
                OK(MPI_Win_unlock(r, win));
            }
        } else {
            OK(MPI_Win_lock_all(0, win));
            CHECK(*p >= 0);
            for (int r = 0; r < npes; r++) {
                OK(MPI_Get(&value, 1, MPI_LONG, r, 0, 1, MPI_LONG, win));
                OK(MPI_Win_flush_local(r, win));
                CHECK(value >= 0);
            }
            OK(MPI_Win_unlock_all(win));
        }
    }
    OK(MPI_Win_free(&win));
}

// Each lock waits for those that came before: nobody is passed by.
static void nested(void)
{
    MPI_Win a, b;
    int x = me, y = me, got = -1, next = (me + 1) % npes;
    OK(MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &a));
    OK(MPI_Win_create(&y, sizeof y, sizeof y, MPI_INFO_NULL, MPI_COMM_WORLD, &b));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, a));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, b));
    if (next != me)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, a));
    OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, a));
    if (next != me)
        OK(MPI_Win_unlock(me, a));
    OK(MPI_Win_unlock(next, a));
    CHECK_EQ(got, next);
    OK(MPI_Win_unlock(me, b));
    OK(MPI_Win_free(&b));
    OK(MPI_Win_free(&a));
}

// ---- Fairness: who asks for the lock again waits until those that wait already have had it. Where
// processes share a core one may lose it between giving the lock back and asking again: the others
// have it many times meanwhile, but that is now and then. Each keeps the lock for as long as the one
// before it may need to ask again. Only on a node: who is far off asks late.
static void fairness(void)
{
    enum { TURNS, FINISHED, WORDS, VISITS = 100, MOST_TURNS = 2000000 };
    MPI_Win win;
    long *p, words[WORDS], last = -1, visits = 0, late = 0, stays = 0;
    bool stayed = true;
    if (!one_node() || npes == 1)
        return;
    OK(MPI_Win_allocate(sizeof words, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    memset(p, 0, sizeof words);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    do {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Get(words, WORDS, MPI_LONG, 0, 0, WORDS, MPI_LONG, win));
        OK(MPI_Win_flush(0, win));
        long others = words[TURNS] - last - 1; // that had the lock since this rank had it
        visits += others > 0;
        late += others > 4 * npes;
        stays += others == 0 && !stayed;
        stayed = others == 0;
        words[FINISHED] += others > 0 && visits == VISITS;
        last = words[TURNS]++;
        for (double until = MPI_Wtime() + 3e-6; MPI_Wtime() < until;)
            continue;
        OK(MPI_Put(words, WORDS, MPI_LONG, 0, 0, WORDS, MPI_LONG, win));
        OK(MPI_Win_unlock(0, win));
    } while (words[FINISHED] < npes && words[TURNS] < MOST_TURNS);
    CHECK_EQ(words[FINISHED], npes);
    CHECK(late <= visits / 4);
    CHECK(stays <= visits / 4);
    OK(MPI_Win_free(&win));
}

// With MPI_MODE_NOCHECK nobody else may have the lock: one after the other.
static void unchecked_locks(void)
{
    MPI_Win win;
    long *p, got = -1;
    int next = (me + 1) % npes;
    OK(MPI_Win_allocate(sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    *p = -1;
    for (int turn = 0; turn < npes; turn++) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (turn != me)
            continue;
        long value = 100 + me;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, win));
        OK(MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Accumulate(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win));
        OK(MPI_Win_unlock(next, win));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win));
        OK(MPI_Get(&got, 1, MPI_LONG, next, 0, 1, MPI_LONG, win));
        OK(MPI_Win_unlock(next, win));
        CHECK_EQ(got, 2 * value);
    }
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)); // which nobody holds
    OK(MPI_Win_unlock(next, win));
    OK(MPI_Win_free(&win));
}

// ---- Post and start: in every round some ranks access, each some of the others, drawn alike
static void draw_groups(uint64_t *seed, bool accesses[MOST][MOST])
{
    for (int i = 0; i < npes; i++)
        for (int k = 0; k < npes; k++)
            accesses[i][k] = rnd_below(seed, 3) == 0;
}

static MPI_Group pick(MPI_Group world, bool accesses[MOST][MOST], bool mine, bool backward)
{
    int ranks[MOST], n = 0;
    MPI_Group g;
    for (int k = 0; k < npes; k++) {
        int r = backward ? npes - 1 - k : k;
        if (mine ? accesses[me][r] : accesses[r][me])
            ranks[n++] = r;
    }
    OK(MPI_Group_incl(world, n, ranks, &g));
    return g;
}

static void overlapping_groups(int windows)
{
    static bool accesses[2][MOST][MOST];
    MPI_Win win[2];
    MPI_Group world, to[2], from[2];
    int *p[2], value[2];
    uint64_t seed = 11;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int w = 0; w < windows; w++)
        OK(MPI_Win_allocate(sizeof(int) * (size_t)npes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &p[w], &win[w]));
    for (int round = 0; round < times; round++) {
        for (int w = 0; w < windows; w++) {
            draw_groups(&seed, accesses[w]);
            to[w] = pick(world, accesses[w], true, round % 2);
            from[w] = pick(world, accesses[w], false, round % 3 == 0);
            for (int r = 0; r < npes; r++)
                p[w][r] = -1;
            OK(MPI_Win_post(from[w], 0, win[w]));
        }
        for (int w = 0; w < windows; w++) {
            value[w] = round * 10 + w;
            OK(MPI_Win_start(to[w], 0, win[w]));
            for (int r = 0; r < npes; r++)
                if (accesses[w][me][r])
                    OK(MPI_Put(&value[w], 1, MPI_INT, r, me, 1, MPI_INT, win[w]));
        }
        for (int w = windows - 1; w >= 0; w--)
            OK(MPI_Win_complete(win[w]));
        for (int w = 0; w < windows; w++) {
            for (int done = 0; round % 2 && !done;)
                OK(MPI_Win_test(win[w], &done));
            if (round % 2 == 0)
                OK(MPI_Win_wait(win[w]));
            for (int r = 0; r < npes; r++)
                CHECK_EQ(p[w][r], accesses[w][r][me] ? round * 10 + w : -1);
            OK(MPI_Group_free(&to[w]));
            OK(MPI_Group_free(&from[w]));
        }
    }
    for (int w = 0; w < windows; w++)
        OK(MPI_Win_free(&win[w]));
    OK(MPI_Group_free(&world));
}

// Between neighbours only, none of whom waits for the others: rounds drift apart.
static void neighbours(void)
{
    MPI_Win win;
    MPI_Group world, before, after;
    int *p, next = (me + 1) % npes, last = (me + npes - 1) % npes;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &next, &after));
    OK(MPI_Group_incl(world, 1, &last, &before));
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    for (int i = 0; i < times; i++) {
        int value = i * npes + me;
        OK(MPI_Win_post(before, MPI_MODE_NOSTORE, win));
        OK(MPI_Win_start(after, 0, win));
        OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        CHECK_EQ(*p, i * npes + last);
    }
    // Posted before, as all know by the barrier: nothing to wait for.
    OK(MPI_Win_post(before, MPI_MODE_NOCHECK, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_start(after, MPI_MODE_NOCHECK, win));
    OK(MPI_Put(&me, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    CHECK_EQ(*p, last);
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&before));
    OK(MPI_Group_free(&after));
    OK(MPI_Group_free(&world));
}

// MPI_Win_test says no as long as the origin has not completed its epoch; it does so only when told
// to. And with MPI_MODE_NOPUT gets alone come.
static void tests_and_gets(void)
{
    MPI_Win win;
    MPI_Group world, before, after;
    int *p, next = (me + 1) % npes, last = (me + npes - 1) % npes, done = 1;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &next, &after));
    OK(MPI_Group_incl(world, 1, &last, &before));
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    for (int i = 0; i < times / 10; i++) {
        int got = -1;
        *p = i * npes + me;
        OK(MPI_Win_post(before, i % 2 ? MPI_MODE_NOPUT : MPI_MODE_NOPUT | MPI_MODE_NOCHECK, win));
        if (i % 2 == 0)
            OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_start(after, i % 2 ? 0 : MPI_MODE_NOCHECK, win));
        OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
        for (int k = 0; k < 3; k++) {
            OK(MPI_Win_test(win, &done));
            CHECK_EQ(done, 0);
        }
        OK(MPI_Sendrecv(NULL, 0, MPI_INT, last, 0, NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        OK(MPI_Win_complete(win));
        CHECK_EQ(got, i * npes + next);
        for (done = 0; !done;)
            OK(MPI_Win_test(win, &done));
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&before));
    OK(MPI_Group_free(&after));
    OK(MPI_Group_free(&world));
}

// ---- Fences, with all asserts that are true of what is done between them: puts and gets, or gets
// alone, where MPI_MODE_NOPUT may be said
static void fence_with(MPI_Win win, int *p, int first, int second, int round)
{
    int value = round * npes + me, got = -1, next = (me + 1) % npes, last = (me + npes - 1) % npes;
    OK(MPI_Win_fence(first, win));
    if (MPI_MODE_NOPUT & first)
        OK(MPI_Get(&got, 1, MPI_INT, next, 1, 1, MPI_INT, win));
    else
        OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(second, win));
    if (MPI_MODE_NOPUT & first)
        CHECK_EQ(got, next);
    else
        CHECK_EQ(p[0], round * npes + last);
    if (MPI_MODE_NOSUCCEED & second)
        return;
    OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win));
    if (!(MPI_MODE_NOPUT & first))
        CHECK_EQ(got, round * npes + me);
}

static void fence_asserts(void)
{
    MPI_Win win;
    int *p, round = 0;
    OK(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    p[1] = me;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win)); // no barrier:
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int first = 0; first < 8; first++)
        for (int second = 0; second < 8; second++) {
            fence_with(win, p,
                       (first & 1 ? MPI_MODE_NOPRECEDE : 0) | (first & 2 ? MPI_MODE_NOSTORE : 0) |
                           (first & 4 ? MPI_MODE_NOPUT : 0),
                       (second & 1 ? MPI_MODE_NOSUCCEED : 0) | (second & 2 ? MPI_MODE_NOSTORE : 0) |
                           (second & 4 ? MPI_MODE_NOPUT : 0),
                       round++);
            OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win));
        }
    OK(MPI_Win_free(&win));
}

// ---- One buffer in several windows, with an epoch of another kind on each in turn
static void one_buffer(void)
{
    MPI_Win fenced, locked, whole;
    MPI_Group world;
    int *p, value, next = (me + 1) % npes, last = (me + npes - 1) % npes;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &whole));
    OK(MPI_Win_create(p + 1, 2 * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &fenced));
    OK(MPI_Win_create(p, 3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &locked));
    for (int i = 0; i < times / 3; i++) {
        value = 1000 * i + me;
        OK(MPI_Win_fence(0, fenced));
        OK(MPI_Put(&value, 1, MPI_INT, next, 4, 1, MPI_INT, fenced));
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced));
        CHECK_EQ(p[2], 1000 * i + last);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        value++;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, locked));
        OK(MPI_Put(&value, 1, MPI_INT, next, 2, 1, MPI_INT, locked));
        OK(MPI_Win_unlock(next, locked));
        OK(MPI_Win_post(world, 0, whole));
        OK(MPI_Win_start(world, 0, whole));
        OK(MPI_Get(&value, 1, MPI_INT, me, 2, 1, MPI_INT, whole));
        OK(MPI_Win_complete(whole));
        OK(MPI_Win_wait(whole));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_EQ(p[2], 1000 * i + last + 1);
    }
    OK(MPI_Win_free(&locked));
    OK(MPI_Win_free(&fenced));
    OK(MPI_Win_free(&whole));
    OK(MPI_Group_free(&world));
}

// ---- A ring of flags, passed on with flushes alone
static void flags(void)
{
    MPI_Win win;
    long *p, data, one, seen, next = (me + 1) % npes;
    OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    p[0] = p[1] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (long i = 1; i <= times / 3; i++) {
        for (seen = me == 0 ? i : 0; seen != i;) {
            OK(MPI_Fetch_and_op(NULL, &seen, MPI_LONG, me, 1, MPI_NO_OP, win));
            OK(MPI_Win_flush(me, win));
        }
        if (me > 0)
            CHECK_EQ(p[0], i * 100 + me);
        data = i * 100 + next;
        one = i;
        OK(MPI_Put(&data, 1, MPI_LONG, (int)next, 0, 1, MPI_LONG, win));
        OK(MPI_Win_flush((int)next, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, (int)next, 1, 1, MPI_LONG, MPI_REPLACE, win));
        OK(MPI_Win_flush_all(win));
        for (seen = me == 0 ? 0 : i; seen != i;) {
            OK(MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 1, MPI_NO_OP, win));
            OK(MPI_Win_flush_local_all(win));
        }
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    times = fewer(300);
    exclusion(0);
    exclusion(npes - 1);
    exclusion_of_all();
    nested();
    fairness();
    unchecked_locks();
    overlapping_groups(1);
    overlapping_groups(2);
    neighbours();
    tests_and_gets();
    fence_asserts();
    one_buffer();
    flags();
    return mpi_done();
}
