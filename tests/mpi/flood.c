// SPDX-License-Identifier: BSD-3-Clause
// All ranks send to rank 0 what it does not receive for long, though it is in the library: of each no more
// comes than its window has room for, then it is held back, and the memory of both stays what that takes.
// Then all of it comes, in its order. Blocking sends of two lengths; a rank that does not come to the library
// at all; nonblocking ones, of which each has a request and an envelope, but no data, at rank 0.
// PES: 2 7
// ENV: SHOAL_MPI_WINDOW=64k SHOAL_MPI_STAGE=0
#include "../proc.h"
#include "mpi_check.h"

enum { WINDOW = 64 << 10, SMALL = 100, MEDIUM = 1500, MANY = 1200, LATER = 1000 };
enum { RECORD = 512 }; // more than a message takes beside its data
enum { KB_OF_OTHERS = 1024, PATIENCE = 300, RANKS = 64 };

static int sent[RANKS]; // by each, counted at rank 0
static char in[MEDIUM];

static long own_kb(void)
{
    return proc_kb("/proc/self/status", "RssAnon:");
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IS_MEASURED = false }; // they have memory of their own
#else
enum { IS_MEASURED = true };
#endif

static void check_growth(long before, long most_kb)
{
    long grown = own_kb() - before;
    if (IS_MEASURED && grown > most_kb)
        CHECK_EQ(grown, most_kb);
}

static int all_sent(void)
{
    int sum = 0;
    for (int pe = 1; pe < npes; pe++)
        sum += shmem_int_atomic_fetch(&sent[pe], 0);
    return sum;
}

// Until nothing more comes. Too early is not wrong, and finds less.
static void wait_for_silence(bool looks)
{
    int flag, before = -1;
    for (int quiet = 0; quiet < PATIENCE; quiet++) {
        if (looks)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MANY, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        sched_yield();
        int now = all_sent();
        quiet = now != before ? 0 : quiet;
        before = now;
    }
}

static void receive_all(int bytes, int n)
{
    int next[RANKS] = {0};
    MPI_Status s;
    for (int i = 0; i < n * (npes - 1); i++) {
        OK(MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
        if (!CHECK_EQ(s.MPI_TAG, next[s.MPI_SOURCE]++) || !CHECK_EQ(in[0], (char)s.MPI_TAG))
            break;
    }
}

static void send_all(int bytes, int n)
{
    char out[MEDIUM] = {0};
    for (int i = 0; i < n; i++) {
        out[0] = (char)i;
        OK(MPI_Send(out, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD));
        shmem_int_atomic_inc(&sent[me], 0);
    }
}

static void flood(int bytes, bool looks)
{
    const int most = WINDOW / bytes;
    long before = own_kb();
    memset(sent, 0, sizeof sent);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        wait_for_silence(looks);
        for (int pe = 1; pe < npes; pe++)
            if (sent[pe] > most)
                CHECK_EQ(sent[pe], most);
        check_growth(before, KB_OF_OTHERS + (long)(npes - 1) * most * (bytes + RECORD) / 1024);
        receive_all(bytes, MANY);
    } else {
        send_all(bytes, MANY);
        check_growth(before, KB_OF_OTHERS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// What a transport allocates at first is none of its messages.
static void warm_up(void)
{
    if (me == 0)
        receive_all(MEDIUM, LATER);
    else
        send_all(MEDIUM, LATER);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    static char out[LATER][MEDIUM];
    MPI_Request r[LATER];
    long before = own_kb();
    for (int i = 0; i < LATER && me; i++) {
        out[i][0] = (char)i;
        OK(MPI_Isend(out[i], MEDIUM, MPI_BYTE, 0, i, MPI_COMM_WORLD, &r[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        wait_for_silence(true);
        check_growth(before, KB_OF_OTHERS + (long)(npes - 1) * (WINDOW + LATER * RECORD) / 1024);
        receive_all(MEDIUM, LATER);
    } else {
        OK(MPI_Waitall(LATER, r, MPI_STATUSES_IGNORE));
    }
}

int main(void)
{
    mpi_start();
    shmem_init();
    warm_up();
    flood(SMALL, true);
    flood(MEDIUM, true);
    flood(MEDIUM, false);
    nonblocking();
    shmem_finalize();
    return mpi_done();
}
