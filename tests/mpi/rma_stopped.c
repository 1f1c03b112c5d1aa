// SPDX-License-Identifier: BSD-3-Clause
// Passive means passive: rank 1 is stopped by SIGSTOP, and rank 0 puts, gets, accumulates, locks and
// flushes at it all the same, in shared memory, in one whose accumulates go under a lock, in private
// memory and in a dynamic window. The alarm ends a rank 0 that waits for what will not come.
// PES: 2 4
// NODES: 1
#include "mpi_check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { N = 1000, WIDE = N / 2, VICTIM = 1, TIMES = 100 };

static void fetch(MPI_Win win, MPI_Aint base)
{
    long out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = i;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, win));
    OK(MPI_Get_accumulate(out, N, MPI_LONG, in, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_REPLACE,
                          win));
    OK(MPI_Get_accumulate(out, N, MPI_LONG, in, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_SUM,
                          win));
    OK(MPI_Win_flush(VICTIM, win));
    CHECK_EACH(i, N, in[i], i);
    OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, in, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_NO_OP,
                          win));
    OK(MPI_Win_unlock(VICTIM, win));
    CHECK_EACH(i, N, in[i], 2 * i);
}

// Elements that no atomic of the processor changes.
static void use_wide(MPI_Win win, MPI_Aint base)
{
    const MPI_Datatype type = MPI_LONG_DOUBLE;
    long double out[WIDE], old[WIDE], in[WIDE];
    for (int i = 0; i < WIDE; i++)
        out[i] = i + 1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, win));
    OK(MPI_Put(out, WIDE, type, VICTIM, base, WIDE, type, win));
    OK(MPI_Win_flush(VICTIM, win));
    OK(MPI_Accumulate(out, WIDE, type, VICTIM, base, WIDE, type, MPI_SUM, win));
    OK(MPI_Get_accumulate(out, WIDE, type, old, WIDE, type, VICTIM, base, WIDE, type, MPI_SUM,
                          win));
    OK(MPI_Fetch_and_op(out, in, type, VICTIM, base, MPI_NO_OP, win));
    OK(MPI_Win_flush(VICTIM, win));
    CHECK_EACH(i, WIDE, old[i], 2 * (i + 1));
    CHECK_EQ(in[0], 3);
    OK(MPI_Get(in, WIDE, type, VICTIM, base, WIDE, type, win));
    OK(MPI_Win_unlock(VICTIM, win));
    CHECK_EACH(i, WIDE, in[i], 3 * (i + 1));
}

static void request(MPI_Win win, MPI_Aint base)
{
    long out[N], old[N], in[N];
    MPI_Request r;
    for (int i = 0; i < N; i++)
        out[i] = i;
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Rput(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(VICTIM, win));
    OK(MPI_Raccumulate(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_SUM, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Rget_accumulate(out, N, MPI_LONG, old, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_SUM,
                           win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, N, old[i], 2 * i);
    OK(MPI_Win_flush(VICTIM, win));
    OK(MPI_Rget(in, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, N, in[i], 3 * i);
    OK(MPI_Win_unlock_all(win));
}

static void use(MPI_Win win, MPI_Aint base, int unit)
{
    long out[N], in[N], one = 1, old, compare;
    MPI_Datatype every_other;
    OK(MPI_Type_vector(N / 2, 1, 2, MPI_LONG, &every_other));
    OK(MPI_Type_commit(&every_other));
    for (int i = 0; i < N; i++)
        out[i] = i;
    for (int i = 0; i < TIMES; i++) {
        OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, VICTIM, 0, win));
        OK(MPI_Put(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win));
        OK(MPI_Win_flush(VICTIM, win));
        OK(MPI_Accumulate(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, MPI_SUM, win));
        OK(MPI_Accumulate(out, N / 2, MPI_LONG, VICTIM, base, 1, every_other, MPI_BXOR, win));
        OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, VICTIM, base + unit, MPI_SUM, win));
        OK(MPI_Win_flush(VICTIM, win));
        CHECK_EQ(old, 2);
        compare = 3;
        OK(MPI_Compare_and_swap(&one, &compare, &old, MPI_LONG, VICTIM, base + unit, win));
        OK(MPI_Get(in, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win));
        OK(MPI_Win_unlock(VICTIM, win));
        CHECK_EQ(old, 3);
        CHECK_EACH(k, N, in[k],
                   k == 1       ? 1
                   : k % 2 == 0 ? (2 * (long)k) ^ ((long)k / 2)
                                : 2 * (long)k);
    }
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(out, N, MPI_LONG, VICTIM, base, N, MPI_LONG, win));
    OK(MPI_Win_flush_all(win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Type_free(&every_other));
}

static void use_stopped(MPI_Win win, MPI_Aint base, int unit)
{
    use(win, base, unit);
    fetch(win, base);
    use_wide(win, base);
    request(win, base);
}

// All accumulates go under a lock of the target's.
static MPI_Win allocate_coarse(void)
{
    MPI_Win win;
    MPI_Info hint;
    long *p;
    OK(MPI_Info_create(&hint));
    OK(MPI_Info_set(hint, "mpi_accumulate_granularity", "4096"));
    OK(MPI_Win_allocate(N * sizeof *p, sizeof *p, hint, MPI_COMM_WORLD, &p, &win));
    OK(MPI_Info_free(&hint));
    return win;
}

int main(void)
{
    MPI_Win allocated, coarse, created, dynamic;
    long *p, *mine;
    MPI_Aint where;
    int pid = (int)getpid();
    uint64_t reaches = 0;
    mpi_start();
    mine = must_alloc(N * sizeof(long));
    OK(MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p,
                        &allocated));
    coarse = allocate_coarse();
    OK(MPI_Win_create(mine, N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                      &created));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    OK(MPI_Win_attach(dynamic, mine, N * sizeof(long)));
    OK(MPI_Get_address(mine, &where));
    OK(MPI_Bcast(&where, 1, MPI_AINT, VICTIM, MPI_COMM_WORLD));
    OK(MPI_Bcast(&pid, 1, MPI_INT, VICTIM, MPI_COMM_WORLD));
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, VICTIM, &reaches), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        alarm(30);
        CHECK_EQ(kill(pid, SIGSTOP), 0);
        while (check_process_state((uint64_t)pid) != 'T')
            sched_yield();
        use_stopped(allocated, 0, 1);
        use_stopped(coarse, 0, 1);
        if (reaches) {
            use_stopped(created, 0, 1);
            use_stopped(dynamic, where, sizeof(long));
        }
        CHECK_EQ(check_process_state((uint64_t)pid), 'T');
        CHECK_EQ(kill(pid, SIGCONT), 0);
        alarm(0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_detach(dynamic, mine));
    OK(MPI_Win_free(&dynamic));
    OK(MPI_Win_free(&created));
    OK(MPI_Win_free(&coarse));
    OK(MPI_Win_free(&allocated));
    free(mine);
    return mpi_done();
}
