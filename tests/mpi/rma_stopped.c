// SPDX-License-Identifier: BSD-3-Clause
// Passive means passive: rank 1 is stopped by SIGSTOP, and rank 0 puts, gets, accumulates, locks and
// flushes at it all the same, in shared memory, in private memory and in a dynamic window. The
// alarm ends a rank 0 that waits for what will not come.
// PES: 2 4
// NODES: 1
#include "mpi_check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { N = 1000, VICTIM = 1, TIMES = 100 };

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

int main(void)
{
    MPI_Win allocated, created, dynamic;
    long *p, *mine;
    MPI_Aint where;
    int pid = (int)getpid();
    uint64_t reaches = 0;
    mpi_start();
    mine = must_alloc(N * sizeof(long));
    OK(MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p,
                        &allocated));
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
        use(allocated, 0, 1);
        if (reaches) {
            use(created, 0, 1);
            use(dynamic, where, sizeof(long));
        }
        CHECK_EQ(check_process_state((uint64_t)pid), 'T');
        CHECK_EQ(kill(pid, SIGCONT), 0);
        alarm(0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_detach(dynamic, mine));
    OK(MPI_Win_free(&dynamic));
    OK(MPI_Win_free(&created));
    OK(MPI_Win_free(&allocated));
    free(mine);
    return mpi_done();
}
