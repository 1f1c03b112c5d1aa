// SPDX-License-Identifier: BSD-3-Clause
// PES: 2 4 7
// A part that is longer than its receiver expects: there MPI_ERR_TRUNCATE is raised, with what fits in its place and
// nothing behind it changed, and nowhere else. The last one to come is as expected. Gathers and scatters with counts,
// and broadcasts from one of two groups to the other, short and long, blocking and not.
#include "mpi_check.h"

enum { LONGEST = 70000, RANKS = 16, SPARE = 1 };

static int own[LONGEST + SPARE], all[RANKS * (LONGEST + SPARE)];
static int counts[RANKS], displs[RANKS];
static MPI_Comm inter;
static int n;
static bool waits; // else nonblocking

static int end(int error, MPI_Request *r)
{
    return class_of(waits || error ? error : MPI_Wait(r, MPI_STATUS_IGNORE));
}

static void prepare(int longer)
{
    for (int i = 0; i < npes; i++) {
        counts[i] = n + (i == longer ? SPARE : 0);
        displs[i] = i * (n + SPARE);
    }
    for (int i = 0; i < n + SPARE; i++)
        own[i] = me;
    for (int i = 0; i < npes * (n + SPARE); i++)
        all[i] = -1;
}

static void gather(void)
{
    MPI_Request r;
    prepare(me ? 1 : npes);
    const int *from = own;
    int error = waits ? MPI_Gatherv(from, counts[me], MPI_INT, all, counts, displs, MPI_INT, 0,
                                    MPI_COMM_WORLD)
                      : MPI_Igatherv(from, counts[me], MPI_INT, all, counts, displs, MPI_INT, 0,
                                     MPI_COMM_WORLD, &r);
    CHECK_EQ(end(error, &r), me ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    for (int rank = 0; me == 0 && rank < npes; rank++)
        CHECK_EACH(i, n + SPARE, all[displs[rank] + (int)i], (int)i < n ? rank : -1);
}

static void scatter(void)
{
    MPI_Request r;
    prepare(me ? npes : 1);
    for (int i = 0; i < npes * (n + SPARE); i++)
        all[i] = i / (n + SPARE);
    for (int i = 0; i < n + SPARE; i++)
        own[i] = -1;
    int error = waits ? MPI_Scatterv(all, counts, displs, MPI_INT, own, counts[me], MPI_INT, 0,
                                     MPI_COMM_WORLD)
                      : MPI_Iscatterv(all, counts, displs, MPI_INT, own, counts[me], MPI_INT, 0,
                                      MPI_COMM_WORLD, &r);
    CHECK_EQ(end(error, &r), me == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK_EACH(i, n + SPARE, own[i], (int)i < n ? me : -1);
}

// From rank 0 of the even ones. Of the odd ones the first hears of it, and passes on what all expect.
static void across(void)
{
    MPI_Request r;
    int root = me % 2 ? 0 : me ? MPI_PROC_NULL : MPI_ROOT;
    prepare(npes);
    int count = n + (me ? 0 : SPARE);
    int error = waits ? MPI_Bcast(own, count, MPI_INT, root, inter)
                      : MPI_Ibcast(own, count, MPI_INT, root, inter, &r);
    CHECK_EQ(end(error, &r), me == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK_EACH(i, n + SPARE, own[i], me % 2 && (int)i < n ? 0 : me);
}

int main(void)
{
    static const int lengths[] = {1, 16, 1000, LONGEST};
    MPI_Comm side;
    mpi_start();
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &side));
    OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, !(me % 2), 0, &inter));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int form = 0; form < 2; form++) {
            n = lengths[i];
            waits = form == 0;
            gather();
            scatter();
            across();
        }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&side));
    return mpi_done();
}
