// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows: memory of both kinds comes and goes, while others access what is there, also
// without a word to them; freed memory that is attached again; a table that grows; a list that all
// extend.
// ALSO: 16
#include "rma_check.h"

enum { ROUNDS = 60, BLOCKS = 40, BLOCK = 200, APPENDS = 30 };

static MPI_Aint address(const void *p)
{
    MPI_Aint a;
    OK(MPI_Get_address(p, &a));
    return a;
}

static void *block_new(bool shared)
{
    void *p;
    if (!shared)
        return must_alloc(BLOCK);
    OK(MPI_Alloc_mem(BLOCK, MPI_INFO_NULL, &p));
    return p;
}

static void block_free(void *p, bool shared)
{
    if (shared)
        OK(MPI_Free_mem(p));
    else
        free(p);
}

// In every round each rank has other blocks; its neighbour reads, changes and checks all of them.
static void come_and_go(void)
{
    MPI_Win win;
    void *block[BLOCKS] = {0};
    uint64_t seed = 3 + (uint64_t)me;
    int next = (me + 1) % npes, rounds = fewer(ROUNDS);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int round = 0; round < rounds; round++) {
        MPI_Aint mine[BLOCKS] = {0}, theirs[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            if (block[i] && rnd_below(&seed, 2)) {
                OK(MPI_Win_detach(win, block[i]));
                block_free(block[i], i % 2);
                block[i] = NULL;
            }
            if (!block[i] && rnd_below(&seed, 2)) {
                block[i] = block_new(i % 2);
                OK(MPI_Win_attach(win, block[i], BLOCK));
            }
            if (block[i]) {
                mine[i] = address(block[i]);
                fill(block[i], BLOCK, (unsigned)(round + i + me));
            }
        }
        OK(MPI_Sendrecv(mine, BLOCKS, MPI_AINT, (me + npes - 1) % npes, 0, theirs, BLOCKS, MPI_AINT,
                        next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Win_lock_all(0, win));
        for (int i = 0; i < BLOCKS; i++) {
            unsigned char got[BLOCK], value = (unsigned char)(me + i);
            if (!theirs[i])
                continue;
            OK(MPI_Get(got, BLOCK, MPI_BYTE, next, theirs[i], BLOCK, MPI_BYTE, win));
            OK(MPI_Win_flush(next, win));
            CHECK_EACH(k, BLOCK, got[k], fill_byte((unsigned)(round + i + next), k));
            OK(MPI_Put(&value, 1, MPI_BYTE, next, MPI_Aint_add(theirs[i], i), 1, MPI_BYTE, win));
            OK(MPI_Accumulate(&value, 1, MPI_BYTE, next, MPI_Aint_add(theirs[i], BLOCK - 1), 1,
                              MPI_BYTE, MPI_REPLACE, win));
        }
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < BLOCKS; i++)
            if (block[i]) {
                unsigned want = (unsigned char)((me + npes - 1) % npes + i);
                CHECK_EQ(((unsigned char *)block[i])[i], want);
                CHECK_EQ(((unsigned char *)block[i])[BLOCK - 1], want);
            }
    }
    OK(MPI_Win_free(&win));
    for (int i = 0; i < BLOCKS; i++)
        if (block[i])
            block_free(block[i], i % 2);
}

// Neighbours that were attached apart are one where their memory is shared: of the heap here, and
// not in the order of their addresses.
static void pieces(void)
{
    enum { PIECES = 5, PIECE = 64 };
    MPI_Win win;
    char *p, out[PIECES * PIECE], in[PIECES * PIECE];
    int next = (me + 1) % npes;
    MPI_Aint mine, theirs;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Alloc_mem(sizeof out, MPI_INFO_NULL, &p));
    for (int i = 0; i < PIECES; i++)
        OK(MPI_Win_attach(win, p + (i * 3 + 1) % PIECES * PIECE, PIECE));
    mine = address(p);
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, (me + npes - 1) % npes, 0, &theirs, 1, MPI_AINT, next, 0,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fill(out, sizeof out, (unsigned)me);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(out, sizeof out, MPI_BYTE, next, theirs, sizeof out, MPI_BYTE, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(in, sizeof in - 10, MPI_BYTE, next, theirs + 10, sizeof in - 10, MPI_BYTE, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_MEM(in, out + 10, sizeof in - 10, "what was put over several pieces");
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_detach(win, p + 2 * PIECE));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(class_of(MPI_Put(out, 3 * PIECE, MPI_BYTE, me, mine, 3 * PIECE, MPI_BYTE, win)),
             MPI_ERR_RMA_RANGE);
    OK(MPI_Put(out, 2 * PIECE, MPI_BYTE, me, mine, 2 * PIECE, MPI_BYTE, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(p));
}

// ---- The last rank attaches and detaches on and on; all others count in two blocks of it that stay.
// They begin before it does, as a table that never rests is hard to read from another node.
static void churn(MPI_Win win)
{
    void *block[BLOCKS] = {0};
    uint64_t seed = 5;
    MPI_Request end;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &end));
    for (int done = 0; !done;) {
        for (int k = 0; k < 8; k++) {
            size_t i = rnd_below(&seed, BLOCKS);
            if (block[i]) {
                OK(MPI_Win_detach(win, block[i]));
                block_free(block[i], i % 2);
                block[i] = NULL;
            } else {
                block[i] = block_new(i % 2);
                OK(MPI_Win_attach(win, block[i], BLOCK));
            }
        }
        OK(MPI_Test(&end, &done, MPI_STATUS_IGNORE));
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (block[i]) {
            OK(MPI_Win_detach(win, block[i]));
            block_free(block[i], i % 2);
        }
}

static void count(MPI_Win win, const MPI_Aint counters[2], int rounds)
{
    const long one = 1;
    long was, last[2] = {-1, -1};
    MPI_Request end;
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < 2; k++) {
            OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, npes - 1, counters[k], MPI_SUM, win));
            OK(MPI_Win_flush(npes - 1, win));
            CHECK(was > last[k] && was < (long)rounds * (npes - 1));
            last[k] = was;
            if (i == 0 && k == 1)
                OK(MPI_Barrier(MPI_COMM_WORLD));
        }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &end));
    OK(MPI_Wait(&end, MPI_STATUS_IGNORE));
}

static void meanwhile(void)
{
    MPI_Win win;
    MPI_Aint counters[2];
    long *stays[2];
    int rounds = fewer(1000);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int k = 0; k < 2; k++) {
        stays[k] = block_new(k);
        *stays[k] = 0;
        OK(MPI_Win_attach(win, stays[k], BLOCK));
        counters[k] = address(stays[k]);
    }
    OK(MPI_Bcast(counters, 2, MPI_AINT, npes - 1, MPI_COMM_WORLD));
    if (me == npes - 1)
        churn(win);
    else
        count(win, counters, rounds);
    for (int k = 0; k < 2; k++)
        CHECK_EQ(*stays[k], me == npes - 1 ? (long)rounds * (npes - 1) : 0);
    OK(MPI_Win_free(&win));
    for (int k = 0; k < 2; k++)
        block_free(stays[k], k);
}

// ---- A list whose head is at rank 0: everybody appends at once, by comparing and swapping
struct place {
    MPI_Aint address;
    long rank; // -1: none
};
struct node {
    struct place next;
    long value;
};

static struct place get_place(MPI_Win win, struct place from, size_t offset)
{
    struct place p;
    MPI_Aint at = MPI_Aint_add(from.address, (MPI_Aint)offset);
    OK(MPI_Fetch_and_op(NULL, &p.rank, MPI_LONG, (int)from.rank,
                        MPI_Aint_add(at, offsetof(struct place, rank)), MPI_NO_OP, win));
    OK(MPI_Fetch_and_op(NULL, &p.address, MPI_AINT, (int)from.rank, at, MPI_NO_OP, win));
    OK(MPI_Win_flush((int)from.rank, win));
    return p;
}

static void append(MPI_Win win, struct place head, struct node *new)
{
    struct place tail = head, mine = {address(new), me};
    const long none = -1;
    for (;;) {
        long was;
        MPI_Aint at = MPI_Aint_add(tail.address, offsetof(struct node, next));
        // The address first: whoever sees the rank takes it.
        OK(MPI_Compare_and_swap(&mine.rank, &none, &was, MPI_LONG, (int)tail.rank,
                                MPI_Aint_add(at, offsetof(struct place, rank)), win));
        OK(MPI_Win_flush((int)tail.rank, win));
        if (was == none) {
            OK(MPI_Accumulate(&mine.address, 1, MPI_AINT, (int)tail.rank, at, 1, MPI_AINT,
                              MPI_REPLACE, win));
            OK(MPI_Win_flush((int)tail.rank, win));
            return;
        }
        struct place next;
        do
            next = get_place(win, tail, offsetof(struct node, next));
        while (!next.address);
        tail = next;
    }
}

static void list(bool shared)
{
    MPI_Win win;
    struct node *all[APPENDS + 1];
    struct place head = {0};
    int appends = fewer(APPENDS);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < APPENDS + 1; i++) {
        all[i] = block_new(shared);
        *all[i] = (struct node){{0, -1}, me * APPENDS + i};
        OK(MPI_Win_attach(win, all[i], sizeof *all[i]));
    }
    if (me == 0)
        head = (struct place){address(all[APPENDS]), 0};
    OK(MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < appends; i++)
        append(win, head, all[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long sum = 0, n = 0, last[64];
    for (int r = 0; r < npes; r++)
        last[r] = -1;
    for (struct place p = get_place(win, head, 0); p.rank >= 0;
         p = get_place(win, p, offsetof(struct node, next))) {
        long value;
        OK(MPI_Get(&value, 1, MPI_LONG, (int)p.rank,
                   MPI_Aint_add(p.address, offsetof(struct node, value)), 1, MPI_LONG, win));
        OK(MPI_Win_flush((int)p.rank, win));
        CHECK_EQ(value / APPENDS, p.rank);
        CHECK(value > last[p.rank]); // each rank's in the order it appended them
        last[p.rank] = value;
        sum += value;
        n++;
    }
    CHECK_EQ(n, (long)appends * npes);
    CHECK_EQ(sum, (long)APPENDS * appends * npes * (npes - 1) / 2 +
                      (long)npes * appends * (appends - 1) / 2);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    for (int i = 0; i < APPENDS + 1; i++)
        block_free(all[i], shared);
}

// What lies over several attached regions, side by side or apart, is one target all the same.
static void across(void)
{
    enum { HALF = 100, APART = 3 * HALF };
    MPI_Win win;
    int next = (me + 1) % npes;
    for (int shared = 0; shared < 2; shared++) {
        int *memory, values[2 * HALF], got[2 * HALF];
        OK(MPI_Alloc_mem(4 * HALF * sizeof *memory, MPI_INFO_NULL, &memory));
        int *base = shared ? memory : must_alloc(4 * HALF * sizeof *memory);
        memset(base, 0, 4 * HALF * sizeof *base);
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_attach(win, base, HALF * sizeof *base));
        OK(MPI_Win_attach(win, base + HALF, HALF * sizeof *base));
        OK(MPI_Win_attach(win, base + APART, HALF * sizeof *base));
        MPI_Aint mine = address(base), theirs;
        OK(MPI_Sendrecv(&mine, 1, MPI_AINT, (me + npes - 1) % npes, 0, &theirs, 1, MPI_AINT, next,
                        0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Datatype pieces; // the end of the first two, the beginning of the third
        OK(MPI_Type_create_indexed_block(2, HALF, (int[]){HALF, APART}, MPI_INT, &pieces));
        OK(MPI_Type_commit(&pieces));
        for (int i = 0; i < 2 * HALF; i++)
            values[i] = next * 1000 + i;
        OK(MPI_Win_lock_all(0, win));
        OK(MPI_Put(values, 2 * HALF, MPI_INT, next, theirs, 2 * HALF, MPI_INT, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Accumulate(values, 2 * HALF, MPI_INT, next, theirs, 1, pieces, MPI_SUM, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Get(got, 2 * HALF, MPI_INT, next, theirs, 1, pieces, win));
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_EACH(i, HALF, base[i], me * 1000 + i);
        CHECK_EACH(i, HALF, base[HALF + i], 2 * me * 1000 + HALF + 2 * i);
        CHECK_EACH(i, HALF, base[APART + i], me * 1000 + HALF + i);
        CHECK_EACH(i, HALF, got[i], 2 * next * 1000 + HALF + 2 * i);
        CHECK_EACH(i, HALF, got[HALF + i], next * 1000 + HALF + i);
        OK(MPI_Type_free(&pieces));
        OK(MPI_Win_free(&win));
        if (base != memory)
            free(base);
        OK(MPI_Free_mem(memory));
    }
}

// Regions of no bytes are in nobody's way.
static void empty(void)
{
    MPI_Win win;
    long memory[8] = {0}, values[8];
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, 0));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Win_attach(win, memory + 1, 0));
    for (int i = 0; i < 8; i++)
        values[i] = i + 1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    OK(MPI_Put(values, 8, MPI_LONG, me, address(memory), 8, MPI_LONG, win));
    OK(MPI_Accumulate(values, 1, MPI_LONG, me, address(memory + 1), 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Win_unlock(me, win));
    CHECK_EACH(i, 8, memory[i], i == 1 ? 3 : (long)i + 1);
    OK(MPI_Win_detach(win, memory + 1));
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    if (npes > 64)
        return mpi_done();
    across();
    come_and_go();
    pieces();
    empty();
    meanwhile();
    list(true);
    list(false);
    return mpi_done();
}
