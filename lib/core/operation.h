// SPDX-License-Identifier: BSD-3-Clause
// One operation of shoal.h in a form that any PE of the node can run for whoever asked for it: a
// call runs it at once, a trigger later. Memory is named by places and by remote pointers, which
// are checked when it runs.
#ifndef SHOAL_CORE_OPERATION_H
#define SHOAL_CORE_OPERATION_H

#include "place.h"
#include "shoal.h"

#include <stdbool.h>

// shoal_comp_t, without its pointer.
struct completion {
    shoal_rptr_t signal;
    uint64_t signal_value;
    uint64_t am_arg;
    shoal_ct_t initiator_ct, target_ct;
    int32_t signal_op; // -1: no signal
    int32_t am_id;
};

// Kinds beside SHOAL_WORK_*: accumulate (remote, local, n bytes, op, type; value.success: 1 when a
// and b are a scale's bits), one member's part of a collective (coll_plan.h).
// OPERATION_COMPLETE: only the completion, on behalf of a PE of another node. OPERATION_FETCH_ACC, of
// such a PE too: accumulate (local: the operands, if it has one) with the old values to local2.
// OPERATION_VECTOR: many of kind `each` (net_vector.h).
enum {
    OPERATION_ACC = 32,
    OPERATION_COLL,
    OPERATION_COMPLETE,
    OPERATION_FETCH_ACC,
    OPERATION_VECTOR
};

struct operation {
    int32_t kind;      // SHOAL_WORK_*
    int32_t initiator; // PE
    int32_t pe;        // target of those without `remote`
    int32_t op, type;
    shoal_ct_t ct;
    shoal_rptr_t remote;
    struct place local, local2;
    uint64_t n, a, b;
    shoal_ct_value_t value;
    int32_t am_id;
    uint8_t has_local, has_comp; // bool: they may come from another node
    uint8_t each;                // of a vector
    uint8_t is_locked;           // an accumulate, while the word at comp.signal is held (net_work.h)
    struct completion comp;
};

// The same as `like`, of this part alone.
struct operation operation_of_part(const struct operation *like, const shoal_part_t *part);

// Runs it here. SHOAL_OK, an error, or SHOAL_EAGAIN: PE *needs has to run it, nothing has happened.
int operation_run(const struct operation *op, int *needs);

// May one that came from another node with n bytes of data be run here?
bool operation_is_sound(const struct operation *op, size_t n);

// Ends an operation that was run with help: its completion, or a failure for the initiator.
int operation_end(const struct operation *op, int status);

// comp may be NULL. Checks all of it, the signal's place included, which has to be at the target.
int completion_from(const shoal_comp_t *comp, int target, struct operation *op);
// Is the remote word or array of an atomic or accumulate aligned? SHOAL_EINVAL: no. Where it is
// private memory of another PE, that PE's address counts.
int operation_aligned(const struct operation *op);
// What follows the data: signal, target's counter, message, initiator's counter.
int completion_run(const struct completion *comp, int initiator, int target);

#endif
