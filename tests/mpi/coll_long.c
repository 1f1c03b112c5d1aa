// SPDX-License-Identifier: BSD-3-Clause
// Long collectives, about the lengths where their way changes, blocking, nonblocking and persistent, over
// the world and its halves. Broadcasts from each root, to buffers without and with gaps, which need not be
// alike on all ranks: not a byte of the gaps, nor what is around, changes. Allgathers, of blocks of one length
// and of long and short ones, and allreductions of private memory and of MPI_Alloc_mem's, in place and not.
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

// ---- Blocks of all to all, and sums
enum { MOST_EACH = 40000 }; // numbers of a block

static int *from, *to; // room for twice as many of each rank

static int number(int rank, int i)
{
    return rank * 1000003 + i * 7;
}

static void gather_all(MPI_Comm comm, int n, int form, bool in_place)
{
    MPI_Request r;
    int rank, size, wrong = 0;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    memset(to, 0xee, (size_t)(size * n) * sizeof *to);
    for (int i = 0; i < n; i++)
        (in_place ? to + rank * n : from)[i] = number(rank, i);
    OK(COLL(form, , Allgather, Iallgather, &r, comm, in_place ? MPI_IN_PLACE : from, n, MPI_INT, to,
            n, MPI_INT));
    coll_finish(form, &r);
    for (int i = 0; i < size * n; i++)
        wrong += to[i] != number(i / n, i % n);
    CHECK_EQ(wrong, 0);
}

// All of n numbers, a half of that, or one, by turns from rank to rank; the last first, with one between.
static void gather_parts(MPI_Comm comm, int n, int form, bool in_place)
{
    MPI_Request r;
    int rank, size, wrong = 0, end = 0, counts[16], displs[16];
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    for (int p = size - 1; p >= 0; p--) {
        counts[p] = (int[]){n - 1, 1, n / 2}[p % 3];
        displs[p] = end;
        end += counts[p] + 1;
    }
    memset(to, 0xee, (size_t)end * sizeof *to);
    for (int i = 0; i < counts[rank]; i++)
        (in_place ? to + displs[rank] : from)[i] = number(rank, i);
    OK(COLL(form, , Allgatherv, Iallgatherv, &r, comm, in_place ? MPI_IN_PLACE : from, counts[rank],
            MPI_INT, to, counts, displs, MPI_INT));
    coll_finish(form, &r);
    for (int p = 0; p < size; p++) {
        for (int i = 0; i < counts[p]; i++)
            wrong += to[displs[p] + i] != number(p, i);
        wrong += to[displs[p] + counts[p]] != (int)0xeeeeeeee;
    }
    CHECK_EQ(wrong, 0);
}

static void sum_all(MPI_Comm comm, int n, int form, bool in_place)
{
    MPI_Request r;
    int rank, size, wrong = 0;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    in_place = in_place && form != 2; // which runs twice
    for (int i = 0; i < size * n; i++)
        (in_place ? to : from)[i] = rank + i;
    OK(COLL(form, , Allreduce, Iallreduce, &r, comm, in_place ? MPI_IN_PLACE : from, to, size * n,
            MPI_INT, MPI_SUM));
    coll_finish(form, &r);
    for (int i = 0; i < size * n; i++)
        wrong += to[i] != size * (size - 1) / 2 + size * i;
    CHECK_EQ(wrong, 0);
}

static void all_to_all(MPI_Comm comm, int turn)
{
    static const int each[] = {8191, 8192, 16383, 16384, MOST_EACH};
    for (int e = 0; e < 5; e++) {
        gather_all(comm, each[e], (turn + e) % 3, e % 2);
        gather_parts(comm, 2 * each[e], (turn + e) % 3, (turn + e) % 2);
        sum_all(comm, each[e], (turn + e + 1) % 3, (turn + e) % 2);
    }
}

static void both_memories(MPI_Comm comm)
{
    MPI_Aint bytes = 2 * (MPI_Aint)npes * MOST_EACH * (MPI_Aint)sizeof(int);
    from = must_alloc((size_t)bytes);
    to = must_alloc((size_t)bytes);
    for (int turn = 0; turn < 3; turn++)
        all_to_all(comm, turn);
    free(to);
    OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &to));
    all_to_all(comm, 0);
    free(from);
    OK(MPI_Free_mem(to));
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
        for (int form = 0; form < 3; form++, turn++) {
            one(MPI_COMM_WORLD, lengths[l], turn % npes, form,
                turn % 4 == 3 || (me + turn) % 3 == 0);
            one(half, lengths[l], turn % size, form, rank % 2 == turn % 2);
        }
    both_memories(MPI_COMM_WORLD);
    both_memories(half);
    OK(MPI_Comm_free(&half));
    free(room);
    return mpi_done();
}
