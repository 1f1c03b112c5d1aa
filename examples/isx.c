// SPDX-License-Identifier: BSD-3-Clause
// An integer bucket sort in the manner of the ISx benchmark. Every PE draws the same number of
// uniformly random keys, sends each to the PE that owns its range, and sorts what it received:
//
//     keys:     PE 0 [7 2 9 4]      PE 1 [1 8 3 6]
//     buckets:       [2 4|7 9]           [1 3|8 6]    by owner, in one pass
//     exchange: PE 0 [2 4 1 3]      PE 1 [8 6 7 9]    room is reserved in the owner's memory with a
//     sort:          [1 2 3 4]           [6 7 8 9]    fetching add, then filled with a put
//
// The result is checked for order within and between PEs, for its size, and for its contents (the
// sum and the sum of squares of all keys).
//
//     oshrun -n 4 isx --keys 1m

#include "example.h"

static long keys_per_pe = 1 << 18;
static long key_bits = 27;
static long seed = 1;

static const struct example_option options[] = {
    {"--keys", "N", &keys_per_pe, 1, NULL, "keys each PE draws"},
    {"--bits", "N", &key_bits, 1, NULL, "keys are below 2^N, N at most 32"},
    {"--seed", "N", &seed, 0, NULL, "another set of keys"},
    {.name = NULL},
};

struct isx {
    int me, npes;
    uint64_t width;     // PE p owns the keys from p * width up to the next PE's
    uint32_t *drawn;    // this PE's keys
    uint32_t *grouped;  // the same, by owner
    uint64_t *count;    // how many of them go to each PE
    uint64_t *expected; // symmetric: how many each PE will receive in all
    uint64_t *reserved; // symmetric: how much of my received keys' room is taken
    uint32_t *received; // symmetric
    double exchange_seconds, sort_seconds;
};

static void isx_draw(struct isx *s)
{
    uint64_t first = ((uint64_t)seed << 40) + (uint64_t)s->me * (uint64_t)keys_per_pe;
    for (long i = 0; i < keys_per_pe; i++)
        s->drawn[i] = (uint32_t)(example_random(first + (uint64_t)i) >> (64 - key_bits));
}

// Puts the keys in the order of their owners.
static void isx_group(struct isx *s)
{
    uint64_t *next = example_local((size_t)s->npes, sizeof *next);
    for (long i = 0; i < keys_per_pe; i++)
        s->count[s->drawn[i] / s->width]++;
    for (int pe = 1; pe < s->npes; pe++)
        next[pe] = next[pe - 1] + s->count[pe - 1];
    for (long i = 0; i < keys_per_pe; i++)
        s->grouped[next[s->drawn[i] / s->width]++] = s->drawn[i];
    free(next);
}

// Makes room for what will come: the sum of everyone's counts says how much. All PEs allocate as
// much as the fullest needs.
static void isx_make_room(struct isx *s)
{
    uint64_t *counts = example_alloc((size_t)s->npes, sizeof *counts), most = 0;
    memcpy(counts, s->count, (size_t)s->npes * sizeof *counts);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, s->expected, counts, (size_t)s->npes);
    for (int pe = 0; pe < s->npes; pe++)
        most = s->expected[pe] > most ? s->expected[pe] : most;
    shmem_free(counts);
    s->received = example_alloc(most, sizeof *s->received);
}

// Sends each PE its keys. Everyone starts with itself so that no PE is everyone's first target.
static void isx_exchange(struct isx *s)
{
    uint64_t *from = example_local((size_t)s->npes + 1, sizeof *from);
    for (int pe = 0; pe < s->npes; pe++)
        from[pe + 1] = from[pe] + s->count[pe];
    for (int step = 0; step < s->npes; step++) {
        int pe = (s->me + step) % s->npes;
        uint64_t at = shmem_atomic_fetch_add(s->reserved, s->count[pe], pe);
        shmem_put_nbi(s->received + at, s->grouped + from[pe], s->count[pe], pe);
    }
    shmem_barrier_all(); // which also waits for the puts
    free(from);
}

// Sorts by 11 bits at a time, lowest first.
static void isx_sort(uint32_t *keys, uint64_t n)
{
    enum { BITS = 11, BINS = 1 << BITS };
    uint32_t *from = keys, *to = example_local(n ? n : 1, sizeof *to), *spare = to;
    for (int shift = 0; shift < key_bits; shift += BITS) {
        uint64_t at[BINS + 1] = {0};
        for (uint64_t i = 0; i < n; i++)
            at[(from[i] >> shift) % BINS + 1]++;
        for (int b = 0; b < BINS; b++)
            at[b + 1] += at[b];
        for (uint64_t i = 0; i < n; i++)
            to[at[(from[i] >> shift) % BINS]++] = from[i];
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
    free(spare);
}

// Whether all PEs' keys together still have this sum and sum of squares (modulo 2^64).
static bool isx_same_keys(const struct isx *s, uint64_t n)
{
    uint64_t sum[2] = {0}, squares[2] = {0};
    for (long i = 0; i < keys_per_pe; i++) {
        sum[0] += s->drawn[i];
        squares[0] += (uint64_t)s->drawn[i] * s->drawn[i];
    }
    for (uint64_t i = 0; i < n; i++) {
        sum[1] += s->received[i];
        squares[1] += (uint64_t)s->received[i] * s->received[i];
    }
    return example_sum(sum[0] - sum[1]) == 0 && example_sum(squares[0] - squares[1]) == 0;
}

// Returns what is wrong with this PE's result, or NULL. Ranges ascend with the PE number, so keys
// that are in order and in range are in order over all PEs.
static const char *isx_fault(const struct isx *s, uint64_t n)
{
    uint64_t low = (uint64_t)s->me * s->width;
    if (n != s->expected[s->me])
        return "received another number of keys than were sent";
    for (uint64_t i = 0; i < n; i++) {
        if (s->received[i] < low || s->received[i] >= low + s->width)
            return "holds a key outside its range";
        if (i && s->received[i - 1] > s->received[i])
            return "is not in order";
    }
    return NULL;
}

static int isx_check(const struct isx *s)
{
    uint64_t n = *s->reserved, total = example_sum(n);
    bool same = isx_same_keys(s, n);
    const char *fault = isx_fault(s, n);
    if (!fault && total != (uint64_t)keys_per_pe * (uint64_t)s->npes)
        fault = "sees that keys were lost";
    if (!fault && !same)
        fault = "sees that the keys are not those that were drawn";
    return example_fault("isx", fault);
}

// Has PE 0 know the key in the middle of all. A running sum of the sizes tells who holds it.
static uint64_t isx_median(const struct isx *s)
{
    static uint64_t mine, upto, median;
    mine = *s->reserved;
    shmem_sum_inscan(SHMEM_TEAM_WORLD, &upto, &mine, 1);
    uint64_t middle = (uint64_t)keys_per_pe * (uint64_t)s->npes / 2, first = upto - mine;
    if (middle >= first && middle < upto)
        shmem_uint64_p(&median, s->received[middle - first], 0);
    shmem_barrier_all();
    return median;
}

static void isx_report(const struct isx *s)
{
    uint64_t median = isx_median(s);
    uint64_t fullest = (uint64_t)example_max((long)*s->reserved);
    double all = (double)keys_per_pe * s->npes, seconds = s->exchange_seconds + s->sort_seconds;
    if (s->me != 0)
        return;
    printf("isx: %.0f keys on %d PEs in %.3f s: %.1f million a second\n", all, s->npes, seconds,
           all / seconds * 1e-6);
    printf("exchange %.1f ms (%.2f GB/s), local sort %.1f ms, fullest PE %.2f times the mean\n",
           s->exchange_seconds * 1e3, all * 4e-9 / s->exchange_seconds, s->sort_seconds * 1e3,
           (double)fullest / (double)keys_per_pe);
    printf("order, ranges, counts and contents are right; the median key is %llu of %llu\n",
           (unsigned long long)median, 1ULL << key_bits);
}

static int isx_run(void)
{
    struct isx s = {.me = shmem_my_pe(), .npes = shmem_n_pes()};
    s.width = ((UINT64_C(1) << key_bits) + (uint64_t)s.npes - 1) / (uint64_t)s.npes;
    s.drawn = example_local((size_t)keys_per_pe, sizeof *s.drawn);
    s.grouped = example_local((size_t)keys_per_pe, sizeof *s.grouped);
    s.count = example_local((size_t)s.npes, sizeof *s.count);
    s.expected = example_alloc((size_t)s.npes, sizeof *s.expected);
    s.reserved = example_alloc(1, sizeof *s.reserved);
    isx_draw(&s);

    shmem_barrier_all();
    double start = example_now();
    isx_group(&s);
    isx_make_room(&s);
    isx_exchange(&s);
    s.exchange_seconds = example_now() - start;
    isx_sort(s.received, *s.reserved);
    shmem_barrier_all();
    s.sort_seconds = example_now() - start - s.exchange_seconds;

    int wrong = isx_check(&s);
    if (!wrong)
        isx_report(&s);
    shmem_free(s.received);
    shmem_free(s.reserved);
    shmem_free(s.expected);
    free(s.count);
    free(s.grouped);
    free(s.drawn);
    return wrong;
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "a bucket sort of integers over all PEs", options);
    if (status == EXAMPLE_RUN && key_bits > 32) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "--bits is at most 32\n");
        status = 1;
    }
    if (status == EXAMPLE_RUN)
        status = isx_run();
    shmem_finalize();
    return status;
}
