// SPDX-License-Identifier: BSD-3-Clause
// A histogram that lies across all PEs: bucket b is on PE b / buckets_per_pe. Every PE draws random
// numbers and counts each with one atomic increment in whichever PE's memory the bucket is, so
// nearly all updates are small, remote and unpredictable (the access pattern of the GUPS benchmark,
// but with no lost updates). Since the numbers can be drawn again by anyone, each PE checks all its
// buckets at the end.
//
//     oshrun -n 4 histogram --buckets 64k --updates 1m

#include "example.h"

static long per_pe = 1 << 16;   // buckets on each PE
static long updates = 1 << 18;  // numbers each PE draws
static long use_add, use_fetch; // which atomic

static const struct example_option options[] = {
    {"--buckets", "N", &per_pe, 1, NULL, "buckets on each PE"},
    {"--updates", "N", &updates, 1, NULL, "random updates each PE makes"},
    {"--add", NULL, &use_add, 0, NULL, "add a weight of 1 to 4 instead of counting"},
    {"--fetch", NULL, &use_fetch, 0, NULL, "fetch the old value with each update"},
    {.name = NULL},
};

// The bucket of PE pe's ith number, and its weight.
static uint64_t histogram_draw(int pe, long i, uint64_t buckets, uint64_t *weight)
{
    uint64_t r = example_random((uint64_t)pe * (uint64_t)updates + (uint64_t)i);
    *weight = use_add ? 1 + (r >> 62) : 1;
    return r % buckets;
}

static void histogram_update(uint64_t *bucket, uint64_t weight, int pe)
{
    if (use_fetch)
        (void)shmem_atomic_fetch_add(bucket, weight, pe);
    else if (use_add)
        shmem_atomic_add(bucket, weight, pe);
    else
        shmem_atomic_inc(bucket, pe);
}

// Counts this PE's numbers; returns the sum of their weights.
static uint64_t histogram_fill(uint64_t *table)
{
    int me = shmem_my_pe();
    uint64_t here = (uint64_t)per_pe, buckets = here * (uint64_t)shmem_n_pes();
    uint64_t weight, total = 0;
    for (long i = 0; i < updates; i++) {
        uint64_t b = histogram_draw(me, i, buckets, &weight);
        histogram_update(&table[b % here], weight, (int)(b / here));
        total += weight;
    }
    return total;
}

// Draws everyone's numbers again and counts those that fall on this PE. Returns whether all PEs'
// buckets are right.
static bool histogram_check(const uint64_t *table)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t here = (uint64_t)per_pe, buckets = here * (uint64_t)npes, weight;
    uint64_t *expect = example_local(here, sizeof *expect), wrong = 0;
    for (int pe = 0; pe < npes; pe++)
        for (long i = 0; i < updates; i++) {
            uint64_t b = histogram_draw(pe, i, buckets, &weight);
            if (b / here == (uint64_t)me)
                expect[b % here] += weight;
        }
    while (wrong < here && table[wrong] == expect[wrong])
        wrong++;
    char fault[100];
    if (wrong < here)
        snprintf(fault, sizeof fault, "has %llu in bucket %llu, should have %llu",
                 (unsigned long long)table[wrong], (unsigned long long)wrong,
                 (unsigned long long)expect[wrong]);
    free(expect);
    return !example_fault("histogram", wrong < here ? fault : NULL);
}

static void histogram_report(double seconds, uint64_t total, long fullest)
{
    double all = (double)updates * shmem_n_pes();
    double buckets = (double)per_pe * shmem_n_pes();
    printf("histogram: %.0f updates of %.0f buckets on %d PEs in %.3f s: %.1f million a second\n",
           all, buckets, shmem_n_pes(), seconds, all / seconds * 1e-6);
    printf("total %llu as expected, %.1f a bucket, %ld in the fullest; all buckets checked\n",
           (unsigned long long)total, (double)total / buckets, fullest);
}

static int histogram_run(void)
{
    uint64_t *table = example_alloc((size_t)per_pe, sizeof *table);
    shmem_barrier_all();
    double start = example_now();
    uint64_t made = histogram_fill(table);
    shmem_barrier_all();
    double seconds = example_now() - start;

    uint64_t found = 0, fullest = 0;
    for (long b = 0; b < per_pe; b++) {
        found += table[b];
        fullest = table[b] > fullest ? table[b] : fullest;
    }
    made = example_sum(made);
    found = example_sum(found);
    fullest = (uint64_t)example_max((long)fullest);
    bool right = histogram_check(table);
    if (right && made != found)
        right = !example_fault("histogram", "sees another total than was counted");
    if (right && shmem_my_pe() == 0)
        histogram_report(seconds, found, (long)fullest);
    shmem_free(table);
    return !right;
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "random remote increments of one big table", options);
    if (status == EXAMPLE_RUN)
        status = histogram_run();
    shmem_finalize();
    return status;
}
