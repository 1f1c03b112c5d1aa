// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: what one thread does for long in its communicator holds up no thread in another one.
// An operator of the program's, which a nonblocking or a blocking collective calls, waits until the other
// thread has done what it has to do: where one lock is held meanwhile, that is never. The operator gives up
// after some time.
// PES: 2 3
#include "mpi_check.h"

#include <pthread.h>
#include <unistd.h>

enum { FEW = 4, PATIENCE_S = 20, STAGED = 2 << 20, LONG = 8 << 20 };
enum what { STAGED_MESSAGE, LONG_MESSAGE, SHORT_MESSAGES, DUPLICATE, REDUCTION, BROADCAST, WHATS };

static MPI_Comm one_comm, other_comm;
static MPI_Op op;
static _Atomic bool is_in_operator, is_other_done;
static char data[LONG];

static void add_and_wait(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (me != 0 || is_in_operator)
        return;
    is_in_operator = true;
    for (double end = MPI_Wtime() + PATIENCE_S; !is_other_done && MPI_Wtime() < end;)
        usleep(100);
    CHECK(is_other_done);
}

// The others come later: rank 0 waits for them in the library.
static void *reduce(void *is_blocking)
{
    int in[FEW] = {1, 1, 1, 1}, out[FEW] = {0};
    MPI_Request r = MPI_REQUEST_NULL;
    if (me != 0)
        usleep(20000);
    if (is_blocking)
        OK(MPI_Allreduce(in, out, FEW, MPI_INT, op, one_comm));
    else
        OK(MPI_Iallreduce(in, out, FEW, MPI_INT, op, one_comm, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, FEW, out[i], npes);
    return NULL;
}

static void message(int n)
{
    if (me == 1)
        OK(MPI_Send(data, n, MPI_BYTE, 0, 0, other_comm));
    if (me == 0)
        OK(MPI_Recv(data, n, MPI_BYTE, 1, 0, other_comm, MPI_STATUS_IGNORE));
}

static void do_other(enum what what)
{
    int sum = 0;
    MPI_Comm c;
    MPI_Request r = MPI_REQUEST_NULL;
    switch (what) {
    case STAGED_MESSAGE: message(STAGED); break;
    case LONG_MESSAGE: message(LONG); break;
    case SHORT_MESSAGES:
        for (int i = 0; i < 100; i++)
            message(i);
        break;
    case DUPLICATE:
        OK(MPI_Comm_dup(other_comm, &c));
        OK(MPI_Comm_free(&c));
        break;
    case REDUCTION:
        OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, other_comm, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(sum, npes * (npes - 1) / 2);
        break;
    default:
        OK(MPI_Ibcast(data, STAGED, MPI_BYTE, npes - 1, other_comm, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

// Begins when the operator waits, so that it is not this thread that runs it.
static void *other(void *what)
{
    while (me == 0 && !is_in_operator)
        usleep(100);
    do_other((enum what)(intptr_t)what);
    is_other_done = true;
    return NULL;
}

static void beside_each_other(bool is_blocking, enum what what)
{
    pthread_t thread;
    is_in_operator = is_other_done = false;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(pthread_create(&thread, NULL, other, (void *)(intptr_t)what), 0);
    reduce((void *)(intptr_t)is_blocking);
    pthread_join(thread, NULL);
}

int main(void)
{
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    OK(MPI_Op_create(add_and_wait, true, &op));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &one_comm));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other_comm));
    for (int is_blocking = 0; is_blocking < 2; is_blocking++)
        for (int what = 0; what < WHATS && !check_failures; what++)
            beside_each_other(is_blocking, (enum what)what);
    OK(MPI_Comm_free(&one_comm));
    OK(MPI_Comm_free(&other_comm));
    OK(MPI_Op_free(&op));
    return mpi_done();
}
