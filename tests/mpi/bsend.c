// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Buffer Allocation and Usage": a message stays in the attached buffer until it has been
// sent; room is found where others left; the buffer is the communicator's, its session's or the
// process's.
// ENV: SHOAL_MPI_STAGE=0
#include "mpi_check.h"

enum { LENGTH = 150000, MESSAGES = 4, ROOM = LENGTH + MPI_BSEND_OVERHEAD };

static char *buffer;
static unsigned char out[LENGTH], in[LENGTH];

static int bsend(int n, int tag, MPI_Comm comm)
{
    fill(out, (size_t)n, (unsigned)(me * 10 + tag));
    return MPI_Bsend(out, n, MPI_BYTE, right_pe(), tag, comm);
}

static void receive(int n, int tag, MPI_Comm comm)
{
    MPI_Status s;
    int got = -1;
    memset(in, 0, sizeof in);
    OK(MPI_Recv(in, LENGTH, MPI_BYTE, left_pe(), tag, comm, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &got));
    CHECK_EQ(got, n);
    CHECK_EACH(i, n, in[i], fill_byte((unsigned)(left_pe() * 10 + tag), i));
}

// Where room was left: when the sender hears that its message has been received is not said.
static void bsend_in_time(int n, int tag, MPI_Comm comm)
{
    int error;
    while (class_of(error = bsend(n, tag, comm)) == MPI_ERR_BUFFER)
        ;
    OK(error);
}

static void expect_full(int error)
{
    CHECK_EQ(class_of(error), MPI_ERR_BUFFER);
}

static void detach(void *address, int size)
{
    void *was = NULL;
    int n = -1;
    OK(MPI_Buffer_detach(&was, &n));
    CHECK(was == address);
    CHECK_EQ(n, size);
}

static void errors(void)
{
    void *was;
    int n;
    MPI_Request r = MPI_REQUEST_NULL;
    expect_full(bsend(1, 0, MPI_COMM_WORLD));
    expect_full(MPI_Ibsend(out, 1, MPI_BYTE, right_pe(), 0, MPI_COMM_WORLD, &r));
    CHECK(r == MPI_REQUEST_NULL);
    expect_full(MPI_Buffer_detach(&was, &n));
    expect_full(MPI_Buffer_attach(buffer, -1));
    OK(MPI_Buffer_attach(buffer, 100));
    expect_full(MPI_Buffer_attach(buffer, 100));
    expect_full(bsend(1000, 0, MPI_COMM_WORLD));
    expect_full(MPI_Ibsend(out, 1000, MPI_BYTE, right_pe(), 0, MPI_COMM_WORLD, &r));
    OK(MPI_Bsend(out, 1000, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    detach(buffer, 100);
}

// Every message but the last fits; what the first leaves is used again.
static void first_fit(void)
{
    MPI_Request flush;
    int done = 1;
    OK(MPI_Buffer_attach(buffer + 1, MESSAGES * ROOM));
    for (int tag = 0; tag < MESSAGES; tag++)
        OK(bsend(LENGTH, tag, MPI_COMM_WORLD));
    expect_full(bsend(LENGTH, MESSAGES, MPI_COMM_WORLD));
    OK(MPI_Buffer_iflush(&flush));
    OK(MPI_Test(&flush, &done, MPI_STATUS_IGNORE));
    CHECK_EQ(done, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    receive(LENGTH, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    bsend_in_time(LENGTH / 2, 5, MPI_COMM_WORLD);
    bsend_in_time(LENGTH / 4, 6, MPI_COMM_WORLD);
    expect_full(bsend(LENGTH / 2, 7, MPI_COMM_WORLD));
    MPI_Barrier(MPI_COMM_WORLD);
    receive(LENGTH, 0, MPI_COMM_WORLD);
    receive(LENGTH, 2, MPI_COMM_WORLD);
    receive(LENGTH, 3, MPI_COMM_WORLD);
    OK(MPI_Wait(&flush, MPI_STATUS_IGNORE)); // it does not wait for tags 5 and 6
    receive(LENGTH / 2, 5, MPI_COMM_WORLD);
    receive(LENGTH / 4, 6, MPI_COMM_WORLD);
    OK(MPI_Buffer_flush());
    detach(buffer + 1, MESSAGES * ROOM);
}

// The messages go one way: who has flushed has room again, however late the receiver is.
static void flushed(MPI_Comm comm)
{
    enum { TIMES = 20 };
    void *was;
    int n, sends = me % 2 == 0 && me + 1 < npes, receives = me % 2;
    OK(MPI_Buffer_attach(buffer, ROOM));
    for (int i = 0; i < TIMES && sends; i++) {
        OK(bsend(LENGTH, i, comm));
        OK(MPI_Buffer_flush());
    }
    for (int i = 0; i < TIMES && receives; i++)
        receive(LENGTH, i, comm);
    OK(MPI_Buffer_detach(&was, &n));
    if (me == 0) { // to itself: it has been sent when it has been received
        MPI_Request r;
        OK(MPI_Comm_attach_buffer(MPI_COMM_SELF, buffer, ROOM));
        for (int i = 0; i < 2; i++) {
            OK(MPI_Bsend(out, LENGTH, MPI_BYTE, 0, i, MPI_COMM_SELF));
            OK(MPI_Irecv(in, LENGTH, MPI_BYTE, 0, i, MPI_COMM_SELF, &r));
            OK(MPI_Comm_flush_buffer(MPI_COMM_SELF));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        OK(MPI_Comm_detach_buffer(MPI_COMM_SELF, &was, &n));
    }
    OK(MPI_Barrier(comm));
}

static void automatic(void)
{
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    for (int tag = 0; tag < 2 * MESSAGES; tag++)
        OK(bsend(LENGTH - tag, tag, MPI_COMM_WORLD));
    for (int tag = 0; tag < 2 * MESSAGES; tag++)
        receive(LENGTH - tag, tag, MPI_COMM_WORLD);
    detach(MPI_BUFFER_AUTOMATIC, 0);
}

// The communicator's own buffer goes before the process's, and with it.
static void of_communicator(void)
{
    MPI_Comm comm;
    MPI_Count size = -1;
    void *was = NULL;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Comm_attach_buffer(comm, buffer, 10));
    expect_full(bsend(LENGTH, 0, comm));
    OK(MPI_Comm_detach_buffer_c(comm, &was, &size));
    CHECK(was == buffer);
    CHECK_EQ(size, 10);
    OK(bsend(LENGTH, 0, comm));
    receive(LENGTH, 0, comm);
    OK(MPI_Comm_attach_buffer_c(comm, buffer, ROOM));
    OK(bsend(LENGTH, 1, comm));
    receive(LENGTH, 1, comm);
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); // may be at the same address
    CHECK_EQ(class_of(MPI_Comm_detach_buffer_c(comm, &was, &size)), MPI_ERR_BUFFER);
    OK(MPI_Comm_free(&comm));
    detach(MPI_BUFFER_AUTOMATIC, 0);
}

static void of_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    int size;
    void *was;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "bsend", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Session_attach_buffer(session, buffer, ROOM));
    OK(bsend(LENGTH, 0, copy));
    expect_full(bsend(LENGTH, 1, comm));
    expect_full(bsend(LENGTH, 1, MPI_COMM_WORLD)); // not of the session
    MPI_Barrier(MPI_COMM_WORLD);
    receive(LENGTH, 0, copy);
    OK(MPI_Session_detach_buffer(session, &was, &size));
    CHECK(was == buffer);
    CHECK_EQ(size, ROOM);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

static void persistent(void)
{
    MPI_Request r, i;
    MPI_Datatype pairs;
    static int twice[] = {1, 2, 3, 4};
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
    OK(MPI_Type_commit(&pairs));
    OK(MPI_Bsend_init(twice, 1, pairs, right_pe(), 3, MPI_COMM_WORLD, &r));
    expect_full(MPI_Start(&r));
    OK(MPI_Buffer_attach(buffer, 3 * MPI_BSEND_OVERHEAD));
    for (int run = 0; run < 3; run++) {
        int got[2] = {0, 0};
        twice[0] = run;
        int index = -1;
        OK(MPI_Start(&r));
        OK(MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE));
        CHECK_EQ(index, 0);
        OK(MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE)); // it is inactive then
        CHECK_EQ(index, MPI_UNDEFINED);
        twice[0] = -1; // it has been copied
        OK(MPI_Recv(got, 2, MPI_INT, left_pe(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(got[0], run);
        CHECK_EQ(got[1], 3);
    }
    OK(MPI_Ibsend(twice, 1, pairs, right_pe(), 4, MPI_COMM_WORLD, &i));
    OK(MPI_Wait(&i, MPI_STATUS_IGNORE));
    OK(MPI_Recv(twice, 2, MPI_INT, left_pe(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    OK(MPI_Type_free(&pairs));
    detach(buffer, 3 * MPI_BSEND_OVERHEAD);
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    buffer = must_alloc(MESSAGES * ROOM + 1);
    errors();
    MPI_Barrier(MPI_COMM_WORLD);
    first_fit();
    flushed(MPI_COMM_WORLD);
    automatic();
    of_communicator();
    of_session();
    persistent();
    // What is in a buffer when MPI ends is sent then.
    OK(MPI_Buffer_attach(buffer, ROOM));
    OK(bsend(LENGTH, 0, MPI_COMM_WORLD));
    receive(LENGTH, 0, MPI_COMM_WORLD);
    int failed = mpi_done();
    free(buffer);
    return failed;
}
