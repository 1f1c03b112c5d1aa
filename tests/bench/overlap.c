// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Does a nonblocking collective go on while every PE computes and calls nothing? Total time of start,
// compute, wait, beside the longer of the two alone: computing, and the blocking collective. The
// collective is called after some computing each time, as programs do: called over and over it finds
// its data in the caches, and takes a third of the time or less (the figure _again). Compute
// is as long as the collective, 8, 16 and 32 times as long; all PEs compute at once in each, also alone.
// Where PEs share cores, what the collective costs them is added to what they compute: with all of it
// spread evenly over the cores the ratios are 2, 1.125, 1.06 and 1.03. What the machine makes of that is
// the figure _floor: the same time with as much computing in the place of the collective.
#include "bench.h"

#include <shoal.h>

enum { BYTES = 1 << 20, COUNT = BYTES / 8, REPEATS = 25, BEFORE = 500000 };

static long *from, *to;

static void collective(int kind, shoal_event_t *event)
{
    shoal_coll_t c = {
        .kind = kind, .src = from, .dst = to, .count = COUNT, .type = SHOAL_INT64, .op = SHOAL_SUM};
    shoal_coll(SHMEM_TEAM_WORLD, &c, event);
}

// Median over the repeats of the time from when the first PE begins until the last one is through. (A
// PE that shares its core may leave the barrier when another has done all of its own already.)
static double *began, *ended; // of all PEs, at PE 0

static double over_all(void)
{
    double first = began[0], last = ended[0];
    for (int pe = 1; pe < shmem_n_pes(); pe++) {
        first = began[pe] < first ? began[pe] : first;
        last = ended[pe] > last ? ended[pe] : last;
    }
    return last - first;
}

#define MEASURE(result, before, statement)                   \
    do {                                                     \
        static double took[REPEATS];                         \
        for (int r = 0; r < REPEATS; r++) {                  \
            before;                                          \
            shmem_barrier_all();                             \
            double begin = now_ns();                         \
            statement;                                       \
            double end = now_ns();                           \
            shmem_double_p(&began[shmem_my_pe()], begin, 0); \
            shmem_double_p(&ended[shmem_my_pe()], end, 0);   \
            shmem_barrier_all();                             \
            took[r] = shmem_my_pe() == 0 ? over_all() : 0;   \
        }                                                    \
        qsort(took, REPEATS, sizeof *took, ascending);       \
        result = took[REPEATS / 2];                          \
    } while (0)

static void overlapped(int kind, long steps)
{
    shoal_event_t event, *one = &event;
    collective(kind, &event);
    compute(steps);
    shoal_wait(1, &one, 1, NULL, NULL);
}

static void report(const char *name, int kind)
{
    double again, blocking, alone, both, more;
    char key[64];
    MEASURE(again, (void)0, collective(kind, NULL));
    MEASURE(blocking, compute(BEFORE), collective(kind, NULL));
    snprintf(key, sizeof key, "%s_again", name);
    if (shmem_my_pe() == 0) {
        figure(key, -1, again / 1e3, "us");
        figure(name, -1, blocking / 1e3, "us");
    }
    for (int i = 0; i < 4; i++) {
        int times = (int[]){1, 8, 16, 32}[i];
        long steps = 100000;
        MEASURE(alone, (void)0, compute(steps));
        static long agreed;
        if (shmem_my_pe() == 0)
            agreed = (long)((double)steps * times * blocking / alone) + 1;
        shmem_barrier_all();
        steps = shmem_long_g(&agreed, 0);
        MEASURE(alone, (void)0, compute(steps));
        MEASURE(both, (void)0, overlapped(kind, steps));
        double longer = alone > blocking ? alone : blocking;
        MEASURE(more, (void)0, compute(steps + steps / times));
        snprintf(key, sizeof key, "%s_overlap_%dx", name, times);
        if (shmem_my_pe() == 0)
            figure(key, -1, both / longer, "ratio");
        snprintf(key, sizeof key, "%s_floor_%dx", name, times);
        if (shmem_my_pe() == 0)
            figure(key, -1, more / longer, "ratio");
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    pin(shmem_my_pe());
    from = shmem_calloc(COUNT, sizeof *from);
    to = shmem_calloc(COUNT, sizeof *to);
    began = shmem_calloc((size_t)shmem_n_pes(), sizeof *began);
    ended = shmem_calloc((size_t)shmem_n_pes(), sizeof *ended);
    report("ibroadcast", SHOAL_COLL_BROADCAST);
    report("iallreduce", SHOAL_COLL_ALLREDUCE);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
