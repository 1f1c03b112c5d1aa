// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// OpenSHMEM, MPI and a session in one program, begun and ended in the order that the argument gives
// (mixed_orders.sh), a letter for each step: S and s begin and end OpenSHMEM, M and m MPI, T and t
// (MPI_THREAD_MULTIPLE) as well, X and x a session. After each step all that has begun is used.
#include "mpi_check.h"

static bool has_shmem, has_mpi, has_session;
static MPI_Session session;
static MPI_Comm sessions_world;
static long word;

static void begin_session(void)
{
    MPI_Group g;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &g));
    OK(MPI_Comm_create_from_group(g, "orders", MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions_world));
    OK(MPI_Group_free(&g));
}

static void end_session(void)
{
    OK(MPI_Comm_free(&sessions_world));
    OK(MPI_Session_finalize(&session));
}

static void begin_threads(void)
{
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

static void step(char letter)
{
    switch (letter) {
    case 'S': shmem_init(); break;
    case 's': shmem_finalize(); break;
    case 'M': OK(MPI_Init(NULL, NULL)); break;
    case 'T': begin_threads(); break;
    case 'm': OK(MPI_Finalize()); break;
    case 'X': begin_session(); break;
    case 'x': end_session(); break;
    }
    bool begins = letter < 'a';
    has_shmem = letter == 'S' || (has_shmem && letter != 's');
    has_mpi = (begins && strchr("MT", letter)) || (has_mpi && letter != 'm');
    has_session = letter == 'X' || (has_session && letter != 'x');
}

static void use_comm(MPI_Comm c)
{
    int sum = -1, got = -1;
    OK(MPI_Comm_rank(c, &me));
    OK(MPI_Comm_size(c, &npes));
    OK(MPI_Sendrecv(&me, 1, MPI_INT, right_pe(), 0, &got, 1, MPI_INT, left_pe(), 0, c,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(got, left_pe());
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, npes * (npes - 1) / 2);
}

static void use_shmem(void)
{
    me = shmem_my_pe();
    npes = shmem_n_pes();
    shmem_barrier_all();
    shmem_long_p(&word, me + 1, right_pe());
    shmem_barrier_all();
    CHECK_EQ(word, left_pe() + 1);
}

int main(int argc, char **argv)
{
    for (const char *p = argc == 2 ? argv[1] : ""; *p; p++) {
        step(*p);
        if (has_shmem)
            use_shmem();
        if (has_mpi)
            use_comm(MPI_COMM_WORLD);
        if (has_session)
            use_comm(sessions_world);
    }
    return check_failures > 0;
}
