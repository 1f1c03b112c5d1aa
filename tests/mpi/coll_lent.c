// SPDX-License-Identifier: BSD-3-Clause
// Reductions on a node, which go through memory that all reach: allreduce, reduce and both reduce-scatters,
// and scans, which go piece by piece: blocking, nonblocking and persistent, of lengths about those where a way
// or a segment begins, by an operator that does not commute and has to come in the ranks' order, from and to
// private memory and MPI_Alloc_mem's, in place and not, over the world and its halves; elements longer than a
// segment; and while one of the processes has none of that memory left.
// ALSO: 12
// ENV: SHMEM_SYMMETRIC_SIZE=32M
#include "coll_check.h"

enum { KINDS = 6, LONG = 70001 }; // pairs of an element that is longer than a segment

static MPI_Datatype pair;
static MPI_Op maps;
static int (*from)[2], (*to)[2];
static int pairs_each = 1; // of an element
static int calls;

static void then(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int(*first)[2] = in, (*second)[2] = inout;
    (void)type;
    for (int i = 0; i < *n * pairs_each; i++)
        combine(first[i], second[i]);
}

static void give(int (*at)[2], int rank, int n)
{
    for (int i = 0; i < n; i++) {
        at[i][0] = factor(calls, rank, i);
        at[i][1] = rank + i % 7;
    }
}

// What has come are elements first to first + n of all.
static void check_maps(int (*at)[2], int size, int first, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        int all[2] = {1, 0};
        for (int r = 0; r < size; r++) {
            int next[2] = {factor(calls, r, first + i), r + (first + i) % 7};
            combine(all, next);
            all[0] = next[0];
            all[1] = next[1];
        }
        wrong += at[i][0] != all[0] || at[i][1] != all[1];
    }
    CHECK_EQ(wrong, 0);
}

// all: pairs that each gives, a multiple of pairs_each * size where all get the same.
static void one(MPI_Comm comm, int kind, int all, int form, bool in_place, MPI_Datatype type)
{
    MPI_Request r;
    int rank, size, root = calls % 3, each, first = 0, n = all, *counts;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    root %= size;
    in_place = in_place && form != 2 && (kind != 1 || rank == root); // persistent ones run twice
    void *given = in_place ? MPI_IN_PLACE : (void *)from;
    give(in_place ? to : from, rank, all);
    counts = must_alloc((size_t)size * sizeof *counts);
    each = all / pairs_each;
    switch (kind) {
    case 0: OK(COLL(form, , Allreduce, Iallreduce, &r, comm, given, to, each, type, maps)); break;
    case 1: OK(COLL(form, , Reduce, Ireduce, &r, comm, given, to, each, type, maps, root)); break;
    case 2:
        n = each / size * pairs_each, first = rank * n;
        OK(COLL(form, , Reduce_scatter_block, Ireduce_scatter_block, &r, comm, given, to,
                each / size, type, maps));
        break;
    case 3: OK(COLL(form, , Scan, Iscan, &r, comm, given, to, each, type, maps)); break;
    case 4: OK(COLL(form, , Exscan, Iexscan, &r, comm, given, to, each, type, maps)); break;
    default:
        for (int i = 0; i < size; i++) // the first gets none, the last what is left
            counts[i] = i ? each / size : 0;
        counts[size - 1] += each / size + each % size;
        n = counts[rank] * pairs_each;
        first = rank ? (rank - 1) * (each / size) * pairs_each : 0;
        OK(COLL(form, , Reduce_scatter, Ireduce_scatter, &r, comm, given, to, counts, type, maps));
    }
    coll_finish(form, &r);
    int ranks = kind == 3 ? rank + 1 : kind == 4 ? rank : size; // those that are combined
    if (ranks && (kind != 1 || rank == root))
        check_maps(to, ranks, first, n);
    free(counts);
    calls++;
}

static void lengths(MPI_Comm comm, int turn)
{
    static const int all[] = {8191, 8192, 65535, 65536, 65537, 100003};
    for (int l = 0; l < 6; l++)
        for (int kind = 0; kind < KINDS; kind++, turn++)
            one(comm, kind, all[l], turn % 3, turn / 3 % 2, pair);
}

static void long_elements(MPI_Comm comm)
{
    MPI_Datatype type;
    int size;
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Type_contiguous(LONG, pair, &type));
    OK(MPI_Type_commit(&type));
    pairs_each = LONG;
    for (int kind = 0; kind < KINDS; kind++)
        one(comm, kind, LONG * size, kind % 3, kind % 2, type);
    pairs_each = 1;
    OK(MPI_Type_free(&type));
}

// One rank takes all there is.
static void without_room(MPI_Comm comm, int who)
{
    int rank;
    OK(MPI_Comm_rank(comm, &rank));
    if (rank == who)
        take_all_room(32 << 20);
    lengths(comm, who);
    give_all_room();
}

int main(void)
{
    enum { BOTH = 110000 };
    MPI_Comm half;
    mpi_start();
    bool few = npes <= 4;
    size_t room = (few && npes > 1 ? (size_t)LONG * (size_t)npes : BOTH) * sizeof *from;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(then, 0, &maps));
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half));
    from = must_alloc(room);
    to = must_alloc(room);
    lengths(MPI_COMM_WORLD, 0);
    lengths(half, 1);
    if (few)
        long_elements(MPI_COMM_WORLD);
    without_room(MPI_COMM_WORLD, npes - 1);
    free(from);
    OK(MPI_Alloc_mem((MPI_Aint)(BOTH * sizeof *from), MPI_INFO_NULL, &from));
    lengths(MPI_COMM_WORLD, 2);
    free(to);
    OK(MPI_Alloc_mem((MPI_Aint)(BOTH * sizeof *from), MPI_INFO_NULL, &to));
    lengths(MPI_COMM_WORLD, 3);
    lengths(half, 4);
    OK(MPI_Free_mem(from));
    OK(MPI_Free_mem(to));
    OK(MPI_Comm_free(&half));
    OK(MPI_Op_free(&maps));
    OK(MPI_Type_free(&pair));
    return mpi_done();
}
