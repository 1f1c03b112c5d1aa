// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Probe and Cancel": what a probe says is what the next receive takes; a message that a
// matched probe took is nobody else's.
#include "mpi_check.h"

enum { ROUNDS = 60, LARGEST = 20000 };

static unsigned char out[LARGEST], in[LARGEST];

static int length(int from, int i)
{
    static const int sizes[] = {0, 4, 32, 1000, 3000, LARGEST};
    return sizes[(from + i) % 6];
}

static void receive(int i, bool matched)
{
    MPI_Status s, t;
    MPI_Message m;
    int n = -1, flag = 0, again = -1;
    if (matched && i % 2)
        OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s));
    else if (matched)
        while (!flag)
            OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s));
    else if (i % 2)
        OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    else
        while (!flag)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    CHECK_EQ(n, length(s.MPI_SOURCE, s.MPI_TAG));
    memset(in, 0, sizeof in);
    if (matched) {
        OK(MPI_Mrecv(in, n, MPI_BYTE, &m, &t));
        CHECK(m == MPI_MESSAGE_NULL);
    } else {
        OK(MPI_Recv(in, n, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &t));
    }
    OK(MPI_Get_count(&t, MPI_BYTE, &again));
    CHECK_EQ(again, n);
    CHECK_EQ(t.MPI_SOURCE, s.MPI_SOURCE);
    CHECK_EQ(t.MPI_TAG, s.MPI_TAG);
    CHECK_EACH(k, n, in[k], fill_byte((unsigned)(s.MPI_SOURCE * 100 + s.MPI_TAG), k));
}

// A message's number leads to it until it is received, and then to the message that has its place.
static void numbers(void)
{
    MPI_Message m[2];
    MPI_Request r[2];
    int number[2], got = -1, first = 0, sent[2] = {0, 1};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++)
            OK(MPI_Isend(&sent[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &r[i]));
        for (int i = 0; i < 2; i++) {
            OK(MPI_Mprobe(me, i, MPI_COMM_WORLD, &m[i], MPI_STATUS_IGNORE));
            number[i] = MPI_Message_toint(m[i]);
            CHECK(MPI_Message_fromint(number[i]) == m[i]);
        }
        first = round == 0 ? number[0] : first;
        CHECK_EQ(number[0], first);
        for (int i = 0; i < 2; i++) {
            OK(MPI_Mrecv(&got, 1, MPI_INT, &m[i], MPI_STATUS_IGNORE));
            CHECK_EQ(got, i);
            CHECK(MPI_Message_fromint(number[i]) == MPI_MESSAGE_NULL);
        }
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
}

// A message keeps its communicator, and that its handler.
static void communicator_is_gone(void)
{
    int out[2] = {0}, in = 1;
    MPI_Comm c;
    MPI_Message m;
    MPI_Request r;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    OK(MPI_Isend(out, 2, MPI_INT, 0, 5, c, &r));
    OK(MPI_Mprobe(0, 5, c, &m, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&c));
    CHECK_EQ(class_of(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    CHECK_EQ(in, 0);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(void)
{
    mpi_start();
    numbers();
    for (int matched = 0; matched < 2; matched++) {
        if (me != 0) {
            for (int i = 0; i < ROUNDS; i++) {
                fill(out, (size_t)length(me, i), (unsigned)(me * 100 + i));
                OK(MPI_Send(out, length(me, i), MPI_BYTE, 0, i, MPI_COMM_WORLD));
            }
        } else {
            for (int i = 0; i < ROUNDS * (npes - 1); i++)
                receive(i, matched);
            int flag = 1;
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK_EQ(flag, 0);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    communicator_is_gone();
    MPI_Status s;
    MPI_Message m;
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, &s));
    CHECK(m == MPI_MESSAGE_NO_PROC);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Mrecv(NULL, 0, MPI_INT, &m, &s));
    CHECK(m == MPI_MESSAGE_NULL);
    return mpi_done();
}
