// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Transfers". On a node everything is complete when the call returns, and without an event
// between nodes too; an event is then done at once.
#include "shoal_transfer.h"

#include "shoal_check.h"

#include "counter.h"
#include "help.h"
#include "net_flight.h"
#include "operation.h"
#include "region.h"
#include "remote.h"

#include <sys/uio.h>

static int end(int status, shoal_event_t *event)
{
    if (event)
        *event = (shoal_event_t){.status = status};
    return status;
}

// ---- One operation, here, with help, or begun at another node. Everything that can be wrong has been
// looked at before.
struct flight *transfer_flight(struct call *c)
{
    if (!c->flight && c->event && !c->comp.has_comp)
        c->returns = (c->flight = flight_new(false)) != NULL;
    if (!c->flight)
        c->flight = flight_new(true);
    return c->flight;
}

int transfer_move(struct call *c, struct operation *op)
{
    if (unlikely(!world_is_here(c->pe))) {
        if (op->has_local && !place_here(op->local))
            return SHOAL_EFAULT;
        flight_add(transfer_flight(c), op, c->pe);
        return SHOAL_OK;
    }
    int needs, status = operation_run(op, &needs);
    return status == SHOAL_EAGAIN ? help_run(op, needs) : status;
}

int transfer_begin(struct call *c, shoal_rptr_t remote, size_t n, const shoal_comp_t *comp,
                   shoal_event_t *event)
{
    struct place at;
    int status = region_resolve(&remote, n, &at);
    c->pe = remote.pe;
    c->event = event;
    c->flight = NULL;
    c->returns = false;
    return status ? status : completion_from(comp, remote.pe, &c->comp);
}

int transfer_finish(const struct call *c, int status)
{
    if (c->returns && !status) {
        flight_leave(c->flight, c->event);
        return SHOAL_OK;
    }
    int flown = c->flight ? flight_wait(c->flight) : SHOAL_OK;
    status = status ? status : flown;
    if (c->comp.has_comp && !status)
        status = completion_run(&c->comp.comp, world.me, c->pe);
    else if (c->comp.has_comp && c->comp.comp.initiator_ct)
        counter_add(counter_at(world.me, c->comp.comp.initiator_ct), world.me, 0, 1);
    return end(status, c->event);
}

// Private memory of another PE of this node, by a call of the kernel and little else. SHOAL_EAGAIN:
// it is none, or that does not work.
static int copy_private(int kind, struct place at, void *local, size_t n)
{
    bool puts = kind == SHOAL_WORK_PUT;
    if (at.space != SPACE_PRIVATE || at.pe == world.me || !world_is_here(at.pe) || !n)
        return SHOAL_EAGAIN;
    int status = place_copy_private(at.pe, puts, &(struct iovec){local, n},
                                    &(struct iovec){(void *)(uintptr_t)at.offset, n}, 1);
    if (status == SHOAL_OK && puts)
        peer_wake(at.pe);
    return status;
}

// Those that shoal_quiet completes, short, to memory of another node that every PE reaches, with no more behind them
// than a signal there: they are gathered, as shmem_put and shmem_put_signal are.
static bool put_gathered(struct place to, const void *from, size_t n, const shoal_comp_t *comp)
{
    struct operation after;
    struct place at;
    if (world_is_here(to.pe) || to.space == SPACE_PRIVATE || (n && !from))
        return false;
    if (!comp)
        return n && remote_gather(to, from, n, NULL, 0, 0);
    if (completion_from(comp, to.pe, &after))
        return false;
    const struct completion *c = &after.comp;
    if (c->signal_op < 0 || c->initiator_ct || c->target_ct || c->am_id ||
        region_resolve(&c->signal, sizeof(uint64_t), &at) || at.space == SPACE_PRIVATE)
        return false;
    return remote_gather(to, from, n, &at, c->signal_op, c->signal_value);
}

static int transfer(int kind, shoal_rptr_t remote, struct place at, void *local, size_t n,
                    const shoal_comp_t *comp, shoal_event_t *event)
{
    struct call c;
    if (kind == SHOAL_WORK_PUT && !event && put_gathered(at, local, n, comp))
        return SHOAL_OK;
    int near = comp || !local ? SHOAL_EAGAIN : copy_private(kind, at, local, n);
    if (near != SHOAL_EAGAIN)
        return end(near, near == SHOAL_OK ? event : NULL);
    struct operation op = {.kind = kind,
                           .initiator = world.me,
                           .remote = remote,
                           .n = n,
                           .local = place_of(local),
                           .has_local = true};
    if (n && !local)
        return SHOAL_EINVAL;
    int status = transfer_begin(&c, remote, n, comp, event);
    return status ? status : transfer_finish(&c, transfer_move(&c, &op));
}

PUBLIC void shoal_copy(void *to, const void *from, size_t n)
{
    copy_bytes(to, from, n);
}

PUBLIC void shoal_copy_streaming(void *to, const void *from, size_t n)
{
    copy_streaming(to, from, n);
}

PUBLIC int shoal_put(shoal_rptr_t to, const void *from, size_t n, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct place at;
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    int status = region_resolve(&to, n, &at);
    void *here = status ? NULL : place_here(at);
    if (unlikely(!here || comp || !from))
        return status ? status : transfer(SHOAL_WORK_PUT, to, at, (void *)from, n, comp, event);
    transfer_copy(here, from, n);
    peer_wake(at.pe);
    return end(SHOAL_OK, event);
}

PUBLIC int shoal_get(void *to, shoal_rptr_t from, size_t n, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct place at;
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    int status = region_resolve(&from, n, &at);
    const void *here = status ? NULL : place_here(at);
    if (unlikely(!here || comp || !to))
        return status ? status : transfer(SHOAL_WORK_GET, from, at, to, n, comp, event);
    transfer_copy(to, here, n);
    atomic_thread_fence(memory_order_acquire); // what a later one finds is not older
    return end(SHOAL_OK, event);
}

// ---- Many parts
int transfer_check(const shoal_part_t part[], size_t parts, bool has_local)
{
    struct place at;
    int status = part && parts ? SHOAL_OK : SHOAL_EINVAL;
    for (size_t i = 0; i < parts && !status; i++) {
        if (part[i].remote.pe != part[0].remote.pe || (has_local && part[i].n && !part[i].local))
            return SHOAL_EINVAL;
        status = region_resolve(&part[i].remote, part[i].n, &at);
    }
    return status;
}

void transfer_move_far(struct call *c, const struct operation *like, const shoal_part_t part[],
                       size_t parts)
{
    flight_add_parts(transfer_flight(c), like, part, parts);
}

static int move_each(struct call *c, const struct operation *like, const shoal_part_t part[],
                     size_t parts)
{
    int status = SHOAL_OK;
    if (!world_is_here(c->pe)) {
        transfer_move_far(c, like, part, parts);
        return status;
    }
    for (size_t i = 0; i < parts && !status; i++) {
        struct operation op = operation_of_part(like, &part[i]);
        status = transfer_move(c, &op);
    }
    return status;
}

bool transfer_may_help(const shoal_rptr_t *r)
{
    struct place at;
    return r->pe != world.me && world_is_here(r->pe) && region_resolve(r, 0, &at) == SHOAL_OK &&
           at.space == SPACE_PRIVATE;
}

// The first ones, short, in private memory of a PE of this node, which moves them itself: how many.
static size_t move_with_help(int kind, const shoal_part_t part[], size_t parts)
{
    return transfer_may_help(&part[0].remote)
               ? help_move_parts(kind, part[0].remote.pe, part, parts)
               : 0;
}

// Up to TRANSFER_PARTS of them by few calls of the kernel where all are private memory of a PE of this node.
// SHOAL_EAGAIN: they are not, or it does not work.
static int move_private(int kind, const shoal_part_t part[], size_t parts)
{
    struct iovec own[TRANSFER_PARTS], there[TRANSFER_PARTS];
    int pe = part[0].remote.pe;
    for (size_t i = 0; i < parts; i++) {
        struct place at;
        int status = region_resolve(&part[i].remote, part[i].n, &at);
        if (status)
            return status;
        if (at.space != SPACE_PRIVATE || pe == world.me || !world_is_here(pe))
            return SHOAL_EAGAIN;
        own[i] = (struct iovec){part[i].local, part[i].n};
        there[i] = (struct iovec){(void *)(uintptr_t)at.offset, part[i].n};
    }
    int status = place_copy_private(pe, kind == SHOAL_WORK_PUT, own, there, parts);
    if (status == SHOAL_OK && kind == SHOAL_WORK_PUT)
        peer_wake(pe);
    return status;
}

// Those up to the first that is not reached by load and store: *copied of them. SHOAL_EAGAIN: there is such a one.
static int copy_parts(int kind, const shoal_part_t part[], size_t parts, size_t *copied)
{
    bool puts = kind == SHOAL_WORK_PUT;
    for (size_t i = 0; i < parts; i++, *copied = i) {
        struct place at;
        int status = region_resolve(&part[i].remote, part[i].n, &at);
        void *there = status ? NULL : place_here(at);
        if (!there)
            return status ? status : SHOAL_EAGAIN;
        if (part[i].n)
            transfer_copy(puts ? there : part[i].local, puts ? part[i].local : there, part[i].n);
    }
    if (puts)
        peer_wake(part[0].remote.pe);
    return SHOAL_OK;
}

// The first ones, those of a kind: how many. At another node all go together.
static size_t move_first(struct call *c, const struct operation *like, const shoal_part_t part[],
                         size_t parts, bool moves, int *status)
{
    size_t n = moves ? move_with_help(like->kind, part, parts) : 0;
    *status = SHOAL_OK;
    if (n)
        return n;
    n = parts < TRANSFER_PARTS || !world_is_here(c->pe) ? parts : TRANSFER_PARTS;
    *status = moves && world_is_here(c->pe) ? move_private(like->kind, part, n) : SHOAL_EAGAIN;
    if (*status == SHOAL_EAGAIN)
        *status = move_each(c, like, part, n);
    return n;
}

int transfer_move_parts(struct call *c, const struct operation *like, const shoal_part_t part[],
                        size_t parts)
{
    bool moves = like->kind == SHOAL_WORK_PUT || like->kind == SHOAL_WORK_GET;
    int status = SHOAL_OK;
    for (size_t done = 0; done < parts && !status;) {
        size_t copied = 0;
        status = moves ? copy_parts(like->kind, part + done, parts - done, &copied) : SHOAL_EAGAIN;
        done += copied;
        if (status == SHOAL_EAGAIN)
            done += move_first(c, like, part + done, parts - done, moves, &status);
    }
    return status;
}

// ---- Vectors
static int move_parts(int kind, const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    struct call c;
    struct operation op = {.kind = kind, .initiator = world.me};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    int status = transfer_check(part, parts, true);
    if (!status)
        status = transfer_begin(&c, part[0].remote, 0, comp, event);
    if (status)
        return status;
    return transfer_finish(&c, transfer_move_parts(&c, &op, part, parts));
}

PUBLIC int shoal_putv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    return move_parts(SHOAL_WORK_PUT, part, parts, comp, event);
}

PUBLIC int shoal_getv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    return move_parts(SHOAL_WORK_GET, part, parts, comp, event);
}
