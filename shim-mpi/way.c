// SPDX-License-Identifier: BSD-3-Clause
// See way.h.
#include "way.h"

enum {
    BLOCK = 8,
    HOLDS = 2 * BLOCK, // so long a message that came tells about those that go
    PATIENCE = 16,
    GAP_FIRST = 8,
    GAP_LEAST = 64,
    GAP_MOST = 1 << 20
};
enum { DEAR = 64 };      // of what goes the better way, a try costs a part in so many at most
enum { COLD = 2 << 20 }; // bytes: about a lap of the stages (stage.c), long untouched
enum step { STEADY, OLD, NEW, OLD_AGAIN, NEW_AGAIN, STEPS };

// For messages whose length is the same to a factor of two. A step ends with BLOCK messages, the first
// one with `gap`, at the next when all that were left have been got: else what was left would be paid
// for by the step behind. Where the new way is to stage them the time begins after a lap of the stages.
struct way {
    uint8_t step; // enum step
    bool leaves;
    uint32_t gap;   // messages from one try to the next; 0: there has been none of this kind
    uint32_t tried; // those of this try that went the new way
    uint32_t cold;  // messages of this step until its time begins,
    uint32_t seen;  // and since then
    uint64_t bytes;
    double began;
    double took[2]; // the better time of the old way and of the new, in s for a byte
};

// By whether the send waits, and whether such messages come, too: it is another pattern.
static struct way ways[2][2][64];

// What came last, for so many messages to go: from any process, and from one before this one.
static struct came {
    bool left; // of the latter
    uint8_t any, before;
} came[64];

static shim_lock lock;

static int class_of(size_t n)
{
    return 63 - __builtin_clzll(n);
}

static struct way *way_of(size_t n, bool waits, bool is_both_ways)
{
    struct way *w = &ways[waits][is_both_ways][class_of(n)];
    if (unlikely(!w->gap))
        *w = (struct way){.gap = GAP_FIRST, .leaves = !waits && way_is_long(n)};
    return w;
}

static bool is_new(const struct way *w)
{
    return w->step == NEW || w->step == NEW_AGAIN;
}

static bool has_ended(const struct way *w)
{
    uint32_t length = w->step != STEADY ? BLOCK : w->gap;
    return w->seen >= length && (!atomic_load_explicit(&partners_out, memory_order_relaxed) ||
                                 w->seen >= PATIENCE * length);
}

// The next try: soon at first, and then as late as what it costs asks for; at once that late where the
// new way is far behind, but for the first try, before which neither way had been gone.
static uint32_t next_gap(const struct way *w, double ratio)
{
    double most = w->tried * (ratio - 1) * DEAR;
    double gap = ratio >= 2 && w->gap > GAP_FIRST ? most : 2.0 * w->gap;
    gap = gap < most ? gap : most;
    return gap < GAP_LEAST ? GAP_LEAST : gap > GAP_MOST ? GAP_MOST : (uint32_t)gap;
}

// The new one has to be better by a little more than chance.
static void decide(struct way *w)
{
    double ratio = w->took[1] / w->took[0];
    bool is_better = ratio < 15.0 / 16;
    w->leaves ^= is_better;
    w->gap = is_better ? GAP_LEAST : next_gap(w, ratio);
    w->tried = 0;
}

static void begin_count(struct way *w, double now)
{
    w->began = now;
    w->seen = 0;
    w->bytes = 0;
}

static void end_step(struct way *w, size_t n)
{
    double now = PMPI_Wtime();
    if (w->step != STEADY) {
        double took = (now - w->began) / (double)w->bytes, *best = &w->took[is_new(w)];
        *best = w->step <= NEW || took < *best ? took : *best;
    }
    if (++w->step == STEPS) {
        decide(w);
        w->step = STEADY;
    }
    w->cold = w->step == NEW && w->leaves ? (uint32_t)(COLD / n) : 0;
    begin_count(w, now);
}

// What this process finds out by itself begins anew when nobody leads any more.
static bool follow(struct way *w, bool leaves)
{
    w->leaves = leaves;
    w->step = STEADY;
    w->tried = w->cold = w->seen = 0;
    return w->leaves;
}

static bool try_out(struct way *w, size_t n)
{
    if (!w->cold && has_ended(w))
        end_step(w, n);
    else if (w->cold && !--w->cold)
        begin_count(w, PMPI_Wtime());
    w->seen++;
    w->bytes += n;
    w->tried += is_new(w);
    return w->leaves != is_new(w);
}

bool way_leaves(size_t n, bool waits)
{
    shim_lock_take(&lock);
    struct came *c = &came[class_of(n)];
    struct way *w = way_of(n, waits, c->any);
    bool leaves = c->before ? follow(w, c->left) : try_out(w, n);
    c->any -= c->any > 0;
    c->before -= c->before > 0;
    shim_lock_give(&lock);
    return leaves;
}

void way_came(const struct transfer *t, bool was_left)
{
    size_t n = (size_t)t->request.bytes;
    if (!way_is_open(t->space, n, t->type, t->pe))
        return;
    if (way_is_long(n))
        way_count(t->pe, -1);
    shim_lock_take(&lock);
    struct came *c = &came[class_of(n)];
    c->any = HOLDS;
    if (t->pe < shim_pe()) {
        c->before = HOLDS;
        c->left = was_left;
    }
    shim_lock_give(&lock);
}
