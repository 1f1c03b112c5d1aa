// SPDX-License-Identifier: BSD-3-Clause
// The receive of an MPI_Sendrecv is there while its send waits for room: a rank that sends to it,
// synchronously, goes on (MPI 5.0, "Send-Receive": as if by two threads; "Progress"). Rank 1 makes no room
// before that rank has told it so, outside MPI.
// PES: 3
#include "mpi_check.h"

#include <stdatomic.h>
#include <unistd.h>

enum { MANY = 400, ROUNDS = 200 };

// So many that the two have a channel of their own, of few places.
static void exchange(void)
{
    int x = 0;
    for (int i = 0; i < ROUNDS && me < 2; i++) {
        if (me == 0)
            OK(MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        OK(MPI_Recv(&x, 1, MPI_INT, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (me == 1)
            OK(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
}

static void send_many(void)
{
    static int v[MANY + 1];
    int got = 0;
    MPI_Request r[MANY];
    for (int i = 0; i <= MANY; i++)
        v[i] = i;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Isend(&v[i], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r[i]));
    OK(MPI_Sendrecv(&v[MANY], 1, MPI_INT, 1, 1, &got, 1, MPI_INT, 2, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(got, 7);
    OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
}

static void receive_many(const _Atomic int *told)
{
    while (!atomic_load(told))
        usleep(1000);
    for (int i = 0; i <= MANY; i++) {
        int x = -1;
        OK(MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(x, i);
    }
}

int main(void)
{
    MPI_Comm near;
    MPI_Win win;
    _Atomic int *told;
    int size, unit, seven = 7;
    MPI_Aint bytes;
    mpi_start();
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &size));
    if (size < npes)
        check_skip("the ranks share no memory");
    OK(MPI_Win_allocate_shared(me ? 0 : sizeof *told, 1, MPI_INFO_NULL, near, &told, &win));
    OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &told));
    if (me == 0)
        atomic_store(told, 0);
    exchange();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        send_many();
    } else if (me == 1) {
        receive_many(told);
    } else if (me == 2) {
        OK(MPI_Ssend(&seven, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        atomic_store(told, 1);
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&near));
    return mpi_done();
}
