// SPDX-License-Identifier: BSD-3-Clause
// Patterns of messages between neighbours, and of all with one.
#ifndef BENCH_SWEEP_P2P_H
#define BENCH_SWEEP_P2P_H

#include "sweep.h"

static void sendrecv(void)
{
    MPI_Sendrecv(out, n, MPI_BYTE, right, 0, in, n, MPI_BYTE, left, 0, W, NOTHING);
}
static void sendrecv_replace(void)
{
    MPI_Sendrecv_replace(out, n, MPI_BYTE, right, 0, left, 0, W, NOTHING);
}
static void by_turns(__typeof__(MPI_Send) *send, MPI_Datatype type, int count, MPI_Datatype into,
                     int into_count)
{
    if (me % 2 == 0 && me + 1 < npes) {
        send(out, count, type, me + 1, 0, W);
        MPI_Recv(in, into_count, into, me + 1, 0, W, NOTHING);
    } else if (me % 2) {
        MPI_Recv(in, into_count, into, me - 1, 0, W, NOTHING);
        send(out, count, type, me - 1, 0, W);
    }
}
CALL(ping, by_turns(MPI_Send, MPI_BYTE, n, MPI_BYTE, n))
CALL(ping_sync, by_turns(MPI_Ssend, MPI_BYTE, n, MPI_BYTE, n))
CALL(ping_buffered, by_turns(MPI_Bsend, MPI_BYTE, n, MPI_BYTE, n))
CALL(ping_gaps, by_turns(MPI_Send, column, doubles, column, doubles))
CALL(ping_to_gaps, by_turns(MPI_Send, MPI_DOUBLE, doubles, column, doubles))
CALL(ping_from_gaps, by_turns(MPI_Send, column, doubles, MPI_DOUBLE, doubles))

// Each of several messages from and to a place of its own, as long as there is room.
static char *part(char *data, int i)
{
    return data + (size_t)i * (size_t)n % AT_MOST;
}
static void both_ways(int many, __typeof__(MPI_Isend) *send)
{
    for (int i = 0; i < many; i++)
        MPI_Irecv(part(in, i), n, MPI_BYTE, left, i, W, &request[i]);
    for (int i = 0; i < many; i++)
        send(part(out, i), n, MPI_BYTE, right, i, W, &request[many + i]);
    MPI_Waitall(2 * many, request, MPI_STATUSES_IGNORE);
}
CALL(exchange_1, both_ways(1, MPI_Isend))
CALL(exchange_16, both_ways(MANY, MPI_Isend))
CALL(exchange_sync, both_ways(1, MPI_Issend))
static void exchange_waitany(void)
{
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(part(in, i), n, MPI_BYTE, left, i, W, &request[i]);
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Isend(part(out, i), n, MPI_BYTE, right, i, W, &request[MANY + i]);
    for (int i = 0, which; i < 2 * MANY; i++)
        MPI_Waitany(2 * MANY, request, &which, NOTHING);
}
static void exchange_testsome(void)
{
    int which[2 * MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(part(in, i), n, MPI_BYTE, MPI_ANY_SOURCE, i, W, &request[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(part(out, i), n, MPI_BYTE, right, i, W, &request[MANY + i]);
    for (int done, left_over = 2 * MANY; left_over > 0; left_over -= done)
        MPI_Testsome(2 * MANY, request, &done, which, MPI_STATUSES_IGNORE);
}
static void exchange_late(void) // the messages are there before the receives
{
    for (int i = 0; i < MANY; i++)
        MPI_Isend(part(out, i), n, MPI_BYTE, right, i, W, &request[i]);
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Recv(part(in, i), n, MPI_BYTE, left, i, W, NOTHING);
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
}
static void exchange_gaps(void)
{
    MPI_Irecv(in, doubles, column, left, 0, W, &request[0]);
    MPI_Isend(out, doubles, column, right, 0, W, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}
// Of pairs of ranks the even one writes.
static int reader(void)
{
    return me % 2 == 0 && me + 1 < npes ? me + 1 : MPI_PROC_NULL;
}
static int writer(void)
{
    return me % 2 ? me - 1 : MPI_PROC_NULL;
}
static void stream(void) // MANY, one way
{
    int to = reader(), from = writer();
    for (int i = 0; i < MANY && to >= 0; i++)
        MPI_Isend(part(out, i), n, MPI_BYTE, to, 0, W, &request[i]);
    for (int i = 0; i < MANY && from >= 0; i++)
        MPI_Irecv(part(in, i), n, MPI_BYTE, from, 0, W, &request[i]);
    if (to >= 0 || from >= 0)
        MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
}
static void stream_blocking(void)
{
    int to = reader(), from = writer();
    for (int i = 0; i < MANY; i++) {
        MPI_Send(part(out, i), n, MPI_BYTE, to, 0, W);
        MPI_Recv(part(in, i), n, MPI_BYTE, from, 0, W, NOTHING);
    }
}
// Than what a pair of persistent requests was made for, which are freed then.
static bool is_other_length(MPI_Request kept[2], int *of)
{
    bool is_other = *of != n;
    for (int i = 0; is_other && *of >= 0 && i < 2; i++)
        MPI_Request_free(&kept[i]);
    *of = n;
    return is_other;
}
static void persistent(void)
{
    static MPI_Request kept[2];
    static int of = -1;
    if (is_other_length(kept, &of)) {
        MPI_Recv_init(in, n, MPI_BYTE, left, 5, W, &kept[0]);
        MPI_Send_init(out, n, MPI_BYTE, right, 5, W, &kept[1]);
    }
    MPI_Startall(2, kept);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
}
static void probed(void)
{
    MPI_Status status;
    int bytes;
    MPI_Isend(out, n, MPI_BYTE, right, 0, W, &request[0]);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(in, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, W, NOTHING);
    MPI_Wait(&request[0], NOTHING);
}
static void improbed(void)
{
    MPI_Message message;
    int is_there = 0;
    MPI_Isend(out, n, MPI_BYTE, right, 0, W, &request[0]);
    while (!is_there)
        MPI_Improbe(left, 0, W, &is_there, &message, NOTHING);
    MPI_Mrecv(in, n, MPI_BYTE, &message, NOTHING);
    MPI_Wait(&request[0], NOTHING);
}
static void to_zero(void) // a farm's: from any, answered
{
    for (int i = 1; me == 0 && i < npes; i++) {
        MPI_Status status;
        MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &status);
        MPI_Send(out, n, MPI_BYTE, status.MPI_SOURCE, 1, W);
    }
    if (me)
        MPI_Sendrecv(out, n, MPI_BYTE, 0, 1, in, n, MPI_BYTE, 0, 1, W, NOTHING);
}
static void all_to_all_by_messages(void)
{
    for (int i = 1; i < npes; i++)
        MPI_Irecv(in, n, MPI_BYTE, (me + i) % npes, 0, W, &request[2 * i]);
    for (int i = 1; i < npes; i++)
        MPI_Isend(out, n, MPI_BYTE, (me + i) % npes, 0, W, &request[2 * i + 1]);
    MPI_Waitall(2 * (npes - 1), request + 2, MPI_STATUSES_IGNORE);
}
#if MPI_VERSION >= 4
static void partitioned(void)
{
    enum { PARTS = 8 };
    static MPI_Request kept[2];
    static int of = -1;
    if (is_other_length(kept, &of)) {
        MPI_Precv_init(in, PARTS, n / PARTS, MPI_BYTE, left, 6, W, MPI_INFO_NULL, &kept[0]);
        MPI_Psend_init(out, PARTS, n / PARTS, MPI_BYTE, right, 6, W, MPI_INFO_NULL, &kept[1]);
    }
    MPI_Startall(2, kept);
    for (int i = 0; i < PARTS; i++)
        MPI_Pready(i, kept[1]);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
}
#endif

#endif
