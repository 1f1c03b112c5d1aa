// SPDX-License-Identifier: BSD-3-Clause
// What ends while the other goes on. shmem_finalize completes what was put and is a barrier, also where MPI
// holds the library. MPI_Finalize leaves OpenSHMEM in order, though notes to it come late; a session comes
// after it, whose first messages meet processes that are still in OpenSHMEM.
// PES: 2 3 8
// ENV: SHOAL_MPI_WINDOW=8000
#include "mpi_check.h"

enum { MANY = 20000, BYTES = 400, ROUNDS = 9, MOST = 64 };

static long data[MANY], flag;

static void put_and_end(void)
{
    static long out[MANY];
    shmem_init();
    for (int i = 0; i < MANY; i++)
        out[i] = i + me;
    shmem_barrier_all();
    shmem_long_put_nbi(data, out, MANY, (me + 1) % npes);
    shmem_finalize();
    CHECK_EACH(i, MANY, data[i], i + (me - 1 + npes) % npes);
}

static void to_all(void)
{
    static char in[MOST][BYTES], out[BYTES];
    MPI_Request r[2 * MOST];
    for (int round = 0; round < ROUNDS; round++) {
        int n = 0;
        for (int d = 1; d < npes; d++)
            OK(MPI_Irecv(in[d], BYTES, MPI_BYTE, (me + npes - d) % npes, 1, MPI_COMM_WORLD,
                         &r[n++]));
        for (int d = 1; d < npes; d++)
            OK(MPI_Isend(out, BYTES, MPI_BYTE, (me + d) % npes, 1, MPI_COMM_WORLD, &r[n++]));
        OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    }
}

// Rank 1 waits in OpenSHMEM for the last one, which comes late, when rank 0's messages are there.
static void session(void)
{
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    int sum = 0, one = 1;
    if (me == 1 && npes > 2)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    if (me == npes - 1 && npes > 2) {
        for (double end = MPI_Wtime() + 0.05; MPI_Wtime() < end;)
            shmem_quiet();
        shmem_long_p(&flag, 1, 1);
        shmem_quiet();
    }
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
    OK(MPI_Comm_create_from_group(g, "mixed_end", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c));
    OK(MPI_Group_free(&g));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, npes);
    OK(MPI_Comm_free(&c));
    OK(MPI_Session_finalize(&s));
}

// Many communicators leave teams to the program.
static void teams(void)
{
    enum { COMMS = 270, TEAMS = 20 };
    static MPI_Comm comm[COMMS];
    shmem_team_t team[TEAMS];
    int sum;
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
        for (int k = 0; k < 5; k++)
            OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm[i]));
    }
    for (int i = 0; i < TEAMS; i++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team[i]), 0);
    for (int i = 0; i < TEAMS; i++)
        shmem_team_destroy(team[i]);
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comm[i]));
}

int main(void)
{
    mpi_start();
    put_and_end();
    shmem_init();
    teams();
    to_all();
    int failed = mpi_done();
    shmem_barrier_all();
    session();
    shmem_barrier_all();
    shmem_finalize();
    return failed || check_failures > 0;
}
