// SPDX-License-Identifier: BSD-3-Clause
// Long broadcasts, about the lengths where their way changes: from each root, blocking, nonblocking and
// persistent, to buffers without and with gaps, which need not be alike on all ranks; over the world and its
// halves. Not a byte of the gaps, nor what is around, changes.
// ALSO: 12
#include "coll_check.h"

enum { MARGIN = 64, BLOCK = 24, LONGEST = 1500000 };

static unsigned char *room; // MARGIN, up to 2 * LONGEST, MARGIN

static unsigned char byte(int seed, int i)
{
    return (unsigned char)(i * 7 + i / 251 + seed * 13 + 1);
}

// With gaps: blocks of BLOCK bytes, each followed by as many others.
static size_t place(bool has_gaps, int i)
{
    return (size_t)(has_gaps ? i / BLOCK * 2 * BLOCK + i % BLOCK : i);
}

static void check(const unsigned char *at, int n, bool has_gaps, int seed)
{
    int wrong = 0, others = 0;
    size_t end = n ? place(has_gaps, n - 1) + 1 : 0;
    for (int i = 0; i < n; i++)
        wrong += at[place(has_gaps, i)] != byte(seed, i);
    for (size_t i = 0; i < end && has_gaps; i++)
        others += i / BLOCK % 2 == 1 && at[i] != 0xee;
    for (int i = 0; i < MARGIN; i++)
        others += room[i] != 0xee || at[end + (size_t)i] != 0xee;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(others, 0);
}

static void one(MPI_Comm comm, int n, int root, int form, bool has_gaps)
{
    unsigned char *at = room + MARGIN;
    MPI_Datatype blocks = MPI_BYTE;
    MPI_Request r;
    int rank, count = n;
    OK(MPI_Comm_rank(comm, &rank));
    memset(room, 0xee, 2 * (size_t)n + 2 * MARGIN + 2 * BLOCK);
    if (has_gaps) {
        OK(MPI_Type_vector(n / BLOCK, BLOCK, 2 * BLOCK, MPI_BYTE, &blocks));
        OK(MPI_Type_commit(&blocks));
        count = 1;
    }
    for (int i = 0; i < n && rank == root; i++)
        at[place(has_gaps, i)] = byte(root, i);
    OK(COLL(form, , Bcast, Ibcast, &r, comm, at, count, blocks, root));
    coll_finish(form, &r);
    check(at, n, has_gaps, root);
    if (has_gaps)
        OK(MPI_Type_free(&blocks));
}

int main(void)
{
    static const int lengths[] = {BLOCK * 5461,  BLOCK * 5462,  BLOCK * 10000,
                                  BLOCK * 21845, BLOCK * 21846, BLOCK * (LONGEST / BLOCK)};
    MPI_Comm half;
    int rank, size, turn = 0;
    mpi_start();
    room = must_alloc(2 * LONGEST + 2 * MARGIN + 2 * BLOCK);
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half));
    OK(MPI_Comm_rank(half, &rank));
    OK(MPI_Comm_size(half, &size));
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int f = 0; f < 3; f++, turn++) {
            // The first one is not blocking: the members know less of each other.
            int form = (f + 1) % 3;
            one(MPI_COMM_WORLD, lengths[l], turn % npes, form,
                turn % 4 == 3 || (me + turn) % 3 == 0);
            one(half, lengths[l], turn % size, form, rank % 2 == turn % 2);
        }
    OK(MPI_Comm_free(&half));
    free(room);
    return mpi_done();
}
