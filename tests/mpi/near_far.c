// SPDX-License-Identifier: BSD-3-Clause
// Two ranks of a node that answer each other without a pause, each message taken as it comes, still see
// to the other node: messages of every length from there end, though nobody waits for them, and are
// there when their turn comes.
// PES: 3
// NODES: 1
// ENV: SHOAL_VNODES=2
#include "mpi_check.h"

enum { LONGEST = 1 << 20 };

static unsigned char far_data[LONGEST], word[64];

static void answer(int with, bool is_first, int tag)
{
    if (is_first)
        OK(MPI_Send(word, 8, MPI_BYTE, with, tag, MPI_COMM_WORLD));
    OK(MPI_Recv(word, 8, MPI_BYTE, with, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!is_first)
        OK(MPI_Send(word, 8, MPI_BYTE, with, tag, MPI_COMM_WORLD));
}

// Ranks 0 and 1 until rank 2 says, by a word of a window, that its message has gone.
static void play(MPI_Comm apart, volatile int *gone, int n, int round)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (me == 0)
        OK(MPI_Irecv(far_data, n, MPI_BYTE, 2, round, apart, &request));
    for (bool is_over = false; !is_over;) {
        is_over = *gone == round;
        word[0] = is_over;
        answer(1 - me, me == 0, 1);
        is_over = me == 0 ? is_over : word[0];
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; me == 0 && i < n; i++)
        if (!CHECK_EQ(far_data[i], fill_byte((unsigned)round, (size_t)i)))
            break;
}

static void send_there(MPI_Comm apart, MPI_Win win, int n, int round)
{
    fill(far_data, (size_t)n, (unsigned)round);
    OK(MPI_Ssend(far_data, n, MPI_BYTE, 0, round, apart));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Put(&round, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
}

int main(void)
{
    static const int lengths[] = {0, 8, 100, 5000, 70000, LONGEST};
    MPI_Comm apart;
    MPI_Win win;
    int *gone;
    check_skip_under_tsan();
    mpi_start();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &apart));
    OK(MPI_Win_allocate(sizeof *gone, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &gone, &win));
    *gone = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < (int)(sizeof lengths / sizeof lengths[0]); i++) {
        if (me < 2)
            play(apart, gone, lengths[i], i + 1);
        else if (me == 2)
            send_there(apart, win, lengths[i], i + 1);
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&apart));
    return mpi_done();
}
