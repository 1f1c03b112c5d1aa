// SPDX-License-Identifier: BSD-3-Clause
// The machine's limit for telling another core something, by plain loads and stores: a ping-pong
// of one cache line, or of two of which the second says that the first is there. How far apart two
// cores are may change while a machine runs (a virtual one is moved about), so this is measured
// right beside what is compared with it.
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include "bench.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LINE = 64, LINE_TRIPS = 300 };

// One direction: written by one side, polled by the other.
struct line_pair {
    _Alignas(LINE) _Atomic uint64_t flag;
    _Alignas(LINE) uint64_t data;
};

// Shared by both sides, zeroed before; seq is each side's own and starts at 0.
struct lines {
    struct line_pair to[2];
};

struct line_variant {
    bool with_data;
    bool with_pause;
};

static inline void line_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline void line_await(struct line_pair *pair, uint64_t seq, struct line_variant v)
{
    while (atomic_load_explicit(&pair->flag, memory_order_acquire) != seq)
        if (v.with_pause)
            line_pause();
    if (v.with_data && pair->data != seq)
        abort();
}

static inline void line_tell(struct line_pair *pair, uint64_t seq, struct line_variant v)
{
    if (v.with_data)
        pair->data = seq;
    atomic_store_explicit(&pair->flag, seq, memory_order_release);
}

static inline double line_trips(struct lines *s, int me, struct line_variant v, uint64_t *seq)
{
    double start = now_ns();
    for (int i = 0; i < LINE_TRIPS; i++) {
        ++*seq;
        if (me == 0)
            line_tell(&s->to[1], *seq, v);
        line_await(&s->to[me], *seq, v);
        if (me == 1)
            line_tell(&s->to[0], *seq, v);
    }
    return (now_ns() - start) / LINE_TRIPS / 2;
}

// ns one way, of one batch: whether pauses help depends on the distance, the better one counts.
static inline double line_one_way(struct lines *s, int me, bool with_data, uint64_t *seq)
{
    double least = line_trips(s, me, (struct line_variant){with_data, false}, seq);
    return keep_least(&least, line_trips(s, me, (struct line_variant){with_data, true}, seq));
}

// The median of a few batches: by chance one may be faster than the cores are near.
static inline double median_line(struct lines *s, int me, uint64_t *seq)
{
    enum { TAKEN = 5 };
    double ns[TAKEN];
    for (int i = 0; i < TAKEN; i++)
        ns[i] = line_one_way(s, me, false, seq);
    qsort(ns, TAKEN, sizeof *ns, ascending);
    return ns[TAKEN / 2];
}

#endif
