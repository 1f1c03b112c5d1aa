// SPDX-License-Identifier: BSD-3-Clause
// Messages whose way is learnt (shim-mpi/way.h), long enough for several tries: to and fro, in a ring
// that all send into at once, both ways at once, in windows of many, some ranks going on before others, and
// in collectives, of which each kind goes its own way; exchanges of all with all where ranks share cores, too.
// All data is right and in order, and where it may be both ways have been tried. Of two that answer each
// other one tries, and the other answers in kind.
// PES: 2 3
// ALSO: 7
#include "mpi_check.h"

#include <sched.h>
#include <shoal.h>
#include <stdlib.h>

enum { LONGEST = 600000, MANY = 150, WINDOW = 6 };

static const int lengths[] = {8192, 20001, 70000, 131072, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static unsigned char *out, *in;

static void make(unsigned char *data, int n, int seed)
{
    memset(data, seed, (size_t)n);
    memcpy(data, &seed, sizeof seed);
    memcpy(data + n - sizeof seed, &seed, sizeof seed);
}

static void compare(const unsigned char *data, int n, int seed)
{
    int first, last;
    memcpy(&first, data, sizeof first);
    memcpy(&last, data + n - sizeof last, sizeof last);
    CHECK_EQ(first, seed);
    CHECK_EQ(last, seed);
    for (int i = sizeof first; i < n - (int)sizeof last; i += 509)
        if (!CHECK_EQ(data[i], (unsigned char)seed))
            break;
}

// Between pairs; the last of an odd number looks on.
static void to_and_fro(int n, int seed)
{
    int other = me ^ 1;
    if (other >= npes)
        return;
    if (me % 2 == 0) {
        make(out, n, seed);
        OK(MPI_Send(out, n, MPI_BYTE, other, 1, MPI_COMM_WORLD));
    }
    OK(MPI_Recv(in, n, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    compare(in, n, me % 2 ? seed : seed + 1);
    if (me % 2) {
        make(out, n, seed + 1);
        OK(MPI_Send(out, n, MPI_BYTE, other, 1, MPI_COMM_WORLD));
    }
}

static void ring(int n, int seed)
{
    int before = (me + npes - 1) % npes, next = (me + 1) % npes;
    make(out, n, seed + me);
    OK(MPI_Sendrecv(out, n, MPI_BYTE, next, 2, in, n, MPI_BYTE, before, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    compare(in, n, seed + before);
}

// Both ways at once between pairs, as neighbours in a grid do it.
static void exchange(int n, int seed)
{
    MPI_Request r[2];
    int other = me ^ 1;
    if (other >= npes)
        return;
    make(out, n, seed + me % 2);
    OK(MPI_Irecv(in, n, MPI_BYTE, other, 5, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Isend(out, n, MPI_BYTE, other, 5, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    compare(in, n, seed + other % 2);
}

// From the even ranks to the odd ones, to whom nothing is returned but a word at the end.
static void one_way(int n, int seed)
{
    MPI_Request r[WINDOW];
    int other = me ^ 1, n_each = n < LONGEST / WINDOW ? n : LONGEST / WINDOW;
    unsigned char *data = me % 2 ? in : out;
    if (other >= npes)
        return;
    for (int i = 0; i < WINDOW; i++) {
        unsigned char *at = data + (size_t)i * (size_t)n_each;
        if (me % 2) {
            OK(MPI_Irecv(at, n_each, MPI_BYTE, other, 3, MPI_COMM_WORLD, &r[i]));
        } else {
            make(at, n_each, seed + i);
            OK(MPI_Isend(at, n_each, MPI_BYTE, other, 3, MPI_COMM_WORLD, &r[i]));
        }
    }
    OK(MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE));
    for (int i = 0; me % 2 && i < WINDOW; i++)
        compare(data + (size_t)i * (size_t)n_each, n_each, seed + i);
    if (me % 2)
        OK(MPI_Send(NULL, 0, MPI_BYTE, other, 4, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(NULL, 0, MPI_BYTE, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void collectives(int n, int seed)
{
    int block = n / npes, root = seed / 2 % npes;
    for (int i = 0; i < npes; i++)
        make(out + (size_t)i * (size_t)block, block, seed + me);
    OK(MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < npes; i++)
        compare(in + (size_t)i * (size_t)block, block, seed + i);
    OK(MPI_Gather(out, block, MPI_BYTE, in, block, MPI_BYTE, root, MPI_COMM_WORLD));
    for (int i = 0; i < npes && me == root; i++)
        compare(in + (size_t)i * (size_t)block, block, seed + i);
    if (me == root)
        make(in, n, seed);
    OK(MPI_Bcast(in, n, MPI_BYTE, root, MPI_COMM_WORLD));
    compare(in, n, seed);
}

// Is there a choice at all?
static bool are_open(void)
{
    uint64_t is_direct = 0, is_reached = 0;
    int next = (me + 1) % npes;
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, next, &is_direct), SHOAL_OK);
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, next, &is_reached), SHOAL_OK);
    return is_direct && is_reached && !getenv("SHOAL_MPI_STAGE");
}

static bool is_learnt(void)
{
    cpu_set_t cpus;
    return are_open() && sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) >= npes;
}

static bool is_so_for_all(int is_so)
{
    int all;
    OK(MPI_Allreduce(&is_so, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return all;
}

// Of all with all: a try may wait for receivers to catch up, but not for more than some hundreds of them.
static void exchanges(struct counter *staged, struct counter *left)
{
    enum { BLOCK = 1 << 16, TURNS = 8 };
    if (!is_so_for_all(npes > 1 && npes <= LONGEST / BLOCK && are_open()))
        return;
    unsigned long long were_staged = counter_read(staged), were_left = counter_read(left);
    bool both = false;
    for (int turn = 0; turn < TURNS && !is_so_for_all(both); turn++) {
        for (int i = 0; i < MANY; i++)
            OK(MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD));
        both = counter_read(staged) > were_staged && counter_read(left) > were_left;
    }
    CHECK(counter_read(staged) > were_staged);
    CHECK(counter_read(left) > were_left);
}

static void answers(struct counter *staged)
{
    unsigned long long before = counter_read(staged), mine, other;
    for (int i = 0; i < 20 * MANY; i++)
        to_and_fro(lengths[2], 2 * i);
    mine = counter_read(staged) - before;
    OK(MPI_Sendrecv(&mine, 1, MPI_UNSIGNED_LONG_LONG, me ^ 1, 6, &other, 1, MPI_UNSIGNED_LONG_LONG,
                    me ^ 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(mine, other);
}

// Data in memory that its receiver reaches by load is left there whatever is learnt: nobody learns from it.
static void from_shared(struct counter *staged)
{
    unsigned char *own = out;
    unsigned long long before = counter_read(staged);
    if (me == 0)
        OK(MPI_Alloc_mem(LONGEST, MPI_INFO_NULL, &out));
    for (int i = 0; i < WINDOW; i++)
        to_and_fro(lengths[1], 2 * i);
    CHECK(me == 0 || counter_read(staged) > before);
    if (me == 0)
        OK(MPI_Free_mem(out));
    out = own;
}

int main(void)
{
    mpi_start();
    struct counter staged = counter_start("staged"), left = counter_start("rendezvous");
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    if (npes == 2 && is_learnt()) {
        from_shared(&staged);
        answers(&staged);
    }
    exchanges(&staged, &left);
    void (*const patterns[])(int, int) = {to_and_fro, ring, exchange, one_way, collectives};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (int l = 0; l < LENGTHS; l++)
            for (int i = 0; i < MANY; i++)
                patterns[p](lengths[l], 1000 * l + 2 * i);
    if (is_learnt()) {
        CHECK(counter_read(&staged) > 0);
        CHECK(counter_read(&left) > 0);
    }
    counter_end(&staged);
    counter_end(&left);
    free(out);
    free(in);
    return mpi_done();
}
