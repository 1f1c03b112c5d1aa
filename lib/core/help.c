// SPDX-License-Identifier: BSD-3-Clause
// Asking a PE to run an operation on its private memory. See help.h.
#include "help.h"

#include "arena.h"
#include "copy.h"
#include "elements.h"
#include "inbox.h"
#include "net_message.h"
#include "net_vector.h"
#include "present.h"
#include "slice.h"
#include "trigger.h"
#include "wait.h"

#include <sched.h>

enum { PIECES = 2, SMALL = LIMIT_BOUNCE < ARENA_RESERVED ? LIMIT_BOUNCE : ARENA_RESERVED };

// One piece on its way. `room` is memory all reach, of `size` bytes.
struct piece {
    struct work *w;
    char *room;
    size_t size;
    char *local; // where it belongs
    size_t n;
};

void help_answer(struct work *w, int status)
{
    int owner = w->owner;
    w->status = status;
    // Pairs with the acquire load in end: data and status come before.
    atomic_store_explicit(&w->state, WORK_ANSWERED, memory_order_release);
    peer_wake(owner);
}

bool help_is_gone(int pe)
{
    // Pairs with the release in leave, or the launcher's: what it answered comes before.
    return world_is_here(pe) &&
           atomic_load_explicit(&world_ctl(pe)->state, memory_order_acquire) >= PE_LEFT;
}

static void begin(struct piece *p, const struct operation *op, size_t done, int helper)
{
    p->local = op->has_local ? (char *)place_here(op->local) + done : NULL;
    p->w->op = *op;
    p->w->op.initiator = world.me;
    p->w->op.has_comp = false;
    p->w->op.remote.offset += done;
    if (op->kind == SHOAL_WORK_ATOMIC) {
        p->n = sizeof(uint64_t);
    } else {
        p->n = op->n - done < p->size ? op->n - done : p->size;
        p->w->op.n = p->n;
    }
    if (op->kind == SHOAL_WORK_PUT || op->kind == OPERATION_ACC)
        copy_bytes(p->room, p->local, p->n);
    p->w->op.local = place_of(p->room);
    trigger_hand(p->w, helper, WORK_ASKED);
}

static bool is_answered(const struct piece *p)
{
    return atomic_load_explicit(&p->w->state, memory_order_acquire) == WORK_ANSWERED;
}

static int end(struct piece *p, const struct operation *op, int helper)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (!is_answered(p)) {
        if (unlikely(help_is_gone(helper)))
            trigger_refuse(helper);
        if (unlikely(help_is_gone(helper)) && !is_answered(p)) {
            p->w = NULL; // whoever was about to run it may still do so
            p->room = NULL;
            return SHOAL_EFAULT;
        }
        waiter_turn(&w, inbox_poll());
    }
    if (p->w->status == SHOAL_OK && p->local &&
        (op->kind == SHOAL_WORK_GET || op->kind == SHOAL_WORK_ATOMIC))
        copy_bytes(p->local, p->room,
                   op->kind == SHOAL_WORK_GET ? p->n : element_size((shoal_type_t)op->type));
    return p->w->status;
}

static int run_pieces(struct piece piece[PIECES], const struct operation *op, int helper)
{
    size_t begun = 0, total = op->kind == SHOAL_WORK_ATOMIC ? 1 : op->n;
    int status = SHOAL_OK, pending = 0, next = 0;
    while (pending || (begun < total && !status)) {
        if (begun < total && !status && pending < PIECES) {
            struct piece *p = &piece[(next + pending++) % PIECES];
            begin(p, op, begun, helper);
            begun += p->n;
        } else {
            int ended = end(&piece[next], op, helper);
            status = status ? status : ended;
            next = (next + 1) % PIECES;
            pending--;
        }
    }
    return status;
}

static void piece_free(struct piece *p)
{
    if (p->w)
        trigger_free(p->w);
    arena_free(p->room);
}

// A smaller one where the arena is full, as the program may have taken all of it.
static bool piece_new(struct piece *p)
{
    *p = (struct piece){
        .w = trigger_new(), .room = arena_alloc(LIMIT_BOUNCE), .size = LIMIT_BOUNCE};
    if (!p->room) {
        p->room = arena_alloc_reserved();
        p->size = SMALL;
    }
    return p->w && p->room;
}

static bool is_for_pieces(const struct operation *op)
{
    return op->kind == SHOAL_WORK_PUT || op->kind == SHOAL_WORK_GET ||
           op->kind == SHOAL_WORK_ATOMIC || op->kind == OPERATION_ACC;
}

int help_run(const struct operation *op, int helper)
{
    struct piece piece[PIECES];
    int status = SHOAL_ENOMEM;
    if (op->has_local && !place_here(op->local))
        return SHOAL_EFAULT;
    if (help_is_gone(helper))
        return SHOAL_EFAULT;
    if (!world_is_here(helper))
        return net_run(op, helper);
    if (!is_for_pieces(op))
        return SHOAL_EFAULT;
    bool have_all = true;
    for (int i = 0; i < PIECES; i++)
        have_all &= piece_new(&piece[i]);
    if (have_all)
        status = run_pieces(piece, op, helper);
    for (int i = 0; i < PIECES; i++)
        piece_free(&piece[i]);
    return status;
}

// ---- Many short parts at once. The helper is to begin soon: no later than the kernel is done with some of them,
// or in a turn of its own where it shares this core.
enum { FEW = 8, NS_EACH = 400, NS_MOST = 30000 };

// True: nobody does it, and the helper frees it when it finds it. False: it is being done, or was.
static bool take_back(struct piece *p)
{
    uint32_t state = WORK_ASKED;
    if (!atomic_compare_exchange_strong_explicit(&p->w->state, &state, WORK_TAKEN_BACK,
                                                 memory_order_acq_rel, memory_order_acquire))
        return false;
    p->w = NULL;
    return true;
}

static bool is_begun(const struct piece *p)
{
    return atomic_load_explicit(&p->w->state, memory_order_relaxed) != WORK_ASKED;
}

static bool begins_in_time(struct piece *p, size_t parts)
{
    uint64_t ns = parts * NS_EACH < NS_MOST ? parts * NS_EACH : NS_MOST;
    uint64_t end = wait_is_beside() ? 0 : wait_now_ns() + ns;
    while (!is_begun(p) && wait_now_ns() < end)
        if (!inbox_poll())
            cpu_relax();
    if (!is_begun(p))
        sched_yield();
    return is_begun(p) || !take_back(p);
}

static bool is_only_way(int helper)
{
    return !place_reaches_private(helper);
}

// Two PEs that move parts at each other by the kernel would never look: whoever finds the other one behind does.
static bool is_behind(int helper)
{
    if (!trigger_is_behind(helper))
        return false;
    inbox_poll();
    return trigger_is_behind(helper);
}

static bool is_worth_it(int helper, size_t parts)
{
    bool worth = is_only_way(helper) ? parts > 1
                                     : parts >= FEW && !is_behind(helper) && present_is_known();
    return worth && !help_is_gone(helper);
}

static struct piece piece_for(const struct operation *op)
{
    struct piece p = {.w = trigger_new(), .room = arena_alloc(op->n + op->a)};
    if (p.w && !p.room) {
        trigger_free(p.w);
        p.w = NULL;
    }
    return p;
}

// What gets bring comes behind the records.
static bool ask(struct piece *p, const struct operation *op, size_t parts, int helper)
{
    bool must = is_only_way(helper);
    if (!must && !vector_is_close(op, p->room, parts))
        return false;
    p->w->op = *op;
    p->w->op.local = place_of(p->room);
    p->w->op.local2 = place_of(p->room + op->n);
    trigger_hand(p->w, helper, WORK_ASKED);
    return (must || begins_in_time(p, parts)) && end(p, op, helper) == SHOAL_OK;
}

size_t help_move_parts(int kind, int helper, const shoal_part_t part[], size_t parts)
{
    const struct operation like = {.kind = kind, .initiator = world.me, .has_local = true};
    size_t n = vector_fit(kind, part, parts, VECTOR_LONGEST, LIMIT_BOUNCE);
    struct operation op;
    bool is_done = false;
    if (!is_worth_it(helper, n))
        return 0;
    vector_make(&like, part, n, &op);
    struct piece p = piece_for(&op);
    if (p.w) {
        vector_fill(&op, part, n, p.room);
        is_done = ask(&p, &op, n, helper);
    }
    if (is_done && op.a)
        copy_bytes(part[0].local, p.room + op.n, op.a);
    piece_free(&p);
    return is_done ? n : 0;
}

size_t help_move_rows(int kind, int helper, const struct rows *all)
{
    struct rows rows = *all;
    struct operation op;
    bool is_done = false;
    rows.parts = kind == OPERATION_ACC ? 0 : vector_fit_rows(all, VECTOR_LONGEST, LIMIT_BOUNCE);
    if (!is_worth_it(helper, rows.parts))
        return 0;
    vector_make_rows(kind, &rows, &op);
    struct piece p = piece_for(&op);
    if (p.w) {
        vector_fill_rows(kind, &rows, p.room);
        is_done = ask(&p, &op, rows.parts, helper);
    }
    if (is_done && op.a)
        vector_take_rows(&rows, p.room + op.n, (ptrdiff_t)rows.n);
    piece_free(&p);
    return is_done ? rows.parts : 0;
}
