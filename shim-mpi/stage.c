// SPDX-License-Identifier: BSD-3-Clause
// Messages that their sender copies to memory both processes reach. See transfer.h.
//
// A stage is a block of the sender's shared memory. The sender counts what it has copied there, the
// receiver follows it on another core and says at the end that it has taken all:
//
//     stage  | filled | taken || place, size, next || data .......... |
//              sender   receiver   sender's own
//
// So a send costs one copy and needs no help: the data leaves the user's buffer at once. Stages are
// kept, by size, and used again in the order in which they were filled; together they take no more
// than STAGES_PER_LIMIT of the largest (SHOAL_MPI_STAGE). Then, and for what is larger, the data stays
// where it is and the receiver gets it; so does data that the receiver reaches by load where it is, in
// one copy, above SHOAL_MPI_STAGE_SHARED.
#include "arrive.h"
#include "partner.h"
#include "settings.h"
#include "stats.h"

enum { LEAST = 4096, CLASSES = 20, STAGES_PER_LIMIT = 32, LOOKS = 4, LINE = 64 };
enum { PIECE = 4096 };

struct stage {
    _Alignas(LINE) _Atomic uint64_t filled; // bytes of data, by the sender
    _Alignas(LINE) _Atomic uint32_t taken;  // 1: the receiver needs it no more
    _Alignas(LINE) shoal_rptr_t place;
    struct stage *next; // of those of its size, the one filled next
    size_t size;
    unsigned char data[];
};

static struct {
    shim_lock lock;
    size_t total;
    struct stage *first[CLASSES], **last[CLASSES]; // in use, oldest first
} stages;

static int class_of(size_t n)
{
    int class = 0;
    while ((size_t)LEAST << class < n)
        class ++;
    return class;
}

// The oldest ones are looked at: they are the likeliest to be free.
static struct stage *take_old(int class)
{
    struct stage **at = &stages.first[class];
    for (int i = 0; *at && i < LOOKS; i++, at = &(*at)->next) {
        struct stage *s = *at;
        // Pairs with the release in let_go: the receiver has read all.
        if (!atomic_load_explicit(&s->taken, memory_order_acquire))
            continue;
        *at = s->next;
        if (!s->next)
            stages.last[class] = at;
        return s;
    }
    return NULL;
}

static struct stage *make(int class)
{
    size_t size = (size_t)LEAST << class;
    if (stages.total + size > STAGES_PER_LIMIT * shim_settings.stage)
        return NULL;
    struct stage *s = shoal_alloc(sizeof *s + size);
    if (!s || shoal_rptr_own(s, &s->place)) {
        shoal_free(s);
        return NULL;
    }
    s->size = size;
    stages.total += size;
    return s;
}

static struct stage *take(size_t n)
{
    int class = class_of(n);
    shim_lock_take(&stages.lock);
    struct stage *s = take_old(class);
    if (!s)
        s = make(class);
    shim_lock_give(&stages.lock);
    if (!s)
        return NULL;
    atomic_store_explicit(&s->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&s->taken, 0, memory_order_relaxed);
    return s;
}

// Only when it is full: until then a receiver that wants less of it may have let it go.
static void put_back(struct stage *s)
{
    int class = class_of(s->size);
    shim_lock_take(&stages.lock);
    if (!stages.first[class])
        stages.last[class] = &stages.first[class];
    s->next = NULL;
    *stages.last[class] = s;
    stages.last[class] = &s->next;
    shim_lock_give(&stages.lock);
}

static void fill(struct stage *s, const void *buf, MPI_Count count, const struct type *type,
                 size_t from, size_t n)
{
    if (likely(n && type->is_dense)) // without data there may be no buffer
        memcpy(s->data + from, (const char *)type_at(type, buf) + from, n);
    else if (n)
        type_pack(type, buf, count, (MPI_Count)from, s->data + from, n);
    // Pairs with the acquire load in follow.
    atomic_store_explicit(&s->filled, from + n, memory_order_release);
}

static void let_go(struct stage *s)
{
    // Pairs with the acquire load in take_old.
    atomic_store_explicit(&s->taken, 1, memory_order_release);
}

// Is one copy by a receiver who has a core of its own better than two?
static bool is_better_left(const void *buf, const struct type *type, size_t n)
{
    shoal_rptr_t at;
    return n > shim_settings.stage_shared && type->is_dense && !request_is_crowded() &&
           shoal_rptr_own(type_at(type, buf), &at) == SHOAL_OK;
}

bool stage_send(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                const struct type *type, int pe, int tag, bool waits)
{
    size_t n = (size_t)(count * type->size), piece = request_is_crowded() ? n : PIECE;
    if (n > shim_settings.stage || !partner_is_direct(pe) || is_better_left(buf, type, n))
        return false;
    struct stage *s = take(n);
    if (!s)
        return false;
    size_t done = n < piece ? n : piece;
    fill(s, buf, count, type, 0, done);
    struct rts rts = {.bytes = (int64_t)n, .from = s->place, .how = RTS_STAGE};
    uint64_t address = address_of(comm, space, tag);
    if (!transfer_tell_next(partner_of(pe), pe, AM_RTS, address, &rts, sizeof rts, waits)) {
        let_go(s);
        put_back(s);
        return false;
    }
    transfer_number(partner_of(pe), address);
    stats_count(STAGED);
    for (; done < n; done += piece) {
        piece = n - done < piece ? n - done : piece;
        fill(s, buf, count, type, done, piece);
    }
    put_back(s);
    return true;
}

// ---- The receiver
// Copies what is there. True: all of it has been.
static bool follow(struct transfer *t)
{
    struct stage *s = t->stage;
    MPI_Count filled = (MPI_Count)atomic_load_explicit(&s->filled, memory_order_acquire);
    MPI_Count end = filled < t->request.bytes ? filled : t->request.bytes;
    if (end > t->moved)
        transfer_place(t, t->moved, s->data + t->moved, (size_t)(end - t->moved));
    t->moved = end;
    return end == t->request.bytes;
}

static void finish(struct transfer *t)
{
    let_go(t->stage);
    request_complete(&t->request);
}

static bool follow_on(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    MPI_Count before = t->moved;
    bool is_all = follow(t), did = t->moved != before;
    if (is_all) {
        progress_remove(hook);
        finish(t);
    }
    return did;
}

void stage_accept(struct transfer *t, const struct rts *rts)
{
    t->stage = shoal_direct(rts->from, sizeof *t->stage);
    t->moved = 0;
    if (follow(t)) {
        finish(t);
        return;
    }
    t->hook = (struct progress_hook){.fn = follow_on, .is_brief = true};
    progress_add(&t->hook);
}

void stage_drop(const struct rts *rts)
{
    let_go(shoal_direct(rts->from, sizeof(struct stage)));
}

void stage_down(void)
{
    for (int class = 0; class < CLASSES; class ++)
        for (struct stage *s; (s = stages.first[class]);) {
            stages.first[class] = s->next;
            if (atomic_load_explicit(&s->taken, memory_order_acquire)) // else it stays
                shoal_free(s);
        }
    memset(&stages, 0, sizeof stages);
}
