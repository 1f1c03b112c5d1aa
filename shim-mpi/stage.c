// SPDX-License-Identifier: BSD-3-Clause
// Messages that their sender copies to memory both processes reach. See transfer.h.
//
// A stage is a block of the sender's pool, in its shared memory. The sender counts what it has copied
// there, the receiver follows it on another core and says at the end that it has taken all:
//
//     stage  | filled, is_timed | taken, when || next, size, bytes || data .......... |
//                   sender         receiver      sender's own
//
// So a send costs one copy and needs no help: the data leaves the user's buffer at once. What is longer
// than SHOAL_MPI_STAGE, or finds no room, stays where it is and the receiver gets it; so does data that
// the receiver reaches by load where it is, in one copy, above SHOAL_MPI_STAGE_SHARED.
//
// Blocks follow each other through a lap of the pool, and then from its beginning again. That is on
// purpose: a line that the receiver has just read lies in its cache, and to write it again takes two
// to four times as long as one that has left both caches. But a page that is new to either of them takes
// as long as several messages: so laps are short, and get longer with time. The first free block is taken
// where processes share cores. Short messages, where those before the last have been taken, go by turns in
// three blocks before the laps, for few lines that go to and fro are sooner there: while one message is on
// its way and being read, the lines for the next come back from the one that was read before (prefetch_next).
#include "arrive.h"
#include "hint.h"
#include "partner.h"
#include "settings.h"
#include "stats.h"
#include "way.h"

#include <sys/mman.h>

enum { LINE = 64, LOOKS = 8 };
enum { STEP = 1 << 17, LAP = 17 * STEP, LAPS = 8 }; // so many laps, and then longer by a step,
enum { FEW = 3 };                                   // but at least for so many messages
enum { PAGE = 4096, POPULATE_WRITE = 23 };          // MADV_POPULATE_WRITE, of Linux 5.14
enum { LEAST = 4096, MOST = 16384 };                // copied at a time, as far as there is so much
enum { SHORT = 8192 };                              // of so much, blocks take turns,
enum { TURNS = 3, TURN = SHORT + PAGE }; // a page apart: what is next in one comes to its reader
enum { FIRST = 1024 };                   // asked for before it is copied out

struct stage {
    _Alignas(LINE) _Atomic uint64_t filled; // bytes of data, by the sender,
    bool is_timed;                          // who wants to know when they are taken
    _Alignas(LINE) _Atomic uint32_t taken;  // 1: the receiver needs it no more,
    double when;                            // since then, by MPI_Wtime; 0: not said
    _Alignas(LINE) struct stage *next;      // in use, at the next higher address
    size_t size, bytes;
    _Alignas(LINE) unsigned char data[];
};

static struct {
    shim_lock lock;
    bool is_tried;
    char *memory; // blocks that take turns, and
    shoal_rptr_t place;
    char *start; // what laps go through
    size_t size; // of that, 0: there is none
    size_t lap, laps;
    struct stage *first;     // those in use
    struct stage *last;      // the one taken last of those that way.h is about
    size_t end;              // where the lap goes on,
    struct stage **at;       // and the link behind those in use that begin before
    struct stage *before[2]; // the last two short ones
    uint32_t shorts;         // how many there have been
    bool keeps_up;           // is the last but one of them taken when the next comes?
} pool;

// Page faults one by one would take ten times as long as a short message each: all at once they do
// not. Nothing depends on it.
static void lengthen_lap(size_t to)
{
    uintptr_t from = ((uintptr_t)pool.start + pool.lap) / PAGE * PAGE;
    uintptr_t end = ((uintptr_t)pool.start + to) / PAGE * PAGE;
    madvise((void *)from, end - from, POPULATE_WRITE);
    pool.lap = to;
    pool.laps = 0;
}

static void begin_lap(size_t size)
{
    size_t most = LAP < pool.size ? LAP : pool.size;
    size_t least = (FEW * size + STEP - 1) / STEP * STEP;
    size_t to = ++pool.laps < LAPS ? pool.lap : pool.lap + STEP;
    to = to > least ? to : least;
    if (pool.lap < most && to > pool.lap)
        lengthen_lap(to < most ? to : most);
}

static struct stage *turn_of(uint32_t number)
{
    return (struct stage *)(void *)(pool.memory + (size_t)(number % TURNS) * TURN);
}

// Room for two of the largest, or for a lap; less where there is not so much.
static void make_pool(void)
{
    size_t n = 2 * (shim_settings.stage + sizeof(struct stage));
    pool.is_tried = true;
    for (n = n < LAP ? LAP : n; n >= LAP / 16 && !pool.memory; n /= 2)
        if ((pool.memory = shoal_alloc(TURNS * TURN + n)))
            pool.size = n / LINE * LINE;
    if (!pool.memory)
        return;
    pool.start = pool.memory + TURNS * TURN;
    pool.at = &pool.first;
    if (shoal_rptr_own(pool.memory, &pool.place))
        pool.size = 0;
    for (uint32_t i = 0; i < TURNS; i++) // as if it had been used
        *turn_of(i) = (struct stage){.taken = 1};
    if (pool.size && !request_is_crowded())
        lengthen_lap(STEP);
}

// Nobody will read or write it.
static bool is_free(const struct stage *s)
{
    // A receiver that wants less than all may have let it go while it is being filled.
    return atomic_load_explicit(&s->filled, memory_order_acquire) == s->bytes &&
           // Pairs with the release in let_go: the receiver has read all.
           atomic_load_explicit(&s->taken, memory_order_acquire);
}

// The lap goes on at `end`; s is the last in use before.
static void set_lap(struct stage *s, size_t end)
{
    pool.at = &s->next;
    pool.end = end;
}

// Takes the first gap between those in use behind `at`, from `from` to `limit`; those that are free
// are no longer in use.
static struct stage *find(struct stage **at, size_t from, size_t limit, size_t size)
{
    for (int looks = 0; from + size <= limit;) {
        struct stage *s = *at;
        size_t to = s ? (size_t)((char *)s - pool.start) : pool.size;
        if (to - from >= size) {
            struct stage *new = (struct stage *)(void *)(pool.start + from);
            new->next = s;
            new->size = size;
            *at = new;
            if (pool.at == at && from < pool.end)
                set_lap(new, from + size > pool.end ? from + size : pool.end);
            return new;
        }
        if (!s || looks == LOOKS)
            return NULL;
        if (is_free(s)) {
            if (pool.at == &s->next)
                pool.at = at;
            *at = s->next;
            continue;
        }
        looks++;
        from = to + s->size;
        at = &s->next;
    }
    return NULL;
}

static struct stage *find_next(size_t size)
{
    struct stage *s = find(pool.at, pool.end, pool.lap, size);
    if (!s) {
        begin_lap(size);
        s = find(&pool.first, 0, pool.lap, size);
    }
    if (!s)
        s = find(pool.at, pool.end, pool.size, size);
    if (s)
        set_lap(s, (size_t)((char *)s - pool.start) + size);
    return s;
}

// Whether receivers keep up is looked at now and then, for that takes a line from them; with threads
// what has been there may be another one's by now.
static struct stage *find_short(size_t size)
{
    enum { ROW = 8 };
    struct stage *s = NULL, **before = &pool.before[pool.shorts % 2];
    if (++pool.shorts % ROW == 0)
        pool.keeps_up = *before && !shim_threads &&
                        atomic_load_explicit(&(*before)->taken, memory_order_relaxed);
    if (pool.keeps_up && is_free(turn_of(pool.shorts)))
        s = turn_of(pool.shorts);
    return *before = s ? s : find_next(size);
}

static struct stage *find_any(size_t size)
{
    struct stage *s = NULL;
    if (size <= LAP && !request_is_crowded())
        s = size <= sizeof *s + SHORT ? find_short(size) : find_next(size);
    return s ? s : find(&pool.first, 0, pool.size, size);
}

static struct stage *take(size_t n, bool is_timed)
{
    shim_lock_take(&pool.lock);
    if (!pool.is_tried)
        make_pool();
    struct stage *s = find_any((sizeof *s + n + LINE - 1) / LINE * LINE);
    if (s) {
        s->bytes = n;
        if (n >= WAY_LEAST) {
            s->is_timed = is_timed;
            s->when = 0;
            pool.last = s;
        }
        atomic_store_explicit(&s->filled, 0, memory_order_relaxed);
        atomic_store_explicit(&s->taken, 0, memory_order_relaxed);
    }
    shim_lock_give(&pool.lock);
    return s;
}

bool stage_is_caught_up(double *when)
{
    shim_lock_take(&pool.lock);
    const struct stage *s = pool.last;
    // Pairs with the release in let_go.
    bool is = !s || atomic_load_explicit(&s->taken, memory_order_acquire);
    *when = s && is ? s->when : 0;
    shim_lock_give(&pool.lock);
    return is;
}

// Lines that their reader has are stored sooner by a copy of some KB in a row, which does not fetch them first,
// than by one of each of the type's blocks: of long messages these come together here first.
static void pack(struct stage *s, const void *buf, MPI_Count count, const struct type *type,
                 size_t from, size_t n)
{
    unsigned char some[SHORT];
    if (s->bytes <= SHORT)
        type_pack(type, buf, count, (MPI_Count)from, s->data + from, n);
    else
        for (size_t at = from, m; at < from + n; at += m) {
            m = from + n - at < SHORT ? from + n - at : SHORT;
            type_pack(type, buf, count, (MPI_Count)at, some, m);
            shim_copy(s->data + at, some, m);
        }
}

static void fill(struct stage *s, const void *buf, MPI_Count count, const struct type *type,
                 size_t from, size_t n)
{
    unsigned char *to = s->data + from;
    if (n && unlikely(!type->is_dense)) // without data there may be no buffer
        pack(s, buf, count, type, from, n);
    else if (n && s->bytes <= SHORT) // its lines are here
        shim_copy_here(to, (const char *)type_at(type, buf) + from, n);
    else if (n)
        shim_copy(to, (const char *)type_at(type, buf) + from, n);
    // Pairs with the acquire load in follow_on.
    atomic_store_explicit(&s->filled, from + n, memory_order_release);
}

// What one thread here has let go, its sender may have filled again for another one: their order comes
// through the sender, and this says so to whoever sees one process only.
static _Atomic int let_gos;

static void count_let_go(void)
{
    if (shim_threads)
        atomic_fetch_add_explicit(&let_gos, 1, memory_order_release);
}

static void let_go(struct stage *s)
{
    count_let_go(); // what was read there
    // Pairs with the acquire load in is_free.
    atomic_store_explicit(&s->taken, 1, memory_order_release);
    count_let_go(); // and this, which may lie among another one's data by and by
}

// Is another way better? Not for data with gaps, which its sender copies in any case. One copy, by a receiver
// who has a core of its own or by the sender itself, is; and the program's long nonblocking operations are
// there to let it compute. So are those of collectives left whose processes share cores. For the rest way.h
// finds out.
static bool is_better_left(const void *buf, const struct type *type, size_t n, int pe,
                           uint64_t address, bool waits, bool *is_timed)
{
    enum space space = space_in(address);
    shoal_rptr_t at;
    if (!type->is_dense)
        return false;
    bool is_open = way_is_open(n, type, pe, space, tag_in(address));
    if (way_is_long(n) && space == SPACE_P2P && !(is_open && way_has_traffic(pe)) &&
        (!waits || hint_is_there(pe, address)))
        return true;
    if (way_is_long(n) && space == SPACE_COLL && !waits && request_is_crowded())
        return true;
    if (n > shim_settings.stage_shared &&
        (pe == shim_pe() ||
         (!request_is_crowded() && shoal_rptr_own(type_at(type, buf), &at) == SHOAL_OK)))
        return true;
    return is_open && way_leaves(n, waits, address, is_timed);
}

// With each piece the line that counts them goes to the receiver and has to come back, which takes as
// long as to copy some KB: so few of them, but short ones in the end, when nobody copies beside the
// receiver any more.
static size_t piece_of(size_t rest)
{
    size_t half = rest / 2 / LINE * LINE;
    size_t piece = half < LEAST ? LEAST : half < MOST ? half : MOST;
    return rest < piece ? rest : piece;
}

// The next message is likely to be as long as this one: where it will be copied to comes here meanwhile.
// Of more, messages in a row would have more of it under way than is good for them: not in laps.
// (INLINE: a function that only prefetches does nothing, says the compiler.)
static INLINE void prefetch_next(const struct stage *s, size_t n)
{
    if (shim_threads)
        return;
    const char *next = pool.start + pool.end;
    if ((const char *)s < pool.start)
        next = (const char *)turn_of(pool.shorts + 1);
    else if (n > LEAST || pool.at != &s->next || pool.end + sizeof *s + n > pool.lap)
        return;
    for (size_t i = 0; i < sizeof *s + n; i += LINE)
        __builtin_prefetch(next + i, 1);
}

bool stage_send(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                const struct type *type, int pe, int tag, bool waits)
{
    size_t n = (size_t)(count * type->size);
    uint64_t address = address_of(comm, space, tag);
    bool is_timed = false;
    if (n > shim_settings.stage || !partner_is_direct(pe) ||
        is_better_left(buf, type, n, pe, address, waits, &is_timed))
        return false;
    bool is_followed = !request_is_crowded() && n > LEAST;
    struct stage *s = take(n, is_timed);
    if (!s)
        return false;
    size_t done = is_followed ? LEAST : n;
    fill(s, buf, count, type, 0, done);
    struct rts rts = {.filled = done,
                      .bytes = (int64_t)n,
                      .from = shoal_rptr_add(pool.place, (char *)s - pool.memory),
                      .how = RTS_STAGE};
    if (!transfer_tell_next(partner_of(pe), pe, AM_RTS, address, &rts, sizeof rts,
                            waits ? LEAVE_WAITING : LEAVE_NOW)) {
        let_go(s);
        atomic_store_explicit(&s->filled, n, memory_order_release);
        return false;
    }
    transfer_number(partner_of(pe), address);
    stats_count(STAGED);
    for (size_t piece; done < n; done += piece) {
        piece = piece_of(n - done);
        fill(s, buf, count, type, done, piece);
    }
    prefetch_next(s, n);
    return true;
}

// ---- The receiver
// Copies what is there. True: all of it has been.
static bool copy_to(struct transfer *t, uint64_t filled)
{
    MPI_Count end = (MPI_Count)filled < t->request.bytes ? (MPI_Count)filled : t->request.bytes;
    if (end > t->moved)
        transfer_place(t, t->moved, t->stage->data + t->moved, (size_t)(end - t->moved));
    t->moved = end;
    return end == t->request.bytes;
}

static void finish(struct transfer *t)
{
    if (t->request.bytes >= WAY_LEAST && unlikely(t->stage->is_timed))
        t->stage->when = PMPI_Wtime();
    let_go(t->stage);
    request_complete(&t->request);
}

static bool follow_on(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    MPI_Count before = t->moved;
    bool is_all = copy_to(t, atomic_load_explicit(&t->stage->filled, memory_order_acquire));
    bool did = t->moved != before;
    if (is_all) {
        progress_remove(hook);
        finish(t);
    }
    return did;
}

// Where the data is came with the envelope, and not the data itself.
static INLINE void prefetch_first(const struct stage *s, uint64_t filled)
{
    for (size_t i = 0; i < filled && i < FIRST; i += LINE)
        __builtin_prefetch(s->data + i);
}

// ---- What transfer.c and arrive.c call
static void begin(struct transfer *t, const struct rts *rts)
{
    (void)atomic_load_explicit(&let_gos, memory_order_acquire);
    t->stage = shoal_direct(rts->from, sizeof *t->stage);
    way_came(t, false, true);
    t->moved = 0;
}

static void go_on_later(struct transfer *t)
{
    t->hook = (struct progress_hook){.fn = follow_on, .is_brief = true};
    progress_add(&t->hook);
    request_count_activity(); // of this process another thread may have sent it
}

void stage_accept(struct transfer *t, const struct rts *rts)
{
    begin(t, rts);
    prefetch_first(t->stage, rts->filled);
    if (copy_to(t, rts->filled)) // what was there when the envelope went, to begin with
        finish(t);
    else
        go_on_later(t);
}

void stage_accept_later(struct transfer *t, const struct rts *rts)
{
    begin(t, rts);
    go_on_later(t);
}

void stage_drop(const struct rts *rts)
{
    let_go(shoal_direct(rts->from, sizeof(struct stage)));
}

void stage_down(void)
{
    bool is_used = false;
    while (pool.first && is_free(pool.first))
        pool.first = pool.first->next;
    for (uint32_t i = 0; pool.memory && i < TURNS; i++)
        is_used |= !is_free(turn_of(i));
    if (!pool.first && !is_used) // else it stays
        shoal_free(pool.memory);
    memset(&pool, 0, sizeof pool);
}
