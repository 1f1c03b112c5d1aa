// SPDX-License-Identifier: BSD-3-Clause
// Programs that end, or begin, in other ways than usual (ends.sh): exit without MPI_Finalize in one rank or all, all
// memory locked, private memory of processes that do not know each other's numbers.
// PES: none
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 3 << 20 };

static int rank, size;

static void start(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int one_exits(void)
{
    start();
    if (rank == size - 1)
        exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}

static int unfinalized(void)
{
    start();
    return 0;
}

static int session(void)
{
    MPI_Session s;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Session_finalize(&s);
    return 0;
}

// Kilobytes of shared memory that this process has touched.
static long shared_kb(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kb = -1;
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssShmem: %ld", &kb);
    if (status)
        fclose(status);
    return kb;
}

static int locked(void)
{
    if (mlockall(MCL_FUTURE))
        return 77;
    start();
    long kb = shared_kb();
    if (kb > 32 << 10)
        printf("rank %d: %ld KB of shared memory in use\n", rank, kb);
    return MPI_Finalize() || kb > 32 << 10;
}

// Long messages and a window, all of malloc's memory.
static int private(void)
{
    start();
    int right = (rank + 1) % size, left = (rank + size - 1) % size, bad = 0;
    char *out = malloc(N), *in = malloc(N), *own = calloc(1, N);
    MPI_Win win;
    memset(out, 'a' + rank, N);
    memset(in, 0, N);
    MPI_Sendrecv(out, N, MPI_BYTE, right, 0, in, N, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_create(own, N, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, N / 2, MPI_BYTE, right, 0, N / 2, MPI_BYTE, win);
    MPI_Accumulate(out, 100, MPI_BYTE, right, N - 100, 100, MPI_BYTE, MPI_BOR, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        bad += in[i] != 'a' + left;
        bad += own[i] != (i < N / 2 || i >= N - 100 ? 'a' + left : 0);
    }
    MPI_Win_free(&win);
    free(out);
    free(in);
    free(own);
    if (bad)
        printf("rank %d: %d bytes are wrong\n", rank, bad);
    return MPI_Finalize() || bad;
}

static int closed(void)
{
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    start();
    return MPI_Finalize();
}

// Do descriptors 0 to 2 lead nowhere, and not to something of the library's?
static int standard(void)
{
    int bad = 0;
    start();
    for (int fd = 0; fd < 3; fd++) {
        char name[32], where[64] = "";
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        bad += readlink(name, where, sizeof where - 1) < 0 || strcmp(where, "/dev/null") != 0;
    }
    return MPI_Finalize() || bad;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    return strcmp(what, "one-exits") == 0     ? one_exits()
           : strcmp(what, "unfinalized") == 0 ? unfinalized()
           : strcmp(what, "session") == 0     ? session()
           : strcmp(what, "locked") == 0      ? locked()
           : strcmp(what, "private") == 0     ? private()
           : strcmp(what, "standard") == 0    ? standard()
           : strcmp(what, "closed") == 0      ? closed()
                                              : 2;
}
