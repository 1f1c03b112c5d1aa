// SPDX-License-Identifier: BSD-3-Clause
// What rank 1 matches while it posts a long send of its own is received by the calls that follow, some messages each, and
// not there and then, as rank 0 waits for that send. What has come before its receive is there when that has been
// posted, however much room there is. A deferred receive may be freed or cancelled, and its communicator freed.
// PES: 2
// NODES: 1
#include "mpi_check.h"

#include <sched.h>
#include <shmem.h>
#include <shoal.h>
#include <stdlib.h>

enum { RECEIVER = 1, MANY = 40, N = 9000, ROOM = 100000, OWN = 1 << 20 };

static int ready, sent; // said by no protocol of MPI's
static unsigned char *out, *in, *long_one;
static MPI_Comm comm;
static MPI_Request send[MANY], receive[MANY], own;
static struct counter counter;
static bool reaches; // each the other one's private memory

static unsigned char *part(unsigned char *data, int i)
{
    return data + (size_t)i * N;
}

static int filled(int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += part(in, i)[0] == i + 1 && part(in, i)[N - 1] == i + 1;
    return count;
}

static void await(int *word)
{
    while (!shmem_int_atomic_swap(word, 0, me))
        sched_yield();
}

// Rank 0 has sent n, and rank 1, which makes no progress meanwhile, has receives for them.
static void exchange(int n)
{
    memset(in, 0, (size_t)MANY * N);
    for (int i = 0; i < n && me == RECEIVER; i++)
        OK(MPI_Irecv(part(in, i), N, MPI_BYTE, 0, i, comm, &receive[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == RECEIVER)
        shmem_int_atomic_set(&ready, 1, 0);
    else
        await(&ready);
    for (int i = 0; i < n && me == 0; i++) {
        memset(part(out, i), i + 1, N);
        OK(MPI_Issend(part(out, i), N, MPI_BYTE, RECEIVER, i, comm, &send[i]));
    }
    if (me == 0)
        shmem_int_atomic_set(&sent, 1, RECEIVER);
    else
        await(&sent);
}

static void send_own(void)
{
    if (me == RECEIVER)
        OK(MPI_Issend(long_one, OWN, MPI_BYTE, 0, OWN, comm, &own));
}

static void end_others(int n)
{
    if (me == RECEIVER)
        OK(MPI_Wait(&own, MPI_STATUS_IGNORE));
    else {
        OK(MPI_Recv(long_one, OWN, MPI_BYTE, RECEIVER, OWN, comm, MPI_STATUS_IGNORE));
        OK(MPI_Waitall(n, send, MPI_STATUSES_IGNORE));
    }
}

// In HOSTILE builds some wait at their sender, and come only with these calls.
static void some_a_call(void)
{
    int calls = 0, flag = 0;
    unsigned long long kept = counter_read(&counter);
    exchange(MANY);
    kept = counter_read(&counter) - kept;
    send_own();
    if (me == RECEIVER)
        CHECK_EQ(filled(MANY), 0);
    for (; me == RECEIVER && !flag; calls++)
        OK(MPI_Testall(MANY, receive, &flag, MPI_STATUSES_IGNORE));
    if (me == RECEIVER)
        CHECK_EQ(filled(MANY), MANY);
    end_others(MANY);
    OK(MPI_Bcast(&kept, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
    CHECK(calls <= MANY / 2 || kept > 0);
}

static void came_before(int room)
{
    int flag = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        memset(out, 1, N);
        OK(MPI_Ssend(out, N, MPI_BYTE, RECEIVER, 0, comm));
        return;
    }
    memset(in, 0, N);
    while (!flag)
        OK(MPI_Iprobe(0, 0, comm, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(in, room, MPI_BYTE, 0, 0, comm, receive));
    if (reaches)
        CHECK_EQ(filled(1), 1);
    OK(MPI_Wait(receive, MPI_STATUS_IGNORE));
}

static void freed(void)
{
    enum { FEW = 3 };
    exchange(FEW);
    send_own();
    for (int i = 0; i < FEW && me == RECEIVER; i++)
        OK(MPI_Request_free(&receive[i]));
    end_others(FEW);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == RECEIVER)
        CHECK_EQ(filled(FEW), FEW);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
}

// It is too late: it has been matched.
static void cancelled(void)
{
    int flag;
    MPI_Status status;
    exchange(1);
    send_own();
    if (me == RECEIVER) {
        OK(MPI_Cancel(receive));
        OK(MPI_Wait(receive, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK_EQ(flag, 0);
        CHECK_EQ(filled(1), 1);
    }
    end_others(1);
}

int main(void)
{
    uint64_t is_reached = 0;
    mpi_start();
    shmem_init();
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, 1 - me, &is_reached), 0);
    reaches = is_reached;
    counter = counter_start("kept");
    out = calloc(MANY, N);
    in = calloc(MANY, N);
    long_one = calloc(1, OWN);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 3; i++) {
        came_before(N);
        came_before(ROOM);
        freed();
        if (reaches) {
            some_a_call();
            cancelled();
        }
    }
    OK(MPI_Comm_free(&comm));
    counter_end(&counter);
    free(out);
    free(in);
    free(long_one);
    shmem_finalize();
    return mpi_done();
}
