// SPDX-License-Identifier: BSD-3-Clause
// Running one operation, whoever asked for it. See operation.h.
#include "operation.h"

#include "coll_plan.h"
#include "counter.h"
#include "elements.h"
#include "inbox.h"
#include "net_message.h"
#include "net_vector.h"
#include "region.h"

#include <string.h>

static int check_signal(const shoal_comp_t *comp, int target)
{
    struct place at;
    if (comp->signal_op != SHMEM_SIGNAL_SET && comp->signal_op != SHMEM_SIGNAL_ADD)
        return SHOAL_EINVAL;
    int status = region_resolve(comp->signal, sizeof(uint64_t), &at);
    if (status)
        return status;
    const void *word = place_here(at);
    if (!world_is_here(at.pe)) // whose pages are aligned as ours
        word = (const void *)(uintptr_t)(at.offset + sizeof(uint64_t));
    return word && (uintptr_t)word % sizeof(uint64_t) == 0 && at.pe == target ? SHOAL_OK
                                                                              : SHOAL_EINVAL;
}

int completion_from(const shoal_comp_t *comp, int target, struct operation *op)
{
    op->has_comp = comp != NULL;
    if (!comp)
        return SHOAL_OK;
    if ((comp->initiator_ct && !counter_is_own(comp->initiator_ct)) ||
        comp->target_ct >= LIMIT_COUNTERS || comp->am_id < 0 || comp->am_id > 255)
        return SHOAL_EINVAL;
    op->comp = (struct completion){.signal_value = comp->signal_value,
                                   .am_arg = comp->am_arg,
                                   .am_id = comp->am_id,
                                   .initiator_ct = comp->initiator_ct,
                                   .target_ct = comp->target_ct,
                                   .signal_op = comp->signal ? comp->signal_op : -1};
    if (!comp->signal)
        return SHOAL_OK;
    op->comp.signal = *comp->signal;
    return check_signal(comp, target);
}

static int run_signal(const struct completion *comp)
{
    struct place at;
    int status = region_resolve(&comp->signal, sizeof(uint64_t), &at);
    _Atomic uint64_t *word = status ? NULL : place_here(at);
    if (status)
        return status;
    if (!word || (uintptr_t)word % sizeof *word)
        return SHOAL_EINVAL;
    // release: whoever sees the signal sees the data.
    if (comp->signal_op == SHMEM_SIGNAL_SET)
        atomic_store_explicit(word, comp->signal_value, memory_order_release);
    else
        atomic_fetch_add_explicit(word, comp->signal_value, memory_order_acq_rel);
    peer_wake(at.pe);
    return SHOAL_OK;
}

// Only a signal in a region can fail there: the region may be gone.
static bool may_fail(const struct completion *comp)
{
    return comp->signal_op >= 0 && comp->signal.region >= REGION_FIRST;
}

// The target, of another node, does its part.
static int run_there(const struct completion *comp, int initiator, int target)
{
    struct operation op = {.kind = OPERATION_COMPLETE,
                           .initiator = initiator,
                           .pe = target,
                           .has_comp = true,
                           .comp = *comp};
    op.comp.initiator_ct = SHOAL_CT_NONE;
    if (may_fail(comp))
        return net_run(&op, target);
    if (comp->signal_op >= 0 || comp->target_ct || comp->am_id)
        net_tell(&op, target);
    return SHOAL_OK;
}

static int run_here(const struct completion *comp, int initiator, int target)
{
    int status = comp->signal_op >= 0 ? run_signal(comp) : SHOAL_OK;
    if (comp->target_ct)
        counter_add(counter_at(target, comp->target_ct), target, 1, 0);
    if (comp->am_id)
        inbox_send_for(initiator, target,
                       &(struct inbox_message){.id = (uint8_t)comp->am_id, .arg = comp->am_arg});
    return status;
}

int completion_run(const struct completion *comp, int initiator, int target)
{
    int status = likely(world_is_here(target)) ? run_here(comp, initiator, target)
                                               : run_there(comp, initiator, target);
    if (comp->initiator_ct)
        counter_add(counter_at(initiator, comp->initiator_ct), initiator, !status, !!status);
    return status;
}

int operation_aligned(const struct operation *op)
{
    struct place at;
    size_t size = element_size((shoal_type_t)op->type), align = size < 8 ? size : 8;
    int status = region_resolve(&op->remote, 0, &at);
    if (status)
        return status;
    bool is_here = at.space != SPACE_PRIVATE && world_is_here(at.pe);
    uintptr_t addr = is_here ? (uintptr_t)place_here(at) : at.offset;
    return addr % align ? SHOAL_EINVAL : SHOAL_OK;
}

struct operation operation_of_part(const struct operation *like, const shoal_part_t *part)
{
    struct operation op = *like;
    op.remote = part->remote;
    op.n = part->n;
    op.local = place_of(part->local);
    op.has_local = part->local != NULL;
    return op;
}

static int run_put(const struct operation *op, int *needs)
{
    struct place at;
    int status = region_resolve(&op->remote, op->n, &at);
    return status ? status : place_copy(at, op->local, op->n, needs);
}

static int run_get(const struct operation *op, int *needs)
{
    struct place at;
    int status = region_resolve(&op->remote, op->n, &at);
    if (!status)
        status = place_copy(op->local, at, op->n, needs);
    if (!status && op->local.pe != world.me)
        peer_wake(op->local.pe);
    return status;
}

// The memory of `at`, or NULL with *status set: it is private, and its PE has to do this.
static void *reach(struct place at, int *needs, int *status)
{
    void *here = place_here(at);
    if (!here) {
        *needs = at.pe;
        *status = SHOAL_EAGAIN;
    }
    return here;
}

static int run_atomic(const struct operation *op, int *needs)
{
    struct place at;
    size_t size = element_size((shoal_type_t)op->type);
    uint64_t old = 0;
    int status = region_resolve(&op->remote, size, &at);
    void *word = status ? NULL : reach(at, needs, &status);
    if (status)
        return status;
    if ((uintptr_t)word % size)
        return SHOAL_EINVAL;
    if (op->has_local && !place_here(op->local) && !place_reaches_private(op->local.pe)) {
        *needs = op->local.pe;
        return SHOAL_EAGAIN;
    }
    element_atomic(word, (shoal_op_t)op->op, (shoal_type_t)op->type, &op->a, &op->b, &old);
    return op->has_local ? place_copy(op->local, place_of(&old), size, needs) : SHOAL_OK;
}

static int run_accumulate(const struct operation *op, int *needs)
{
    struct place at;
    size_t size = element_size((shoal_type_t)op->type);
    int status = region_resolve(&op->remote, op->n, &at);
    void *to = status ? NULL : reach(at, needs, &status);
    const void *from = status ? NULL : reach(op->local, needs, &status);
    if (status)
        return status;
    if ((uintptr_t)to % (size < 8 ? size : 8))
        return SHOAL_EINVAL;
    element_accumulate(to, from, op->n / size, (shoal_op_t)op->op, (shoal_type_t)op->type,
                       op->value.success ? &op->a : NULL, at.pe);
    return SHOAL_OK;
}

static int run_fetch_accumulate(const struct operation *op, int *needs)
{
    struct place at;
    size_t size = element_size((shoal_type_t)op->type);
    int status = region_resolve(&op->remote, op->n, &at);
    char *to = status ? NULL : reach(at, needs, &status);
    const char *in = op->has_local ? place_here(op->local) : NULL;
    char *old = place_here(op->local2);
    if (status)
        return status;
    if ((uintptr_t)to % size)
        return SHOAL_EINVAL;
    for (size_t i = 0; i < op->n; i += size) {
        uint64_t operand = 0, was = 0;
        if (in)
            memcpy(&operand, in + i, size);
        element_atomic(to + i, (shoal_op_t)op->op, (shoal_type_t)op->type, &operand, &operand,
                       &was);
        memcpy(old + i, &was, size);
    }
    return SHOAL_OK;
}

static int run_reduce(const struct operation *op, int *needs)
{
    int status = SHOAL_OK;
    if (op->n == 0) // without buffers perhaps
        return status;
    void *acc = reach(op->local, needs, &status);
    const void *in = reach(op->local2, needs, &status);
    if (status)
        return status;
    status = element_reduce(acc, in, op->n, op->op, op->type);
    if (status && op->initiator != world.me) { // a user's operator that is not registered here
        *needs = op->initiator;
        return SHOAL_EAGAIN;
    }
    return status;
}

static int run_message(const struct operation *op, int *needs)
{
    int status = SHOAL_OK;
    const void *payload = op->n ? reach(op->local, needs, &status) : NULL;
    if (!status)
        inbox_send_for(op->initiator, op->pe,
                       &(struct inbox_message){
                           .id = (uint8_t)op->am_id, .arg = op->a, .payload = payload, .n = op->n});
    return status;
}

static int run_count(const struct operation *op)
{
    if (unlikely(!world_is_here(op->pe))) {
        struct operation tell = *op;
        tell.has_comp = false; // that is the caller's
        net_tell(&tell, op->pe);
    } else if (op->kind == SHOAL_WORK_CT_INC) {
        counter_add(counter_at(op->pe, op->ct), op->pe, op->value.success, op->value.failure);
    } else {
        counter_set(counter_at(op->pe, op->ct), op->pe, op->value);
    }
    return SHOAL_OK;
}

static int run_kind(const struct operation *op, int *needs)
{
    switch (op->kind) {
    case SHOAL_WORK_PUT: return run_put(op, needs);
    case SHOAL_WORK_GET: return run_get(op, needs);
    case SHOAL_WORK_ATOMIC: return run_atomic(op, needs);
    case SHOAL_WORK_REDUCE: return run_reduce(op, needs);
    case SHOAL_WORK_AM: return run_message(op, needs);
    case SHOAL_WORK_CT_INC:
    case SHOAL_WORK_CT_SET: return run_count(op);
    case OPERATION_COMPLETE: return SHOAL_OK;
    case OPERATION_ACC: return run_accumulate(op, needs);
    case OPERATION_FETCH_ACC: return run_fetch_accumulate(op, needs);
    case OPERATION_COLL: return coll_part_run(op, needs);
    case OPERATION_VECTOR: return vector_run(op, needs);
    default: return SHOAL_EINVAL;
    }
}

static bool has_remote(const struct operation *op)
{
    return op->kind == SHOAL_WORK_PUT || op->kind == SHOAL_WORK_GET ||
           op->kind == SHOAL_WORK_ATOMIC || op->kind == OPERATION_ACC ||
           op->kind == OPERATION_FETCH_ACC || op->kind == OPERATION_VECTOR;
}

static bool is_sound_atomic(const struct operation *op)
{
    return element_can((shoal_op_t)op->op, (shoal_type_t)op->type);
}

// Short elements alone: wide ones wait for each other.
static bool may_be_locked(const struct operation *op)
{
    int kind = op->kind == OPERATION_VECTOR ? op->each : op->kind;
    return op->is_locked == 1 && (kind == OPERATION_ACC || kind == OPERATION_FETCH_ACC) &&
           is_sound_atomic(op) && element_size((shoal_type_t)op->type) <= sizeof(uint64_t) &&
           op->comp.signal.pe == world.me;
}

bool operation_is_sound(const struct operation *op, size_t n)
{
    const struct completion *comp = &op->comp;
    if (op->initiator < 0 || op->initiator >= world.npes || world_is_here(op->initiator) ||
        (has_remote(op) && op->remote.pe != world.me) ||
        (op->has_comp && op->kind != OPERATION_COMPLETE) || (op->is_locked && !may_be_locked(op)))
        return false;
    switch (op->kind) {
    case SHOAL_WORK_PUT: return n == op->n;
    case SHOAL_WORK_GET: return n == 0 && op->n <= LIMIT_BOUNCE;
    case SHOAL_WORK_ATOMIC:
        return n == 0 && is_sound_atomic(op) && element_size((shoal_type_t)op->type) <= 8;
    case OPERATION_ACC:
        return n == op->n && is_sound_atomic(op) && op->op != SHOAL_CSWAP &&
               n % element_size((shoal_type_t)op->type) == 0;
    case OPERATION_FETCH_ACC:
        return n == (op->has_local ? op->n : 0) && op->n <= LIMIT_BOUNCE && is_sound_atomic(op) &&
               (op->has_local ? op->op != SHOAL_CSWAP : op->op == SHOAL_NOOP) &&
               element_size((shoal_type_t)op->type) <= 8 &&
               op->n % element_size((shoal_type_t)op->type) == 0;
    case OPERATION_VECTOR:
        return vector_is_sound(op, n) &&
               (op->each == SHOAL_WORK_PUT || op->each == SHOAL_WORK_GET ||
                (is_sound_atomic(op) && op->op != SHOAL_CSWAP &&
                 (op->each == OPERATION_ACC ||
                  (op->each == OPERATION_FETCH_ACC && element_size((shoal_type_t)op->type) <= 8))));
    case SHOAL_WORK_CT_INC:
    case SHOAL_WORK_CT_SET: return n == 0 && op->pe == world.me && counter_is_number(op->ct);
    case OPERATION_COMPLETE:
        return n == 0 && op->pe == world.me && op->has_comp && !comp->initiator_ct &&
               comp->target_ct < LIMIT_COUNTERS && comp->am_id >= 0 && comp->am_id <= 255 &&
               (comp->signal_op < 0 || comp->signal.pe == world.me);
    default: return false;
    }
}

int operation_end(const struct operation *op, int status)
{
    if (!op->has_comp)
        return status;
    if (!status)
        return completion_run(&op->comp, op->initiator, has_remote(op) ? op->remote.pe : op->pe);
    if (op->comp.initiator_ct)
        counter_add(counter_at(op->initiator, op->comp.initiator_ct), op->initiator, 0, 1);
    return status;
}

int operation_run(const struct operation *op, int *needs)
{
    int status = run_kind(op, needs);
    if (status == SHOAL_EAGAIN)
        return status;
    if (!status && has_remote(op) && op->kind != SHOAL_WORK_GET && op->kind != OPERATION_VECTOR)
        peer_wake(op->remote.pe);
    return operation_end(op, status);
}
