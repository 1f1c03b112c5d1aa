// SPDX-License-Identifier: BSD-3-Clause
// Starting and ending MPI (MPI 5.0, "Process Initialization, Creation, and Management": the World
// Model), and its sudden end.
#include "agree.h"
#include "attr.h"
#include "bsend.h"
#include "check.h"
#include "core.h"
#include "error.h"
#include "hint.h"

#include <pthread.h>
#include <shoal.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int world = SHIM_BEFORE; // enum shim_state of MPI_Init and MPI_Finalize
static int thread_level;
static pthread_t main_thread;

static int init(int required, const char *call)
{
    int now = atomic_load_explicit(&world, memory_order_acquire);
    if (now != SHIM_BEFORE)
        return raise_on(NULL, MPI_ERR_OTHER, call, "MPI %s",
                        now == SHIM_UP ? "is initialized already"
                                       : "was finalized; it cannot be initialized again");
    int error = core_enter(required == MPI_THREAD_MULTIPLE);
    if (error)
        return raise_on(NULL, error, call, "the runtime cannot start; the line above says why");
    thread_level = required;
    main_thread = pthread_self();
    comm_show_world(true);
    atomic_store_explicit(&world, SHIM_UP, memory_order_release);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Init, int *argc, char ***argv)
{
    (void)argc; // the launcher's arguments are not among them
    (void)argv;
    return init(MPI_THREAD_SINGLE, "MPI_Init");
}

// Every level can be had, so the one that is asked for is given.
MPI_DEFINE(int, Init_thread, int *argc, char ***argv, int required, int *provided)
{
    static const char call[] = "MPI_Init_thread";
    (void)argc;
    (void)argv;
    int error = check_pointer(call, NULL, "provided", provided);
    if (error)
        return error;
    if (!thread_level_name(required))
        return raise_on(NULL, MPI_ERR_ARG, call, "required is %d, none of MPI_THREAD_*", required);
    error = init(required, call);
    if (!error)
        *provided = required;
    return error;
}

MPI_DEFINE(int, Initialized, int *flag)
{
    int error = check_pointer("MPI_Initialized", NULL, "flag", flag);
    if (!error)
        *flag = atomic_load_explicit(&world, memory_order_acquire) != SHIM_BEFORE;
    return error;
}

MPI_DEFINE(int, Finalized, int *flag)
{
    int error = check_pointer("MPI_Finalized", NULL, "flag", flag);
    if (!error)
        *flag = atomic_load_explicit(&world, memory_order_acquire) == SHIM_AFTER;
    return error;
}

static int check_world(const char *call)
{
    if (atomic_load_explicit(&world, memory_order_acquire) == SHIM_UP)
        return MPI_SUCCESS;
    return raise_not_up(call);
}

MPI_DEFINE(int, Query_thread, int *provided)
{
    static const char call[] = "MPI_Query_thread";
    int error = check_world(call);
    if (!error)
        error = check_pointer(call, NULL, "provided", provided);
    if (!error)
        *provided = thread_level;
    return error;
}

MPI_DEFINE(int, Is_thread_main, int *flag)
{
    static const char call[] = "MPI_Is_thread_main";
    int error = check_world(call);
    if (!error)
        error = check_pointer(call, NULL, "flag", flag);
    if (!error)
        *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return error;
}

// What programs hang on MPI_COMM_SELF is deleted first, while everything still works.
static int delete_attributes(void)
{
    int error = attributes_delete(OBJECT_COMM, MPI_COMM_SELF, &comm_self.attributes);
    return error ? error : attributes_delete(OBJECT_COMM, MPI_COMM_WORLD, &comm_world.attributes);
}

static int finalize(const char *call)
{
    int error = check_world(call);
    if (error)
        return error;
    error = delete_attributes();
    if (error)
        return raise_on(NULL, error, call, "the delete function of an attribute failed");
    bsend_down();
    hint_catch_up();
    progress(); // what this process has told itself
    struct circle all = circle_of(&comm_world);
    error = agree_barrier(&all);
    if (error)
        return raise_on(NULL, error, call, "the processes cannot meet");
    comm_show_world(false);
    comm_mark_all_freed();
    atomic_store_explicit(&world, SHIM_AFTER, memory_order_release);
    core_leave(true);
    return MPI_SUCCESS;
}

// A second thread that calls it finds all done.
MPI_DEFINE(int, Finalize, void)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    int error = finalize("MPI_Finalize");
    pthread_mutex_unlock(&one);
    return error;
}

MPI_DEFINE(int, Abort, MPI_Comm comm, int errorcode)
{
    char line[2 * MPI_MAX_OBJECT_NAME];
    const struct comm *c = comm_of(comm); // the job ends whatever it is
    snprintf(line, sizeof line, "MPI_Abort: rank %d of %s: the program ends itself with code %d",
             c ? c->rank : shim_pe(), c && c->name[0] ? c->name : "a communicator", errorcode);
    if (shim_is_up())
        shoal_abort(error_exit_status(errorcode), line);
    fprintf(stderr, "%s\n", line);
    exit(error_exit_status(errorcode));
}
