// SPDX-License-Identifier: BSD-3-Clause
// The edges of point-to-point: truncation, nothing sent, nobody there, oneself, thousands of messages
// that nobody expected, synchronous sends, requests that are freed early, cancelled receives.
#include "mpi_check.h"

enum { LARGE = 100000, FLOOD = 5000 };

static unsigned char a[LARGE + 1], b[LARGE + 1];

static void truncation(void)
{
    MPI_Status s;
    int other = me ^ 1;
    if (other >= npes)
        return;
    for (int n = 16; n <= LARGE; n = n * 9 + 5) {
        fill(a, (size_t)n, 3);
        memset(b, 0x55, sizeof b);
        if (me % 2 == 0) {
            OK(MPI_Send(a, n, MPI_BYTE, other, 5, MPI_COMM_WORLD));
            continue;
        }
        int error = MPI_Recv(b, n - 1, MPI_BYTE, other, 5, MPI_COMM_WORLD, &s);
        CHECK_EQ(class_of(error), MPI_ERR_TRUNCATE);
        CHECK_EQ(b[n - 1], 0x55); // not one byte past the buffer
        CHECK_EQ(b[0], fill_byte(3, 0));
    }
}

static void empty(void)
{
    MPI_Status s;
    int n = -1;
    OK(MPI_Sendrecv(NULL, 0, MPI_INT, (me + 1) % npes, 9, NULL, 0, MPI_INT, (me - 1 + npes) % npes,
                    9, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, MPI_INT, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Send(a, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(a, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    CHECK_EQ(n, 0);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s.MPI_TAG, MPI_ANY_TAG);
}

static void oneself(void)
{
    for (int n = 1; n <= LARGE; n = n * 7 + 1) {
        MPI_Request r[2];
        MPI_Status s[2];
        fill(a, (size_t)n, (unsigned)n);
        memset(b, 0, (size_t)n);
        OK(MPI_Isend(a, n, MPI_BYTE, me, 1, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Irecv(b, n, MPI_BYTE, me, 1, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, s));
        CHECK_MEM(b, a, (size_t)n, "a message to oneself");
        OK(MPI_Irecv(b, n, MPI_BYTE, 0, 1, MPI_COMM_SELF, &r[0]));
        OK(MPI_Ssend(a, n, MPI_BYTE, 0, 1, MPI_COMM_SELF));
        OK(MPI_Wait(&r[0], &s[0]));
        CHECK_EQ(s[0].MPI_SOURCE, 0);
    }
}

// All send to rank 0, which takes them in the opposite order of their tags.
static void flood(void)
{
    if (me != 0) {
        MPI_Request *r = malloc(FLOOD * sizeof *r);
        int *value = malloc(FLOOD * sizeof *value);
        for (int i = 0; i < FLOOD; i++) {
            value[i] = me * FLOOD + i;
            OK(MPI_Isend(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]));
        }
        OK(MPI_Waitall(FLOOD, r, MPI_STATUSES_IGNORE));
        free(r);
        free(value);
        return;
    }
    for (int from = 1; from < npes; from++)
        for (int i = FLOOD - 1; i >= 0; i--) {
            int got = -1;
            OK(MPI_Recv(&got, 1, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (!CHECK_EQ(got, from * FLOOD + i))
                return;
        }
}

// A synchronous send ends only when its receive has begun.
static void synchronous(void)
{
    MPI_Request r;
    int done = 1, value = me;
    if (npes < 2 || me > 1)
        return;
    if (me == 0) {
        OK(MPI_Issend(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &r));
        for (int i = 0; i < 1000; i++) {
            OK(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
            CHECK_EQ(done, 0);
            if (done)
                return;
        }
        OK(MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(value, 0);
    }
}

static void cancel(void)
{
    MPI_Request r;
    MPI_Status s;
    int flag = 0, value = -1;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &r));
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &s));
    OK(MPI_Test_cancelled(&s, &flag));
    CHECK(flag);
    OK(MPI_Irecv(&value, 1, MPI_INT, me, 78, MPI_COMM_WORLD, &r));
    OK(MPI_Send(&me, 1, MPI_INT, me, 78, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, &s));
    OK(MPI_Test_cancelled(&s, &flag));
    CHECK(!flag);
    CHECK_EQ(value, me);
}

// MPI_Request_free: the message goes on.
static void freed(void)
{
    MPI_Request r;
    int right = (me + 1) % npes, left = (me - 1 + npes) % npes;
    fill(a, LARGE, (unsigned)me);
    OK(MPI_Isend(a, LARGE, MPI_BYTE, right, 6, MPI_COMM_WORLD, &r));
    OK(MPI_Request_free(&r));
    CHECK(r == MPI_REQUEST_NULL);
    OK(MPI_Recv(b, LARGE, MPI_BYTE, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(b[LARGE - 1], fill_byte((unsigned)left, LARGE - 1));
    OK(MPI_Barrier(MPI_COMM_WORLD)); // a may be changed after all have received
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    truncation();
    empty();
    oneself();
    flood();
    synchronous();
    cancel();
    freed();
    return mpi_done();
}
