// SPDX-License-Identifier: BSD-3-Clause
// Passive means passive: the last rank computes and does not call the library while rank 0 puts, gets,
// accumulates, locks and flushes at it. What ends the computing is a word that rank 0 puts after all
// that, so whatever waits for a call of the target's waits for ever; an alarm then says what it was.
// The target looks at what has come before it calls the library again.
// PES: 2
#include "rma_check.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { ALARM = 20, ROUNDS = 10, N = 100 };

// The target's memory in the window.
struct memory {
    long begun, end; // the computing
    long put, sum, counter, swapped;
    long array[N], fetched[N];
    long double wide, wide_fetched;
};

static struct memory *p;
static MPI_Win win;
static MPI_Aint base; // where that is in the window
static int target;
static const char *_Atomic step = "nothing"; // what rank 0 is in

#define AT(field) target, base + (MPI_Aint)offsetof(struct memory, field)
#define DO(call)                                                   \
    do {                                                           \
        atomic_store_explicit(&step, #call, memory_order_relaxed); \
        OK(call);                                                  \
    } while (0)

static void tell(int signal)
{
    const char *words[] = {"no end of ", atomic_load_explicit(&step, memory_order_relaxed), "\n"};
    for (int i = 0; i < 3; i++)
        if (write(STDERR_FILENO, words[i], strlen(words[i])) < 0)
            break;
    _exit(128 + signal);
}

static void await_begin(void)
{
    long begun = 0;
    DO(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    while (!begun) {
        DO(MPI_Get(&begun, 1, MPI_LONG, AT(begun), 1, MPI_LONG, win));
        DO(MPI_Win_flush(target, win));
    }
    DO(MPI_Win_unlock(target, win));
}

static void move(long round)
{
    const long value = round + 1;
    long got = -1, out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = value * i;
    DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    DO(MPI_Put(&value, 1, MPI_LONG, AT(put), 1, MPI_LONG, win));
    DO(MPI_Win_flush(target, win));
    DO(MPI_Get(&got, 1, MPI_LONG, AT(put), 1, MPI_LONG, win));
    DO(MPI_Win_flush_local(target, win));
    CHECK_EQ(got, value);
    DO(MPI_Put(out, N, MPI_LONG, AT(array), N, MPI_LONG, win));
    DO(MPI_Win_unlock(target, win));
    DO(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    DO(MPI_Get(in, N, MPI_LONG, AT(array), N, MPI_LONG, win));
    DO(MPI_Win_unlock(target, win));
    CHECK_EACH(i, N, in[i], value * (long)i);
}

static void accumulate(long round)
{
    const long one = 1;
    const long double wide_one = 1;
    long ones[N], old[N];
    long double wide_old = -1;
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    DO(MPI_Accumulate(&one, 1, MPI_LONG, AT(sum), 1, MPI_LONG, MPI_SUM, win));
    DO(MPI_Accumulate(&wide_one, 1, MPI_LONG_DOUBLE, AT(wide), 1, MPI_LONG_DOUBLE, MPI_SUM, win));
    DO(MPI_Win_flush(target, win));
    DO(MPI_Get_accumulate(ones, N, MPI_LONG, old, N, MPI_LONG, AT(fetched), N, MPI_LONG, MPI_SUM,
                          win));
    DO(MPI_Get_accumulate(&wide_one, 1, MPI_LONG_DOUBLE, &wide_old, 1, MPI_LONG_DOUBLE,
                          AT(wide_fetched), 1, MPI_LONG_DOUBLE, MPI_SUM, win));
    DO(MPI_Win_flush(target, win));
    CHECK_EACH(i, N, old[i], round);
    CHECK_EQ(wide_old, round);
}

static void fetch(long round)
{
    const long one = 1, next = round + 1;
    long old = -1;
    DO(MPI_Fetch_and_op(&one, &old, MPI_LONG, AT(counter), MPI_SUM, win));
    DO(MPI_Win_flush(target, win));
    CHECK_EQ(old, round);
    DO(MPI_Compare_and_swap(&next, &round, &old, MPI_LONG, AT(swapped), win));
    DO(MPI_Win_flush_all(win));
    CHECK_EQ(old, round);
}

// Under every kind of lock: elements are changed in other ways under an exclusive one.
static void use(void)
{
    const long one = 1;
    await_begin();
    for (int i = 0; i < ROUNDS; i++) {
        move(i);
        if (i % 3 < 2)
            DO(MPI_Win_lock(i % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win));
        else
            DO(MPI_Win_lock_all(0, win));
        accumulate(i);
        fetch(i);
        if (i % 3 < 2)
            DO(MPI_Win_unlock(target, win));
        else
            DO(MPI_Win_unlock_all(win));
    }
    DO(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    DO(MPI_Put(&one, 1, MPI_LONG, AT(end), 1, MPI_LONG, win));
    DO(MPI_Win_unlock(target, win));
}

static void compute(void)
{
    uint64_t seed = 1;
    __atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&p->end, __ATOMIC_ACQUIRE))
        rnd(&seed);
    const struct memory seen = *p;
    CHECK_EQ(seen.put, ROUNDS);
    CHECK_EACH(i, N, seen.array[i], ROUNDS * (long)i);
    CHECK_EQ(seen.sum, ROUNDS);
    CHECK_EQ(seen.counter, ROUNDS);
    CHECK_EQ(seen.swapped, ROUNDS);
    CHECK_EACH(i, N, seen.fetched[i], ROUNDS);
    CHECK_EQ(seen.wide, ROUNDS);
    CHECK_EQ(seen.wide_fetched, ROUNDS);
}

// p and win are there.
static void check_window(void)
{
    memset(p, 0, sizeof *p);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        use();
    else if (me == target)
        compute();
    atomic_store_explicit(&step, "the end", memory_order_relaxed);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    target = npes - 1;
    if (npes == 1)
        return mpi_done();
#if defined(__SANITIZE_THREAD__)
    // The heartbeat writes what the target reads, in an order that another process makes.
    if (!one_node())
        return mpi_done();
#endif
    if (me == 0) {
        signal(SIGALRM, tell);
        alarm(ALARM);
    }
    OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    check_window();
    p = must_alloc(sizeof *p);
    OK(MPI_Win_create(p, sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_window();
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, p, sizeof *p));
    OK(MPI_Get_address(p, &base));
    OK(MPI_Bcast(&base, 1, MPI_AINT, target, MPI_COMM_WORLD));
    check_window();
    free(p);
    return mpi_done();
}
