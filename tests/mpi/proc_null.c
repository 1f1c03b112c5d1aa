// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Null Processes": nothing is sent to MPI_PROC_NULL and nothing received, and neither
// buffer nor datatype is looked at; the other side of a call goes on as ever.
#include "mpi_check.h"

#define NOTHING NULL, 5, MPI_DATATYPE_NULL

enum { NOBODY = MPI_PROC_NULL, TAG = 4 };

static MPI_Comm world;

static void check_none(const MPI_Status *s)
{
    int n = -1;
    CHECK_EQ(s->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(s, MPI_INT, &n));
    CHECK_EQ(n, 0);
}

static void one_way(void)
{
    MPI_Status s;
    MPI_Request r;
    OK(MPI_Send(NOTHING, NOBODY, TAG, world));
    OK(MPI_Ssend(NOTHING, NOBODY, TAG, world));
    OK(MPI_Bsend(NOTHING, NOBODY, TAG, world)); // without a buffer
    OK(MPI_Rsend_c(NOTHING, NOBODY, TAG, world));
    OK(MPI_Isend(NOTHING, NOBODY, TAG, world, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Recv(NOTHING, NOBODY, TAG, world, &s));
    check_none(&s);
    OK(MPI_Irecv_c(NOTHING, NOBODY, TAG, world, &r));
    OK(MPI_Wait(&r, &s));
    check_none(&s);
}

static void run(MPI_Request *r, int runs)
{
    MPI_Status s;
    for (int i = 0; i < runs; i++) {
        OK(MPI_Start(r));
        OK(MPI_Wait(r, &s));
    }
    OK(MPI_Request_free(r));
}

static void persistent(void)
{
    MPI_Request r;
    MPI_Status s;
    OK(MPI_Send_init(NOTHING, NOBODY, TAG, world, &r));
    run(&r, 2);
    OK(MPI_Recv_init(NOTHING, NOBODY, TAG, world, &r));
    OK(MPI_Start(&r));
    OK(MPI_Wait(&r, &s));
    check_none(&s);
    run(&r, 2);
    OK(MPI_Precv_init(NULL, 3, 5, MPI_DATATYPE_NULL, NOBODY, TAG, world, MPI_INFO_NULL, &r));
    run(&r, 2);
    OK(MPI_Psend_init(NULL, 3, 5, MPI_DATATYPE_NULL, NOBODY, TAG, world, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    OK(MPI_Pready_range(0, 2, r));
    OK(MPI_Wait(&r, &s));
    OK(MPI_Request_free(&r));
}

// Each side by itself, against a neighbour; then neither.
static void both_ways(void)
{
    MPI_Status s;
    MPI_Request r;
    int right = right_pe(), left = left_pe(), got = -1;
    OK(MPI_Isendrecv(&me, 1, MPI_INT, right, TAG, NOTHING, NOBODY, TAG, world, &r));
    OK(MPI_Sendrecv(NOTHING, NOBODY, TAG, &got, 1, MPI_INT, left, TAG, world, &s));
    CHECK_EQ(got, left);
    CHECK_EQ(s.MPI_SOURCE, left);
    OK(MPI_Wait(&r, &s));
    check_none(&s);
    OK(MPI_Sendrecv_c(NOTHING, NOBODY, TAG, NOTHING, NOBODY, TAG, world, &s));
    check_none(&s);
    OK(MPI_Sendrecv_replace(NOTHING, NOBODY, TAG, NOBODY, TAG, world, &s));
    check_none(&s);
    OK(MPI_Isendrecv_replace(NOTHING, NOBODY, TAG, NOBODY, TAG, world, &r));
    OK(MPI_Wait(&r, &s));
    check_none(&s);
    int mine = me;
    OK(MPI_Isendrecv_replace(&mine, 1, MPI_INT, right, TAG, NOBODY, TAG, world, &r));
    OK(MPI_Sendrecv_replace(&got, 1, MPI_INT, NOBODY, TAG, left, TAG, world, &s));
    CHECK_EQ(got, left);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(mine, me);
    CHECK_EQ(class_of(MPI_Sendrecv(NOTHING, right, TAG, NOTHING, NOBODY, TAG, world, &s)),
             MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Sendrecv(NOTHING, NOBODY, TAG, NOTHING, left, TAG, world, &s)),
             MPI_ERR_TYPE);
}

static void probed(void)
{
    MPI_Status s;
    MPI_Message m;
    MPI_Request r;
    OK(MPI_Mprobe(NOBODY, TAG, world, &m, &s));
    check_none(&s);
    CHECK(m == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(NOTHING, &m, &s));
    CHECK(m == MPI_MESSAGE_NULL);
    check_none(&s);
    m = MPI_MESSAGE_NO_PROC;
    OK(MPI_Imrecv_c(NOTHING, &m, &r));
    OK(MPI_Wait(&r, &s));
    check_none(&s);
    CHECK_EQ(class_of(MPI_Mrecv(NOTHING, &m, &s)), MPI_ERR_REQUEST); // of no message at all
}

int main(void)
{
    mpi_start();
    world = MPI_COMM_WORLD;
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    one_way();
    persistent();
    both_ways();
    probed();
    return mpi_done();
}
