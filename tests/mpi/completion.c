// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Communication Completion" and "Persistent Communication Requests".
// ALSO: 16
#include "mpi_check.h"

enum { N = 12 };

static void any_and_some(void)
{
    MPI_Request r[N];
    int value[N], index, seen[N] = {0}, left = N, out, indices[N];
    MPI_Status s[N];
    for (int i = 0; i < N; i++)
        OK(MPI_Irecv(&value[i], 1, MPI_INT, (me - 1 + npes) % npes, i, MPI_COMM_WORLD, &r[i]));
    for (int i = N - 1; i >= 0; i--)
        OK(MPI_Send(&i, 1, MPI_INT, (me + 1) % npes, i, MPI_COMM_WORLD));
    for (int i = 0; i < N / 2; i++, left--) {
        OK(MPI_Waitany(N, r, &index, &s[0]));
        CHECK(r[index] == MPI_REQUEST_NULL);
        CHECK_EQ(s[0].MPI_TAG, index);
        seen[index]++;
    }
    while (left > 0) {
        OK(MPI_Waitsome(N, r, &out, indices, s));
        CHECK(out >= 1);
        for (int i = 0; i < out; i++, left--) {
            seen[indices[i]]++;
            CHECK_EQ(s[i].MPI_TAG, indices[i]);
        }
    }
    CHECK_EACH(i, N, seen[i], 1);
    CHECK_EACH(i, N, value[i], i);
    OK(MPI_Waitany(N, r, &index, &s[0]));
    CHECK_EQ(index, MPI_UNDEFINED);
    OK(MPI_Testsome(N, r, &out, indices, s));
    CHECK_EQ(out, MPI_UNDEFINED);
    int flag = 0;
    OK(MPI_Testall(N, r, &flag, s));
    CHECK(flag);
    CHECK_EQ(s[3].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(s[3].MPI_TAG, MPI_ANY_TAG);
}

static void persistent(void)
{
    MPI_Request r[2];
    MPI_Status s;
    int in = -1, out = 0, flag = 0;
    OK(MPI_Recv_init(&in, 1, MPI_INT, (me - 1 + npes) % npes, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Ssend_init(&out, 1, MPI_INT, (me + 1) % npes, 1, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Test(&r[0], &flag, &s)); // inactive: done at once, with an empty status
    CHECK(flag);
    CHECK_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
    for (int i = 0; i < 20; i++) {
        out = me * 100 + i;
        OK(MPI_Startall(2, r));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        CHECK(r[0] != MPI_REQUEST_NULL);
        CHECK_EQ(in, (me - 1 + npes) % npes * 100 + i);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

// An error of one of several is in its status, and the call says so.
static void in_status(void)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int small[2], large[4] = {1, 2, 3, 4};
    OK(MPI_Irecv(small, 2, MPI_INT, me, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Irecv(&small[1], 1, MPI_INT, me, 2, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Send(large, 4, MPI_INT, me, 1, MPI_COMM_WORLD));
    OK(MPI_Send(large, 1, MPI_INT, me, 2, MPI_COMM_WORLD));
    CHECK_EQ(class_of(MPI_Waitall(2, r, s)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(s[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
    s[0].MPI_ERROR = s[1].MPI_ERROR = 77; // which stays where nothing fails
    for (int i = 0; i < 2; i++)
        OK(MPI_Irecv(&small[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &r[i]));
    for (int i = 0; i < 2; i++)
        OK(MPI_Send(large, 1, MPI_INT, me, i, MPI_COMM_WORLD));
    OK(MPI_Waitall(2, r, s));
    CHECK(s[0].MPI_ERROR == 77 && s[1].MPI_ERROR == 77);
    for (int i = 0; i < 2; i++)
        OK(MPI_Irecv(&small[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &r[i]));
    OK(MPI_Send(large, 1, MPI_INT, me, 0, MPI_COMM_WORLD));
    OK(MPI_Send(large, 4, MPI_INT, me, 1, MPI_COMM_WORLD)); // the second one fails
    CHECK_EQ(class_of(MPI_Waitall(2, r, s)), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(class_of(s[1].MPI_ERROR), MPI_ERR_TRUNCATE);
}

static void get_status(void)
{
    MPI_Request r;
    MPI_Status s;
    int in = 0, flag = 1, n = -1;
    OK(MPI_Irecv(&in, 1, MPI_INT, me, 8, MPI_COMM_WORLD, &r));
    OK(MPI_Request_get_status(r, &flag, &s));
    CHECK_EQ(flag, 0);
    OK(MPI_Send(&me, 1, MPI_INT, me, 8, MPI_COMM_WORLD));
    while (!flag)
        OK(MPI_Request_get_status(r, &flag, &s));
    OK(MPI_Get_count(&s, MPI_INT, &n));
    CHECK_EQ(n, 1);
    CHECK(r != MPI_REQUEST_NULL);
    OK(MPI_Wait(&r, &s));
    CHECK_EQ(in, me);
}

static void both_ways(void)
{
    int right = (me + 1) % npes, left = (me - 1 + npes) % npes, a = me, b = -1;
    MPI_Request r;
    MPI_Status s;
    OK(MPI_Sendrecv_replace(&a, 1, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, &s));
    CHECK_EQ(a, left);
    OK(MPI_Isendrecv(&me, 1, MPI_INT, right, 2, &b, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &s));
    CHECK_EQ(b, left);
    CHECK_EQ(s.MPI_SOURCE, left);
    OK(MPI_Isendrecv_replace(&b, 1, MPI_INT, left, 3, right, 3, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &s));
    CHECK_EQ(b, me);
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    any_and_some();
    persistent();
    in_status();
    get_status();
    both_ways();
    return mpi_done();
}
