// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators between the even and the odd processes: who is where, messages, duplicates,
// splits, parts, and merges with every choice of `high`.
// PES: 2 4 7
#include "mpi_check.h"

static int size, rank, remote; // of the own side, the other side's size

static int world_rank(int of_odd, int i)
{
    return 2 * i + of_odd;
}

static void check_use(MPI_Comm inter, int own_n, int remote_n)
{
    int flag, n, r, got = -1;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    OK(MPI_Comm_size(inter, &n));
    CHECK_EQ(n, own_n);
    OK(MPI_Comm_remote_size(inter, &n));
    CHECK_EQ(n, remote_n);
    OK(MPI_Comm_rank(inter, &r));
    int peer = r < remote_n ? r : MPI_PROC_NULL; // ranks are those of the other side
    MPI_Status status;
    OK(MPI_Sendrecv(&me, 1, MPI_INT, peer, 1, &got, 1, MPI_INT, peer, 1, inter, &status));
    if (peer != MPI_PROC_NULL)
        CHECK(got != me && status.MPI_SOURCE == r);
}

static void merges(MPI_Comm inter)
{
    for (int choice = 0; choice < 4; choice++) {
        int odd = me % 2, high = choice >> odd & 1, new_rank, all, sum = 0;
        MPI_Comm c;
        OK(MPI_Intercomm_merge(inter, high, &c));
        OK(MPI_Comm_rank(c, &new_rank));
        OK(MPI_Comm_size(c, &all));
        CHECK_EQ(all, npes);
        if (choice == 1) // the even ones are high
            CHECK_EQ(new_rank, odd ? rank : remote + rank);
        if (choice == 2)
            CHECK_EQ(new_rank, odd ? remote + rank : rank);
        OK(MPI_Allreduce(&new_rank, &sum, 1, MPI_INT, MPI_SUM, c));
        CHECK_EQ(sum, npes * (npes - 1) / 2);
        OK(MPI_Comm_free(&c));
    }
}

static void copies(MPI_Comm inter)
{
    MPI_Comm c, d;
    MPI_Request r;
    int result;
    OK(MPI_Comm_dup(inter, &c));
    check_use(c, size, remote);
    OK(MPI_Comm_idup(c, &d, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Comm_compare(inter, d, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    OK(MPI_Comm_free(&c));
    check_use(d, size, remote);
    OK(MPI_Comm_disconnect(&d));
}

static void parts(MPI_Comm inter)
{
    MPI_Comm c;
    MPI_Group own, first;
    int zero = 0;
    // The first of each side, backwards by key where there are two or more.
    OK(MPI_Comm_split(inter, rank < 2 ? 5 : rank % 2 ? MPI_UNDEFINED : 6 + me, -rank, &c));
    if (rank < 2) {
        int own_n = size < 2 ? size : 2, remote_n = remote < 2 ? remote : 2, new_rank;
        check_use(c, own_n, remote_n);
        OK(MPI_Comm_rank(c, &new_rank));
        CHECK_EQ(new_rank, own_n - 1 - rank);
        OK(MPI_Comm_free(&c));
    } else {
        CHECK(c == MPI_COMM_NULL); // nobody on the other side has its color
    }
    OK(MPI_Comm_split(inter, rank ? MPI_UNDEFINED : 0, 0, &c)); // not one of those without a color
    CHECK_EQ(c != MPI_COMM_NULL, rank == 0);
    if (c != MPI_COMM_NULL) {
        check_use(c, 1, 1);
        OK(MPI_Comm_free(&c));
    }
    OK(MPI_Comm_group(inter, &own));
    OK(MPI_Group_incl(own, 1, &zero, &first));
    OK(MPI_Comm_create(inter, first, &c));
    CHECK_EQ(c != MPI_COMM_NULL, rank == 0);
    if (c != MPI_COMM_NULL) {
        check_use(c, 1, 1);
        OK(MPI_Comm_free(&c));
    }
    OK(MPI_Comm_create(inter, me % 2 ? first : MPI_GROUP_EMPTY, &c)); // one side has nobody
    CHECK(c == MPI_COMM_NULL);
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&own));
}

// What a part's collectives send is not taken for that of a communicator that is made next, whoever makes it.
static void apart(MPI_Comm inter)
{
    enum { TURNS = 8 };
    MPI_Comm part, next[3];
    MPI_Request r[4];
    OK(MPI_Comm_split(inter, 0, 0, &part));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &next[0]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &next[1])); // others come first
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &next[2]));
    for (int turn = 0; turn < TURNS; turn++) {
        int one = 1, sum[4] = {0}, order = turn + me; // each in its own order
        for (int k = 0; k < 4; k++) {
            int which = (order + k) % 4;
            OK(MPI_Iallreduce(&one, &sum[which], 1, MPI_INT, MPI_SUM,
                              which ? next[which - 1] : part, &r[which]));
        }
        OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        CHECK_EQ(sum[0], remote);
        for (int k = 1; k < 4; k++)
            CHECK_EQ(sum[k], npes);
    }
    for (int k = 0; k < 3; k++)
        OK(MPI_Comm_free(&next[k]));
    OK(MPI_Comm_free(&part));
}

// What is for one group alone.
static void not_for_two(MPI_Comm inter)
{
    const MPI_Datatype no = MPI_DATATYPE_NULL;
    void *const place = MPI_IN_PLACE;
    int in[16] = {0}, out[16] = {0}, n[16] = {0}, one = 1;
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Win win = MPI_WIN_NULL;
    void *base;
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Allreduce(place, in, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Allgather(place, 0, no, in, 1, MPI_INT, inter)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Allgatherv(place, 0, no, in, n, n, MPI_INT, inter)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Alltoall(place, 0, no, in, 1, MPI_INT, inter)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Reduce_scatter_block(place, in, 1, MPI_INT, MPI_SUM, inter)),
             MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, inter)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Cart_create(inter, 1, &one, n, 0, &c)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &c)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &c)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Win_allocate(4, 4, MPI_INFO_NULL, inter, &base, &win)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_INT, remote, inter)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, no, 0, inter)), MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Reduce(in, out, -1, MPI_INT, MPI_SUM, MPI_ROOT, inter)), MPI_ERR_COUNT);
    OK(MPI_Reduce(NULL, NULL, -1, no, MPI_OP_NULL, MPI_PROC_NULL, inter)); // it only stands by
    CHECK_EQ(class_of(MPI_Intercomm_merge(inter, 0, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Comm_remote_group(inter, NULL)), MPI_ERR_ARG);
    CHECK(c == MPI_COMM_NULL && win == MPI_WIN_NULL);
}

int main(void)
{
    MPI_Comm half, inter, bad = MPI_COMM_NULL;
    MPI_Group g;
    mpi_start();
    int odd = me % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half));
    OK(MPI_Comm_size(half, &size));
    OK(MPI_Comm_rank(half, &rank));
    remote = npes - size;
    // The leaders are the last ones of each side; the others' peer_comm does not count.
    OK(MPI_Intercomm_create(half, size - 1, rank == size - 1 ? MPI_COMM_WORLD : MPI_COMM_NULL,
                            world_rank(!odd, remote - 1), 12, &inter));
    check_use(inter, size, remote);
    OK(MPI_Comm_remote_group(inter, &g));
    for (int i = 0; i < remote; i++) {
        MPI_Group world;
        int there;
        OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
        OK(MPI_Group_translate_ranks(g, 1, &i, world, &there));
        CHECK_EQ(there, world_rank(!odd, i));
        OK(MPI_Group_free(&world));
    }
    OK(MPI_Group_free(&g));
    merges(inter);
    copies(inter);
    parts(inter);
    apart(inter);
    not_for_two(inter);
    OK(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Intercomm_create(half, size, MPI_COMM_WORLD, 0, 1, &bad)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, npes, 1, &bad)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Comm_remote_size(half, &rank)), MPI_ERR_COMM);
    CHECK(bad == MPI_COMM_NULL);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return mpi_done();
}
