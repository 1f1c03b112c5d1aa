// SPDX-License-Identifier: BSD-3-Clause
// What the tests of collectives share: a call in one of its forms, and an operator that does not
// commute.
#ifndef TESTS_COLL_CHECK_H
#define TESTS_COLL_CHECK_H

#include "mpi_check.h"

#include <shoal.h>

// NAME(..., comm) as form 0, blocking; 1, nonblocking; 2, persistent and not started. S is nothing,
// or _c. The result of the call.
#define COLL(form, S, NAME, INAME, request, comm, ...)          \
    ((form) == 0   ? MPI_##NAME##S(__VA_ARGS__, comm)           \
     : (form) == 1 ? MPI_##INAME##S(__VA_ARGS__, comm, request) \
                   : MPI_##NAME##_init##S(__VA_ARGS__, comm, MPI_INFO_NULL, request))

// Until it is done; persistent ones run twice.
static inline void coll_finish(int form, MPI_Request *r)
{
    if (form == 1)
        OK(MPI_Wait(r, MPI_STATUS_IGNORE));
    for (int run = 0; form == 2 && run < 2; run++) {
        OK(MPI_Start(r));
        OK(MPI_Wait(r, MPI_STATUS_IGNORE));
    }
    if (form == 2)
        OK(MPI_Request_free(r));
}

// ---- Memory of shoal_alloc: all there is, at most `bytes` in one piece.
enum { PIECES = 4096, PIECE_LEAST = 4096 };

static void *pieces[PIECES];
static int pieces_n;

static inline void take_all_room(size_t bytes)
{
    while (bytes >= PIECE_LEAST && pieces_n < PIECES)
        if ((pieces[pieces_n] = shoal_alloc(bytes)))
            pieces_n++;
        else
            bytes /= 2;
    CHECK(pieces_n < PIECES);
}

static inline void give_all_room(void)
{
    while (pieces_n)
        shoal_free(pieces[--pieces_n]);
}

// ---- Pairs (a, b) are the maps x -> a x + b modulo a prime.
enum { PRIME = 10007 };

static inline int factor(int call, int rank, int i)
{
    return (call * 31 + rank * 37 + i * 5 + 2) % PRIME;
}

// second = first, then second
static inline void combine(const int *first, int *second)
{
    int a = first[0] * second[0] % PRIME, b = (second[0] * first[1] + second[1]) % PRIME;
    second[0] = a;
    second[1] = b;
}

#endif
