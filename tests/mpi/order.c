// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Semantics of Point-to-Point Communication": messages of one sender with tags that both
// match a receive are received in the order in which they were sent, whatever their size and mode
// and however they travel; receives match in the order in which they were posted.
// ALSO: 16
#include "mpi_check.h"

enum { MESSAGES = 400, LARGEST = 40000 };

static unsigned char out[LARGEST], in[8][LARGEST];

static int size_of(uint64_t *state)
{
    static const int sizes[] = {0, 1, 8, 32, 33, 100, 2000, 2040, 2048, 2049, 5000, LARGEST};
    return sizes[rnd_below(state, 12)];
}

static void send_all(int to)
{
    uint64_t state = 7 + (uint64_t)to;
    for (int i = 0; i < MESSAGES; i++) {
        int n = size_of(&state), mode = (int)rnd_below(&state, 3), tag = (int)rnd_below(&state, 2);
        fill(out, (size_t)n, (unsigned)i);
        if (mode == 0)
            OK(MPI_Send(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD));
        else if (mode == 1)
            OK(MPI_Ssend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD));
        else {
            MPI_Request r;
            OK(MPI_Isend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
    }
}

static void check_message(const unsigned char *data, int n, int i, const MPI_Status *s, int from,
                          int tag)
{
    int count = -1;
    OK(MPI_Get_count(s, MPI_BYTE, &count));
    CHECK_EQ(count, n);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, tag);
    for (int k = 0; k < n; k++)
        if (data[k] != fill_byte((unsigned)i, (size_t)k)) {
            CHECK_EQ(data[k], fill_byte((unsigned)i, (size_t)k));
            return;
        }
}

// Some receives are posted before, some after; all take any tag of one source, or of any source.
static void receive_all(int from, int source)
{
    uint64_t state = 7 + (uint64_t)me;
    for (int i = 0; i < MESSAGES;) {
        MPI_Request r[8];
        MPI_Status s[8];
        int n[8], tag[8], group = MESSAGES - i < 8 ? MESSAGES - i : 8;
        for (int k = 0; k < group; k++) {
            n[k] = size_of(&state);
            rnd_below(&state, 3);
            tag[k] = (int)rnd_below(&state, 2);
            OK(MPI_Irecv(in[k], LARGEST, MPI_BYTE, k % 2 ? source : from,
                         k % 3 ? MPI_ANY_TAG : tag[k], MPI_COMM_WORLD, &r[k]));
        }
        OK(MPI_Waitall(group, r, s));
        for (int k = 0; k < group; k++)
            check_message(in[k], n[k], i + k, &s[k], from, tag[k]);
        i += group;
    }
}

// Receives of one tag after the messages of another that came before.
static void out_of_order(void)
{
    int other = me ^ 1, a = me * 10 + 1, b = me * 10 + 2, c, d;
    MPI_Request first;
    if (other >= npes)
        return;
    if (me % 2 == 0) {
        OK(MPI_Isend(&a, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &first));
        OK(MPI_Send(&b, 1, MPI_INT, other, 2, MPI_COMM_WORLD));
        OK(MPI_Wait(&first, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(&d, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&c, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        CHECK_EQ(c, other * 10 + 1);
        CHECK_EQ(d, other * 10 + 2);
    }
}

int main(void)
{
    mpi_start();
    int right = (me + 1) % npes, left = (me - 1 + npes) % npes;
    for (int wild = 0; wild < 2; wild++) {
        if (me % 2 == 0 && right % 2 == 1)
            send_all(right);
        if (npes > 1 && me % 2 == 1)
            receive_all(left, wild ? MPI_ANY_SOURCE : left);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    out_of_order();
    return mpi_done();
}
