// SPDX-License-Identifier: BSD-3-Clause
// Sample sort: every rank sorts its own keys and offers a few evenly spaced ones as samples; all
// take the same splitters from all samples, exchange keys so that rank r gets those between
// splitters r-1 and r (MPI_Alltoallv), and sort what they got.
//
// Checked: every rank's keys are in order and none below those of the rank before; no key was lost,
// doubled or changed (their number, sum, and sum of hashes are what they were).
//
//     mpiexec -n 4 mpi_sort --keys 4m

#include "example_mpi.h"

static long keys = 200000, samples = 32, skew;

static const struct example_option options[] = {
    {"--keys", "N", &keys, 0, NULL, "keys of each rank"},
    {"--samples", "N", &samples, 1, NULL, "samples that each rank offers"},
    {"--skew", NULL, &skew, 0, NULL, "most keys are small"},
    {.name = NULL},
};

struct sort {
    int me, size;
    uint64_t *mine, *got;
    int count; // keys at got
    double seconds;
};

// Number, sum and sum of hashes: the same before and after.
struct tally {
    uint64_t count, sum, hashes;
};

static int key_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// The first of n ordered keys that is not below the limit.
static int key_find(const uint64_t *key, int n, uint64_t limit)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (key[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sort_make(struct sort *s)
{
    s->mine = example_alloc((size_t)keys, sizeof *s->mine);
    for (long i = 0; i < keys; i++) {
        uint64_t r = example_random((uint64_t)s->me * (uint64_t)keys + (uint64_t)i);
        s->mine[i] = skew ? r >> (r % 50) : r;
    }
}

static struct tally sort_tally(const uint64_t *key, long n)
{
    struct tally mine = {(uint64_t)n, 0, 0}, all;
    for (long i = 0; i < n; i++) {
        mine.sum += key[i];
        mine.hashes += example_random(key[i]);
    }
    MPI_Allreduce(&mine, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

// size - 1 splitters, the same on all ranks.
static uint64_t *sort_splitters(const struct sort *s)
{
    int each = (int)(samples < keys ? samples : keys), all = each * s->size;
    uint64_t *offer = example_alloc((size_t)each, sizeof *offer);
    uint64_t *sample = example_alloc((size_t)all, sizeof *sample);
    uint64_t *splitter = example_alloc((size_t)s->size, sizeof *splitter);
    for (int i = 0; i < each; i++)
        offer[i] = s->mine[keys * i / each];
    MPI_Allgather(offer, each, MPI_UINT64_T, sample, each, MPI_UINT64_T, MPI_COMM_WORLD);
    qsort(sample, (size_t)all, sizeof *sample, key_order);
    for (int r = 1; r < s->size && all > 0; r++)
        splitter[r - 1] = sample[(long)all * r / s->size];
    free(sample);
    free(offer);
    return splitter;
}

static void sort_exchange(struct sort *s, const uint64_t *splitter)
{
    size_t n = (size_t)s->size;
    int *room = example_alloc(4 * n, sizeof *room);
    int *to = room, *to_at = to + n, *from = to_at + n, *from_at = from + n;
    for (int r = 0; r < s->size; r++) {
        int end = r < s->size - 1 ? key_find(s->mine, (int)keys, splitter[r]) : (int)keys;
        to_at[r] = r > 0 ? to_at[r - 1] + to[r - 1] : 0;
        to[r] = end - to_at[r];
    }
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < s->size; r++) {
        from_at[r] = s->count;
        s->count += from[r];
    }
    s->got = example_alloc((size_t)s->count, sizeof *s->got);
    MPI_Alltoallv(s->mine, to, to_at, MPI_UINT64_T, s->got, from, from_at, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    free(room);
}

static void sort_all(struct sort *s)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    qsort(s->mine, (size_t)keys, sizeof *s->mine, key_order);
    uint64_t *splitter = sort_splitters(s);
    sort_exchange(s, splitter);
    qsort(s->got, (size_t)s->count, sizeof *s->got, key_order);
    free(splitter);
    MPI_Barrier(MPI_COMM_WORLD);
    s->seconds = MPI_Wtime() - start;
}

static const char *sort_check(const struct sort *s, const struct tally *before)
{
    uint64_t last = s->count > 0 ? s->got[s->count - 1] : 0, below = 0;
    struct tally after = sort_tally(s->got, s->count);
    MPI_Exscan(&last, &below, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD); // not on rank 0
    for (int i = 0; i < s->count; i++) {
        if (s->got[i] < (i > 0 ? s->got[i - 1] : below))
            return i > 0 ? "has keys out of order" : "begins below the rank before";
    }
    return memcmp(&after, before, sizeof after) ? "has other keys than there were" : NULL;
}

// Rank 0 prints how many keys each rank ended up with.
static void sort_report(const struct sort *s)
{
    int *count = example_alloc((size_t)s->size, sizeof *count);
    MPI_Gather(&s->count, 1, MPI_INT, count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (s->me == 0) {
        double all = (double)keys * s->size;
        printf("mpi_sort: %.0f keys on %d ranks in %.3f s: %.1f million keys/s\n", all, s->size,
               s->seconds, all / s->seconds * 1e-6);
        for (int r = 0; r < s->size && r < 16; r++) {
            printf("    rank %-3d %9d keys ", r, count[r]);
            for (long i = 0; i < (long)(count[r] * 40.0 / (all > 0 ? all : 1) + .5); i++)
                putchar('#');
            putchar('\n');
        }
        printf("in order everywhere, and the same keys as before\n");
    }
    free(count);
}

static int sort_run(void)
{
    struct sort s = {.me = example_rank(), .size = example_size()};
    if (keys > INT32_MAX / s.size) {
        if (s.me == 0)
            printf("mpi_sort: --keys %ld is too much for %d ranks\n", keys, s.size);
        return 1;
    }
    sort_make(&s);
    struct tally before = sort_tally(s.mine, keys);
    sort_all(&s);
    bool wrong = example_fault("mpi_sort", sort_check(&s, &before));
    if (!wrong)
        sort_report(&s);
    free(s.got);
    free(s.mine);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "a sample sort of random keys", options);
    if (status == EXAMPLE_RUN)
        status = sort_run();
    MPI_Finalize();
    return status;
}
