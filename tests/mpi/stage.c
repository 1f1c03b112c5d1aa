// SPDX-License-Identifier: BSD-3-Clause
// Messages of private memory that pass through the sender's shared memory (stage.c): of all lengths, on
// and on, so that its blocks are used again; more at a time than it has room for, received in another
// order; some that nobody receives for long; cut short by their receiver; with gaps in the data. Each
// rank sends to the next.
// PES: 2 4
// ENV: SHOAL_MPI_LEARN=0
#include "mpi_check.h"

enum { KB = 1024, MB = 1024 * KB, LONGEST = 5 * MB, ROUNDS = 3000, FLOOD = 40, FLOODED = 300 * KB };
enum { LATE = 7, GAPS = 100000 };

static unsigned char *out, *in;
static int next, before;

static void check_received(size_t n, unsigned seed)
{
    if (memcmp(in, out, n) != 0) // which has the same
        CHECK_EACH(i, n, in[i], fill_byte(seed, i));
}

static void send_to_next(int n, int tag)
{
    MPI_Request r;
    OK(MPI_Irecv(in, n, MPI_BYTE, before, tag, MPI_COMM_WORLD, &r));
    OK(MPI_Send(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void every_length(void)
{
    static const int lengths[] = {2049,    4 * KB, 4 * KB + 1,   32 * KB - 1,
                                  48 * KB, 100000, 512 * KB - 1, 512 * KB,
                                  2 * MB,  4 * MB, 4 * MB + 1,   LONGEST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        fill(out, (size_t)lengths[i], (unsigned)i);
        memset(in, 0, (size_t)lengths[i]);
        send_to_next(lengths[i], 0);
        check_received((size_t)lengths[i], (unsigned)i);
    }
}

// Two of them lie there all the while.
static void on_and_on(void)
{
    uint64_t state = 7;
    static unsigned char late[2][20 * KB];
    for (int i = 0; i < 2; i++) {
        fill(late[i], sizeof late[i], (unsigned)i);
        memcpy(out, late[i], sizeof late[i]);
        OK(MPI_Send(out, sizeof late[i], MPI_BYTE, next, LATE + i, MPI_COMM_WORLD));
    }
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = 2100 + rnd_below(&state, i % 50 ? 40 * KB : 400 * KB);
        for (size_t k = 0; k < n; k += 256)
            out[k] = (unsigned char)(i + (int)(k >> 8));
        in[0] = out[0] ^ 1;
        send_to_next((int)n, 0);
        check_received(n, 0);
    }
    for (int i = 1; i >= 0; i--) {
        OK(MPI_Recv(in, LONGEST, MPI_BYTE, before, LATE + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(memcmp(in, late[i], sizeof late[i]), 0);
    }
}

static void more_than_there_is_room_for(void)
{
    MPI_Request r[FLOOD];
    unsigned char *each = must_alloc((size_t)FLOOD * FLOODED);
    for (int i = 0; i < FLOOD; i++) {
        fill(each + (size_t)i * FLOODED, FLOODED, (unsigned)i);
        OK(MPI_Isend(each + (size_t)i * FLOODED, FLOODED, MPI_BYTE, next, i, MPI_COMM_WORLD,
                     &r[i]));
    }
    for (int i = FLOOD - 1; i >= 0; i--) {
        OK(MPI_Recv(in, FLOODED, MPI_BYTE, before, i ^ 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(memcmp(in, each + (size_t)(i ^ 5) * FLOODED, FLOODED), 0);
    }
    OK(MPI_Waitall(FLOOD, r, MPI_STATUSES_IGNORE));
    free(each);
}

static void cut_short(void)
{
    MPI_Status status;
    MPI_Comm quiet;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &quiet));
    OK(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    fill(out, MB, 77);
    for (int room = 0; room <= 300000; room += 100000) {
        MPI_Request r;
        memset(in, 0, MB);
        OK(MPI_Irecv(in, room, MPI_BYTE, before, 0, quiet, &r));
        OK(MPI_Send(out, MB, MPI_BYTE, next, 0, quiet));
        CHECK_EQ(class_of(MPI_Wait(&r, &status)), MPI_ERR_TRUNCATE);
        check_received((size_t)room, 77);
        CHECK_EQ(in[room], 0);
    }
    OK(MPI_Comm_free(&quiet));
}

static void with_gaps(void)
{
    MPI_Datatype pairs;
    MPI_Request r;
    OK(MPI_Type_vector(GAPS, 2, 3, MPI_INT, &pairs));
    OK(MPI_Type_commit(&pairs));
    int *from = (int *)(void *)out, *to = (int *)(void *)in;
    for (int i = 0; i < 3 * GAPS; i++) {
        from[i] = i;
        to[i] = -1;
    }
    OK(MPI_Irecv(to, 1, pairs, before, 0, MPI_COMM_WORLD, &r));
    OK(MPI_Send(from, 1, pairs, next, 0, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, 3 * GAPS - 1, to[i], i % 3 == 2 ? -1 : (int)i);
}

int main(void)
{
    mpi_start();
    next = (me + 1) % npes;
    before = (me + npes - 1) % npes;
    out = must_alloc(LONGEST);
    in = must_alloc(LONGEST);
    every_length();
    on_and_on();
    more_than_there_is_room_for();
    cut_short();
    with_gaps();
    free(in);
    free(out);
    return mpi_done();
}
