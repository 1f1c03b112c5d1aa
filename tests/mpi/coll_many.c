// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives wait for nobody: one process starts many, of which all cannot be under way
// at once, before another one does anything; over several communicators the processes start them in
// different orders, wait for the last first, and free the communicators meanwhile.
// PES: 2 4 7
#include "mpi_check.h"

enum { MANY = 24, LONG = 8000, TURNS = 4, COMMS = 3 };

// All start them in this order: each of the calls is of another length, into private memory.
struct call {
    int *from, *to, n;
    MPI_Request request;
};

static int value(int turn, int i, int k, int rank)
{
    return turn * 100000 + i * 1000 + rank * 10 + k % 7;
}

static void start(struct call *c, MPI_Comm comm, int turn, int i)
{
    c->n = i % 3 == 2 ? LONG : 1 + i;
    c->from = must_alloc((size_t)c->n * sizeof(int));
    c->to = must_alloc((size_t)c->n * sizeof(int));
    for (int k = 0; k < c->n; k++)
        c->from[k] = value(turn, i, k, me);
    if (i % 2)
        OK(MPI_Ibcast(c->from, c->n, MPI_INT, i % npes, comm, &c->request));
    else
        OK(MPI_Iallreduce(c->from, c->to, c->n, MPI_INT, MPI_SUM, comm, &c->request));
}

static void finish(struct call *c, int turn, int i)
{
    int ranks = 10 * npes * (npes - 1) / 2;
    OK(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    if (i % 2)
        CHECK_EACH(k, c->n, c->from[k], value(turn, i, (int)k, i % npes));
    else
        CHECK_EACH(k, c->n, c->to[k], npes * value(turn, i, (int)k, 0) + ranks);
    free(c->from);
    free(c->to);
}

// Rank 0 has started all when the others begin.
static void one_first(MPI_Comm comm, int turn)
{
    static struct call call[MANY];
    int word = turn;
    for (int i = 0; me == 0 && i < MANY; i++)
        start(&call[i], comm, turn, i);
    for (int p = 1; me == 0 && p < npes; p++)
        OK(MPI_Send(&word, 1, MPI_INT, p, 0, MPI_COMM_WORLD));
    if (me)
        OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; me && i < MANY; i++)
        start(&call[i], comm, turn, i);
    for (int i = MANY; i-- > 0;)
        finish(&call[i], turn, i);
}

// Communicator k comes first at rank k, and its calls are waited for last.
static void crossed(int turn)
{
    static struct call call[COMMS][MANY];
    MPI_Comm comm[COMMS];
    for (int k = 0; k < COMMS; k++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]));
    for (int j = 0; j < COMMS; j++)
        for (int i = 0, k = (me + j) % COMMS; i < MANY; i++)
            start(&call[k][i], comm[k], turn, i);
    for (int j = 0; j < COMMS; j++)
        OK(MPI_Comm_free(&comm[(me + j + turn) % COMMS]));
    for (int j = COMMS; j-- > 0;)
        for (int i = MANY; i-- > 0;)
            finish(&call[(me + j) % COMMS][i], turn, i);
}

// Persistent ones may be started in any order, and be left to MPI_Finalize by some.
static void persistent(void)
{
    static int word[MANY];
    static MPI_Request r[MANY]; // those that stay lead to what is left
    for (int i = 0; i < MANY; i++)
        OK(MPI_Bcast_init(&word[i], 1, MPI_INT, i % npes, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < MANY; i++) {
            int k = (i * 5 + me * 7) % MANY;
            word[k] = me == k % npes ? turn * k : -1;
            OK(MPI_Start(&r[k]));
        }
        OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
        CHECK_EACH(i, MANY, word[i], turn * (int)i);
    }
    for (int i = 0; i < MANY; i++)
        if (i % (me + 1) == 0)
            OK(MPI_Request_free(&r[i]));
}

int main(void)
{
    mpi_start();
    for (int turn = 0; turn < TURNS; turn++) {
        one_first(MPI_COMM_WORLD, turn);
        crossed(turn);
    }
    persistent();
    return mpi_done();
}
