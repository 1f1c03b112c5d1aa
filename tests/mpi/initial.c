// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// A program for initial.sh: a wrong call, and whether it returns.
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int failed;

static void expect(int condition, const char *what)
{
    if (!condition)
        fprintf(stderr, "not so: %s\n", what);
    failed |= !condition;
}

// On MPI_COMM_SELF or, before MPI_Init and after MPI_Finalize, on nothing.
static void err(const char *when)
{
    char text[64];
    snprintf(text, sizeof text, "an error %s", when);
    expect(MPI_Comm_set_name(MPI_COMM_NULL, "x") != MPI_SUCCESS, text);
}

// Both communicators that there are at first have it.
static void expect_handler(MPI_Errhandler want)
{
    MPI_Comm both[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2; i++) {
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(both[i], &handler);
        expect(handler == want, i ? "the handler of MPI_COMM_SELF" : "the world's handler");
        MPI_Errhandler_free(&handler);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int returns = strcmp(what, "return") == 0, rank;
    MPI_Comm c;
    if (returns || strcmp(what, "before") == 0)
        err("before MPI_Init");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (returns) {
        expect_handler(MPI_ERRORS_RETURN);
        expect(MPI_Send(NULL, 0, MPI_INT, -7, 0, MPI_COMM_WORLD) != MPI_SUCCESS,
               "an error of the world");
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        expect(MPI_Send(NULL, 0, MPI_INT, -7, 0, c) != MPI_SUCCESS, "an error of its duplicate");
        MPI_Comm_free(&c);
    }
    if (strcmp(what, "aborts") == 0 || strcmp(what, "none") == 0)
        expect_handler(what[0] == 'a' ? MPI_ERRORS_ABORT : MPI_ERRORS_ARE_FATAL);
    if (returns || strcmp(what, "in") == 0)
        err("inside");
    if (strcmp(what, "fatal") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Send(NULL, 0, MPI_INT, -7, 0, MPI_COMM_WORLD);
        return 9;
    }
    MPI_Finalize();
    if (returns || strcmp(what, "after") == 0)
        err("after MPI_Finalize");
    return failed;
}
