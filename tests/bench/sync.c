// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// How fast one PE learns what another did: flags, signals, barriers. With more than two PEs only
// the barrier and the short reduction, which then share cores.
//
// All figures take turns, batch by batch, with the ping-pong by plain loads and stores that is
// their limit (lines.h). A block is ROWS batches of each, some ms; a figure is the median of its
// block: two sides that happen to fall into step are sometimes faster than they could be for long.
// The block shown, for all figures together, is the one whose first figure is the median.
#include "lines.h"

#include "coll_calls.h"

enum { TRIPS = 300, BULK = 4096, BLOCKS = 15, ROWS = 12 };

// The two lines of a ping-pong, in symmetric memory: the peer writes them, this PE polls.
struct lane {
    _Alignas(LINE) long flag;
    _Alignas(LINE) uint64_t signal;
    _Alignas(LINE) long data[BULK / sizeof(long)];
};

struct lab {
    int me, npes;
    struct lane *lane;
    struct lines *lines; // at PE 0; NULL where loads and stores do not reach it
    uint64_t line_seq;
    long seq, src[BULK / sizeof(long)];
    long *dest, *part;
};

static inline void send_flag(struct lab *l, size_t n, int to)
{
    (void)n;
    shmem_long_p(&l->lane->flag, l->seq, to);
}

static inline void await_flag(struct lab *l)
{
    shmem_long_wait_until(&l->lane->flag, SHMEM_CMP_EQ, l->seq);
}

#if HAVE_TEAMS
#define MARK ""
static inline void send_signal(struct lab *l, size_t n, int to)
{
    l->src[0] = l->seq;
    shmem_putmem_signal(l->lane->data, l->src, n, &l->lane->signal, (uint64_t)l->seq,
                        SHMEM_SIGNAL_SET, to);
}

static inline void await_signal(struct lab *l)
{
    shmem_signal_wait_until(&l->lane->signal, SHMEM_CMP_EQ, (uint64_t)l->seq);
    if (l->lane->data[0] != l->seq)
        abort();
}
#else
#define MARK EMULATED
static inline void send_signal(struct lab *l, size_t n, int to)
{
    l->src[0] = l->seq;
    shmem_putmem(l->lane->data, l->src, n, to);
    shmem_fence();
    shmem_long_p((long *)&l->lane->signal, l->seq, to);
}

static inline void await_signal(struct lab *l)
{
    shmem_long_wait_until((long *)&l->lane->signal, SHMEM_CMP_EQ, l->seq);
    if (l->lane->data[0] != l->seq)
        abort();
}
#endif

// Each measures one batch: ns of one operation.

#define PING_PONG(name, n, send, await)        \
    static double name(struct lab *l)          \
    {                                          \
        double start = now_ns();               \
        for (int i = 0; i < TRIPS; i++) {      \
            l->seq++;                          \
            if (l->me == 0)                    \
                send(l, n, 1);                 \
            await(l);                          \
            if (l->me == 1)                    \
                send(l, n, 0);                 \
        }                                      \
        return (now_ns() - start) / TRIPS / 2; \
    }
PING_PONG(flag, 0, send_flag, await_flag)
PING_PONG(signal_8, 8, send_signal, await_signal)
PING_PONG(signal_bulk, BULK, send_signal, await_signal)

static double one_line(struct lab *l)
{
    return line_one_way(l->lines, l->me, false, &l->line_seq);
}

static double two_lines(struct lab *l)
{
    return line_one_way(l->lines, l->me, true, &l->line_seq);
}

static double barrier(struct lab *l)
{
    double least;
    FASTEST(least, 1, l->npes > 2 ? TRIPS / 5 : TRIPS, shmem_barrier_all());
    return least;
}

static double sum(struct lab *l)
{
    double least;
    FASTEST(least, 1, l->npes > 2 ? TRIPS / 5 : TRIPS, all_sum_long(l->dest, l->part, 1));
    return least;
}

struct kind {
    const char *key;
    double (*batch)(struct lab *);
    int pes; // for so many only; 0: for any number, which is then part of the key
    bool by_hand;
    const char *unit;
};

enum { ONE_LINE, TWO_LINES }; // where they are in the table

static const struct kind kinds[] = {
    {"one_line", one_line, 2, true, "ns"},
    {"two_lines", two_lines, 2, true, "ns"},
    {"flag", flag, 2, false, "ns"},
    {"put_signal_8", signal_8, 2, false, "ns" MARK},
    {"put_signal_4096", signal_bulk, 2, false, "ns" MARK},
    {"barrier", barrier, 0, false, "ns"},
    {"sum_8", sum, 0, false, "ns"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_measured(const struct lab *l, const struct kind *k)
{
    return (k->pes == 0 || k->pes == l->npes) && (l->lines || !k->by_hand);
}

struct block {
    double typical[KINDS]; // 0: not measured
};

static void measure(struct lab *l, struct block *block)
{
    double rows[KINDS][ROWS];
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < KINDS; k++)
            rows[k][row] = is_measured(l, &kinds[k]) ? kinds[k].batch(l) : 0;
    for (int k = 0; k < KINDS; k++) {
        qsort(rows[k], ROWS, sizeof(double), ascending);
        block->typical[k] = rows[k][ROWS / 2];
    }
    // In step, two lines can arrive sooner than one out of step; as a limit they are not less.
    if (block->typical[TWO_LINES] < block->typical[ONE_LINE])
        block->typical[TWO_LINES] = block->typical[ONE_LINE];
}

static double first_figure(const struct block *block)
{
    int k = 0;
    while (k < KINDS - 1 && block->typical[k] <= 0)
        k++;
    return block->typical[k];
}

static int by_first(const void *a, const void *b)
{
    double x = first_figure(a), y = first_figure(b);
    return ascending(&x, &y);
}

static void everything(struct lab *l)
{
    static struct block blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        measure(l, &blocks[i]);
    qsort(blocks, BLOCKS, sizeof *blocks, by_first);
    for (int k = 0; k < KINDS && l->me == 0; k++)
        if (is_measured(l, &kinds[k]))
            figure(kinds[k].key, kinds[k].pes ? -1 : l->npes, blocks[BLOCKS / 2].typical[k],
                   kinds[k].unit);
}

int main(void)
{
    static struct lab lab;
    shmem_init();
    lab.me = shmem_my_pe();
    lab.npes = shmem_n_pes();
    int cores = pin(lab.me);
    coll_begin();
    lab.lane = shmem_align(LINE, sizeof *lab.lane);
    struct lines *lines = shmem_align(LINE, sizeof *lines);
    lab.dest = shmem_malloc(64);
    lab.part = shmem_malloc(64);
    memset(lab.lane, 0, sizeof *lab.lane);
    memset(lines, 0, sizeof *lines);
    bool is_near = cores > 1 && lab.npes == 2 && shmem_ptr(lines, !lab.me); // the same on both
    lab.lines = is_near ? shmem_ptr(lines, 0) : NULL;
    lab.part[0] = 1;
    shmem_barrier_all();
    everything(&lab);
    fflush(stdout);
    shmem_barrier_all();
    shmem_free(lab.part);
    shmem_free(lab.dest);
    shmem_free(lines);
    shmem_free(lab.lane);
    shmem_finalize();
    return 0;
}
