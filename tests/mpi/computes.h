// SPDX-License-Identifier: BSD-3-Clause
// Ranks that compute, and call nothing, while what they have begun with rank 0 has to end.
#ifndef TESTS_MPI_COMPUTES_H
#define TESTS_MPI_COMPUTES_H

#include "mpi_check.h"

#include <shmem.h>

enum { LONG = 6 << 20, SAID = 99 };

static unsigned char out[2 * LONG], in[2 * LONG];
static int said, turn; // symmetric: who computes looks there, and MPI knows nothing of it

// Until rank 0 has said that it is through.
static inline void computes(void)
{
    double until = check_now() + 30;
    while (__atomic_load_n(&said, __ATOMIC_ACQUIRE) < turn)
        if (check_now() > until) {
            CHECK_EQ(said, turn); // rank 0 waits for this one
            return;
        }
}

static inline void says(void)
{
    for (int pe = 0; pe < npes; pe++)
        shmem_int_atomic_set(&said, turn, pe);
    shmem_quiet();
}

static inline MPI_Datatype every_other(void)
{
    MPI_Datatype t;
    OK(MPI_Type_vector(LONG / 64, 64, 128, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

// Rank 0 sends to each, synchronously: its calls end when the data is there.
static inline void receives(int n, int source, int tag, bool has_gaps)
{
    MPI_Datatype t = has_gaps ? every_other() : MPI_BYTE;
    int count = has_gaps ? 1 : n;
    MPI_Request r;
    turn++;
    if (me == 0) {
        for (int i = 1; i < npes; i++)
            OK(MPI_Recv(NULL, 0, MPI_BYTE, i, SAID, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 1; i < npes; i++)
            OK(MPI_Ssend(out, count, t, i, 7, MPI_COMM_WORLD));
        says();
    } else {
        memset(in, 0, sizeof in);
        OK(MPI_Irecv(in, count, t, source, tag, MPI_COMM_WORLD, &r));
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, SAID, MPI_COMM_WORLD));
        computes();
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int i = 0; has_gaps && i < LONG / 64; i++)
            memset(in + 128 * i + 64, 0, 64);
        for (int i = 0; i < (has_gaps ? LONG / 64 : 1); i++)
            CHECK_MEM(in + 128 * i, out + 128 * i, has_gaps ? 64 : (size_t)n, "data");
    }
    if (has_gaps)
        OK(MPI_Type_free(&t));
}

// Nobody but rank 0 waits. What they give differs in length, so that it goes by messages.
static inline void collective(MPI_Comm comm)
{
    static int counts[64], at[64];
    MPI_Request r;
    turn++;
    for (int i = 0; i < npes; i++) {
        counts[i] = 10000 + i;
        at[i] = i ? at[i - 1] + counts[i - 1] : 0;
    }
    memset(in, 0, sizeof in);
    OK(MPI_Iallgatherv(out + at[me], counts[me], MPI_BYTE, in, counts, at, MPI_BYTE, comm, &r));
    if (me > 0)
        computes();
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (me == 0)
        says();
    CHECK_MEM(in, out, (size_t)(at[npes - 1] + counts[npes - 1]), "data");
}

static inline void computes_start(void)
{
    shmem_init();
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i % 251 + 1);
}

#endif
