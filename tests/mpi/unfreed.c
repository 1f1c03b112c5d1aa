// SPDX-License-Identifier: BSD-3-Clause
// Communicators that nobody frees, with several threads allowed: MPI_Finalize ends them, and the process ends well;
// in sessions too, of which the next one finds all as it was.
// PES: 2 7
// ENV: SHOAL_VNODES=2
#include "mpi_check.h"

enum { COLLECTIVES = 11, SESSIONS = 3 }; // enough for a team to be made

static void use(MPI_Comm from)
{
    MPI_Comm comm;
    int rank, size, sum;
    OK(MPI_Comm_rank(from, &rank));
    OK(MPI_Comm_split(from, rank % 2, rank, &comm));
    OK(MPI_Comm_size(comm, &size));
    for (int i = 0; i < COLLECTIVES; i++) {
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQ(sum, size * (rank % 2) + size * (size - 1));
    }
}

static void in_a_session(void)
{
    MPI_Info threads;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Info_create(&threads));
    OK(MPI_Info_set(threads, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(threads, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Info_free(&threads));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "unfreed", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    use(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
}

int main(void)
{
    int provided;
    for (int i = 0; i < SESSIONS; i++)
        in_a_session();
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    for (int i = 0; i < SESSIONS; i++)
        use(MPI_COMM_WORLD);
    return mpi_done();
}
