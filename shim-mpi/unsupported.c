// SPDX-License-Identifier: BSD-3-Clause
// What is not supported: files (MPI 5.0, "I/O"), and processes that join a job while it runs ("Process
// Initialization, Creation, and Management"). docs/mpi.md says so to users.
#include "unsupported.h"

#include "check.h"
#include "error.h"

#include <stdatomic.h>
#include <stdio.h>

#define UNUSED __attribute__((unused))

// clang-format off
#define DYNAMIC_PROCESSES(F)                                                                      \
    F(Close_port) F(Comm_join) F(Lookup_name) F(Open_port) F(Publish_name) F(Unpublish_name)
// clang-format on
DYNAMIC_PROCESSES(UNSUPPORTED)

// Those over a communicator are errors of that.
static int raise_over(const char *call, MPI_Comm handle)
{
    struct comm *c;
    int error = check_comm(call, handle, &c);
    return error
               ? error
               : raise_on(c, MPI_ERR_UNSUPPORTED_OPERATION, call, "this library does not have it");
}

MPI_DEFINE(int, Comm_accept, UNUSED const char *port_name, UNUSED MPI_Info info, UNUSED int root,
           MPI_Comm comm, UNUSED MPI_Comm *newcomm)
{
    return raise_over("MPI_Comm_accept", comm);
}

MPI_DEFINE(int, Comm_connect, UNUSED const char *port_name, UNUSED MPI_Info info, UNUSED int root,
           MPI_Comm comm, UNUSED MPI_Comm *newcomm)
{
    return raise_over("MPI_Comm_connect", comm);
}

MPI_DEFINE(int, Comm_spawn, UNUSED const char *command, UNUSED char *argv[], UNUSED int maxprocs,
           UNUSED MPI_Info info, UNUSED int root, MPI_Comm comm, UNUSED MPI_Comm *intercomm,
           UNUSED int array_of_errcodes[])
{
    return raise_over("MPI_Comm_spawn", comm);
}

MPI_DEFINE(int, Comm_spawn_multiple, UNUSED int count, UNUSED char *array_of_commands[],
           UNUSED char **array_of_argv[], UNUSED const int array_of_maxprocs[],
           UNUSED const MPI_Info array_of_info[], UNUSED int root, MPI_Comm comm,
           UNUSED MPI_Comm *intercomm, UNUSED int array_of_errcodes[])
{
    return raise_over("MPI_Comm_spawn_multiple", comm);
}

// No process was spawned.
MPI_DEFINE(int, Comm_get_parent, MPI_Comm *parent)
{
    int error = check_pointer("MPI_Comm_get_parent", NULL, "parent", parent);
    if (!error)
        *parent = MPI_COMM_NULL;
    return error;
}

// Errors of files are raised on MPI_FILE_NULL, whose handler returns unless the program changes it. Programs that
// do not look at what is returned fail later, for no reason to be seen: so rank 0 tells of the first call.
static int raise_no_files(const char *call)
{
    static atomic_flag has_told = ATOMIC_FLAG_INIT;
    struct errhandler *e = errhandler_take(&errhandler_of_files);
    bool returns = e == &errors_return;
    errhandler_drop(e);
    if (returns && shim_pe() == 0 && !atomic_flag_test_and_set(&has_told))
        fprintf(
            stderr,
            "shoal: rank 0: %s returns MPI_ERR_UNSUPPORTED_OPERATION: this library does not have "
            "MPI's files\n",
            call);
    return raise_on_file(MPI_ERR_UNSUPPORTED_OPERATION, call, "this library does not have files");
}
#define NO_FILES(name) UNSUPPORTED_BY(raise_no_files, name)

// clang-format off
#define FILES(F)                                                                                  \
    F(File_close) F(File_delete) F(File_get_amode) F(File_get_atomicity) F(File_get_byte_offset)  \
    F(File_get_group) F(File_get_info) F(File_get_position) F(File_get_position_shared)           \
    F(File_get_size) F(File_get_type_extent) F(File_get_type_extent_c) F(File_get_view)           \
    F(File_iread) F(File_iread_all) F(File_iread_all_c) F(File_iread_at) F(File_iread_at_all)     \
    F(File_iread_at_all_c) F(File_iread_at_c) F(File_iread_c) F(File_iread_shared)                \
    F(File_iread_shared_c) F(File_iwrite) F(File_iwrite_all) F(File_iwrite_all_c)                 \
    F(File_iwrite_at) F(File_iwrite_at_all) F(File_iwrite_at_all_c) F(File_iwrite_at_c)           \
    F(File_iwrite_c) F(File_iwrite_shared) F(File_iwrite_shared_c) F(File_open)                   \
    F(File_preallocate) F(File_read) F(File_read_all) F(File_read_all_begin)                      \
    F(File_read_all_begin_c) F(File_read_all_c) F(File_read_all_end) F(File_read_at)              \
    F(File_read_at_all) F(File_read_at_all_begin) F(File_read_at_all_begin_c)                     \
    F(File_read_at_all_c) F(File_read_at_all_end) F(File_read_at_c) F(File_read_c)                \
    F(File_read_ordered) F(File_read_ordered_begin) F(File_read_ordered_begin_c)                  \
    F(File_read_ordered_c) F(File_read_ordered_end) F(File_read_shared) F(File_read_shared_c)     \
    F(File_seek) F(File_seek_shared) F(File_set_atomicity) F(File_set_info) F(File_set_size)      \
    F(File_set_view) F(File_sync) F(File_write) F(File_write_all) F(File_write_all_begin)         \
    F(File_write_all_begin_c) F(File_write_all_c) F(File_write_all_end) F(File_write_at)          \
    F(File_write_at_all) F(File_write_at_all_begin) F(File_write_at_all_begin_c)                  \
    F(File_write_at_all_c) F(File_write_at_all_end) F(File_write_at_c) F(File_write_c)            \
    F(File_write_ordered) F(File_write_ordered_begin) F(File_write_ordered_begin_c)               \
    F(File_write_ordered_c) F(File_write_ordered_end) F(File_write_shared) F(File_write_shared_c) \
    F(Register_datarep) F(Register_datarep_c)
// clang-format on
FILES(NO_FILES)
