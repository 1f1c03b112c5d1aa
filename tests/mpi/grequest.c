// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Generalized Requests": which callback is called when, and what comes of it.
#include "mpi_check.h"

#include <pthread.h>
#include <unistd.h>

struct state {
    int queried, freed, cancelled, complete, result, free_result;
    MPI_Request request;
};

static int query(void *extra_state, MPI_Status *status)
{
    struct state *s = extra_state;
    s->queried++;
    OK(MPI_Status_set_elements(status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(status, s->cancelled));
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return s->result;
}

static int release(void *extra_state)
{
    struct state *s = extra_state;
    s->freed++;
    return s->free_result;
}

static int cancel(void *extra_state, int complete)
{
    struct state *s = extra_state;
    s->cancelled++;
    s->complete = complete;
    return s->result;
}

static void begin(struct state *s)
{
    *s = (struct state){0};
    OK(MPI_Grequest_start(query, release, cancel, s, &s->request));
}

static void check_status(const MPI_Status *status, int cancelled)
{
    int n = -1, flag = -1;
    OK(MPI_Get_count(status, MPI_INT, &n));
    CHECK_EQ(n, 5);
    OK(MPI_Test_cancelled(status, &flag));
    CHECK_EQ(flag, cancelled);
    CHECK_EQ(status->MPI_SOURCE, 3);
    CHECK_EQ(status->MPI_TAG, 4);
}

static void ordinary(void)
{
    struct state s;
    MPI_Status status;
    int flag = 1;
    begin(&s);
    OK(MPI_Test(&s.request, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_EQ(s.queried, 0);
    OK(MPI_Grequest_complete(s.request));
    CHECK_EQ(s.freed, 0);
    OK(MPI_Request_get_status(s.request, &flag, &status));
    CHECK_EQ(flag, 1);
    check_status(&status, 0);
    CHECK_EQ(s.queried, 1);
    CHECK_EQ(s.freed, 0);
    OK(MPI_Wait(&s.request, &status));
    check_status(&status, 0);
    CHECK_EQ(s.queried, 2);
    CHECK_EQ(s.freed, 1);
    CHECK(s.request == MPI_REQUEST_NULL);
    begin(&s);
    OK(MPI_Grequest_complete(s.request));
    OK(MPI_Wait(&s.request, MPI_STATUS_IGNORE)); // query is called all the same
    CHECK_EQ(s.queried, 1);
    CHECK_EQ(s.freed, 1);
}

static void freed(void)
{
    struct state s;
    begin(&s);
    MPI_Request copy = s.request;
    OK(MPI_Request_free(&s.request));
    CHECK_EQ(s.freed, 0); // not complete yet
    OK(MPI_Grequest_complete(copy));
    CHECK_EQ(s.freed, 1);
    CHECK_EQ(s.queried, 0);
    begin(&s);
    OK(MPI_Grequest_complete(s.request));
    OK(MPI_Request_free(&s.request));
    CHECK_EQ(s.freed, 1);
}

static void cancelled(void)
{
    struct state s;
    MPI_Status status;
    begin(&s);
    OK(MPI_Cancel(&s.request));
    CHECK_EQ(s.cancelled, 1);
    CHECK_EQ(s.complete, 0);
    OK(MPI_Grequest_complete(s.request));
    OK(MPI_Cancel(&s.request));
    CHECK_EQ(s.cancelled, 2);
    CHECK(s.complete);
    OK(MPI_Wait(&s.request, &status));
    check_status(&status, 1);
}

static void errors(void)
{
    struct state s;
    MPI_Status statuses[2];
    MPI_Request two[2];
    begin(&s);
    s.result = MPI_ERR_OTHER;
    CHECK_EQ(class_of(MPI_Cancel(&s.request)), MPI_ERR_OTHER);
    OK(MPI_Grequest_complete(s.request));
    CHECK_EQ(class_of(MPI_Grequest_complete(s.request)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Wait(&s.request, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
    CHECK_EQ(s.freed, 1);
    begin(&s);
    s.result = MPI_ERR_IO;
    OK(MPI_Grequest_complete(s.request));
    two[0] = s.request;
    OK(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &two[1]));
    CHECK_EQ(class_of(MPI_Waitall(2, two, statuses)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(statuses[0].MPI_ERROR), MPI_ERR_IO);
    CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
    OK(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &two[0]));
    CHECK_EQ(class_of(MPI_Grequest_complete(two[0])), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Grequest_complete(MPI_REQUEST_NULL)), MPI_ERR_REQUEST);
    OK(MPI_Wait(&two[0], MPI_STATUS_IGNORE));
    CHECK_EQ(class_of(MPI_Grequest_start(NULL, release, cancel, &s, &two[0])), MPI_ERR_ARG);
}

// The error of free_fn, the last that is called, is that of the call that calls it.
static void free_errors(void)
{
    struct state s;
    MPI_Status status;
    int flag = 0;
    for (int query = MPI_SUCCESS; query <= MPI_ERR_OTHER; query += MPI_ERR_OTHER) {
        begin(&s);
        s.result = query;
        s.free_result = MPI_ERR_IO;
        OK(MPI_Grequest_complete(s.request));
        CHECK_EQ(class_of(MPI_Wait(&s.request, &status)), MPI_ERR_IO);
        CHECK(s.request == MPI_REQUEST_NULL);
        CHECK_EQ(s.freed, 1);
    }
    begin(&s);
    s.free_result = MPI_ERR_IO;
    OK(MPI_Grequest_complete(s.request));
    CHECK_EQ(class_of(MPI_Testall(1, &s.request, &flag, &status)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(status.MPI_ERROR), MPI_ERR_IO);
    begin(&s);
    s.free_result = MPI_ERR_IO;
    OK(MPI_Grequest_complete(s.request));
    CHECK_EQ(class_of(MPI_Request_free(&s.request)), MPI_ERR_IO);
    CHECK(s.request == MPI_REQUEST_NULL);
    begin(&s);
    s.free_result = MPI_ERR_IO;
    MPI_Request copy = s.request;
    OK(MPI_Request_free(&s.request));
    CHECK_EQ(class_of(MPI_Grequest_complete(copy)), MPI_ERR_IO);
    CHECK_EQ(s.freed, 1);
}

static void *complete_later(void *arg)
{
    usleep(20000);
    OK(MPI_Grequest_complete(((struct state *)arg)->request));
    return NULL;
}

// A thread that sleeps in MPI_Wait is woken by another that completes the request. On a machine that stands
// still meanwhile this one may come first.
static void by_thread(void)
{
    struct counter sleeps = counter_start("sleeps");
    for (int tries = 0; tries < 20 && counter_read(&sleeps) == 0; tries++) {
        struct state s;
        pthread_t thread;
        begin(&s);
        MPI_Request mine = s.request;
        pthread_create(&thread, NULL, complete_later, &s);
        OK(MPI_Wait(&mine, MPI_STATUS_IGNORE));
        pthread_join(thread, NULL);
        CHECK_EQ(s.queried, 1);
        CHECK_EQ(s.freed, 1);
    }
    CHECK(counter_read(&sleeps) > 0);
    counter_end(&sleeps);
}

int main(void)
{
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ordinary();
    freed();
    cancelled();
    errors();
    free_errors();
    by_thread();
    return mpi_done();
}
