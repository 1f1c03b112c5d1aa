// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Cancel": sends that their receiver has not matched, also where it has not made their
// communicator yet; those around them come, in their order. What cannot be cancelled.
#include "mpi_check.h"

enum { SENDS = 6, LONG = 300000 };

static int data[SENDS][LONG], in[LONG];

static int length(int i)
{
    return i == 2 || i == 3 ? LONG : 1;
}

static int is_cancelled(MPI_Request *r)
{
    MPI_Status s;
    int flag = -1;
    OK(MPI_Wait(r, &s));
    OK(MPI_Test_cancelled(&s, &flag));
    return flag;
}

// Every second one, and the last of those that are there already when more is sent.
static void send_some(MPI_Comm c)
{
    MPI_Request r[SENDS];
    for (int i = 0; i < SENDS; i++) {
        data[i][0] = i;
        OK(MPI_Issend(data[i], length(i), MPI_INT, 1, i, c, &r[i]));
        if (i % 2 == 0)
            continue;
        OK(MPI_Cancel(&r[i]));
        CHECK_EQ(is_cancelled(&r[i]), 1);
    }
    OK(MPI_Send(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD));
    for (int i = 0; i < SENDS; i += 2)
        CHECK_EQ(is_cancelled(&r[i]), 0);
}

static void receive_some(MPI_Comm c)
{
    MPI_Status s;
    int flag = -1;
    for (int i = 0; i < SENDS; i += 2) {
        in[0] = -1;
        OK(MPI_Recv(in, LONG, MPI_INT, 0, MPI_ANY_TAG, c, &s));
        CHECK_EQ(s.MPI_TAG, i);
        CHECK_EQ(in[0], i);
    }
    OK(MPI_Iprobe(0, MPI_ANY_TAG, c, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
}

static MPI_Comm pair(void)
{
    static const int ranks[] = {0, 1};
    MPI_Group all, two;
    MPI_Comm c;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 2, ranks, &two));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, two, 1, &c));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&two));
    return c;
}

static void sends(bool early)
{
    MPI_Comm c = MPI_COMM_NULL;
    if (me == 0 || !early)
        c = pair();
    if (me == 0) {
        send_some(c);
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (early)
            c = pair();
        receive_some(c);
    }
    OK(MPI_Comm_free(&c));
}

// Is a message that nobody waits for sent at once?
static bool leaves_at_once(const char *data, int bytes)
{
    MPI_Request r;
    struct counter eager = counter_start("eager");
    OK(MPI_Isend(data, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &r));
    bool has = counter_read(&eager) > 0;
    counter_end(&eager);
    OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    return has;
}

// What they took of the receiver's room is the sender's again: so much in all never fits.
static void many(void)
{
    enum { TIMES = 3000, BYTES = 1000 };
    static char out[BYTES];
    int flag = 1;
    MPI_Request r;
    bool was = me == 0 && leaves_at_once(out, BYTES);
    for (int i = 0; i < TIMES && me == 0; i++) {
        OK(MPI_Issend(out, BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &r));
        OK(MPI_Cancel(&r));
        CHECK_EQ(is_cancelled(&r), 1);
    }
    if (me == 0)
        CHECK_EQ(leaves_at_once(out, BYTES), was);
    for (int i = 0; i < 2 && me == 1; i++) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag || i == 0);
        OK(MPI_Recv(out, BYTES, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

// Of these a part could be cancelled and another not.
static void not_to_be_cancelled(void)
{
    MPI_Request r[3];
    int out = me, got[2] = {-1, -1};
    OK(MPI_Isendrecv(&out, 1, MPI_INT, me, 0, &got[0], 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Precv_init(&got[1], 1, 1, MPI_INT, me, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    OK(MPI_Psend_init(&out, 1, 1, MPI_INT, me, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]));
    OK(MPI_Startall(2, &r[1]));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(class_of(MPI_Cancel(&r[i])), MPI_ERR_REQUEST);
    OK(MPI_Pready(0, r[2]));
    OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Recv(&got[0], 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(got[0], me);
    CHECK_EQ(got[1], me);
    OK(MPI_Request_free(&r[1]));
    OK(MPI_Request_free(&r[2]));
}

// The receiver has freed the communicator, for which nothing is under way there, with the message in it.
static void communicator_is_gone(size_t n)
{
    char *out = calloc(n, 1);
    int is_cancelled = 0;
    MPI_Comm c;
    MPI_Request r;
    MPI_Status s;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    if (me == 0 && npes > 1) {
        OK(MPI_Issend(out, (int)n, MPI_BYTE, 1, 1, c, &r));
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Cancel(&r));
        OK(MPI_Wait(&r, &s));
        OK(MPI_Test_cancelled(&s, &is_cancelled));
        CHECK(is_cancelled);
    }
    if (me == 1)
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&c));
    for (int i = 0; i < 5; i++) { // it is in no other one
        int has_come = 0;
        OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &has_come, MPI_STATUS_IGNORE));
        CHECK(!has_come);
        OK(MPI_Comm_free(&c));
    }
    if (me == 1)
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
    free(out);
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    not_to_be_cancelled();
    for (int i = 0; me < 2 && npes > 1 && i < 4; i++)
        sends(i % 2);
    if (npes > 1)
        many();
    communicator_is_gone(4);
    communicator_is_gone(3000000);
    return mpi_done();
}
