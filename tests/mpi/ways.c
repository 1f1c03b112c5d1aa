// SPDX-License-Identifier: BSD-3-Clause
// The ways a message can go, told apart by the counters. ways.sh runs it with settings that force
// them: ways NAME VALUE... wants a counter to be VALUE where it is given, "some" for more than 0.
// Rank 0 sends to rank 1, which then compares; the counters of both are added.
// PES: none
#include "mpi_check.h"

enum { LONG = 300000, MANY = 100 };

static unsigned char out[LONG], in[LONG];
static int begun, seen; // messages, at rank 1
static bool follows;

static void message(int n, int tag)
{
    if (me == 0) {
        fill(out, (size_t)n, (unsigned)tag);
        OK(MPI_Send(out, n, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
    } else {
        memset(in, 0, sizeof in);
        OK(MPI_Recv(in, n, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EACH(i, n, in[i], fill_byte((unsigned)tag, i));
    }
}

// Rank 1 has posted its receive. Where the sender is to follow its hint, it calls nothing before that has
// begun: who follows is faster than the receiver.
static void expected_message(int n, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    memset(in, 0, sizeof in);
    if (me == 1)
        OK(MPI_Irecv(in, n, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &r));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        fill(out, (size_t)n, (unsigned)tag);
        if (follows) {
            OK(MPI_Isend(out, n, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r));
            shmem_int_atomic_inc(&begun, 1);
        } else {
            OK(MPI_Send(out, n, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
        }
    } else if (follows) {
        while (shmem_int_atomic_fetch(&begun, 1) == seen)
            sched_yield();
        seen++;
    }
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (me == 1)
        CHECK_EACH(i, n, in[i], fill_byte((unsigned)tag, i));
}

// Rank 1 receives none of them until all have been sent.
static void flood(void)
{
    static unsigned char each[MANY][100];
    MPI_Request r[MANY];
    for (int i = 0; i < MANY && me == 0; i++) {
        fill(each[i], sizeof each[i], (unsigned)i);
        OK(MPI_Isend(each[i], sizeof each[i], MPI_BYTE, 1, i, MPI_COMM_WORLD, &r[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = MANY - 1; i >= 0 && me == 1; i--) {
        OK(MPI_Recv(in, LONG, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EACH(k, sizeof each[i], in[k], fill_byte((unsigned)i, k));
    }
    if (me == 0)
        OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
}

static void buffered_message(void)
{
    enum { N = 100 };
    static char room[N + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    if (me == 1) {
        OK(MPI_Recv(in, N, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return;
    }
    OK(MPI_Buffer_attach(room, sizeof room));
    OK(MPI_Bsend(out, N, MPI_BYTE, 1, 8, MPI_COMM_WORLD));
    OK(MPI_Buffer_detach(&detached, &size));
}

static unsigned long long count(const char *name)
{
    unsigned long long mine, sum = 0;
    struct counter counter = counter_start(name);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 0; tag < 3; tag++)
        message(LONG, tag);
    message(0, 3);
    message(100, 4);
    buffered_message();
    expected_message(LONG, 6);
    flood();
    if (me == 0)
        OK(MPI_Ssend(out, 10, MPI_BYTE, 1, 5, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(in, 10, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mine = counter_read(&counter);
    counter_end(&counter);
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

int main(int argc, char **argv)
{
    mpi_start();
    shmem_init();
    for (int i = 1; i + 1 < argc; i += 2) // in all counts: what is not followed is pulled
        follows |= strcmp(argv[i], "hint_followed") == 0 && strcmp(argv[i + 1], "0") != 0;
    if (me == 1) // done, it leaves none under way
        OK(MPI_Ssend(out, 10, MPI_BYTE, 0, 7, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(in, 10, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 1; i + 1 < argc; i += 2) {
        unsigned long long n = count(argv[i]);
        bool ok = strcmp(argv[i + 1], "some") == 0 ? n > 0 : n == strtoull(argv[i + 1], NULL, 10);
        if (!ok && me == 0)
            fprintf(stderr, "%s is %llu, expected %s\n", argv[i], n, argv[i + 1]);
        CHECK(ok);
    }
    shmem_finalize();
    return mpi_done();
}
