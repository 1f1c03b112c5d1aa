// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts that are so long that they go segment by segment, about the length where that begins: from private
// memory and from MPI_Alloc_mem's, from and to buffers with gaps, which need not be alike on all ranks, to
// an address that is not aligned; not a byte around them changes. Allreductions as long. The same when the
// root, or another one, has no memory left that the others reach.
// ALSO: 12
// ENV: SHMEM_SYMMETRIC_SIZE=48M
#include "coll_check.h"

enum {
    BEGIN = 4 << 20,
    SEGMENT = 1 << 19,
    LONGEST = BEGIN + SEGMENT + 4099,
    MARGIN = 64,
    BLOCK = 48
};

static unsigned char *room, *reached; // each 2 * LONGEST and margins
static int calls;

static unsigned char byte(int seed, size_t i)
{
    return (unsigned char)(i * 7 + i / 251 + i / SEGMENT * 3 + (size_t)seed * 13 + 1);
}

// With gaps: blocks of BLOCK bytes, each followed by as many others.
static size_t place(bool has_gaps, size_t i)
{
    return has_gaps ? i / BLOCK * 2 * BLOCK + i % BLOCK : i;
}

static void check(const unsigned char *at, size_t n, bool has_gaps)
{
    size_t wrong = 0, others = 0, end = place(has_gaps, n - 1) + 1;
    for (size_t i = 0; i < n; i++)
        wrong += at[place(has_gaps, i)] != byte(calls, i);
    for (size_t i = 0; i < end && has_gaps; i++)
        others += i / BLOCK % 2 == 1 && at[i] != 0xee;
    for (size_t i = 1; i <= MARGIN; i++)
        others += at[-(ptrdiff_t)i] != 0xee || at[end + i - 1] != 0xee;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(others, 0);
}

static void broadcast(unsigned char *memory, size_t shift, size_t n, int root, bool has_gaps)
{
    unsigned char *at = memory + MARGIN + shift;
    MPI_Datatype blocks = MPI_BYTE;
    int count = (int)n;
    memset(memory, 0xee, place(has_gaps, n) + 2 * MARGIN + shift + BLOCK);
    if (has_gaps) {
        OK(MPI_Type_vector((int)n / BLOCK, BLOCK, 2 * BLOCK, MPI_BYTE, &blocks));
        OK(MPI_Type_commit(&blocks));
        count = 1;
    }
    for (size_t i = 0; i < n && me == root; i++)
        at[place(has_gaps, i)] = byte(calls, i);
    OK(MPI_Bcast(at, count, blocks, root, MPI_COMM_WORLD));
    check(at, n, has_gaps);
    if (has_gaps)
        OK(MPI_Type_free(&blocks));
    calls++;
}

static void broadcasts(int root)
{
    size_t whole = (LONGEST - SEGMENT) / BLOCK * BLOCK;
    broadcast(room, 0, BEGIN - 1, root, false);
    broadcast(room, 0, BEGIN, root, false);
    broadcast(room, (size_t)me % 60 + 1, LONGEST, root, false);
    broadcast(me == root ? reached : room, 3, BEGIN + 1, root, false);
    broadcast(me == root ? room : reached, 5, BEGIN + SEGMENT, root, false);
    broadcast(room, 0, whole, root, me == root);
    broadcast(me == root ? reached : room, 0, whole, root, me != root);
}

static void allreduction(long *in, long *out, int n)
{
    long wrong = 0;
    for (int i = 0; i < n; i++)
        in[i] = (long)i * (me + 1) + calls;
    out[n] = -1;
    OK(MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        wrong += out[i] != (long)i * npes * (npes + 1) / 2 + (long)npes * calls;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(out[n], -1);
    calls++;
}

static void allreductions(void)
{
    int n = BEGIN / (int)sizeof(long);
    long *in = (long *)(void *)room, *out = in + n + n / 4, *shared = (long *)(void *)reached;
    allreduction(in, out, n - 1);
    allreduction(in, out + 1, n + 1001);
    allreduction(shared, out, n);
    allreduction(in, shared + 3, n);
}

// What the root sends decides: all that there is room for comes, and an error where that is not all.
static void lengths_differ(int sent, int wanted)
{
    size_t wrong = 0, least = (size_t)(sent < wanted ? sent : wanted);
    memset(room, 0xee, LONGEST);
    for (size_t i = 0; i < (size_t)sent && me == 0; i++)
        room[i] = byte(calls, i);
    int error = MPI_Bcast(room, me ? wanted : sent, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK_EQ(class_of(error), me && sent > wanted ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (size_t i = 0; i < least; i++)
        wrong += room[i] != byte(calls, i);
    for (size_t i = least; i < LONGEST && me; i++)
        wrong += room[i] != 0xee;
    CHECK_EQ(wrong, 0);
    calls++;
}

static void different_lengths(void)
{
    static const int lengths[] = {200000, BEGIN - SEGMENT, BEGIN + 1, LONGEST};
    uint64_t is_direct = 0;
    int near = npes > 2, all;
    for (int pe = 0; pe < npes; pe++)
        near &= shoal_query(SHOAL_Q_DIRECT, pe, &is_direct) == SHOAL_OK && is_direct;
    OK(MPI_Allreduce(&near, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; all && i < 16; i++)
        if (i / 4 != i % 4)
            lengths_differ(lengths[i / 4], lengths[i % 4]);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

// One rank takes all there is.
static void without_room(int who)
{
    if (me == who)
        take_all_room(48 << 20);
    broadcast(room, 0, LONGEST, 0, false);
    broadcast(room, 0, BEGIN / BLOCK * BLOCK + BLOCK, 0, me == 0);
    broadcast(room, 0, BEGIN / BLOCK * BLOCK + BLOCK, 0, me != 0);
    allreductions();
    give_all_room();
}

int main(void)
{
    enum { BYTES = 2 * LONGEST + 3 * MARGIN + BLOCK };
    mpi_start();
    room = must_alloc(BYTES);
    OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &reached));
    broadcasts(0);
    if (npes > 1)
        broadcasts(npes - 1);
    allreductions();
    different_lengths();
    without_room(0);
    without_room(npes - 1);
    OK(MPI_Free_mem(reached));
    free(room);
    return mpi_done();
}
