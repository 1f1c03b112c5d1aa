// SPDX-License-Identifier: BSD-3-Clause
// A message goes round a ring of all ranks, again and again, longer each time. Every rank adds 1 to
// every word that passes, so that rank 0 can tell whether all of it went through all hands.
//
//     mpiexec -n 4 mpi_ring --most 4m

#include "example_mpi.h"

static long rounds = 100, most = 256 << 10;

static const struct example_option options[] = {
    {"--rounds", "N", &rounds, 1, NULL, "times that each message goes round"},
    {"--most", "BYTES", &most, 8, NULL, "the longest message"},
    {.name = NULL},
};

// Sends the words to the next rank and receives those of the one before. Rank 0 begins; the others
// wait for the words and pass them on.
static void ring_turn(uint64_t *words, int count, int me, int size)
{
    int next = (me + 1) % size, before = (me + size - 1) % size;
    if (size == 1) {
        MPI_Sendrecv_replace(words, count, MPI_UINT64_T, 0, 0, 0, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    } else if (me == 0) {
        MPI_Send(words, count, MPI_UINT64_T, next, 0, MPI_COMM_WORLD);
        MPI_Recv(words, count, MPI_UINT64_T, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(words, count, MPI_UINT64_T, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < count; i++)
        words[i]++;
    if (me > 0)
        MPI_Send(words, count, MPI_UINT64_T, next, 0, MPI_COMM_WORLD);
}

// Word i of the first message is the ith random number: whoever drops or doubles a word is found.
static bool ring_check(const uint64_t *words, int count, int size)
{
    for (int i = 0; i < count; i++)
        if (words[i] != example_random((uint64_t)i) + (uint64_t)size * (uint64_t)rounds)
            return false;
    return true;
}

// One length. Returns whether rank 0 got back what it ought to.
static bool ring_run(uint64_t *words, int count, int me, int size)
{
    for (int i = 0; i < count; i++)
        words[i] = example_random((uint64_t)i);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long r = 0; r < rounds; r++)
        ring_turn(words, count, me, size);
    double hop = (MPI_Wtime() - start) / ((double)rounds * size);
    if (me > 0)
        return true;
    printf("%10zu bytes %12.2f us a hop %10.1f MB/s\n", (size_t)count * sizeof *words, hop * 1e6,
           (double)count * sizeof *words / hop * 1e-6);
    return ring_check(words, count, size);
}

static int ring_all(void)
{
    int me = example_rank(), size = example_size();
    uint64_t *words = example_alloc((size_t)most / sizeof *words, sizeof *words);
    bool right = true;
    if (me == 0)
        printf("mpi_ring: %ld rounds of %d ranks\n", rounds, size);
    for (long count = 1; count <= most / (long)sizeof *words && count <= INT32_MAX; count *= 8)
        right &= ring_run(words, (int)count, me, size);
    free(words);
    bool wrong = example_fault("mpi_ring", right ? NULL : "got other words than were sent");
    if (me == 0 && !wrong)
        printf("every word came back, %ld higher\n", rounds * size);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "messages that go round a ring of ranks", options);
    if (status == EXAMPLE_RUN)
        status = ring_all();
    MPI_Finalize();
    return status;
}
