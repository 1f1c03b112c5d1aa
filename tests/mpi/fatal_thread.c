// SPDX-License-Identifier: BSD-3-Clause
// An error of one thread ends the job while another one waits in the library: only one of them runs the program's
// handlers (abort.sh, where it is no launcher that ends the process).
// PES: 2
// EXIT: 6
#include "mpi_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { HANDLERS = 100, TWO_THREADS = 99 };
static pthread_t first;
static int handled;

static void handler(void)
{
    if (handled++ == 0)
        first = pthread_self();
    if (!pthread_equal(first, pthread_self()))
        _exit(TWO_THREADS);
    usleep(5000); // others would come in between
}

static void *fail(void *unused)
{
    int value = 0;
    usleep(20000);
    MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    return unused;
}

int main(void)
{
    int provided, value;
    pthread_t thread;
    for (int i = 0; i < HANDLERS; i++)
        atexit(handler);
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(pthread_create(&thread, NULL, fail, NULL), 0);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
