// SPDX-License-Identifier: BSD-3-Clause
// PES: 2 4
// TIMEOUT: 170
// The upper half of the ranks posts receives and calls nothing; the blocking sends to them end all the same, and the data
// is there, on a node and between nodes (tests/run -N 2). Then receives that are cancelled while they are
// taken, and messages of several lengths under one tag. Between nodes, who has waited for what it posted for some time
// tells its source less often; once it computes a message comes by itself before long, and so do the next ones.
#include "mpi_check.h"

#include <shoal.h>

enum { LONG = 700000, ROUNDS = 40, SAID = 99 };

static unsigned char out[LONG], in[2][LONG];
static double took; // by a message that comes alone, s

// Where the kernel forbids what a sender needs, the receiver has to come.
static bool is_reached(int pe)
{
    uint64_t is_direct = 0, is_private = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &is_direct), SHOAL_OK);
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, pe, &is_private), SHOAL_OK);
    return !is_direct || is_private;
}

// Until the last byte has changed: the program calls nothing. Nobody says when the others have.
static void computes(const unsigned char *last, int partner)
{
    double start = check_now(), until = start + 20;
    while (__atomic_load_n(last, __ATOMIC_ACQUIRE) == 0 && is_reached(partner))
        if (check_now() > until) {
            CHECK_EQ(*last, out[LONG - 1]); // nothing has come
            return;
        }
    took = check_now() - start;
}

static void while_computing(int partner, int n)
{
    MPI_Request r;
    MPI_Status s;
    int count = -1;
    if (me < npes / 2) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, n, MPI_BYTE, partner, n % 7, MPI_COMM_WORLD));
        return;
    }
    memset(in[0], 0, sizeof in[0]);
    OK(MPI_Irecv(in[0], LONG, MPI_BYTE, partner, n % 7, MPI_COMM_WORLD, &r));
    OK(MPI_Send(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD));
    computes(&in[0][n - 1], partner);
    OK(MPI_Wait(&r, &s));
    OK(MPI_Get_count(&s, MPI_BYTE, &count));
    CHECK_EQ(count, n);
    CHECK_MEM(in[0], out, (size_t)n, "data");
}

// Not one byte past the buffer.
static void truncated(int partner)
{
    MPI_Request r;
    OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, partner, SAID, NULL, 0, MPI_BYTE, partner, SAID,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (me < npes / 2) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, LONG, MPI_BYTE, partner, 0, MPI_COMM_WORLD));
        return;
    }
    enum { ROOM = 600000 };
    memset(in[0], 0, sizeof in[0]);
    OK(MPI_Irecv(in[0], ROOM, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &r));
    OK(MPI_Send(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CHECK_MEM(in[0], out, ROOM, "what fits");
    CHECK_EACH(k, LONG - ROOM, in[0][ROOM + k], 0);
}

// The first of two receives is cancelled, before, while or after the sender takes it: the messages
// arrive once each, and in their order.
static void cancelled(int partner, uint64_t *state)
{
    static unsigned char other[LONG];
    uint64_t own = *state;
    MPI_Request r[2];
    MPI_Status s;
    int gone = 0, n[2] = {LONG, (int)rnd_below(state, 2) ? LONG : 50};
    if (me < npes / 2) {
        memset(other, 0x5a, sizeof other);
        OK(MPI_Isend(out, n[0], MPI_BYTE, partner, 1, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(other, n[1], MPI_BYTE, partner, 1, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        return;
    }
    for (int i = 0; i < 2; i++)
        OK(MPI_Irecv(in[i], LONG, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &r[i]));
    for (double until = check_now() + (double)rnd_below(&own, 300) * 1e-6; check_now() < until;)
        ;
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Wait(&r[0], &s));
    OK(MPI_Test_cancelled(&s, &gone));
    if (gone)
        OK(MPI_Irecv(in[0], LONG, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_MEM(in[gone], out, (size_t)n[0], "the first");
    CHECK_EACH(k, n[1], in[!gone][k], 0x5a);
}

// Did it come while its receiver did not call?
static bool comes_alone(int partner)
{
    MPI_Request r;
    bool came = false;
    if (me < npes / 2) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, LONG, MPI_BYTE, partner, 2, MPI_COMM_WORLD));
    } else {
        memset(in[0], 0, sizeof in[0]);
        OK(MPI_Irecv(in[0], LONG, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &r));
        OK(MPI_Send(NULL, 0, MPI_BYTE, partner, SAID, MPI_COMM_WORLD));
        for (double until = check_now() + 0.5 + 3 * took; check_now() < until && !came;)
            came = __atomic_load_n(&in[0][LONG - 1], __ATOMIC_ACQUIRE) != 0;
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_MEM(in[0], out, LONG, "data");
    }
    if (me < npes / 2)
        OK(MPI_Recv(&came, sizeof came, MPI_BYTE, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        OK(MPI_Send(&came, sizeof came, MPI_BYTE, partner, 4, MPI_COMM_WORLD));
    return came;
}

// There an envelope that has to wait is one that follows no hint.
static bool is_hostile(void)
{
    uint64_t most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_COLL_SHORT, 0, &most), SHOAL_OK);
    return most < 4096;
}

static void exchanges_then_computes(int partner)
{
    bool came = false;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request r[2];
        OK(MPI_Irecv(in[0], LONG, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(out, LONG, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 20 && !came; i++)
        came = comes_alone(partner) || came;
    for (int i = 0; i < 3 && is_reached(partner); i++)
        came = comes_alone(partner) && came;
    CHECK(came || !is_reached(partner) || is_hostile());
}

int main(void)
{
    mpi_start();
    if (npes % 2) {
        OK(MPI_Finalize());
        check_skip("for an even number of processes");
    }
    uint64_t state = 1; // the same on both
    int partner = (me + npes / 2) % npes; // with two nodes on the other one
    fill(out, sizeof out, 3);
    out[LONG - 1] = out[600000 - 1] = 1;
    for (int n = 600000; n <= LONG; n += 100000)
        while_computing(partner, n);
    truncated(partner);
    for (int i = 0; i < ROUNDS; i++)
        cancelled(partner, &state);
    exchanges_then_computes(partner);
    return mpi_done();
}
