// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Non-Destructive Test of status": of one, of all, of any and of some requests, which are
// what they were afterwards.
#include "mpi_check.h"

enum { N = 3 };

static MPI_Request r[N];
static MPI_Status s[N];
static int index_of, flag, count, indices[N];

static void check_empty(const MPI_Status *status)
{
    int n = -1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(status, MPI_INT, &n));
    CHECK_EQ(n, 0);
}

static void look(void)
{
    index_of = flag = count = -9;
    OK(MPI_Request_get_status_any(N, r, &index_of, &flag, &s[0]));
    OK(MPI_Request_get_status_some(N, r, &count, indices, s));
}

static void none_done(void)
{
    look();
    CHECK_EQ(flag, 0);
    CHECK_EQ(index_of, MPI_UNDEFINED);
    CHECK_EQ(count, 0);
    OK(MPI_Request_get_status_all(N, r, &flag, s));
    CHECK_EQ(flag, 0);
}

static void third_done(void)
{
    do
        look();
    while (count == 0);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(count, 1);
        CHECK_EQ(indices[0], 2);
        CHECK_EQ(s[0].MPI_TAG, 51);
        CHECK_EQ(s[0].MPI_SOURCE, me);
        CHECK(r[2] != MPI_REQUEST_NULL);
        look();
        CHECK_EQ(flag, 1);
        CHECK_EQ(index_of, 2);
    }
    OK(MPI_Request_get_status_all(N, r, &flag, s));
    CHECK_EQ(flag, 0);
}

static void all_done(void)
{
    int n = -1, is_cancelled = -1;
    OK(MPI_Request_get_status_all(N, r, &flag, s));
    CHECK_EQ(flag, 1);
    OK(MPI_Test_cancelled(&s[0], &is_cancelled));
    CHECK_EQ(is_cancelled, 1);
    check_empty(&s[1]);
    OK(MPI_Test_cancelled(&s[2], &is_cancelled));
    CHECK_EQ(is_cancelled, 0);
    OK(MPI_Get_count(&s[2], MPI_INT, &n));
    CHECK_EQ(n, 1);
    OK(MPI_Request_get_status_all(N, r, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 1);
}

// Null requests and inactive ones are done, with an empty status.
static void nothing(void)
{
    look();
    CHECK_EQ(flag, 1);
    CHECK_EQ(index_of, MPI_UNDEFINED);
    check_empty(&s[0]);
    CHECK_EQ(count, MPI_UNDEFINED);
    OK(MPI_Request_get_status_all(N, r, &flag, s));
    CHECK_EQ(flag, 1);
    for (int i = 0; i < N; i++)
        check_empty(&s[i]);
    OK(MPI_Request_get_status(r[0], &flag, &s[0]));
    CHECK_EQ(flag, 1);
    check_empty(&s[0]);
}

// What is wrong is told by each of them, as by the call that ends it.
static void truncated(void)
{
    int out[2] = {1, 2}, in = 0, error;
    OK(MPI_Irecv(&in, 1, MPI_INT, me, 52, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Send(out, 2, MPI_INT, me, 52, MPI_COMM_WORLD));
    do
        error = MPI_Request_get_status(r[0], &flag, &s[0]);
    while (!flag);
    CHECK_EQ(class_of(error), MPI_ERR_TRUNCATE);
    CHECK_EQ(s[0].MPI_TAG, 52);
    CHECK_EQ(class_of(MPI_Request_get_status_any(1, r, &index_of, &flag, &s[0])), MPI_ERR_TRUNCATE);
    CHECK_EQ(index_of, 0);
    CHECK_EQ(class_of(MPI_Request_get_status_some(1, r, &count, indices, s)), MPI_ERR_IN_STATUS);
    CHECK_EQ(count, 1);
    CHECK_EQ(class_of(s[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    s[0].MPI_ERROR = MPI_SUCCESS;
    CHECK_EQ(class_of(MPI_Request_get_status_all(1, r, &flag, s)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(s[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    CHECK_EQ(class_of(MPI_Request_get_status_all(1, r, &flag, MPI_STATUSES_IGNORE)),
             MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(MPI_Wait(&r[0], &s[0])), MPI_ERR_TRUNCATE);
}

int main(void)
{
    int in[2] = {-1, -1};
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Irecv(&in[0], 1, MPI_INT, me, 50, MPI_COMM_WORLD, &r[0]));
    r[1] = MPI_REQUEST_NULL;
    OK(MPI_Irecv(&in[1], 1, MPI_INT, me, 51, MPI_COMM_WORLD, &r[2]));
    none_done();
    OK(MPI_Send(&me, 1, MPI_INT, me, 51, MPI_COMM_WORLD));
    third_done();
    OK(MPI_Cancel(&r[0]));
    all_done();
    OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(in[1], me);
    nothing();
    OK(MPI_Recv_init(in, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &r[0]));
    nothing();
    OK(MPI_Request_free(&r[0]));
    truncated();
    return mpi_done();
}
