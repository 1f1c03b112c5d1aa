// SPDX-License-Identifier: BSD-3-Clause
// Long messages of data with gaps, at one end or both: the data gets there, the gaps stay as they are, and what
// there is no room for is cut off. "gaps staged": nonblocking ones that both ends could copy to shared memory
// have been (ways.sh).
// PES: 1 2 4
#include "mpi_check.h"

enum { BLOCK = 96, STRIDE = 160, MOST = 5 << 20 };
enum kind { GAPS, DENSE, SHARED, KINDS }; // DENSE in malloc's memory, SHARED in MPI_Alloc_mem's

static unsigned char *memory[2][KINDS]; // to send from, and to receive to
static int to, from;

static size_t place(enum kind kind, size_t i)
{
    return kind == GAPS ? i / BLOCK * STRIDE + i % BLOCK : i;
}

static size_t span(enum kind kind, size_t n)
{
    return kind == GAPS ? n / BLOCK * STRIDE : n;
}

static MPI_Datatype type_of(enum kind kind, int n)
{
    MPI_Datatype t;
    if (kind == GAPS)
        OK(MPI_Type_vector(n / BLOCK, BLOCK, STRIDE, MPI_BYTE, &t));
    else
        OK(MPI_Type_contiguous(n, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

static bool is_sent(size_t n, enum kind kind, size_t i)
{
    return kind == GAPS ? i % STRIDE < BLOCK && i / STRIDE < n / BLOCK : i < n;
}

// So much is received of what a process with this number sends.
static void compare(const unsigned char *in, enum kind kind, size_t n, size_t room, int pe)
{
    for (size_t i = 0; i < n; i++)
        if (in[place(kind, i)] != fill_byte((unsigned)pe, i)) {
            CHECK_EQ(i, n); // the first byte that is wrong
            break;
        }
    for (size_t i = 0; i < span(kind, room); i++)
        if (!is_sent(n, kind, i) && in[i] != 0xee) {
            CHECK_EQ(i, n); // a byte that nobody sent
            break;
        }
}

static void message(int n, int room, enum kind out, enum kind in, bool waits, bool is_posted)
{
    MPI_Datatype sends = type_of(out, n), receives = type_of(in, room);
    MPI_Request r[2];
    MPI_Status status[2];
    int got = room < n ? room : n;
    memset(memory[1][in], 0xee, span(in, (size_t)room));
    for (size_t i = 0; i < (size_t)n; i++)
        memory[0][out][place(out, i)] = fill_byte((unsigned)me, i);
    if (is_posted)
        OK(MPI_Irecv(memory[1][in], 1, receives, from, 3, MPI_COMM_WORLD, &r[0]));
    OK((waits ? MPI_Issend : MPI_Isend)(memory[0][out], 1, sends, to, 3, MPI_COMM_WORLD, &r[1]));
    if (!is_posted)
        OK(MPI_Irecv(memory[1][in], 1, receives, from, 3, MPI_COMM_WORLD, &r[0]));
    int error = MPI_Waitall(2, r, status);
    CHECK_EQ(class_of(error), room < n ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
    if (room < n)
        CHECK_EQ(class_of(status[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    compare(memory[1][in], in, (size_t)got, (size_t)room, from);
    OK(MPI_Type_free(&sends));
    OK(MPI_Type_free(&receives));
}

int main(int argc, char **argv)
{
    static const int lengths[] = {BLOCK, 100 * BLOCK, 7000 * BLOCK, 45000 * BLOCK};
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    to = (me + 1) % npes;
    from = (me + npes - 1) % npes;
    for (int i = 0; i < 2; i++)
        for (enum kind k = 0; k < KINDS; k++)
            if (k == SHARED)
                OK(MPI_Alloc_mem(MOST, MPI_INFO_NULL, &memory[i][k]));
            else
                memory[i][k] = malloc(span(k, MOST));
    struct counter staged = counter_start("staged");
    for (int i = 0; i < 8; i++)
        message(7000 * BLOCK, 7000 * BLOCK, GAPS, GAPS, false, i % 2);
    if (argc > 1 && strcmp(argv[1], "staged") == 0)
        CHECK_EQ(counter_read(&staged), 8);
    counter_end(&staged);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < KINDS * KINDS; k++) {
            enum kind out = (enum kind)(k % KINDS), in = (enum kind)(k / KINDS);
            int n = lengths[i], half = n / 2 / BLOCK * BLOCK;
            message(n, n, out, in, k & 1, true);
            message(n, n, out, in, !(k & 1), false);
            message(n, half, out, in, k & 1, k & 2);
        }
    for (int i = 0; i < 2; i++)
        for (enum kind k = 0; k < KINDS; k++)
            if (k == SHARED)
                OK(MPI_Free_mem(memory[i][k]));
            else
                free(memory[i][k]);
    return mpi_done();
}
