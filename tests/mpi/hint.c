// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 posts receives and stops; rank 0's sends to them end all the same, and when rank 1 lives
// again one look completes each. Then what may not be copied early, because something older would
// match or the receive has been cancelled, goes where MPI's order says. And what came before its receive
// was posted. The alarm ends a rank 0 that waits.
// PES: 2 4
// NODES: 1
// TIMEOUT: 120
#include "mpi_check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { RECEIVER = 1, LONG = 1 << 20, ROOM = LONG + 64, SLOTS = 8, SAID = 99 };

static unsigned char out[2 * LONG], in[SLOTS][ROOM];
static int process;        // of rank 1
static int sender_process; // of rank 0

static MPI_Request post(int slot, int source, int tag)
{
    MPI_Request r;
    memset(in[slot], 0, sizeof in[slot]);
    OK(MPI_Irecv(in[slot], LONG, MPI_BYTE, source, tag, MPI_COMM_WORLD, &r));
    return r;
}

static void wait_until_stopped(int pid)
{
    while (check_process_state((uint64_t)pid) != 'T')
        sched_yield();
}

// Rank 1 has posted what it posts; it comes back from here when rank 0 continues it.
static void stop(void)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    // What rank 1 says of its receives comes before this, also where tiny queues make it wait.
    if (me == RECEIVER)
        OK(MPI_Ssend(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD));
    if (me == 0)
        OK(MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (me == RECEIVER)
        CHECK_EQ(raise(SIGSTOP), 0);
    if (me == 0)
        wait_until_stopped(process);
    alarm(me == 0 ? 60 : 0);
}

static void go_on(void)
{
    CHECK_EQ(check_process_state((uint64_t)process), 'T');
    CHECK_EQ(kill(process, SIGCONT), 0);
    alarm(0);
}

// One look: the data is there.
static void expect_done(MPI_Request *r, int slot, const unsigned char *data, size_t n)
{
    MPI_Status status;
    int flag = 0, count = -1;
    OK(MPI_Test(r, &flag, &status));
    if (!CHECK(flag))
        OK(MPI_Wait(r, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, n);
    CHECK_EQ(status.MPI_SOURCE, 0);
    CHECK_MEM(in[slot], data, n, "message");
    CHECK_EQ(in[slot][n], 0);
}

enum kind { PLAIN, SYNCHRONOUS, SHORTER, STRIDED, LATER, PERSISTENT, KINDS };

static void send_one(enum kind kind)
{
    MPI_Datatype strided;
    MPI_Request r;
    int n = kind == SHORTER ? 10000 : LONG;
    switch (kind) {
    case SYNCHRONOUS: OK(MPI_Ssend(out, n, MPI_BYTE, RECEIVER, kind, MPI_COMM_WORLD)); break;
    case LATER:
        OK(MPI_Isend(out, n, MPI_BYTE, RECEIVER, kind, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        break;
    case STRIDED:
        OK(MPI_Type_vector(LONG / 64, 64, 128, MPI_BYTE, &strided));
        OK(MPI_Type_commit(&strided));
        OK(MPI_Send(out, 1, strided, RECEIVER, kind, MPI_COMM_WORLD));
        OK(MPI_Type_free(&strided));
        break;
    default: OK(MPI_Send(out, n, MPI_BYTE, RECEIVER, kind, MPI_COMM_WORLD));
    }
}

// answered: rank 0 has told rank 1 of a receive, too.
static void to_a_stopped_rank(enum kind kind, bool answered)
{
    static unsigned char packed[LONG];
    MPI_Request r = MPI_REQUEST_NULL, answer = MPI_REQUEST_NULL;
    for (int i = 0; i < LONG; i++)
        packed[i] = out[i / 64 * 128 + i % 64];
    OK(MPI_Barrier(MPI_COMM_WORLD)); // nothing is on its way
    if (me == RECEIVER && kind == PERSISTENT) {
        memset(in[kind], 0, sizeof in[kind]);
        OK(MPI_Recv_init(in[kind], LONG, MPI_BYTE, 0, kind, MPI_COMM_WORLD, &r));
        OK(MPI_Start(&r));
    } else if (me == RECEIVER) {
        r = post(kind, 0, kind);
    }
    if (me == 0 && answered)
        answer = post(KINDS, RECEIVER, KINDS);
    stop();
    if (me == 0) {
        send_one(kind);
        go_on();
    }
    if (me == RECEIVER) {
        expect_done(&r, kind, kind == STRIDED ? packed : out, kind == SHORTER ? 10000 : LONG);
        if (kind == PERSISTENT)
            OK(MPI_Request_free(&r));
        if (answered)
            OK(MPI_Send(out, LONG, MPI_BYTE, 0, KINDS, MPI_COMM_WORLD));
    }
    if (me == 0 && answered) {
        OK(MPI_Wait(&answer, MPI_STATUS_IGNORE));
        CHECK_MEM(in[KINDS], out, LONG, "answer");
    }
}

// Not one byte past the buffer.
static void truncated(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == RECEIVER) {
        memset(in[0], 0, sizeof in[0]);
        OK(MPI_Irecv(in[0], LONG / 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r));
    }
    stop();
    if (me == 0) {
        OK(MPI_Send(out, LONG, MPI_BYTE, RECEIVER, 0, MPI_COMM_WORLD));
        go_on();
    }
    if (me == RECEIVER) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
        CHECK_MEM(in[0], out, LONG / 2, "what fits");
        CHECK_EQ(in[0][LONG / 2], 0);
    }
}

// Rank 1 posts receives for these sources and tags and, when rank 0 has begun to send, waits for all.
static void in_order(int n, const int source[], const int tag[], int sends, const int sent_tag[],
                     const int sent_bytes[], const int to[])
{
    MPI_Request r[SLOTS];
    for (int i = 0; i < n && me == RECEIVER; i++)
        r[i] = post(i, source[i], tag[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        for (int i = 0; i < sends; i++)
            OK(MPI_Isend(out + i, sent_bytes[i], MPI_BYTE, RECEIVER, sent_tag[i], MPI_COMM_WORLD,
                         &r[i]));
        OK(MPI_Waitall(sends, r, MPI_STATUSES_IGNORE));
    }
    if (me == RECEIVER) {
        OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < sends; i++)
            CHECK_MEM(in[to[i]], out + i, (size_t)sent_bytes[i], "message");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}
#define INTS(...) ((const int[]){__VA_ARGS__})

static void orders(void)
{
    enum { ANY = MPI_ANY_SOURCE, TAG = MPI_ANY_TAG };
    // Older ones for any source or tag take the first.
    in_order(2, INTS(ANY, 0), INTS(1, 1), 2, INTS(1, 1), INTS(LONG, LONG), INTS(0, 1));
    in_order(2, INTS(0, 0), INTS(TAG, 1), 2, INTS(1, 1), INTS(LONG, LONG), INTS(0, 1));
    in_order(3, INTS(0, ANY, 0), INTS(2, TAG, 1), 3, INTS(1, 2, 1), INTS(LONG, LONG, LONG),
             INTS(1, 0, 2));
    // Younger ones do not.
    in_order(2, INTS(0, ANY), INTS(1, TAG), 2, INTS(1, 3), INTS(LONG, LONG), INTS(0, 1));
    // Of one tag: short ones, staged ones and long ones between each other.
    in_order(4, INTS(0, 0, 0, 0), INTS(1, 1, 1, 1), 4, INTS(1, 1, 1, 1), INTS(LONG, 8, 5000, LONG),
             INTS(0, 1, 2, 3));
    in_order(4, INTS(0, 0, 0, 0), INTS(1, 1, 1, 1), 4, INTS(1, 1, 1, 1), INTS(8, LONG, LONG, 5000),
             INTS(0, 1, 2, 3));
}

// The older one is not told of, for its own reason, and then neither is the younger.
static void behind_an_untold_one(bool is_strided)
{
    MPI_Request r[2];
    MPI_Datatype strided;
    OK(MPI_Type_vector(LONG / 128, 64, 128, MPI_BYTE, &strided));
    OK(MPI_Type_commit(&strided));
    if (me == RECEIVER) {
        MPI_Request any = is_strided ? MPI_REQUEST_NULL : post(2, MPI_ANY_SOURCE, 1);
        r[0] = post(0, 0, 1);
        if (is_strided) {
            OK(MPI_Cancel(&r[0]));
            OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
            OK(MPI_Irecv(in[0], 1, strided, 0, 1, MPI_COMM_WORLD, &r[0]));
        } else {
            OK(MPI_Cancel(&any));
            OK(MPI_Wait(&any, MPI_STATUS_IGNORE));
        }
        r[1] = post(1, 0, 1);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2 && me == 0; i++)
        OK(MPI_Isend(out + i, LONG / 2, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD, &r[i]));
    if (me < 2)
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    if (me == RECEIVER) {
        CHECK_EACH(k, LONG / 2, in[0][is_strided ? k / 64 * 128 + k % 64 : k], out[k]);
        CHECK_MEM(in[1], out + 1, LONG / 2, "message");
    }
    OK(MPI_Type_free(&strided));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void cancelled(void)
{
    MPI_Status status;
    int flag;
    if (me == RECEIVER) {
        MPI_Request r = post(0, 0, 1);
        OK(MPI_Cancel(&r));
        OK(MPI_Wait(&r, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
    }
    in_order(1, INTS(0), INTS(1), 1, INTS(1), INTS(LONG), INTS(0));
    // While the message comes: either it is received or it is not.
    for (int i = 0; i < 200; i++) {
        MPI_Request r = me == RECEIVER ? post(0, 0, 1) : MPI_REQUEST_NULL;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (me == 0)
            OK(MPI_Send(out, 20000, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD));
        if (me == RECEIVER) {
            OK(MPI_Cancel(&r));
            OK(MPI_Wait(&r, &status));
            OK(MPI_Test_cancelled(&status, &flag));
            if (flag)
                OK(MPI_Recv(in[0], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_MEM(in[0], out, 20000, "message");
        }
    }
}

// Everybody with everybody: few tags, all kinds of receives, all sizes, in an order that both know.
static void random_traffic(uint64_t seed)
{
    enum { MESSAGES = 60, TAGS = 3 };
    static unsigned char to[MESSAGES][40000];
    MPI_Request r[MESSAGES];
    int tag[MESSAGES], size[MESSAGES], n = 0;
    for (int i = 0; i < MESSAGES; i++) {
        tag[i] = (int)rnd_below(&seed, TAGS);
        size[i] = (int)rnd_below(&seed, rnd_below(&seed, 2) ? 40000 : 3000);
    }
    int pairs = npes / 2 * 2, other = me ^ 1;
    if (me >= pairs)
        return;
    uint64_t mine = seed + (uint64_t)me;
    for (int i = 0; i < MESSAGES && me % 2 == 0; i++) {
        OK(MPI_Isend(out + i, size[i], MPI_BYTE, other, tag[i], MPI_COMM_WORLD, &r[n++]));
        if (rnd_below(&mine, 8) == 0)
            OK(MPI_Wait(&r[--n], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < MESSAGES && me % 2 == 1; i++) {
        bool is_wild = rnd_below(&mine, 4) == 0;
        OK(MPI_Irecv(to[i], sizeof to[i], MPI_BYTE, is_wild ? MPI_ANY_SOURCE : other, tag[i],
                     MPI_COMM_WORLD, &r[n++]));
        if (rnd_below(&mine, 8) == 0)
            OK(MPI_Wait(&r[--n], MPI_STATUS_IGNORE));
    }
    OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MESSAGES && me % 2 == 1; i++)
        CHECK_MEM(to[i], out + i, (size_t)size[i], "message");
}

// What is there before its receive is posted is not copied by the call that posts it, and yet by a sender
// that waits while the receiver computes. The alarm ends a rank 1 that looks in vain.
static void came_before(MPI_Count n)
{
    MPI_Request r;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        OK(MPI_Isend(out, (int)n, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD, &r));
        OK(MPI_Ssend(NULL, 0, MPI_BYTE, RECEIVER, SAID, MPI_COMM_WORLD));
        CHECK_EQ(raise(SIGSTOP), 0);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(raise(SIGSTOP), 0); // the message is gone
    } else if (me == RECEIVER) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        alarm(60);
        wait_until_stopped(sender_process);
        r = post(0, 0, 1);
        CHECK_EACH(i, (size_t)n, in[0][i], 0);
        CHECK_EQ(kill(sender_process, SIGCONT), 0);
        for (const volatile unsigned char *at = in[0] + n - 1; *at != out[n - 1];)
            sched_yield(); // computes
        wait_until_stopped(sender_process);
        CHECK_EQ(kill(sender_process, SIGCONT), 0);
        alarm(0);
        expect_done(&r, 0, out, (size_t)n);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    // Or by the next call.
    if (me == 0) {
        OK(MPI_Isend(out, (int)n, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD, &r));
        OK(MPI_Ssend(NULL, 0, MPI_BYTE, RECEIVER, SAID, MPI_COMM_WORLD));
        CHECK_EQ(raise(SIGSTOP), 0);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else if (me == RECEIVER) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        wait_until_stopped(sender_process);
        r = post(0, 0, 1);
        expect_done(&r, 0, out, (size_t)n);
        CHECK_EQ(kill(sender_process, SIGCONT), 0);
    }
}

// A sender that has slept for long follows as soon: it would wake by itself only after 16 ms. (Who shares
// its core with others may be late now and then.)
static bool are_soon(void)
{
    enum { TIMES = 6 };
    MPI_Request r;
    int soon = 0;
    for (int i = 0; i < TIMES; i++) {
        if (me == 0) {
            OK(MPI_Isend(out, LONG, MPI_BYTE, RECEIVER, 1, MPI_COMM_WORLD, &r));
            OK(MPI_Send(NULL, 0, MPI_BYTE, RECEIVER, SAID, MPI_COMM_WORLD));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else if (me == RECEIVER) {
            OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            usleep(60000);
            r = post(0, 0, 1);
            usleep(8000); // computes
            soon += in[0][LONG - 1] == out[LONG - 1];
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            CHECK_MEM(in[0], out, LONG, "message");
        }
    }
    OK(MPI_Bcast(&soon, 1, MPI_INT, RECEIVER, MPI_COMM_WORLD));
    return soon > TIMES / 2;
}

static void came_to_a_sleeper(void)
{
    uint64_t is_crowded = 0;
    int tries = 10;
    CHECK_EQ(shoal_query(SHOAL_Q_CROWDED, 0, &is_crowded), 0);
    while (!is_crowded && tries && !are_soon())
        tries--;
    CHECK(tries > 0);
}

// What nobody waits for has been received all the same when all have left the communicator.
static void given_up(void)
{
    MPI_Comm own;
    MPI_Request r;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
    if (me == 0) {
        OK(MPI_Isend(out, LONG, MPI_BYTE, RECEIVER, 1, own, &r));
        OK(MPI_Ssend(NULL, 0, MPI_BYTE, RECEIVER, SAID, MPI_COMM_WORLD));
        OK(MPI_Request_free(&r));
    } else if (me == RECEIVER) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        usleep(10000); // rank 0 has gone there, too
        memset(in[0], 0, sizeof in[0]);
        OK(MPI_Irecv(in[0], LONG, MPI_BYTE, 0, 1, own, &r));
        OK(MPI_Request_free(&r));
    }
    OK(MPI_Comm_disconnect(&own));
    if (me == RECEIVER)
        CHECK_MEM(in[0], out, LONG, "message");
}

// Both send and receive, and post in either order, so that messages come before, between and after.
static void exchanges(void)
{
    MPI_Request r[4];
    int other = me ^ 1, n = 300000;
    if (other >= npes)
        return;
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 2; k++) {
            memset(in[k], 0, (size_t)n);
            bool is_first = (i >> k & 1) == 0;
            if (is_first)
                OK(MPI_Irecv(in[k], LONG, MPI_BYTE, other, k, MPI_COMM_WORLD, &r[2 * k]));
            OK(MPI_Isend(out + i + k, n << k, MPI_BYTE, other, k, MPI_COMM_WORLD, &r[2 * k + 1]));
            if (!is_first)
                OK(MPI_Irecv(in[k], LONG, MPI_BYTE, i & 4 ? MPI_ANY_SOURCE : other, k,
                             MPI_COMM_WORLD, &r[2 * k]));
        }
        OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        for (int k = 0; k < 2; k++)
            CHECK_MEM(in[k], out + i + k, (size_t)n << k, "message");
    }
}

int main(void)
{
    uint64_t reaches = 0;
    mpi_start();
    fill(out, sizeof out, 3);
    process = (int)getpid();
    sender_process = process;
    OK(MPI_Bcast(&process, 1, MPI_INT, RECEIVER, MPI_COMM_WORLD));
    OK(MPI_Bcast(&sender_process, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, RECEIVER, &reaches), 0);
    if (reaches) {
        for (int kind = 0; kind < KINDS; kind++)
            for (int answered = 0; answered < 2; answered++)
                to_a_stopped_rank((enum kind)kind, answered);
        truncated();
        came_before(LONG);
        came_before(LONG / 2);
        came_to_a_sleeper();
        given_up();
    }
    exchanges();
    orders();
    behind_an_untold_one(false);
    behind_an_untold_one(true);
    cancelled();
    for (uint64_t seed = 1; seed <= 100; seed++)
        random_traffic(seed);
    return mpi_done();
}
