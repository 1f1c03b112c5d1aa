// SPDX-License-Identifier: BSD-3-Clause
// See way.h.
#include "way.h"

#include "coll.h"

enum { BLOCK = 8, BLOCK_LEAST = 3, BLOCK_BYTES = 1 << 19 }; // messages and bytes of a phase
enum { EXCHANGE_MOST = 32 };
enum { HOLDS = 128 };    // messages that go, of which one that came tells: a window or more
enum { PATIENCE = 128 }; // messages, and then receivers are not waited for any more
enum { GAP_LEAST = 64, GAP_MOST = 1 << 20 };
enum { DEAR = 64 }; // of what goes the better way, a try costs a part in so many at most
#define PAUSE_RATE \
    5e9 // a pause: what goes on for longer than a copy at this rate after all has come
enum { COLD = 2 << 20 }; // bytes: about a lap of the stages (stage.c), long untouched
enum { ROUNDS = 2 };     // of both ways, that a phase begins with
enum phase { STEADY, OLD, NEW, OLD_AGAIN, NEW_AGAIN, PHASES };

// For messages whose length is the same to a factor of two. A phase ends with block_of() messages, the
// first one with `gap`, at the next when receivers have all that were left and the last that was staged:
// else what is behind would be paid for by the next phase. Its time begins with its second message, for who
// follows is a message behind, or where processes share cores an exchange, and after a lap of the stages where
// the new way is to stage them. Where data goes both ways it begins when receivers have had all for the second
// time: who follows may have sent many before it saw the first one, and those after them find memory as the old
// way left it.
struct way {
    uint8_t phase; // enum phase
    bool leaves, is_both_ways, was_tried;
    uint8_t rounds; // times that receivers have all, until this phase's time begins,
    uint32_t cold;  // and messages before that;
    uint32_t seen;  // those since then, or until then those since the last of `cold`
    uint32_t gap;   // messages from one try to the next; 0: there has been none of this kind
    uint32_t tried; // those of this try that went the new way
    uint64_t from;  // the pattern's bytes when it began to count
    uint64_t bytes; // that were seen,
    uint64_t used;  // and of these before the last pause
    double last;    // when the last one went,
    double spent;   // what is counted of the times from each to the next, in s
    double took[2]; // the better time of the old way and of the new, in s for a byte
};

// What came last, for so many messages to go: from any process, and from one before this one.
struct came {
    bool left; // of the latter
    uint8_t any, before;
};

enum { SHORTEST = 13, CLASSES = 12 };
_Static_assert(WAY_LEAST == 1 << SHORTEST, "the first class is theirs");

// The program's messages, or those of one kind of collective: by whether a send waits, and whether such
// messages come, too.
static struct pattern {
    struct way ways[2][2][CLASSES];
    struct came came[CLASSES];
    uint64_t bytes; // of all lengths, that went and came
} patterns[2 + TAG_STEP];

// What the last try found out, of whatever pattern: a kind of collective begins with that.
static struct found {
    bool is_known, leaves;
} found[CLASSES];

static _Atomic double left_until; // the last one that was left has been got then
static shim_lock lock;

static int class_of(size_t n)
{
    int log = 63 - __builtin_clzll(n);
    return log < SHORTEST + CLASSES ? log - SHORTEST : CLASSES - 1;
}

// The kind of a collective by its tag. Those that keep theirs (comm_lasting_tag) are one kind more.
static int kind_of(int tag)
{
    return tag < TAG_COLLS / 2 ? tag % TAG_STEP : TAG_STEP;
}

bool way_is_of_all(size_t n, enum space space, int tag)
{
    enum { LONG = 1 << 15 };
    int kind = kind_of(tag);
    return space == SPACE_COLL && n >= LONG && kind >= COLL_ALLGATHER && kind <= COLL_ALLTOALLW;
}

static struct pattern *pattern_of(enum space space, int tag)
{
    return &patterns[space == SPACE_P2P ? 0 : 1 + kind_of(tag)];
}

// Messages of each in an exchange of all with all of processes that share cores (way_is_of_all); 0: they do not.
static uint32_t exchange(void)
{
    if (!request_is_crowded())
        return 0;
    return shim_npes() < EXCHANGE_MOST ? (uint32_t)shim_npes() - 1 : EXCHANGE_MOST;
}

// Long ones take long enough to be timed by few; but of exchanges the time of whole ones tells.
static uint32_t block_of(size_t n)
{
    size_t block = BLOCK_BYTES / n, least = 2 * exchange();
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block < BLOCK ? block : BLOCK;
    return (uint32_t)(block > least ? block : least);
}

// The nearest length of which something is known. NULL: there is none.
static const struct found *nearest(int class)
{
    for (int by = 0; by < CLASSES; by++)
        for (int c = class - by; c <= class + by; c += by ? 2 * by : 1)
            if (c >= 0 && c < CLASSES && found[c].is_known)
                return &found[c];
    return NULL;
}

static void begin_way(struct way *w, const struct pattern *p, size_t n, bool waits)
{
    const struct found *f = p != patterns ? nearest(class_of(n)) : NULL;
    w->gap = f ? GAP_LEAST : 4 * block_of(n);
    w->leaves = f ? f->leaves : !waits && way_is_long(n) && p == patterns;
}

static struct way *way_of(struct pattern *p, int class, size_t n, bool waits)
{
    bool both = p->came[class].any > 0;
    struct way *w = &p->ways[waits][both][class];
    if (unlikely(!w->gap) || (unlikely(!w->was_tried) && w->phase == STEADY && p != patterns)) {
        w->is_both_ways = both;
        begin_way(w, p, n, waits);
    }
    return w;
}

static bool is_new(const struct way *w)
{
    return w->phase == NEW || w->phase == NEW_AGAIN;
}

// Have receivers all that has been sent, and since when?
static bool are_caught_up(double *since)
{
    double left = atomic_load_explicit(&left_until, memory_order_relaxed);
    if (atomic_load_explicit(&partners_out, memory_order_relaxed) || !stage_is_caught_up(since))
        return false;
    *since = left > *since ? left : *since;
    return true;
}

void way_ended(size_t n)
{
    if (n >= WAY_LEAST)
        atomic_store_explicit(&left_until, PMPI_Wtime(), memory_order_relaxed);
}

static bool has_ended(const struct way *w, size_t n)
{
    uint32_t length = w->phase != STEADY ? block_of(n) : w->gap;
    double since;
    return w->seen >= length && (are_caught_up(&since) || w->seen >= length + PATIENCE);
}

// The next try: soon at first, and then as late as what it costs asks for; at once that late where the
// new way is clearly behind, but for the first try, before which neither way had been gone.
static double next_gap(const struct way *w, double ratio)
{
    double most = w->tried * (ratio - 1) * DEAR;
    double gap = ratio >= 9.0 / 8 && w->was_tried ? most : 2.0 * w->gap;
    return gap < most ? gap : most;
}

// The new one has to be better by a little more than chance. Most messages are not of a try.
static void decide(struct way *w)
{
    double ratio = w->took[1] / w->took[0];
    bool is_better = ratio < 15.0 / 16;
    double gap = is_better ? 0 : next_gap(w, ratio);
    uint32_t least = 4 * w->tried > GAP_LEAST ? 4 * w->tried : GAP_LEAST;
    w->gap = gap < least ? least : gap < GAP_MOST ? (uint32_t)gap : GAP_MOST;
    w->leaves ^= is_better;
    w->was_tried = true;
    w->tried = 0;
}

static void begin_count(struct way *w, const struct pattern *p)
{
    w->from = p->bytes;
    w->last = PMPI_Wtime();
    w->spent = 0;
    w->seen = 0;
    w->bytes = w->used = 0;
}

// What the program does between messages counts, as it may depend on where their data lies, but not its pauses;
// but where processes share cores, what others do meanwhile does. Where data goes both ways, all that went since
// the last pause may be a window that it sees to at once.
static void count_time(struct way *w, size_t n)
{
    double now = PMPI_Wtime(), until = now, came;
    if (!request_is_crowded() && are_caught_up(&came))
        until = came + (double)(w->is_both_ways ? w->bytes - w->used : n) / PAUSE_RATE;
    if (until > w->last && until < now)
        w->used = w->bytes;
    else
        until = now;
    w->spent += until - w->last;
    w->last = now;
}

static void end_phase(struct way *w, const struct pattern *p, size_t n)
{
    if (w->phase != STEADY) {
        double took = w->spent / (double)(p->bytes - w->from), *best = &w->took[is_new(w)];
        *best = w->phase <= NEW || took < *best ? took : *best;
    }
    if (++w->phase == PHASES) {
        decide(w);
        found[class_of(n)] = (struct found){true, w->leaves};
        w->phase = STEADY;
    }
    uint32_t all = exchange();
    bool is_try = w->phase != STEADY, by_rounds = w->is_both_ways && !all;
    w->rounds = is_try && by_rounds ? ROUNDS : 0;
    w->cold = !is_try || by_rounds ? 0 : all ? all : 1;
    if (w->phase == NEW && w->leaves)
        w->cold += (uint32_t)(COLD / n);
    begin_count(w, p);
}

// What this process finds out by itself begins anew when nobody leads any more.
static bool follow(struct way *w, int class, bool leaves)
{
    found[class] = (struct found){true, leaves};
    w->leaves = leaves;
    w->phase = STEADY;
    w->rounds = 0;
    w->tried = w->cold = w->seen = 0;
    return leaves;
}

static void warm_up(struct way *w, const struct pattern *p)
{
    double since;
    bool is_cold = w->cold > 0;
    if (is_cold)
        w->cold--;
    else if (are_caught_up(&since) || w->seen >= PATIENCE)
        w->rounds--;
    if (is_cold || !w->rounds)
        begin_count(w, p);
}

static void go_on(struct way *w, const struct pattern *p, size_t n)
{
    if (w->phase != STEADY)
        count_time(w, n);
    if (has_ended(w, n))
        end_phase(w, p, n);
}

static bool try_out(struct way *w, struct pattern *p, size_t n)
{
    if (w->cold || w->rounds)
        warm_up(w, p);
    else
        go_on(w, p, n);
    w->seen++;
    w->bytes += n;
    p->bytes += n;
    w->tried += is_new(w);
    return w->leaves != is_new(w);
}

bool way_leaves(size_t n, bool waits, uint64_t address, bool *is_timed)
{
    shim_lock_take(&lock);
    struct pattern *p = pattern_of(space_in(address), tag_in(address));
    int class = class_of(n);
    struct came *c = &p->came[class];
    struct way *w = way_of(p, class, n, waits);
    bool leaves = c->before ? follow(w, class, c->left) : try_out(w, p, n);
    *is_timed = w->phase != STEADY;
    c->any -= c->any > 0;
    c->before -= c->before > 0;
    shim_lock_give(&lock);
    return leaves;
}

void way_came(const struct transfer *t, bool was_left, bool had_choice)
{
    size_t n = (size_t)t->request.bytes;
    if (!way_is_open(n, t->type, t->pe, t->space, t->request.tag))
        return;
    if (t->space == SPACE_P2P && way_is_long(n))
        way_count(t->pe, -1);
    shim_lock_take(&lock);
    struct pattern *p = pattern_of(t->space, t->request.tag);
    struct came *c = &p->came[class_of(n)];
    p->bytes += n;
    c->any = HOLDS;
    if (had_choice && t->pe < shim_pe()) {
        c->before = HOLDS;
        c->left = was_left;
    }
    shim_lock_give(&lock);
}
