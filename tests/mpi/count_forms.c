// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point calls and packing with counts of type MPI_Count do what those with int do.
#include "mpi_check.h"

#include <stddef.h>

typedef int blocking_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int starting_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static MPI_Comm world;
static int right, left, got;

static void expect(MPI_Request *r)
{
    MPI_Status s;
    MPI_Count n = -1;
    OK(MPI_Wait(r, &s));
    OK(MPI_Get_count_c(&s, MPI_INT, &n));
    CHECK_EQ(n, 1);
    CHECK_EQ(s.MPI_SOURCE, left);
    CHECK_EQ(got, left);
    got = -1;
}

// Every receive is posted before its message is sent, as ready mode wants it.
static MPI_Request expecting(int tag)
{
    MPI_Request r;
    got = -1;
    OK(MPI_Irecv_c(&got, 1, MPI_INT, left, tag, world, &r));
    OK(MPI_Barrier(world));
    return r;
}

static void blocking(void)
{
    static blocking_fn *const sends[] = {MPI_Send_c, MPI_Rsend_c, MPI_Bsend_c, MPI_Ssend_c};
    for (int i = 0; i < 4; i++) {
        MPI_Request r = expecting(i);
        OK(sends[i](&me, 1, MPI_INT, right, i, world));
        expect(&r);
    }
    OK(MPI_Bsend_c(&me, 1, MPI_INT, right, 9, world));
    OK(MPI_Recv_c(&got, 1, MPI_INT, left, 9, world, MPI_STATUS_IGNORE));
    CHECK_EQ(got, left);
}

static void nonblocking(void)
{
    static starting_fn *const sends[] = {MPI_Isend_c, MPI_Irsend_c, MPI_Ibsend_c, MPI_Issend_c};
    for (int i = 0; i < 4; i++) {
        MPI_Request r = expecting(i), sent;
        OK(sends[i](&me, 1, MPI_INT, right, i, world, &sent));
        expect(&r);
        OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    }
}

static void persistent(void)
{
    static starting_fn *const sends[] = {MPI_Send_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c,
                                         MPI_Ssend_init_c};
    for (int i = 0; i < 4; i++) {
        MPI_Request r, sent;
        OK(MPI_Recv_init_c(&got, 1, MPI_INT, left, i, world, &r));
        OK(sends[i](&me, 1, MPI_INT, right, i, world, &sent));
        for (int run = 0; run < 2; run++) {
            OK(MPI_Start(&r));
            OK(MPI_Barrier(world));
            OK(MPI_Start(&sent));
            expect(&r);
            OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
        }
        OK(MPI_Request_free(&r));
        OK(MPI_Request_free(&sent));
    }
}

static void partitioned(void)
{
    MPI_Request r[2];
    OK(MPI_Precv_init_c(&got, 1, 1, MPI_INT, left, 1, world, MPI_INFO_NULL, &r[0]));
    OK(MPI_Psend_init_c(&me, 1, 1, MPI_INT, right, 1, world, MPI_INFO_NULL, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Pready(0, r[1]));
    expect(&r[0]);
    OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

static void both_ways(void)
{
    MPI_Request r;
    MPI_Status s;
    OK(MPI_Sendrecv_c(&me, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, world, &s));
    CHECK_EQ(got, left);
    OK(MPI_Isendrecv_c(&me, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, world, &r));
    expect(&r);
    got = me;
    OK(MPI_Sendrecv_replace_c(&got, 1, MPI_INT, right, 0, left, 0, world, &s));
    CHECK_EQ(got, left);
    got = me;
    OK(MPI_Isendrecv_replace_c(&got, 1, MPI_INT, right, 0, left, 0, world, &r));
    expect(&r);
}

static void matched(void)
{
    MPI_Message m[2];
    MPI_Request r, sent[3];
    MPI_Status s;
    for (int i = 0; i < 3; i++)
        OK(MPI_Isend(&me, 1, MPI_INT, right, i, world, &sent[i]));
    for (int i = 0; i < 2; i++)
        OK(MPI_Mprobe(left, i, world, &m[i], &s));
    OK(MPI_Imrecv_c(&got, 1, MPI_INT, &m[1], &r));
    expect(&r);
    OK(MPI_Mrecv_c(&got, 1, MPI_INT, &m[0], &s));
    CHECK_EQ(got, left);
    OK(MPI_Mprobe(left, 2, world, &m[0], &s));
    OK(MPI_Imrecv(&got, 1, MPI_INT, &m[0], &r));
    expect(&r);
    OK(MPI_Waitall(3, sent, MPI_STATUSES_IGNORE));
}

static void packing(void)
{
    static const char format[] = "external32";
    unsigned char packed[64];
    static const long values[] = {1, -2, 3}; // what is packed stays what it was
    long out[] = {1, -2, 3}, in[3] = {0};
    MPI_Count size = -1, at = 0;
    OK(MPI_Pack_size_c(3, MPI_LONG, world, &size));
    CHECK(size >= (MPI_Count)sizeof out && size <= (MPI_Count)sizeof packed);
    OK(MPI_Pack_c(out, 3, MPI_LONG, packed, sizeof packed, &at, world));
    CHECK_EQ(at, sizeof out);
    CHECK_EACH(i, 3, out[i], values[i]);
    at = 0;
    OK(MPI_Unpack_c(packed, sizeof out, &at, in, 3, MPI_LONG, world));
    CHECK_EACH(i, 3, in[i], values[i]);
    OK(MPI_Pack_external_size_c(format, 3, MPI_LONG, &size));
    CHECK_EQ(size, 3 * 4);
    at = 0;
    memset(in, 0, sizeof in);
    OK(MPI_Pack_external_c(format, out, 3, MPI_LONG, packed, sizeof packed, &at));
    CHECK_EQ(at, size);
    CHECK_EACH(i, 3, out[i], values[i]);
    CHECK_MEM(packed, "\0\0\0\1\xff\xff\xff\xfe\0\0\0\3", 12, "external32");
    at = 0;
    OK(MPI_Unpack_external_c(format, packed, size, &at, in, 3, MPI_LONG));
    CHECK_EACH(i, 3, in[i], values[i]);
}

int main(void)
{
    mpi_start();
    world = MPI_COMM_WORLD;
    right = right_pe();
    left = left_pe();
    static char buffer[100 * MPI_BSEND_OVERHEAD];
    void *was = NULL;
    MPI_Count size = -1;
    OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
    blocking();
    nonblocking();
    persistent();
    partitioned();
    both_ways();
    matched();
    packing();
    OK(MPI_Buffer_detach_c(&was, &size));
    CHECK(was == buffer && size == sizeof buffer);
    return mpi_done();
}
