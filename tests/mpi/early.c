// SPDX-License-Identifier: BSD-3-Clause
// Messages that come before their receive. A process whose last receive has got its message takes no more of
// them out of its inbox, where they would be kept and copied twice: two that exchange messages again and again
// would fall into doing so for every other one. And of those that wait in their sender's shared memory
// (stage.c) a nonblocking receive copies nothing itself: received in another order, with gaps, cut short,
// or by a request that is freed.
// PES: 2 4
#include "mpi_check.h"

#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 200, LONG = 100000, SHORT = 4096, PIECES = 1000, MANY = 12 };

// In memory that all reach, of the rank after this one and of the one before: how often it has posted its
// first receive and sent both messages.
struct done {
    _Atomic int posted, sent;
};
static struct done *mine, *of_next, *of_before;
static MPI_Win win;
static int next, before;

static struct done *done_of(int rank)
{
    void *at;
    MPI_Aint size;
    int unit;
    OK(MPI_Win_shared_query(win, rank, &size, &unit, &at));
    return at;
}

// False: the ranks are on several nodes.
static bool share(void)
{
    MPI_Comm node;
    int here;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &here));
    OK(MPI_Comm_free(&node));
    if (here < npes)
        return false;
    OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    *mine = (struct done){0};
    of_next = done_of(next);
    of_before = done_of(before);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return true;
}

// Without a call that would take messages out.
static void wait_until(_Atomic int *word, int n)
{
    while (atomic_load(word) < n)
        sched_yield();
}

static void last_receive(void)
{
    struct counter unexpected = counter_start("unexpected");
    unsigned long long were = counter_read(&unexpected);
    for (int i = 1; i <= ROUNDS; i++) {
        MPI_Request r;
        int first = -1, second = -1, number[2] = {2 * i, 2 * i + 1};
        OK(MPI_Irecv(&first, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &r));
        atomic_store(&mine->posted, i);
        wait_until(&of_next->posted, i);
        OK(MPI_Send(&number[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD));
        OK(MPI_Send(&number[1], 1, MPI_INT, next, 2, MPI_COMM_WORLD));
        atomic_store(&mine->sent, i);
        wait_until(&of_before->sent, i);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Irecv(&second, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(first, 2 * i);
        CHECK_EQ(second, 2 * i + 1);
    }
    // Sends look at the inbox now and then, too; without the rule it is one in every round.
    CHECK(counter_read(&unexpected) - were < ROUNDS / 4);
    counter_end(&unexpected);
}

static MPI_Request sent[64];
static int sends;

// Sends n bytes and has those that come in the queue of unexpected messages.
static void send_early(const void *data, int n, int tag)
{
    int has_come = 0;
    OK(MPI_Isend(data, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &sent[sends++]));
    while (!has_come)
        OK(MPI_Iprobe(before, tag, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE));
}

static void in_another_order(const unsigned char *out, int n)
{
    MPI_Request r[MANY];
    unsigned char *in = must_alloc((size_t)MANY * LONG);
    memset(in, 0, (size_t)MANY * LONG);
    for (int i = 0; i < MANY; i++)
        send_early(out + i, n, i);
    for (int i = 0; i < MANY; i++)
        OK(MPI_Irecv(in + (size_t)i * LONG, n, MPI_BYTE, before, i ^ 1, MPI_COMM_WORLD, &r[i]));
    for (int i = MANY - 1; i >= 0; i--) {
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
        CHECK_EQ(memcmp(in + (size_t)i * LONG, out + (i ^ 1), (size_t)n), 0);
    }
    free(in);
}

static void with_gaps(const unsigned char *out)
{
    static int in[2 * PIECES];
    MPI_Datatype every_other;
    MPI_Request r;
    OK(MPI_Type_vector(PIECES, 1, 2, MPI_INT, &every_other));
    OK(MPI_Type_commit(&every_other));
    memset(in, 0xff, sizeof in);
    send_early(out, PIECES * (int)sizeof(int), 3);
    OK(MPI_Irecv(in, 1, every_other, before, 3, MPI_COMM_WORLD, &r));
    OK(MPI_Type_free(&every_other));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < PIECES; i++) {
        int piece;
        memcpy(&piece, out + (size_t)i * sizeof piece, sizeof piece);
        CHECK_EQ(in[2 * i], piece);
        CHECK_EQ(in[2 * i + 1], -1);
    }
}

static void cut_short(const unsigned char *out, int n)
{
    MPI_Request r;
    unsigned char *in = must_alloc(LONG);
    memset(in, 0, LONG);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    send_early(out, n, 4);
    OK(MPI_Irecv(in, n / 2, MPI_BYTE, before, 4, MPI_COMM_WORLD, &r));
    CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT));
    CHECK_EQ(memcmp(in, out, (size_t)n / 2), 0);
    CHECK_EQ(in[n / 2], 0);
    free(in);
}

static void by_a_freed_request(const unsigned char *out, int n)
{
    MPI_Request r;
    int flag;
    volatile unsigned char *in = must_alloc(LONG);
    for (int i = 0; i < n; i++)
        in[i] = (unsigned char)~out[i];
    send_early(out, n, 5);
    OK(MPI_Irecv((void *)(uintptr_t)in, n, MPI_BYTE, before, 5, MPI_COMM_WORLD, &r));
    OK(MPI_Request_free(&r));
    for (int i = 0; i < n; i++) // its sender may copy a part of it, and be the last to do so
        while (in[i] != out[i])
            OK(MPI_Iprobe(before, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    free((void *)(uintptr_t)in);
}

int main(void)
{
    unsigned char *out = must_alloc(LONG + MANY);
    mpi_start();
    next = (me + 1) % npes;
    before = (me + npes - 1) % npes;
    fill(out, LONG + MANY, 1);
    if (share())
        last_receive();
    for (int n = SHORT; n; n = n == SHORT ? LONG : 0) {
        in_another_order(out, n);
        cut_short(out, n);
        by_a_freed_request(out, n);
    }
    with_gaps(out);
    OK(MPI_Waitall(sends, sent, MPI_STATUSES_IGNORE));
    if (mine)
        OK(MPI_Win_free(&win));
    free(out);
    return mpi_done();
}
