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

static bool is_empty(MPI_Status *s)
{
    int n = -1, cancelled = 1;
    OK(MPI_Get_count(s, MPI_INT, &n));
    OK(MPI_Test_cancelled(s, &cancelled));
    return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG &&
           s->MPI_ERROR == MPI_SUCCESS && n == 0 && !cancelled;
}

// Where nothing is active all is done, and the status is the empty one; an inactive persistent request is none.
static void none_active(void)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int x, indices[2];
    OK(MPI_Recv_init(&x, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &r[1]));
    for (int turn = 0; turn < 9; turn++) {
        MPI_Status s[2];
        int flag = 0, n = 7;
        memset(s, 7, sizeof s);
        switch (turn) {
        case 0: OK(MPI_Testany(2, r, &n, &flag, s)); break;
        case 1: OK(MPI_Waitany(2, r, &n, s)); break;
        case 2: OK(MPI_Request_get_status_any(2, r, &n, &flag, s)); break;
        case 3: OK(MPI_Waitsome(2, r, &n, indices, s)); break;
        case 4: OK(MPI_Testsome(2, r, &n, indices, s)); break;
        case 5: OK(MPI_Request_get_status_some(2, r, &n, indices, s)); break;
        case 6: OK(MPI_Waitall(2, r, s)); break;
        case 7: OK(MPI_Request_get_status_all(2, r, &flag, s)); break;
        default: OK(MPI_Request_get_status(r[1], &flag, s));
        }
        CHECK_EQ(n, turn < 6 ? MPI_UNDEFINED : 7);
        CHECK(turn == 1 || (turn >= 3 && turn <= 6) || flag == 1);
        CHECK(is_empty(&s[0]) || (turn >= 3 && turn <= 5));
        CHECK(is_empty(&s[1]) || turn < 6 || turn > 7);
    }
    OK(MPI_Testany(0, NULL, &x, indices, MPI_STATUS_IGNORE));
    CHECK(x == MPI_UNDEFINED && indices[0] == 1);
    OK(MPI_Request_free(&r[1]));
}

// Both fail: of each it is in its status, also where they are looked at before.
static void all_fail(void)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int in[2], out[2] = {1, 2}, flag = 0, n = 0, indices[2];
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 2; i++)
            OK(MPI_Irecv(&in[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &r[i]));
        for (int i = 0; i < 2; i++)
            OK(MPI_Send(out, 2, MPI_INT, me, i, MPI_COMM_WORLD));
        int error = MPI_SUCCESS;
        for (flag = 0; !flag;) // an error is told when all are done
            error = MPI_Request_get_status_all(2, r, &flag, s);
        CHECK_EQ(class_of(error), MPI_ERR_IN_STATUS);
        CHECK(class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE &&
              class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        memset(s, 0, sizeof s);
        switch (turn) {
        case 0: error = MPI_Waitall(2, r, s); break;
        case 1: error = MPI_Testall(2, r, &flag, s); break;
        default: error = MPI_Waitsome(2, r, &n, indices, s);
        }
        CHECK_EQ(class_of(error), MPI_ERR_IN_STATUS);
        CHECK(class_of(s[0].MPI_ERROR) == MPI_ERR_TRUNCATE &&
              class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    }
    CHECK_EQ(n, 2);
}

static MPI_Comm handled;
static int handled_code;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    handled = *comm;
    handled_code = class_of(*code);
}

// The communicator whose operation has failed has the handler, also among those of others.
static void whose_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm c;
    OK(MPI_Comm_create_errhandler(on_error, &handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    OK(MPI_Comm_set_errhandler(c, handler));
    OK(MPI_Errhandler_free(&handler));
    for (int turn = 0; turn < 8; turn++) {
        MPI_Request r[3];
        MPI_Status s[3];
        int in[3], out[2] = {0}, flag = 0, n = 0, indices[3];
        for (int i = 0; i < 3; i++)
            OK(MPI_Irecv(&in[i], 1, MPI_INT, me, i, i == 1 ? c : MPI_COMM_WORLD, &r[i]));
        for (int i = 0; i < 3; i++)
            OK(MPI_Send(out, i == 1 ? 2 : 1, MPI_INT, me, i, i == 1 ? c : MPI_COMM_WORLD));
        handled = MPI_COMM_NULL;
        for (; turn >= 3 && !flag; flag = flag || handled != MPI_COMM_NULL)
            switch (turn) {
            case 3: MPI_Testall(3, r, &flag, s); break;
            case 4: MPI_Request_get_status_all(3, r, &flag, s); break;
            case 5: MPI_Request_get_status(r[1], &flag, s); break;
            case 6: MPI_Request_get_status_some(3, r, &n, indices, s); break;
            default: MPI_Test(&r[1], &flag, s);
            }
        switch (turn) {
        case 0: MPI_Waitall(3, r, s); break;
        case 1: MPI_Wait(&r[1], s); break;
        case 2:
            while (handled == MPI_COMM_NULL)
                MPI_Waitsome(3, r, &n, indices, s);
        }
        CHECK(handled == c);
        CHECK_EQ(handled_code, turn % 2 == 1 && turn != 3 ? MPI_ERR_TRUNCATE : MPI_ERR_IN_STATUS);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    }
    OK(MPI_Comm_free(&c));
}

// Whoever looks long enough sees what others do, by whatever call.
static void looks(void)
{
    for (int turn = 0; turn < 7; turn++) {
        MPI_Request r[2];
        MPI_Status s[2];
        int in = -1, flag = 0, n = 0, indices[2];
        OK(MPI_Issend(&turn, 1, MPI_INT, right_pe(), 20, MPI_COMM_WORLD, &r[0]));
        r[1] = MPI_REQUEST_NULL;
        if (turn < 5) // of any it would be the other one
            OK(MPI_Irecv(&in, 1, MPI_INT, left_pe(), 20, MPI_COMM_WORLD, &r[1]));
        else
            OK(MPI_Recv(&in, 1, MPI_INT, left_pe(), 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        while (!flag)
            switch (turn) {
            case 0: OK(MPI_Request_get_status_all(2, r, &flag, s)); break;
            case 1: OK(MPI_Testall(2, r, &flag, s)); break;
            case 2:
                OK(MPI_Request_get_status_some(2, r, &n, indices, s));
                flag = n == 2;
                break;
            case 3:
                OK(MPI_Testsome(2, r, &n, indices, s));
                flag = n == MPI_UNDEFINED;
                break;
            case 4: OK(MPI_Request_get_status(r[n], &flag, s)), flag = flag && n++ == 1; break;
            case 5: OK(MPI_Request_get_status_any(2, r, &n, &flag, s)); break;
            default: OK(MPI_Testany(2, r, &n, &flag, s));
            }
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        CHECK_EQ(in, turn);
    }
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
    none_active();
    all_fail();
    whose_handler();
    looks();
    get_status();
    both_ways();
    return mpi_done();
}
