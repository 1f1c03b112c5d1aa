// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Completion of transfers" and "Transfers". On a node everything is complete when the
// call returns; an event is then done at once.
#include "shoal_check.h"

#include "coll_plan.h"
#include "elements.h"
#include "help.h"
#include "inbox.h"
#include "operation.h"
#include "region.h"
#include "remote.h"
#include "rma.h"
#include "wait.h"

#include <string.h>

// ---- Events
static bool is_done(shoal_event_t *e)
{
    struct shoal_coll_plan *plan = e->more;
    if (!e->word)
        return true;
    // acquire: pairs with whoever counted; what the operation wrote is visible.
    if (atomic_load_explicit((_Atomic uint64_t *)e->word, memory_order_acquire) < e->least)
        return false;
    e->word = NULL;
    e->more = NULL;
    e->status = plan ? coll_plan_end(plan) : SHOAL_OK;
    return true;
}

static size_t count_done(size_t n, shoal_event_t *const event[], size_t indices[])
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        if (!event[i] || is_done(event[i])) {
            if (indices)
                indices[done] = i;
            done++;
        }
    return done;
}

PUBLIC int shoal_test(size_t n, shoal_event_t *const event[], size_t *done, size_t indices[])
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!done || (n && !event))
        return SHOAL_EINVAL;
    *done = count_done(n, event, indices);
    if (*done < n)
        inbox_poll();
    return SHOAL_OK;
}

// Takes part in collectives that are waited for.
static bool help(size_t n, shoal_event_t *const event[])
{
    for (size_t i = 0; i < n; i++)
        if (event[i] && event[i]->word && event[i]->more && coll_plan_help(event[i]->more))
            return true;
    return false;
}

PUBLIC int shoal_wait(size_t n, shoal_event_t *const event[], size_t least, size_t *done,
                      size_t indices[])
{
    size_t got;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (least > n || (n && !event))
        return SHOAL_EINVAL;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while ((got = count_done(n, event, indices)) < least)
        if (!help(n, event) && !inbox_poll())
            waiter_step(&w);
    if (done)
        *done = got;
    return SHOAL_OK;
}

PUBLIC int shoal_quiet(int pe)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (pe != -1 && !shoal_is_pe(pe))
        return SHOAL_EINVAL;
    atomic_thread_fence(memory_order_seq_cst);
    return SHOAL_OK;
}

static int end(int status, shoal_event_t *event)
{
    if (event)
        *event = (shoal_event_t){.status = status};
    return status;
}

// ---- One operation, here or with help.
static int run(struct operation *op, const shoal_comp_t *comp, shoal_event_t *event)
{
    int needs, status = completion_from(comp, op);
    if (status)
        return status;
    status = operation_run(op, &needs);
    if (status == SHOAL_EAGAIN) {
        status = help_run(op, needs);
        if (!status && op->has_comp)
            status = completion_run(&op->comp, world.me, op->remote.pe);
    }
    return end(status, event);
}

// The part of a call that needs no completion.
static int move(int kind, shoal_rptr_t remote, void *local, size_t n)
{
    struct operation op = {.kind = kind,
                           .initiator = world.me,
                           .remote = remote,
                           .n = n,
                           .local = place_of(local),
                           .has_local = true};
    int needs, status = operation_run(&op, &needs);
    return status == SHOAL_EAGAIN ? help_run(&op, needs) : status;
}

static int finish(int status, int pe, const shoal_comp_t *comp, shoal_event_t *event)
{
    struct operation op;
    if (!status && comp) {
        status = completion_from(comp, &op);
        if (!status)
            status = completion_run(&op.comp, world.me, pe);
    }
    return status == SHOAL_EINVAL ? status : end(status, event);
}

// As rma_copy, but the two may overlap.
static inline void copy(void *to, const void *from, size_t n)
{
    if (n == sizeof(uint64_t))
        memmove(to, from, sizeof(uint64_t));
    else
        memmove(to, from, n);
}

PUBLIC int shoal_put(shoal_rptr_t to, const void *from, size_t n, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct place at;
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    int status = region_resolve(&to, n, &at);
    if (unlikely(status))
        return status;
    void *here = place_here(at);
    if (unlikely(!here || comp)) {
        struct operation op = {.kind = SHOAL_WORK_PUT,
                               .initiator = world.me,
                               .remote = to,
                               .n = n,
                               .local = place_of(from),
                               .has_local = true};
        return run(&op, comp, event);
    }
    copy(here, from, n);
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
    if (unlikely(status))
        return status;
    const void *here = place_here(at);
    if (unlikely(!here || comp)) {
        struct operation op = {.kind = SHOAL_WORK_GET,
                               .initiator = world.me,
                               .remote = from,
                               .n = n,
                               .local = place_of(to),
                               .has_local = true};
        return run(&op, comp, event);
    }
    copy(to, here, n);
    return end(SHOAL_OK, event);
}

// ---- Strided: fn is called for every block.
struct strides {
    const ptrdiff_t *remote, *local;
    const size_t *count;
    int levels;
};

static bool strides_ok(const struct strides *s)
{
    return s->count && s->levels >= 0 && s->levels <= SHOAL_MAX_LEVELS &&
           (s->levels == 0 || (s->remote && s->local));
}

typedef int block_fn(shoal_rptr_t remote, char *local, size_t n, void *arg);

static int for_blocks(shoal_rptr_t remote, char *local, const struct strides *s, int level,
                      block_fn *fn, void *arg)
{
    if (level == 0)
        return fn(remote, local, s->count[0], arg);
    int status = SHOAL_OK;
    for (size_t i = 0; i < s->count[level] && !status; i++)
        status = for_blocks(shoal_rptr_add(remote, (ptrdiff_t)i * s->remote[level - 1]),
                            local + (ptrdiff_t)i * s->local[level - 1], s, level - 1, fn, arg);
    return status;
}

static int put_block(shoal_rptr_t remote, char *local, size_t n, void *unused)
{
    (void)unused;
    return move(SHOAL_WORK_PUT, remote, local, n);
}

static int get_block(shoal_rptr_t remote, char *local, size_t n, void *unused)
{
    (void)unused;
    return move(SHOAL_WORK_GET, remote, local, n);
}

PUBLIC int shoal_puts(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
                      const ptrdiff_t from_stride[], const size_t count[], int levels,
                      const shoal_comp_t *comp, shoal_event_t *event)
{
    struct strides s = {to_stride, from_stride, count, levels};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!strides_ok(&s))
        return SHOAL_EINVAL;
    int status = for_blocks(to, (char *)from, &s, levels, put_block, NULL);
    return finish(status, to.pe, comp, event);
}

PUBLIC int shoal_gets(void *to, const ptrdiff_t to_stride[], shoal_rptr_t from,
                      const ptrdiff_t from_stride[], const size_t count[], int levels,
                      const shoal_comp_t *comp, shoal_event_t *event)
{
    struct strides s = {from_stride, to_stride, count, levels};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!strides_ok(&s))
        return SHOAL_EINVAL;
    int status = for_blocks(from, to, &s, levels, get_block, NULL);
    return finish(status, from.pe, comp, event);
}

// ---- Vectors
static int move_parts(int kind, const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    int status = SHOAL_OK;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!part || !parts)
        return SHOAL_EINVAL;
    for (size_t i = 1; i < parts; i++)
        if (part[i].remote.pe != part[0].remote.pe)
            return SHOAL_EINVAL;
    for (size_t i = 0; i < parts && !status; i++)
        status = move(kind, part[i].remote, part[i].local, part[i].n);
    return finish(status, part[0].remote.pe, comp, event);
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

// ---- Atomics and accumulate
PUBLIC int shoal_atomic(shoal_rptr_t at, shoal_op_t op, shoal_type_t type, const void *a,
                        const void *b, void *fetch, const shoal_comp_t *comp, shoal_event_t *event)
{
    size_t size = element_size(type);
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!element_can(op, type) || size > sizeof(uint64_t) || (!a && op != SHOAL_NOOP) ||
        (!b && op == SHOAL_CSWAP))
        return SHOAL_EINVAL;
    struct operation o = {.kind = SHOAL_WORK_ATOMIC,
                          .initiator = world.me,
                          .remote = at,
                          .op = op,
                          .type = type,
                          .has_local = fetch != NULL};
    if (a)
        memcpy(&o.a, a, size);
    if (b)
        memcpy(&o.b, b, size);
    if (fetch)
        o.local = place_of(fetch);
    return run(&o, comp, event);
}

struct accumulate {
    shoal_op_t op;
    shoal_type_t type;
    const void *scale;
};

static int accumulate_block(shoal_rptr_t remote, char *local, size_t n, void *arg)
{
    const struct accumulate *acc = arg;
    size_t size = element_size(acc->type);
    struct operation op = {.kind = OPERATION_ACC,
                           .initiator = world.me,
                           .remote = remote,
                           .local = place_of(local),
                           .has_local = true,
                           .n = n,
                           .op = acc->op,
                           .type = acc->type};
    if (n % size)
        return SHOAL_EINVAL;
    if (acc->scale) {
        op.value.success = 1;
        memcpy(&op.a, acc->scale, size); // a and b lie side by side: 16 bytes
    }
    int needs, status = operation_run(&op, &needs);
    return status == SHOAL_EAGAIN ? help_run(&op, needs) : status;
}

PUBLIC int shoal_acc(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
                     const ptrdiff_t from_stride[], const size_t count[], int levels, shoal_op_t op,
                     shoal_type_t type, const void *scale, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct strides s = {to_stride, from_stride, count, levels};
    struct accumulate acc = {op, type, scale};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!strides_ok(&s) || !element_can(op, type) || op == SHOAL_CSWAP ||
        (scale && op != SHOAL_SUM))
        return SHOAL_EINVAL;
    int status = for_blocks(to, (char *)from, &s, levels, accumulate_block, &acc);
    return finish(status, to.pe, comp, event);
}

PUBLIC int shoal_op_register(int number, shoal_op_fn *fn, void *user, size_t size)
{
    return element_register(number, fn, user, size);
}
