// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Partitioned Point-to-Point Communication": partitions that differ between the sides, any
// order of Pready, pairing in the order of the init calls, several runs of one request.
#include "mpi_check.h"

enum { RUNS = 3 };

static int *out, *in;

static int value(int rank, int run, int i)
{
    return rank * 1000000 + run * 100000 + i;
}

static void send_all(MPI_Request send, int partitions, int run)
{
    int list[64], n = 0;
    for (int i = partitions - 1; i >= partitions / 2; i--)
        list[n++] = i;
    OK(MPI_Pready_list(n, list, send));
    if (partitions > 3)
        OK(MPI_Pready_range(1, partitions / 2 - 1, send));
    for (int i = 1; i < partitions / 2 && partitions <= 3; i++)
        OK(MPI_Pready(i, send));
    if (partitions > 1 && run % 2 == 0) { // the receiver misses partition 0
        int flag;
        OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
    if (partitions / 2 > 0)
        OK(MPI_Pready(0, send));
}

static void watch(MPI_Request recv, int partitions, int count, int run)
{
    for (int i = partitions - 1; i >= 0; i--) {
        int flag = 0;
        while (!flag)
            OK(MPI_Parrived(recv, i, &flag));
        CHECK_EACH(k, count, in[i * count + (int)k], value(left_pe(), run, i * count + (int)k));
    }
}

// n ints in so many partitions on either side.
static void exchange(int n, int from, int to, bool recv_first)
{
    MPI_Request send, recv;
    MPI_Status s;
    int flag = 0, got = 0;
    if (recv_first)
        OK(MPI_Precv_init(in, to, n / to, MPI_INT, left_pe(), 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &recv));
    else
        MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Psend_init(out, from, n / from, MPI_INT, right_pe(), 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &send));
    if (!recv_first)
        OK(MPI_Precv_init_c(in, to, n / to, MPI_INT, left_pe(), 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &recv));
    OK(MPI_Parrived(recv, 0, &flag)); // inactive
    CHECK_EQ(flag, 1);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < n; i++)
            out[i] = value(me, run, i);
        memset(in, -1, (size_t)n * sizeof *in);
        if (run % 2) {
            OK(MPI_Start(&send));
            send_all(send, from, run);
            OK(MPI_Start(&recv));
        } else {
            OK(MPI_Start(&recv));
            OK(MPI_Start(&send));
            send_all(send, from, run);
        }
        if (run != 1)
            watch(recv, to, n / to, run);
        OK(MPI_Wait(&recv, &s));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_EACH(i, n, in[i], value(left_pe(), run, (int)i));
        CHECK_EQ(s.MPI_SOURCE, left_pe());
        CHECK_EQ(s.MPI_TAG, 7);
        OK(MPI_Get_count(&s, MPI_INT, &got));
        CHECK_EQ(got, n);
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
}

// Two of the same tag are paired in the order of their init calls, however they are started.
static void order(void)
{
    MPI_Request send[2], recv[2];
    int a[2] = {10 + me, 20 + me}, b[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        OK(MPI_Psend_init(&a[i], 1, 1, MPI_INT, right_pe(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &send[i]));
    for (int i = 0; i < 2; i++)
        OK(MPI_Precv_init(&b[i], 1, 1, MPI_INT, left_pe(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &recv[i]));
    int c = -1;
    MPI_Request other; // an ordinary message of the same tag is another matter
    OK(MPI_Irecv(&c, 1, MPI_INT, left_pe(), 1, MPI_COMM_WORLD, &other));
    for (int i = 1; i >= 0; i--) {
        OK(MPI_Start(&send[i]));
        OK(MPI_Pready(0, send[i]));
    }
    OK(MPI_Startall(2, recv));
    OK(MPI_Waitall(2, recv, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, send, MPI_STATUSES_IGNORE));
    CHECK_EQ(b[0], 10 + left_pe());
    CHECK_EQ(b[1], 20 + left_pe());
    OK(MPI_Send(&me, 1, MPI_INT, right_pe(), 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    CHECK_EQ(c, left_pe());
    for (int i = 0; i < 2; i++) {
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&recv[i]));
    }
}

// Two that are under way at once, the second in more partitions than the first, which all are ready before:
// none is taken for one of the other's.
static void two_at_once(void)
{
    MPI_Request send[2], recv[2];
    int from[2][8], to[2][8];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 8; k++) {
            from[i][k] = value(me, i, k);
            to[i][k] = -1;
        }
        OK(MPI_Psend_init(from[i], i ? 8 : 2, i ? 1 : 4, MPI_INT, right_pe(), i, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &send[i]));
        OK(MPI_Precv_init(to[i], i ? 8 : 2, i ? 1 : 4, MPI_INT, left_pe(), i, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &recv[i]));
    }
    OK(MPI_Startall(2, recv));
    OK(MPI_Startall(2, send));
    for (int i = 0; i < 250; i++) { // nor one of a collective
        MPI_Request r;
        int sum = 0;
        OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(sum, npes * (npes - 1) / 2);
    }
    OK(MPI_Pready_range(0, 7, send[1]));
    OK(MPI_Pready_range(0, 1, send[0]));
    OK(MPI_Waitall(2, send, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, recv, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; i++) {
        CHECK_EACH(k, 8, to[i][k], value(left_pe(), i, (int)k));
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&recv[i]));
    }
}

// More than the receiver has room for: its error, and not one byte behind its buffer. Of the next message no more.
static void too_much(void)
{
    MPI_Request send, recv;
    MPI_Status s;
    for (int i = 0; i < 8; i++) {
        out[i] = value(me, 0, i);
        in[i] = -1;
    }
    OK(MPI_Psend_init(out, 4, 2, MPI_INT, right_pe(), 4, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, 1, 3, MPI_INT, left_pe(), 4, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    OK(MPI_Start(&recv));
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, 3, send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(class_of(MPI_Wait(&recv, &s)), MPI_ERR_TRUNCATE);
    CHECK_EACH(i, 8, in[i], i < 3 ? value(left_pe(), 0, (int)i) : -1);
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
}

// The receiver, who knows of all of them, asks in another order of their tags.
static void by_tag(void)
{
    MPI_Request send[3], recv[3];
    int from[3], to[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) {
        from[i] = value(me, i, 5);
        OK(MPI_Psend_init(&from[i], 1, 1, MPI_INT, right_pe(), 10 + i, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &send[i]));
    }
    OK(MPI_Sendrecv(NULL, 0, MPI_INT, right_pe(), 9, NULL, 0, MPI_INT, left_pe(), 9, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3;
        OK(MPI_Precv_init(&to[i], 1, 1, MPI_INT, left_pe(), 10 + i, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &recv[i]));
    }
    OK(MPI_Startall(3, recv));
    OK(MPI_Startall(3, send));
    for (int i = 0; i < 3; i++)
        OK(MPI_Pready(0, send[i]));
    OK(MPI_Waitall(3, send, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(3, recv, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(to[i], value(left_pe(), i, 5));
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&recv[i]));
    }
}

// Every second int; 6 partitions of 2 elements against 4 of 3.
static void strided(void)
{
    MPI_Request send, recv;
    MPI_Datatype one, vector, three;
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &one));
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, 6 * sizeof(int), &three));
    OK(MPI_Type_commit(&one));
    OK(MPI_Type_commit(&three));
    for (int i = 0; i < 24; i++) {
        out[i] = value(me, 0, i);
        in[i] = -1;
    }
    OK(MPI_Psend_init(out, 6, 2, one, right_pe(), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, 4, 1, three, left_pe(), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    OK(MPI_Start(&recv));
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, 5, send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK_EACH(i, 24, in[i], i % 2 ? -1 : value(left_pe(), 0, (int)i));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&recv));
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free(&three));
    OK(MPI_Type_free(&vector));
}

// No partitions on one side or both: nothing is sent, however many the other side has.
static void none(void)
{
    static const int partitions[][2] = {{0, 0}, {0, 3}, {3, 0}};
    for (int i = 0; i < 6; i++) {
        const int *n = partitions[i / 2];
        MPI_Request send, recv;
        MPI_Status s;
        int flag = 0, got = -1;
        if (i % 2)
            OK(MPI_Precv_init(in, n[1], !n[1], MPI_INT, left_pe(), 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &recv));
        OK(MPI_Psend_init(out, n[0], !n[0], MPI_INT, right_pe(), 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &send));
        if (i % 2 == 0)
            OK(MPI_Precv_init(in, n[1], !n[1], MPI_INT, left_pe(), 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &recv));
        for (int run = 0; run < RUNS; run++) {
            OK(MPI_Start(&recv));
            OK(MPI_Start(&send));
            if (n[0] > 0)
                OK(MPI_Pready_range(0, n[0] - 1, send));
            OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
            CHECK(flag || n[0] > 0);
            OK(MPI_Wait(&recv, &s));
            OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            OK(MPI_Get_count(&s, MPI_INT, &got));
            CHECK_EQ(got, 0);
        }
        OK(MPI_Request_free(&send));
        OK(MPI_Request_free(&recv));
    }
}

static void errors(void)
{
    MPI_Request r, recv, nothing;
    int list[] = {0, 9}, flag;
    CHECK_EQ(class_of(MPI_Psend_init(out, -1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
             MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Psend_init(out, 1, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
             MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Precv_init(out, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                                     MPI_INFO_NULL, &r)),
             MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Precv_init(out, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                                     MPI_INFO_NULL, &r)),
             MPI_ERR_TAG);
    OK(MPI_Psend_init(out, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    OK(MPI_Precv_init(in, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_REQUEST); // inactive
    OK(MPI_Start(&r));
    CHECK_EQ(class_of(MPI_Pready(4, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_range(2, 1, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_range(-1, 0, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_range(0, 4, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_list(2, list, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_list(-1, list, r)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Pready_list(1, NULL, r)), MPI_ERR_ARG);
    OK(MPI_Pready_list(0, NULL, r));
    OK(MPI_Pready(0, r)); // the lists and ranges before have sent nothing
    CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Request_free(&r)), MPI_ERR_REQUEST); // it is under way
    CHECK(r != MPI_REQUEST_NULL);
    CHECK_EQ(class_of(MPI_Pready(0, recv)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Pready_range(0, 1, recv)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Pready_list(2, list, recv)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Parrived(r, 0, &flag)), MPI_ERR_REQUEST);
    OK(MPI_Pready_range(1, 3, r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Start(&recv));
    OK(MPI_Parrived(recv, 1, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(class_of(MPI_Parrived(recv, 2, &flag)), MPI_ERR_ARG);
    OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    flag = 0;
    OK(MPI_Parrived(recv, 0, &flag)); // inactive
    CHECK_EQ(flag, 1);
    flag = 0;
    OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Irecv(in, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nothing));
    CHECK_EQ(class_of(MPI_Pready(0, nothing)), MPI_ERR_REQUEST);
    OK(MPI_Wait(&nothing, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    OK(MPI_Request_free(&recv));
}

int main(void)
{
    static const int partitions[][2] = {{1, 1}, {4, 4}, {12, 1}, {1, 12}, {6, 4}, {4, 6}};
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    out = must_alloc(96000 * sizeof *out);
    in = must_alloc(96000 * sizeof *in);
    for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++)
        for (int first = 0; first < 2; first++) {
            exchange(12, partitions[i][0], partitions[i][1], first);
            exchange(96000, partitions[i][0], partitions[i][1], first);
        }
    order();
    two_at_once();
    by_tag();
    too_much();
    strided();
    none();
    errors();
    int failed = mpi_done();
    free(out);
    free(in);
    return failed;
}
