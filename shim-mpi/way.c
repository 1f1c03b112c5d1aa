// SPDX-License-Identifier: BSD-3-Clause
// See way.h.
#include "way.h"

#include "partner.h"

enum { LEAST = 8 << 10 }; // bytes; shorter ones are staged
enum { BLOCK = 8, PATIENCE = 16, GAP_FIRST = 8, GAP_LEAST = 64, GAP_MOST = 4096 };
enum step { STEADY, OLD, NEW, OLD_AGAIN, NEW_AGAIN, STEPS };

// For messages whose length is the same to a factor of two. A step ends with BLOCK messages, the first
// one with `gap`, at the next when all that were left have been got: else what was left would be paid
// for by the step behind.
struct way {
    uint8_t step; // enum step
    bool leaves;
    bool joins; // the next message begins NEW
    uint32_t gap;
    uint32_t seen; // messages of this step,
    uint64_t bytes, began;
    uint64_t took[2]; // the better time of the old way and of the new, in ns for 64 KB
};

static struct way ways[2][64];
static bool came_left[64]; // the last one that came
static shim_lock lock;
static _Atomic int out;

bool way_is_open(enum space space, size_t n, const struct type *type, int pe)
{
    return n >= LEAST && n <= shim_settings.stage && shim_settings.learn && space == SPACE_P2P &&
           type->is_dense && !request_is_crowded() && pe != shim_pe() && partner_is_reached(pe);
}

void way_out(int more)
{
    atomic_fetch_add_explicit(&out, more, memory_order_relaxed);
}

static bool has_ended(const struct way *w)
{
    uint32_t length = w->step == STEADY ? w->gap : BLOCK;
    return w->seen >= length &&
           (!atomic_load_explicit(&out, memory_order_relaxed) || w->seen >= PATIENCE * length);
}

// The new one has to be better by a little more than chance.
static void decide(struct way *w)
{
    if (w->took[1] < w->took[0] - w->took[0] / 16) {
        w->leaves = !w->leaves;
        w->gap = GAP_LEAST;
    } else if (w->gap < GAP_MOST) {
        w->gap = w->gap < GAP_LEAST ? GAP_LEAST : 2 * w->gap;
    }
}

static void end_step(struct way *w)
{
    uint64_t now = way_now();
    if (w->step != STEADY) {
        uint64_t took = ((now - w->began) << 16) / w->bytes, *best = &w->took[w->step % 2 == 0];
        *best = w->step <= NEW || took < *best ? took : *best;
    }
    if (++w->step == STEPS) {
        decide(w);
        w->step = STEADY;
    }
    w->began = now;
    w->seen = 0;
    w->bytes = 0;
}

static void join(struct way *w)
{
    *w = (struct way){.step = NEW, .leaves = w->leaves, .gap = w->gap, .took = {UINT64_MAX}};
    w->began = way_now();
}

bool way_leaves(size_t n, bool waits)
{
    struct way *w = &ways[waits][63 - __builtin_clzll(n)];
    shim_lock_take(&lock);
    if (!w->gap)
        w->gap = GAP_FIRST;
    if (w->joins)
        join(w);
    else if (has_ended(w))
        end_step(w);
    w->seen++;
    w->bytes += n;
    bool leaves = w->leaves != (w->step == NEW || w->step == NEW_AGAIN);
    shim_lock_give(&lock);
    return leaves;
}

void way_came(enum space space, size_t n, bool is_left)
{
    if (n < LEAST || space != SPACE_P2P)
        return;
    int length = 63 - __builtin_clzll(n);
    shim_lock_take(&lock);
    for (int waits = 0; waits < 2 && came_left[length] != is_left; waits++) {
        struct way *w = &ways[waits][length];
        w->joins = w->step <= OLD && w->leaves != is_left;
    }
    came_left[length] = is_left;
    shim_lock_give(&lock);
}
