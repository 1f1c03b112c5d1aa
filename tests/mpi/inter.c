// SPDX-License-Identifier: BSD-3-Clause
// PES: 2 4 7
// Collectives over an intercommunicator, whose groups are the even and the odd ranks of the world;
// and messages between the two.
#include "mpi_check.h"

static MPI_Comm side, inter;
static int rank, size, others;

static int id(int group, int r) // which process of the world
{
    return 2 * r + group;
}

static void messages(void)
{
    int mine = me, got = -1, n;
    MPI_Status s;
    OK(MPI_Comm_remote_size(inter, &n));
    CHECK_EQ(n, others);
    if (rank >= others)
        return;
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, rank, 1, &got, 1, MPI_INT, rank, 1, inter, &s));
    CHECK_EQ(got, me ^ 1);
    CHECK_EQ(s.MPI_SOURCE, rank);
}

static void rooted(void)
{
    int group = me % 2, from = group == 0, all[npes], one = -1;
    int root = from ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    if (from && rank == 0)
        one = 4711;
    OK(MPI_Bcast(&one, 1, MPI_INT, root, inter));
    CHECK_EQ(one, from && rank ? -1 : 4711);
    memset(all, 0xff, sizeof all);
    OK(MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    if (from && rank == 0)
        CHECK_EACH(i, others, all[i], id(1, (int)i));
    for (int i = 0; i < npes; i++)
        all[i] = i * 3;
    one = -1;
    OK(MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, root, inter));
    CHECK_EQ(one, from ? -1 : rank * 3);
    int sum = -1;
    OK(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    if (from && rank == 0) {
        int expected = 0;
        for (int i = 0; i < others; i++)
            expected += id(1, i);
        CHECK_EQ(sum, expected);
    }
}

static void all_to_all(void)
{
    int all[npes], mine[npes], sum = -1, expected = 0;
    for (int i = 0; i < others; i++) {
        mine[i] = me * 100 + i;
        expected += id(!(me % 2), i);
    }
    OK(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, inter));
    CHECK_EACH(i, others, all[i], id(!(me % 2), (int)i));
    OK(MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, inter));
    CHECK_EACH(i, others, all[i], id(!(me % 2), (int)i) * 100 + rank);
    MPI_Request r;
    OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(sum, expected);
    OK(MPI_Barrier(inter));
    // Both sides have size * others elements.
    int part[npes * npes], got[npes];
    for (int i = 0; i < size * others; i++)
        part[i] = me + i;
    OK(MPI_Reduce_scatter_block(part, got, others, MPI_INT, MPI_SUM, inter));
    CHECK_EACH(i, others, got[i], expected + others * (rank * others + (int)i));
}

static void merge(void)
{
    MPI_Comm both;
    int r, n;
    OK(MPI_Intercomm_merge(inter, me % 2, &both)); // the odd ones last
    OK(MPI_Comm_rank(both, &r));
    OK(MPI_Comm_size(both, &n));
    CHECK_EQ(n, npes);
    CHECK_EQ(r, me % 2 ? (npes + 1) / 2 + rank : rank);
    int sum = -1;
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, both));
    CHECK_EQ(sum, npes * (npes - 1) / 2);
    OK(MPI_Comm_free(&both));
}

// By node: those of this side that are here, if any of the other side is.
static void split_types(void)
{
    MPI_Comm near, part;
    int here, of_both, local, is_inter = 0;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &of_both));
    OK(MPI_Comm_free(&near));
    OK(MPI_Comm_split_type(side, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &here));
    OK(MPI_Comm_free(&near));
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK_EQ(part != MPI_COMM_NULL, of_both > here);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_test_inter(part, &is_inter));
        CHECK(is_inter);
        OK(MPI_Comm_size(part, &local));
        CHECK_EQ(local, here);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL)
        OK(MPI_Comm_free(&part));
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &side));
    OK(MPI_Comm_rank(side, &rank));
    OK(MPI_Comm_size(side, &size));
    others = npes - size;
    OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, me % 2 ? 0 : 1, 9, &inter));
    int is_inter = 0;
    OK(MPI_Comm_test_inter(inter, &is_inter));
    CHECK(is_inter);
    messages();
    rooted();
    all_to_all();
    merge();
    split_types();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&side));
    return mpi_done();
}
