// SPDX-License-Identifier: BSD-3-Clause
// Get, compute, put: every PE fetches blocks of its neighbour's private array, filters them and puts
// the results back, several blocks in flight, each with its own request events (shoal.h). The
// arrays are ordinary memory, made reachable as regions whose keys the PEs exchange.
//
//     oshrun -n 4 pipeline --blocks 64 --block 32k --depth 4

#include "example.h"

#include <shoal.h>

static long blocks = 64, block = 1 << 15, depth = 4;
static const struct example_option options[] = {
    {"--blocks", "N", &blocks, 1, NULL, "blocks of each PE"},
    {"--block", "N", &block, 8, NULL, "bytes of a block"},
    {"--depth", "N", &depth, 1, NULL, "blocks in flight"},
    {.name = NULL},
};

struct stage {
    uint64_t *data;
    shoal_event_t got, done;
};

static void must(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "PE %d: %s: %s\n", shmem_my_pe(), what, shoal_strerror(status));
        shmem_global_exit(1);
    }
}

static void await(shoal_event_t *event, const char *what)
{
    must(shoal_wait(1, &event, 1, NULL, NULL), what);
    must(event->status, what);
}

static uint64_t filter(uint64_t x)
{
    return (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
}

static shoal_rptr_t block_at(const shoal_key_t *key, long i)
{
    shoal_rptr_t at;
    must(shoal_rptr(key, (uint64_t)(i * block), &at), "shoal_rptr");
    return at;
}

static void run(const shoal_key_t *from)
{
    struct stage *stage = example_local((size_t)depth, sizeof *stage);
    for (long d = 0; d < depth; d++)
        stage[d].data = example_local((size_t)block, 1);
    for (long i = 0; i < blocks + depth; i++) {
        struct stage *s = &stage[i % depth];
        if (i >= depth) { // the block that was started `depth` steps ago
            await(&s->got, "shoal_get");
            for (long k = 0; k < block / 8; k++)
                s->data[k] = filter(s->data[k]);
            must(shoal_put(block_at(from, i - depth), s->data, (size_t)block, NULL, &s->done),
                 "shoal_put");
        }
        if (i < blocks) {
            if (i >= depth)
                await(&s->done, "shoal_put");
            must(shoal_get(s->data, block_at(from, i), (size_t)block, NULL, &s->got), "shoal_get");
        }
    }
    for (long d = 0; d < depth; d++) {
        await(&stage[d].done, "shoal_put");
        free(stage[d].data);
    }
    free(stage);
    must(shoal_quiet(-1), "shoal_quiet");
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "get, compute, put with request events", options);
    if (status == EXAMPLE_RUN) {
        block -= block % 8;
        int me = shmem_my_pe(), npes = shmem_n_pes();
        long words = blocks * block / 8;
        uint64_t *array = example_local((size_t)words, 8);
        shoal_key_t *keys = example_alloc((size_t)npes, sizeof *keys), own;
        shoal_region_t region;
        for (long k = 0; k < words; k++)
            array[k] = example_random((uint64_t)(me * words + k));
        must(shoal_region_register(array, (size_t)(words * 8), &region), "shoal_region_register");
        must(shoal_region_key(region, &own), "shoal_region_key");
        for (int pe = 0; pe < npes; pe++)
            shmem_putmem(&keys[me], &own, sizeof own, pe);
        shmem_barrier_all();
        double start = example_now();
        run(&keys[(me + 1) % npes]);
        shmem_barrier_all();
        double took = example_now() - start;
        const char *fault = NULL;
        for (long k = 0; k < words; k++)
            if (array[k] != filter(example_random((uint64_t)(me * words + k))))
                fault = "has a word that was not filtered once";
        status = example_fault("pipeline", fault);
        if (me == 0 && !status)
            printf("pipeline: %ld blocks of %ld bytes on %d PEs, there and back %.2f GB/s\n",
                   blocks * npes, block, npes, 2e-9 * (double)(words * 8) * npes / took);
        must(shoal_region_deregister(region), "shoal_region_deregister");
        shmem_free(keys);
        free(array);
    }
    shmem_finalize();
    return status;
}
