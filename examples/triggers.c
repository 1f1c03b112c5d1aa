// SPDX-License-Identifier: BSD-3-Clause
// Collectives made by hand from counting events and triggered operations (shoal.h): a barrier that
// fans in and out along a tree, and a broadcast that is cut into pieces which follow each other down
// the tree. Every PE arms its part beforehand; from then on each arrival sets off the next step, and
// the PEs in the middle of the tree compute all the while: they do not help, and nobody waits
// for them.
//
//     oshrun -n 7 triggers --bytes 1m --piece 64k

#include "example.h"

#include <shoal.h>

static long bytes = 1 << 20, piece = 1 << 16, rounds = 20;
static const struct example_option options[] = {
    {"--bytes", "N", &bytes, 1, NULL, "bytes to broadcast"},
    {"--piece", "N", &piece, 1, NULL, "bytes of a piece"},
    {"--rounds", "N", &rounds, 1, NULL, "barriers and broadcasts"},
    {.name = NULL},
};

// A binary tree over the PEs, root 0.
static int parent(int pe)
{
    return (pe - 1) / 2;
}

static int children(int pe, int child[2])
{
    int n = 0;
    for (int c = 2 * pe + 1; c <= 2 * pe + 2 && c < shmem_n_pes(); c++)
        child[n++] = c;
    return n;
}

static void must(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "PE %d: %s: %s\n", shmem_my_pe(), what, shoal_strerror(status));
        shmem_global_exit(1);
    }
}

static void arm(const shoal_work_t *work, shoal_ct_t ct, uint64_t threshold)
{
    must(shoal_trigger(work, ct, threshold, SHOAL_CT_NONE, NULL), "shoal_trigger");
}

static void await(shoal_ct_t ct, uint64_t threshold)
{
    must(shoal_ct_wait(1, &ct, &threshold, NULL), "shoal_ct_wait");
}

static shoal_ct_t counter(void)
{
    shoal_ct_t ct;
    must(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), "shoal_ct_alloc");
    return ct;
}

// ---- Barrier: `in` counts this PE and its children, `out` is counted by the parent.
static shoal_ct_t in, out;

static void barrier_arm(uint64_t round)
{
    int me = shmem_my_pe(), child[2], n = children(me, child);
    uint64_t all_in = round * (uint64_t)(n + 1);
    shoal_work_t up = {.kind = SHOAL_WORK_CT_INC, .pe = me ? parent(me) : 0, .ct = me ? in : out,
                       .value = {1, 0}};
    arm(&up, in, all_in);
    for (int i = 0; i < n; i++) {
        shoal_work_t down = {.kind = SHOAL_WORK_CT_INC, .pe = child[i], .ct = out, .value = {1, 0}};
        arm(&down, out, round);
    }
}

static void barrier_enter(void)
{
    must(shoal_ct_inc(shmem_my_pe(), in, (shoal_ct_value_t){1, 0}), "shoal_ct_inc");
}

// ---- Broadcast: `came` counts the pieces that are here; piece i leaves when it is i + 1.
static shoal_ct_t came;

static void broadcast_arm(char *buffer, uint64_t before)
{
    int child[2], n = children(shmem_my_pe(), child);
    long pieces = (bytes + piece - 1) / piece;
    for (long i = 0; i < pieces; i++)
        for (int c = 0; c < n; c++) {
            shoal_work_t put = {.kind = SHOAL_WORK_PUT, .local = buffer + i * piece,
                                .n = (size_t)(i < pieces - 1 ? piece : bytes - i * piece),
                                .comp = {.target_ct = came}};
            must(shoal_rptr_symmetric(buffer + i * piece, child[c], &put.remote), "shoal_rptr");
            arm(&put, came, before + (uint64_t)i + 1);
        }
}

static uint64_t compute(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 20000; i++)
        sum += example_random(i);
    return sum;
}

static const char *run(char *buffer)
{
    int me = shmem_my_pe();
    uint64_t pieces = (uint64_t)((bytes + piece - 1) / piece), sum = 0;
    static long entered;
    for (uint64_t round = 1; round <= (uint64_t)rounds; round++) {
        broadcast_arm(buffer, (round - 1) * pieces);
        barrier_arm(round);
        shmem_long_atomic_inc(&entered, 0);
        shmem_quiet(); // the barrier's first count goes to another PE
        barrier_enter();
        sum += compute();
        await(out, round);
        if (shmem_long_atomic_fetch(&entered, 0) < (long)round * shmem_n_pes())
            return "left a barrier that not all had entered";
        if (me == 0) {
            memset(buffer, (int)round, (size_t)bytes);
            must(shoal_ct_inc(0, came, (shoal_ct_value_t){pieces, 0}), "shoal_ct_inc");
        }
        sum += compute();
        await(came, round * pieces);
        for (long i = 0; i < bytes; i++)
            if (buffer[i] != (char)round)
                return "has a wrong byte after a broadcast";
        shmem_barrier_all(); // the buffer is used again
    }
    return sum ? NULL : "computed nothing";
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "a barrier and a broadcast from triggered operations",
                                 options);
    if (status == EXAMPLE_RUN) {
        char *buffer = example_alloc((size_t)bytes, 1);
        in = counter();
        out = counter();
        came = counter();
        double start = example_now();
        const char *fault = run(buffer);
        double took = example_now() - start;
        status = example_fault("triggers", fault);
        if (shmem_my_pe() == 0 && !status)
            printf("triggers: %ld rounds of barrier and %ld-byte broadcast on %d PEs, %.1f ms\n",
                   rounds, bytes, shmem_n_pes(), took * 1e3);
        shoal_ct_free(SHMEM_TEAM_WORLD, in);
        shoal_ct_free(SHMEM_TEAM_WORLD, out);
        shoal_ct_free(SHMEM_TEAM_WORLD, came);
        shmem_free(buffer);
    }
    shmem_finalize();
    return status;
}
