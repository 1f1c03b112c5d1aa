// SPDX-License-Identifier: BSD-3-Clause
// Communicators made over an intercommunicator while a nonblocking collective over it is pending: on
// each side both send over the same communicator of the side.
// PES: 2 4 7
#include "mpi_check.h"

enum { LONGEST = 20000 };

static MPI_Comm inter;

static void dup(MPI_Comm *new)
{
    OK(MPI_Comm_dup(inter, new));
}

static void idup(MPI_Comm *new)
{
    MPI_Request r;
    OK(MPI_Comm_idup(inter, new, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void merge(MPI_Comm *new)
{
    OK(MPI_Intercomm_merge(inter, me % 2, new));
}

static void split(MPI_Comm *new)
{
    OK(MPI_Comm_split(inter, 0, 0, new));
}

static void create(MPI_Comm *new)
{
    MPI_Group g;
    OK(MPI_Comm_group(inter, &g));
    OK(MPI_Comm_create(inter, g, new));
    OK(MPI_Group_free(&g));
}

// Of the ranks in the world.
static int sum_of_others(void)
{
    int sum = 0;
    for (int i = !(me % 2); i < npes; i += 2)
        sum += i;
    return sum;
}

static void check_new(MPI_Comm new)
{
    int is_inter, one = 1, sum = 0;
    OK(MPI_Comm_test_inter(new, &is_inter));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, new));
    CHECK_EQ(sum, !is_inter ? npes : me % 2 ? (npes + 1) / 2 : npes / 2);
    OK(MPI_Comm_free(&new));
}

static void try(void (*make)(MPI_Comm *new), int n)
{
    static int a[LONGEST], b[LONGEST];
    MPI_Comm new;
    MPI_Request r, s;
    int from = me % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, told = me == 0 ? 77 : -1;
    for (int i = 0; i < n; i++) {
        a[i] = me;
        b[i] = -7;
    }
    OK(MPI_Iallreduce(a, b, n, MPI_INT, MPI_SUM, inter, &r));
    OK(MPI_Ibcast(&told, 1, MPI_INT, from, inter, &s));
    make(&new);
    OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(told, me == 0 || me % 2 ? 77 : -1);
    CHECK_EACH(i, n, b[i], sum_of_others());
    check_new(new);
}

int main(void)
{
    void (*const makers[])(MPI_Comm *) = {dup, idup, merge, split, create};
    mpi_start();
    MPI_Comm side;
    MPI_Request r;
    int a = 1, b = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &side));
    OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, !(me % 2), 9, &inter));
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        try(makers[i], 1);
        try(makers[i], LONGEST);
    }
    OK(MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, inter, &r));
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(b, me % 2 ? (npes + 1) / 2 : npes / 2);
    OK(MPI_Comm_free(&side));
    return mpi_done();
}
