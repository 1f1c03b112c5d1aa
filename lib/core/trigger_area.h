// SPDX-License-Identifier: BSD-3-Clause
// Counting events and the works armed on them, as they lie in shared memory. trigger.h says how
// they are used.
#ifndef SHOAL_CORE_TRIGGER_AREA_H
#define SHOAL_CORE_TRIGGER_AREA_H

#include "compiler.h"
#include "operation.h"
#include "tunables.h"

#include <stdatomic.h>
#include <stdint.h>

//     counter | success failure next arrived | lock root orders |
//                                  |                  |
//               works just armed, newest first    the others, a pairing heap by (threshold, order)
struct counter {
    LINE_ALIGNED _Atomic uint64_t success;
    _Atomic uint64_t failure;
    _Atomic uint64_t next;    // no work has a lower threshold; UINT64_MAX: there is none
    _Atomic uint64_t arrived; // reference to the newest work that is not in the heap yet
    _Atomic uint64_t users;   // allocations, of an own counter: 0 is free
    LINE_ALIGNED _Atomic uint32_t lock; // enum counter_lock: who holds it may touch the rest
    _Atomic uint32_t deferred;          // works armed here that the network runs, see deferred.h
    uint64_t root;                      // of the heap
    uint64_t orders;                    // works put into the heap so far
    _Atomic uint32_t handed;            // works that were handed to `doer` and have not ended,
    _Atomic uint32_t onward;            // and those of them that it has handed to their owner
    int32_t doer;                       // PE
};

// Handed: to a PE that can do it, onward: by that to its owner. Asked: by help.c, of a PE whose private
// memory it needs; then begun by that, and answered, or taken back.
enum work_state { WORK_FREE, WORK_ARMED, WORK_RELEASED, WORK_HANDED, WORK_ONWARD, WORK_ASKED, WORK_BEGUN,
                  WORK_ANSWERED, WORK_TAKEN_BACK, WORK_DEFERRED };

struct work {
    LINE_ALIGNED _Atomic uint64_t link; // of the list it is in: just armed, handed, or free
    uint64_t child, sibling, prev;      // heap
    uint64_t threshold, order;
    _Atomic uint64_t counter;   // reference: armed on
    uint64_t done;              // reference to the counter that counts its end, 0: none
    int32_t owner;              // whose pool it returns to
    _Atomic uint32_t state;     // enum work_state
    _Atomic uint32_t generation; // of its use: handles carry it
    int32_t status;             // when answered
    int32_t life;               // of the library, when it was handed
    struct operation op;
};

struct work_pool {
    LINE_ALIGNED _Atomic uint64_t returned; // works that came back, a list
    LINE_ALIGNED _Atomic uint64_t handed;   // works of anybody's that this PE is to run, newest first
    LINE_ALIGNED struct work work[LIMIT_WORKS];
};

#endif
