// SPDX-License-Identifier: BSD-3-Clause
// Short nonblocking messages in a row, which may travel together between nodes: windows of them, some long
// or blocking or synchronous or of a persistent request among them, arrive in order and whole; and also
// when their sender computes without a call, before it has waited for them or after.
// PES: 1 2 4 7
// ENV: SHOAL_VNODES=2
#include "mpi_check.h"

#include <sched.h>
#include <shoal.h>

enum { WINDOW = 50, WINDOWS = 10, LONGEST = 3000, FEW = 10 };

static unsigned char out[WINDOW][LONGEST], in[LONGEST];

static int length(int from, int to, int i)
{
    unsigned x = (unsigned)(from * 131 + to * 31 + i) * 2654435761u >> 12;
    return x % 9 == 0 ? (int)(x % LONGEST) : (int)(x % 200);
}

static unsigned char byte_of(int from, int i)
{
    return (unsigned char)(from * 41 + i * 7 + 1);
}

static void send_one(int to, int i, MPI_Request *r)
{
    unsigned char *data = out[i % WINDOW];
    int n = length(me, to, i);
    *r = MPI_REQUEST_NULL;
    memset(data, byte_of(me, i), (size_t)n);
    switch (i % 13) {
    case 5: OK(MPI_Send(data, n, MPI_BYTE, to, 0, MPI_COMM_WORLD)); break;
    case 8: OK(MPI_Issend(data, n, MPI_BYTE, to, 0, MPI_COMM_WORLD, r)); break;
    case 11:
        OK(MPI_Send_init(data, n, MPI_BYTE, to, 0, MPI_COMM_WORLD, r));
        OK(MPI_Start(r));
        OK(MPI_Wait(r, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(r));
        break;
    default: OK(MPI_Isend(data, n, MPI_BYTE, to, 0, MPI_COMM_WORLD, r));
    }
}

static void recv_one(int from, int i)
{
    MPI_Status s;
    int n = 0, tag = i < 0 ? 1 : 0;
    OK(MPI_Recv(in, LONGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    CHECK_EQ(n, i < 0 ? 1 : length(from, me, i));
    for (int k = 0; i >= 0 && k < n; k++)
        if (!CHECK_EQ(in[k], byte_of(from, i)))
            break;
}

// From each even rank to the next one, and back.
static void windows(bool is_sender, int other)
{
    MPI_Request r[WINDOW];
    for (int i = 0; i < WINDOW * WINDOWS; i++) {
        if (is_sender)
            send_one(other, i, &r[i % WINDOW]);
        else
            recv_one(other, i);
        if (is_sender && i % WINDOW == WINDOW - 1)
            OK(MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE));
    }
}

// There is room for a few, but in HOSTILE builds, where the first may have to wait for its sender to call.
static bool is_room(void)
{
    uint64_t most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &most), SHOAL_OK);
    return most >= 1024;
}

enum how { COMPUTE_FIRST, WAIT_FIRST, GIVE_UP, BUFFERED, SEND_RECEIVE, HOWS };

static void send_few(enum how how, MPI_Request *r)
{
    for (int i = 0; i < FEW; i++) {
        r[i] = MPI_REQUEST_NULL;
        if (how == BUFFERED)
            OK(MPI_Bsend(out, 1, MPI_BYTE, npes - 1, 1, MPI_COMM_WORLD));
        else if (how == SEND_RECEIVE)
            OK(MPI_Isendrecv(out, 1, MPI_BYTE, npes - 1, 1, in, 1, MPI_BYTE, MPI_PROC_NULL, 1,
                             MPI_COMM_WORLD, &r[i]));
        else
            OK(MPI_Isend(out, 1, MPI_BYTE, npes - 1, 1, MPI_COMM_WORLD, &r[i]));
        if (how == GIVE_UP)
            OK(MPI_Request_free(&r[i]));
    }
    if (how == WAIT_FIRST || how == SEND_RECEIVE)
        OK(MPI_Waitall(FEW, r, MPI_STATUSES_IGNORE));
}

// The last rank tells rank 0 by a put that all have come; rank 0 calls nothing before.
static void compute_after(enum how how, MPI_Win win, int *word)
{
    static const int one = 1;
    MPI_Request r[FEW];
    int last = npes - 1;
    *word = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        send_few(how, r);
    for (int i = 0; me == last && i < FEW; i++)
        recv_one(0, -1);
    if (me == last) {
        OK(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
    }
    while (me == 0 && !*(volatile int *)word)
        sched_yield();
    if (me == 0)
        OK(MPI_Waitall(FEW, r, MPI_STATUSES_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(void)
{
    MPI_Win win;
    int *word, size;
    void *at;
    static char buffer[FEW * (1 + MPI_BSEND_OVERHEAD)];
    check_skip_under_tsan(); // the orders of other nodes
    mpi_start();
    int other = me ^ 1;
    for (int back = 0; other < npes && back < 2; back++)
        windows(me % 2 == back, other);
    OK(MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (enum how how = 0; npes > 1 && how < HOWS; how++)
        if (is_room() || how == WAIT_FIRST || how == SEND_RECEIVE)
            compute_after(how, win, word);
    OK(MPI_Buffer_detach(&at, &size));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    return mpi_done();
}
