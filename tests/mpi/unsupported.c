// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// What the library does not have says so through the error handler: of the communicator, else that of
// MPI_COMM_SELF, and for files that of MPI_FILE_NULL, which returns by default. Outputs stay as they were.
// PES: 1 2
#include "mpi_check.h"

static int calls, expected = MPI_ERR_UNSUPPORTED_OPERATION;

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    calls++;
    CHECK_EQ(class_of(*error), expected);
}

static int file_calls;

static void file_handler(MPI_File *file, int *error, ...)
{
    CHECK(*file == MPI_FILE_NULL);
    CHECK_EQ(class_of(*error), MPI_ERR_UNSUPPORTED_OPERATION);
    file_calls++;
}

int main(void)
{
    MPI_Errhandler count;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_File file = (MPI_File)&count;
    char port[MPI_MAX_PORT_NAME] = "as it was";
    int unsupported = MPI_ERR_UNSUPPORTED_OPERATION;
    mpi_start();
    CHECK_EQ(class_of(MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)),
             unsupported);
    CHECK(file == (MPI_File)&count);
    OK(MPI_File_create_errhandler(file_handler, &count));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, count));
    OK(MPI_Errhandler_free(&count));
    CHECK_EQ(class_of(MPI_File_write_at_all_c(MPI_FILE_NULL, 0, port, 1, MPI_BYTE, NULL)),
             unsupported);
    CHECK_EQ(class_of(PMPI_File_delete("x", MPI_INFO_NULL)), unsupported);
    CHECK_EQ(file_calls, 2);
    OK(MPI_Comm_create_errhandler(handler, &count));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, count));
    OK(MPI_Errhandler_free(&count));
    CHECK_EQ(class_of(MPI_Open_port(MPI_INFO_NULL, port)), unsupported);
    CHECK(strcmp(port, "as it was") == 0);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm,
                                     MPI_ERRCODES_IGNORE)),
             unsupported);
    CHECK(comm == MPI_COMM_WORLD);
    CHECK_EQ(calls, 1); // MPI_COMM_WORLD has another one
    CHECK_EQ(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm)), unsupported);
    CHECK_EQ(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm)), unsupported);
    expected = MPI_ERR_COMM;
    CHECK_EQ(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &comm)), expected);
    CHECK(comm == MPI_COMM_WORLD);
    CHECK_EQ(calls, 4);
    OK(MPI_Comm_get_parent(&comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    return mpi_done();
}
