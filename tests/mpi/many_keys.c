// SPDX-License-Identifier: BSD-3-Clause
// Very many receives and very many messages wait for each other, with tags of their own and some of each
// tag: whatever the order, a message goes to the oldest receive that fits, and a receive gets the oldest
// message that does, by tag, by source alone, or after some were cancelled.
// ALSO: 16
#include "mpi_check.h"

enum { TAGS = 3000, EACH = 3, ALL = TAGS * EACH, AWAY = 77 };

static MPI_Request requests[ALL];
static int got[ALL];

// Of the k-th of a tag.
static int value_of(int from, int tag, int k)
{
    return (from * TAGS + tag) * EACH + k;
}

static void send_all(int to, int first, int step)
{
    int values[EACH];
    for (int i = 0, tag = first; i < TAGS; i++, tag = (tag + step) % TAGS)
        for (int k = 0; k < EACH; k++) {
            values[k] = value_of(me, tag, k);
            OK(MPI_Send(&values[k], 1, MPI_INT, to, tag, MPI_COMM_WORLD));
        }
}

// Posted before anything comes: tags in one order, messages in another.
static void posted_first(int from, int to)
{
    int want = 0;
    for (int tag = 0; tag < TAGS; tag++)
        for (int k = 0; k < EACH; k++)
            OK(MPI_Irecv(&got[tag * EACH + k], 1, MPI_INT, from, tag, MPI_COMM_WORLD,
                         &requests[tag * EACH + k]));
    MPI_Request never[TAGS / 10];
    for (int i = 0; i < TAGS / 10; i++)
        OK(MPI_Irecv(&want, 1, MPI_INT, from, TAGS + i, MPI_COMM_WORLD, &never[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all(to, me % TAGS, TAGS - 1);
    OK(MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < TAGS / 10; i++) {
        OK(MPI_Cancel(&never[i]));
        OK(MPI_Wait(&never[i], MPI_STATUS_IGNORE));
    }
    for (int tag = 0; tag < TAGS; tag++)
        for (int k = 0; k < EACH; k++)
            CHECK_EQ(got[tag * EACH + k], value_of(from, tag, k));
}

// Everything is here before it is received: those of every seventh tag by their source alone at the end.
static void sent_first(int from, int to)
{
    int value, rest = 0, seen[TAGS] = {0};
    MPI_Request *sent = malloc(ALL * sizeof *sent);
    int *values = malloc(ALL * sizeof *values);
    for (int tag = 0; tag < TAGS; tag++)
        for (int k = 0; k < EACH; k++) {
            values[tag * EACH + k] = value_of(me, tag, k);
            OK(MPI_Isend(&values[tag * EACH + k], 1, MPI_INT, to, tag, MPI_COMM_WORLD,
                         &sent[tag * EACH + k]));
        }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (int k = 0; k < EACH; k++)
            if (tag % 7) {
                OK(MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_EQ(value, value_of(from, tag, k));
            } else
                rest++;
    for (int last = -1; rest > 0; rest--) {
        MPI_Status status;
        OK(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK(status.MPI_TAG >= last && status.MPI_TAG % 7 == 0);
        last = status.MPI_TAG;
        CHECK_EQ(value, value_of(from, last, seen[last]++));
    }
    OK(MPI_Waitall(ALL, sent, MPI_STATUSES_IGNORE));
    free(values);
    free(sent);
}

int main(void)
{
    mpi_start();
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    for (int i = 0; i < 2; i++) {
        posted_first(from, to);
        sent_first(from, to);
    }
    // A message for nobody is given up with its communicator.
    MPI_Comm dup;
    MPI_Request lost[AWAY];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (int i = 0; i < AWAY; i++)
        OK(MPI_Irecv(NULL, 0, MPI_INT, from, i, dup, &lost[i]));
    for (int i = 0; i < AWAY; i++) {
        OK(MPI_Cancel(&lost[i]));
        OK(MPI_Wait(&lost[i], MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_free(&dup));
    return mpi_done();
}
