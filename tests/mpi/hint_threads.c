// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 has several threads, and the others have not: what its long messages are offered is taken or
// withdrawn while one thread waits and another one looks.
// PES: 2 4
// NODES: 1
// ENV: SHOAL_MPI_STAGE=0
#include "mpi_check.h"

#include <pthread.h>

enum { TURNS = 300, LONG = 100000, ROOM = 1 << 20 };

static char out[2][LONG + TURNS], in[2][ROOM];
static _Atomic bool is_over;

static void *look(void *arg)
{
    int flag;
    while (!is_over)
        OK(MPI_Iprobe(1, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    return arg;
}

static void send(int turn)
{
    MPI_Request r[2];
    for (int k = 0; k < 2; k++)
        OK(MPI_Isend(out[k] + turn, LONG, MPI_CHAR, 1, k, MPI_COMM_WORLD, &r[k]));
    OK(MPI_Send(NULL, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

static void receive(int turn)
{
    MPI_Request r[2];
    memset(in[0], 0, LONG);
    memset(in[1], 0, LONG);
    OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < 2; k++)
        OK(MPI_Irecv(in[k], ROOM, MPI_CHAR, 0, k, MPI_COMM_WORLD, &r[k]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 2; k++)
        CHECK_MEM(in[k], out[k] + turn, LONG, "message");
}

int main(int argc, char **argv)
{
    // Which rank this is, MPI says only when its threads have been asked for.
    const char *rank = getenv("SHOAL_PE");
    int provided;
    OK(MPI_Init_thread(&argc, &argv, rank && atoi(rank) ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                       &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    for (int k = 0; k < 2; k++)
        fill(out[k], sizeof out[k], (unsigned)k + 1);
    pthread_t looker;
    if (me == 0)
        CHECK_EQ(pthread_create(&looker, NULL, look, NULL), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        if (me == 0)
            send(turn);
        else if (me == 1)
            receive(turn);
    }
    is_over = true;
    if (me == 0)
        CHECK_EQ(pthread_join(looker, NULL), 0);
    return mpi_done();
}
