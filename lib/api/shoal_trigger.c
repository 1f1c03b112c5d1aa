// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Triggered operations".
#include "shoal_check.h"

#include "counter.h"
#include "elements.h"
#include "operation.h"
#include "region.h"

static int from_remote(const shoal_work_t *work, struct operation *op, size_t n)
{
    struct place at;
    op->remote = work->remote;
    return region_resolve(&work->remote, n, &at); // and once more when it runs
}

static int from_local(const void *local, size_t n, struct place *at)
{
    if (n && !local)
        return SHOAL_EINVAL;
    *at = place_of(local);
    return SHOAL_OK;
}

static int from_atomic(const shoal_work_t *work, struct operation *op)
{
    size_t size = element_size(work->type);
    op->a = work->a;
    op->b = work->b;
    op->has_local = work->local != NULL;
    if (!element_can(work->op, work->type) || size > sizeof(uint64_t))
        return SHOAL_EINVAL;
    int status = from_remote(work, op, size);
    return status ? status : from_local(work->local, op->has_local, &op->local);
}

static int from_message(const shoal_work_t *work, struct operation *op)
{
    op->am_id = work->am_id;
    op->a = work->a;
    if (!shoal_is_pe(work->pe) || work->am_id < 1 || work->am_id > 255 ||
        work->n > LIMIT_AM_PAYLOAD)
        return SHOAL_EINVAL;
    return from_local(work->local, work->n, &op->local);
}

static int from_work(const shoal_work_t *work, struct operation *op)
{
    int status = SHOAL_EINVAL;
    *op = (struct operation){.kind = work->kind,
                             .initiator = world.me,
                             .pe = work->pe,
                             .n = work->n,
                             .op = (int)work->op,
                             .type = (int)work->type,
                             .ct = work->ct,
                             .value = work->value,
                             .has_local = true};
    switch (work->kind) {
    case SHOAL_WORK_PUT:
    case SHOAL_WORK_GET:
        status = from_remote(work, op, work->n);
        status = status ? status : from_local(work->local, work->n, &op->local);
        break;
    case SHOAL_WORK_ATOMIC: status = from_atomic(work, op); break;
    case SHOAL_WORK_REDUCE:
        op->pe = world.me;
        status = element_can_reduce(op->op, op->type) ? SHOAL_OK : SHOAL_EINVAL;
        status = status ? status : from_local(work->local, work->n, &op->local);
        status = status ? status : from_local(work->local2, work->n, &op->local2);
        break;
    case SHOAL_WORK_AM: status = from_message(work, op); break;
    case SHOAL_WORK_CT_INC:
    case SHOAL_WORK_CT_SET:
        status = shoal_is_pe(work->pe) && counter_is_number(work->ct) ? SHOAL_OK : SHOAL_EINVAL;
        break;
    }
    if (status)
        return status;
    bool is_remote = work->kind <= SHOAL_WORK_ATOMIC;
    return completion_from(&work->comp, is_remote ? work->remote.pe : op->pe, op);
}

PUBLIC int shoal_trigger(const shoal_work_t *work, shoal_ct_t ct, uint64_t threshold,
                         shoal_ct_t done_ct, shoal_trigger_t *handle)
{
    struct operation op;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!work || !counter_is_own(ct) || (done_ct && !counter_is_own(done_ct)))
        return SHOAL_EINVAL;
    int status = from_work(work, &op);
    if (status)
        return status;
    struct work *w = trigger_new();
    if (!w)
        return SHOAL_ENOMEM;
    w->op = op;
    w->done = done_ct ? ref_of(counter_at(world.me, done_ct)) : 0;
    if (handle)
        *handle = trigger_handle(w);
    trigger_arm(w, counter_at(world.me, ct), threshold);
    return SHOAL_OK;
}

PUBLIC int shoal_trigger_cancel(shoal_trigger_t handle)
{
    return shoal_is_up() ? trigger_cancel(handle) : SHOAL_EINIT;
}

PUBLIC int shoal_ct_cancel(shoal_ct_t ct, size_t *cancelled)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!counter_is_own(ct) || trigger_is_running())
        return SHOAL_EINVAL;
    size_t count = trigger_cancel_all(counter_at(world.me, ct));
    if (cancelled)
        *cancelled = count;
    return SHOAL_OK;
}
