// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Who uses the library, and who leaves it last (users.sh): users WHO
//     world     MPI_Init and MPI_Finalize      within     a session between them
//     session   a session alone                outlives   a session that MPI_Finalize comes before
//     stranger  a session alone, and MPI_COMM_WORLD all the same
#include "mpi_check.h"

static MPI_Session session;

static MPI_Comm begin_session(void)
{
    MPI_Group g;
    MPI_Comm c;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &g));
    OK(MPI_Comm_create_from_group(g, "users", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Group_free(&g));
    return c;
}

static void end_session(MPI_Comm c)
{
    OK(MPI_Comm_free(&c));
    OK(MPI_Session_finalize(&session));
}

static void use(MPI_Comm c)
{
    int mine = 1, sum = -1, size;
    OK(MPI_Comm_size(c, &size));
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, size);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    bool is_stranger = strcmp(argv[1], "stranger") == 0,
         outlives = strcmp(argv[1], "outlives") == 0;
    bool has_session = strcmp(argv[1], "world") != 0;
    bool has_world = strcmp(argv[1], "session") != 0 && !is_stranger;
    MPI_Comm c = MPI_COMM_NULL;
    if (has_world)
        OK(MPI_Init(NULL, NULL));
    if (has_session)
        c = begin_session();
    if (has_world || is_stranger)
        use(MPI_COMM_WORLD);
    if (outlives)
        OK(MPI_Finalize());
    if (has_session) {
        use(c);
        end_session(c);
    }
    if (has_world && !outlives)
        OK(MPI_Finalize());
    return check_failures > 0;
}
