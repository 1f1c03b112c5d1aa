// SPDX-License-Identifier: BSD-3-Clause
// Sums of floating-point numbers have the same bits each time, on every rank: also when a
// communicator goes over to the runtime's collectives; and so for more communicators at a time than
// the runtime has teams. Nonblocking and persistent ones have the same, of whatever length, and so have
// scans.
#include "coll_check.h"

enum { N = 9, LONG = 4000, LONGEST = 20000, TURNS = 24, COMMS = 300 };

static void sums(MPI_Comm comm)
{
    double in[N], out[N], first[N], reduced[N];
    for (int i = 0; i < N; i++)
        in[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
    for (int turn = 0; turn < TURNS; turn++) {
        double root_first[N];
        OK(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, comm));
        if (turn == 0)
            memcpy(first, out, sizeof out);
        CHECK(memcmp(first, out, sizeof out) == 0);
        memcpy(root_first, out, sizeof out);
        OK(MPI_Bcast(root_first, N, MPI_DOUBLE, 0, comm));
        CHECK(memcmp(root_first, out, sizeof out) == 0);
        OK(MPI_Reduce(in, out, N, MPI_DOUBLE, MPI_SUM, npes - 1, comm));
        if (turn == 0)
            memcpy(reduced, out, sizeof out);
        CHECK(me != npes - 1 || memcmp(reduced, out, sizeof out) == 0);
    }
}

// By a blocking, a nonblocking and a persistent call, which runs twice. Results that no rank gets stay.
enum kind { ALLREDUCE, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER, KINDS };

static void combine_all(enum kind kind, int form, MPI_Comm comm, const double *in, double *out,
                        int n)
{
    MPI_Request r;
    switch (kind) {
    case ALLREDUCE:
        OK(COLL(form, , Allreduce, Iallreduce, &r, comm, in, out, n, MPI_DOUBLE, MPI_SUM));
        break;
    case REDUCE:
        OK(COLL(form, , Reduce, Ireduce, &r, comm, in, out, n, MPI_DOUBLE, MPI_SUM, npes / 2));
        break;
    case SCAN: OK(COLL(form, , Scan, Iscan, &r, comm, in, out, n, MPI_DOUBLE, MPI_SUM)); break;
    case EXSCAN:
        OK(COLL(form, , Exscan, Iexscan, &r, comm, in, out, n, MPI_DOUBLE, MPI_SUM));
        break;
    default:
        OK(COLL(form, , Reduce_scatter_block, Ireduce_scatter_block, &r, comm, in, out, n / npes,
                MPI_DOUBLE, MPI_SUM));
    }
    coll_finish(form, &r);
}

static void all_forms(MPI_Comm comm, enum kind kind, int n)
{
    static double in[LONGEST], out[LONGEST], first[LONGEST];
    bool gets = kind == REDUCE ? me == npes / 2 : kind != EXSCAN || me > 0;
    for (int i = 0; i < n; i++)
        in[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
    for (int turn = 0; turn < TURNS; turn++) {
        memset(out, 0, sizeof out);
        combine_all(kind, turn % 3, comm, in, out, n);
        if (turn == 0)
            memcpy(first, out, sizeof out);
        if (gets && !CHECK(memcmp(first, out, sizeof out) == 0))
            fprintf(stderr, "    kind %d, %d elements, turn %d\n", (int)kind, n, turn);
    }
}

// Short and long; a communicator's first ones go by messages alone.
static void of_all_lengths(void)
{
    static const int lengths[] = {N, 500, 1000, LONG, 7000, LONGEST};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            MPI_Comm own;
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
            all_forms(own, (enum kind)kind, lengths[i]);
            OK(MPI_Comm_free(&own));
        }
}

// What calls before this one have left on the stack, which none that follows may take for its own.
static __attribute__((noinline)) void fill_stack(void)
{
    char filled[16384];
    memset(filled, 0x5a, sizeof filled);
    __asm__ volatile("" : : "r"(filled) : "memory");
}

// In place, of memory that the others reach.
static void in_place(MPI_Comm comm, int n)
{
    static double all[LONG], first[LONG];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < n; i++)
            all[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
        fill_stack();
        OK(MPI_Allreduce(MPI_IN_PLACE, all, n, MPI_DOUBLE, MPI_SUM, comm));
        if (turn == 0)
            memcpy(first, all, sizeof all);
        CHECK(memcmp(first, all, sizeof all) == 0);
    }
}

int main(void)
{
    static MPI_Comm comms[COMMS];
    mpi_start();
    sums(MPI_COMM_WORLD);
    of_all_lengths();
    in_place(MPI_COMM_WORLD, N);
    in_place(MPI_COMM_WORLD, LONG);
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        for (int k = 0; k < 5; k++) {
            int sum = 0;
            OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
            CHECK_EQ(sum, i * npes);
        }
    }
    sums(comms[COMMS - 1]);
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return mpi_done();
}
