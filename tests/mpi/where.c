// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Each rank waits for what does not come, in a way of its own: where.sh lets the time run out. With an
// argument: for others of the world, once its members have a team of the runtime's, and windows; for room,
// where one receives nothing; unsafe, where two send to each other before they receive.
#include <mpi.h>
#include <shoal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for_ever(int rank)
{
    int word = 0, i;
    MPI_Request request[2];
    shoal_ct_t count;
    shoal_ct_value_t value;
    uint64_t threshold = 1;
    switch (rank) {
    case 0: MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 1: MPI_Ssend(&word, 1, MPI_INT, 2, 9, MPI_COMM_WORLD); break;
    case 2:
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&word, 1, MPI_INT, 5, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, request);
        MPI_Waitany(1, request, &i, MPI_STATUS_IGNORE);
        break;
    case 5: MPI_Probe(3, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 6: MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD); break;
    default:
        shoal_ct_alloc(SHMEM_TEAM_INVALID, &count);
        shoal_ct_wait(1, &count, &threshold, NULL);
        shoal_ct_get(count, &value);
    }
}

// Rank 0 comes to none of them.
static void wait_for_others(int rank)
{
    int word = 0, *base;
    MPI_Request request;
    MPI_Win win;
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_allocate(sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    switch (rank) {
    case 0: pause(); break;
    case 1:
    case 2: MPI_Barrier(MPI_COMM_WORLD); break;
    case 3: MPI_Win_fence(0, win); break;
    case 4: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); break;
    default: MPI_Ibarrier(MPI_COMM_WORLD, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void wait_for_room(int rank)
{
    char data[100] = "";
    while (rank == 0)
        pause();
    for (;;)
        MPI_Send(data, sizeof data, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
}

// Each sends first, which is right only where messages are taken before they are received.
static void send_to_each_other(int rank)
{
    for (int n = 1; n <= 2000; n += 1999) {
        char in[2000], out[2000] = "";
        MPI_Send(out, n, MPI_CHAR, !rank, n, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_CHAR, !rank, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    exit(0);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "unsafe") == 0)
        send_to_each_other(rank);
    if (argc > 1)
        (strcmp(argv[1], "room") ? wait_for_others : wait_for_room)(rank);
    wait_for_ever(rank);
    return 0;
}
