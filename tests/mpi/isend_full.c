// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking sends return though the channel is full: rank 1 is stopped while rank 0 starts sends of
// all kinds to it, and receives what rank 1 sent before, whose answers find no room either. The
// alarm ends a rank 0 that waits. Then rank 1 receives everything, latest tags first. And two ranks
// each of which posts all its sends before it receives anything.
// PES: 2 4
// TIMEOUT: 120
#include "mpi_check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { VICTIM = 1, SHORT = 8, MIDDLE = 1000, LONG = 1 << 20, STEP = 8, MOST = 1000, EARLY = 70 };

// What is sent to rank 1 while it is stopped.
enum how { PLAIN, SYNCHRONOUS, BUFFERED, PERSISTENT, STRIDED, HOWS };
static const struct batch {
    enum how how;
    int count, bytes;
} batches[] = {{PLAIN, MOST, SHORT},       {PLAIN, 100, MIDDLE},     {PLAIN, 100, LONG},
               {SYNCHRONOUS, 100, SHORT},  {SYNCHRONOUS, 20, LONG},  {BUFFERED, 100, SHORT},
               {BUFFERED, 20, MIDDLE},     {PERSISTENT, 100, SHORT}, {PERSISTENT, 20, MIDDLE},
               {STRIDED, 100, MIDDLE / 2}, {STRIDED, 100, SHORT}};
enum { BATCHES = sizeof batches / sizeof *batches };

static unsigned char out[LONG + STEP * MOST], in[LONG], early[EARLY][20000];
static MPI_Request sends[BATCHES][MOST];
static MPI_Datatype strided[BATCHES];
static int early_count; // 0 between nodes, where a receive waits while it gets its data

static const unsigned char *data_of(int i)
{
    return out + STEP * i;
}

static int tag_of(int b, int i)
{
    return b * MOST + i;
}

static void send_one(int b, int i)
{
    const struct batch *batch = &batches[b];
    const unsigned char *data = data_of(i);
    int n = batch->bytes, tag = tag_of(b, i);
    MPI_Request *r = &sends[b][i];
    switch (batch->how) {
    case PLAIN: OK(MPI_Isend(data, n, MPI_BYTE, VICTIM, tag, MPI_COMM_WORLD, r)); break;
    case SYNCHRONOUS: OK(MPI_Issend(data, n, MPI_BYTE, VICTIM, tag, MPI_COMM_WORLD, r)); break;
    case BUFFERED: OK(MPI_Ibsend(data, n, MPI_BYTE, VICTIM, tag, MPI_COMM_WORLD, r)); break;
    case STRIDED: OK(MPI_Isend(data, 1, strided[b], VICTIM, tag, MPI_COMM_WORLD, r)); break;
    default: OK(MPI_Start(r));
    }
}

static void prepare(int b)
{
    OK(MPI_Type_vector(batches[b].bytes / 4, 4, 8, MPI_BYTE, &strided[b]));
    OK(MPI_Type_commit(&strided[b]));
    for (int i = 0; i < batches[b].count && batches[b].how == PERSISTENT; i++)
        OK(MPI_Send_init(data_of(i), batches[b].bytes, MPI_BYTE, VICTIM, tag_of(b, i),
                         MPI_COMM_WORLD, &sends[b][i]));
}

static void finish(int b)
{
    OK(MPI_Waitall(batches[b].count, sends[b], MPI_STATUSES_IGNORE));
    for (int i = 0; i < batches[b].count && batches[b].how == PERSISTENT; i++)
        OK(MPI_Request_free(&sends[b][i]));
    OK(MPI_Type_free(&strided[b]));
}

static unsigned char expected(int b, int i, size_t k)
{
    return data_of(i)[batches[b].how == STRIDED ? k / 4 * 8 + k % 4 : k];
}

static void receive(int b, int i)
{
    MPI_Status status;
    int n;
    OK(MPI_Recv(in, LONG, MPI_BYTE, 0, tag_of(b, i), MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &n));
    CHECK_EQ(n, batches[b].bytes);
    for (int k = 0; k<n; k += n> MIDDLE ? 4093 : 1)
        if (!CHECK_EQ(in[k], expected(b, i, (size_t)k)))
            break;
}

// Each call of rank 0 between the stop and the end of it has to return.
static void send_to_stopped(int pid, MPI_Request parts)
{
    MPI_Request ibcasts[100];
    int flag;
    alarm(60);
    CHECK_EQ(kill(pid, SIGSTOP), 0);
    while (check_process_state((uint64_t)pid) != 'T')
        sched_yield();
    for (int b = 0; b < BATCHES; b++)
        for (int i = 0; i < batches[b].count; i++)
            send_one(b, i);
    for (int i = 0; i < 100; i++)
        OK(MPI_Pready(i, parts));
    for (int i = 0; i < 100; i++)
        OK(MPI_Ibcast(out, SHORT, MPI_BYTE, 0, MPI_COMM_WORLD, &ibcasts[i]));
    for (int i = 0; i < early_count; i++) {
        MPI_Request r;
        OK(MPI_Irecv(early[i], sizeof early[i], MPI_BYTE, VICTIM, i, MPI_COMM_WORLD, &r));
        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        if (!flag)
            OK(MPI_Request_free(&r));
    }
    CHECK_EQ(check_process_state((uint64_t)pid), 'T');
    CHECK_EQ(kill(pid, SIGCONT), 0);
    alarm(0);
    for (int b = 0; b < BATCHES; b++)
        finish(b);
    OK(MPI_Wait(&parts, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&parts));
    OK(MPI_Waitall(100, ibcasts, MPI_STATUSES_IGNORE));
}

static void be_stopped(MPI_Request parts)
{
    for (int b = BATCHES - 1; b >= 0; b--) {
        for (int i = batches[b].count - 1; i >= 0; i--)
            receive(b, i);
        OK(MPI_Type_free(&strided[b]));
    }
    OK(MPI_Wait(&parts, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&parts));
}

static void to_a_stopped_rank(void)
{
    static unsigned char parted[100 * SHORT], buffer[1 << 20];
    MPI_Request parts = MPI_REQUEST_NULL, early_sends[EARLY];
    void *detached;
    int pid = (int)getpid(), size;
    OK(MPI_Bcast(&pid, 1, MPI_INT, VICTIM, MPI_COMM_WORLD));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (int b = 0; b < BATCHES && me < 2; b++)
        prepare(b);
    if (me == 0)
        OK(MPI_Psend_init(out, 100, SHORT, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &parts));
    if (me == VICTIM)
        OK(MPI_Precv_init(parted, 100, SHORT, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &parts));
    if (me < 2)
        OK(MPI_Start(&parts));
    for (int i = 0; i < early_count && me == VICTIM; i++)
        OK(MPI_Isend(out, sizeof early[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, &early_sends[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        send_to_stopped(pid, parts);
    if (me == VICTIM)
        be_stopped(parts);
    for (int i = 0; i < 100 && me != 0; i++) {
        MPI_Request r;
        OK(MPI_Ibcast(in, SHORT, MPI_BYTE, 0, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_MEM(in, out, SHORT, "broadcast");
    }
    if (me == VICTIM) {
        OK(MPI_Waitall(early_count, early_sends, MPI_STATUSES_IGNORE));
        CHECK_MEM(parted, out, sizeof parted, "partitions");
    }
    OK(MPI_Buffer_detach(&detached, &size));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < early_count && me == 0; i++)
        CHECK_MEM(early[i], out, sizeof early[i], "early");
}

// Pairs of ranks; everybody has data of the same bytes.
static void swap(int count, int n)
{
    MPI_Request r[MOST];
    int other = me ^ 1;
    if (other >= npes)
        return;
    for (int i = 0; i < count; i++)
        OK(MPI_Isend(data_of(i), n, MPI_BYTE, other, i, MPI_COMM_WORLD, &r[i]));
    for (int i = count - 1; i >= 0; i--) {
        OK(MPI_Recv(in, n, MPI_BYTE, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(in[0], data_of(i)[0]);
        CHECK_EQ(in[n - 1], data_of(i)[n - 1]);
    }
    OK(MPI_Waitall(count, r, MPI_STATUSES_IGNORE));
}

// Short and long ones in turn, all with one tag: they come in their order.
static void in_order(void)
{
    enum { COUNT = 300 };
    MPI_Request r[COUNT];
    static const int sizes[] = {SHORT, MIDDLE, 0, 3000, 20000, 300, 200000};
    for (int i = 0; i < COUNT && me == 0; i++)
        OK(MPI_Isend(data_of(i), sizes[i % 7], MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r[i]));
    for (int i = 0; i < COUNT && me == 1; i++) {
        MPI_Status status;
        int n;
        OK(MPI_Recv(in, LONG, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &n));
        CHECK_EQ(n, sizes[i % 7]);
        CHECK_MEM(in, data_of(i), (size_t)n, "message");
    }
    if (me == 0)
        OK(MPI_Waitall(COUNT, r, MPI_STATUSES_IGNORE));
}

int main(void)
{
    uint64_t is_direct = 0;
    mpi_start();
    fill(out, sizeof out, 5);
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, VICTIM, &is_direct), 0);
    early_count = is_direct ? EARLY : 0;
    OK(MPI_Bcast(&early_count, 1, MPI_INT, 0, MPI_COMM_WORLD));
    to_a_stopped_rank();
    swap(500, SHORT);
    swap(500, LONG);
    in_order();
    return mpi_done();
}
