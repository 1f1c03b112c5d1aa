// SPDX-License-Identifier: BSD-3-Clause
// Triggered operations (Portals 4, "Triggered Operations"): works armed on a counting event.
//
// Arming never waits: the work is pushed onto the counter's list, its threshold lowers
// counter.next, and then the sum is looked at. Whoever adds to the counter adds, then looks at
// next. So one of the two sees that the work is due, and calls trigger_release(): who gets the
// counter's lock moves the list into the heap and runs what is due, in order, of
// what had been armed when it looked; who does not get it
// leaves a note, for which the holder looks again before it is done. Nobody ever waits for a
// lock, so an owner that is stopped delays nobody, unless it is itself running works just then.
// Works release others in turn: those counters queue up in the thread, there is no recursion.
//
// A work that needs the private memory of a PE, where others do not reach that, is handed to the PE:
// pushed onto its list, which it runs, oldest first, when it looks at its inbox. So do those that come due
// on the counter before that one has ended, or the order of arming would be lost. A PE that can do
// only a part of it (private memory at both ends) hands it onward to its owner, which does the
// rest with help.h.
// tests/model/trigger.c checks this protocol in all interleavings.
#ifndef SHOAL_CORE_TRIGGER_H
#define SHOAL_CORE_TRIGGER_H

#include "busy.h"
#include "trigger_area.h"

#include <stdbool.h>
#include <stddef.h>

enum counter_lock { LOCK_FREE, LOCK_HELD, LOCK_HELD_AGAIN };

// Runs all that is due on c, or sees to it that its holder does.
void trigger_release(struct counter *c);

// A work of this PE to fill in; NULL: all are in use. Then armed, or given back.
struct work *trigger_new(void);
void trigger_arm(struct work *w, struct counter *c, uint64_t threshold);
void trigger_free(struct work *w);

uint64_t trigger_handle(const struct work *w);
int trigger_cancel(uint64_t handle); // 0, SHOAL_ELATE or SHOAL_EINVAL
size_t trigger_cancel_all(struct counter *c);

// For deferred.h: takes the least work off c if its threshold is what c has now and `more`, and it
// fits; NULL: it is not so, or somebody holds c's lock, other than the caller (is_held).
struct work *trigger_take_next(struct counter *c, bool is_held, uint64_t more,
                               bool (*fits)(const struct work *w));

// ---- For trigger_hand.c
// The end of a work, which is counted.
void trigger_finish(struct work *w, int status);
void trigger_wait_for_deferred(const struct counter *c);
void trigger_push(_Atomic uint64_t *list, struct work *w); // newest first
uint64_t trigger_reversed(uint64_t newest);                // such a list, oldest first, of this thread

static inline bool trigger_has_deferred(const struct counter *c)
{
    // Pairs with the release where such a work is counted: what is run next comes after it.
    return atomic_load_explicit(&c->deferred, memory_order_acquire);
}

// ---- trigger_hand.c
// Has PE pe run w, which is in one of the states HANDED, ONWARD and ASKED from now on. Waits for nothing.
void trigger_hand(struct work *w, int pe, enum work_state state);
bool trigger_is_behind(int pe); // it has not looked at what was handed to it last
// Runs what was handed to this PE, by the thread that polls; how many.
int trigger_run_handed(void);
// What PE pe has in its list fails: it has left, or leaves just now.
void trigger_refuse(int pe);
void trigger_down(void);

// Is this thread running works? Then it must not wait for a counter's lock.
static inline bool trigger_is_running(void)
{
    return busy & BUSY_WORKS;
}

#endif
