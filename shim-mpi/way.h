// SPDX-License-Identifier: BSD-3-Clause
// Staged, or left where it is for the receiver to get? Which is faster for messages between processes of
// a node depends on the machine (what the kernel takes for a copy between processes, how far the cores
// are from each other), on whether data goes both ways, and on how soon receivers come. So a process
// tries: of messages of like length, blocking or not, of the program or of one kind of collective, a few
// go one way and as many the other, twice, and those that follow go the way in which the program was
// through sooner, by all bytes of such messages of whatever length. It tries again, the rarer the more often
// nothing has changed. A kind of collective, or a length of one, that is new begins with what was found out
// last of the nearest length. Where data goes both ways, one of them is better only
// if both go it: so a process to which such messages come from one before it (of a lower number) sends
// its own as the last of them came, and tries nothing itself.
#ifndef SHOAL_MPI_WAY_H
#define SHOAL_MPI_WAY_H

#include "partner.h"
#include "transfer.h"

enum { WAY_LEAST = 8 << 10 }; // bytes; shorter ones are staged

// Where processes share cores the time in which one gets on says little about its own messages, unless all
// do the same: is it one of a long exchange of all with all? Then whole exchanges are timed.
bool way_is_of_all(size_t n, enum space space, int tag);

// May a message of n bytes to or from there go either way?
static inline bool way_is_open(size_t n, const struct type *type, int pe, enum space space, int tag)
{
    return n >= WAY_LEAST && n <= shim_settings.stage && shim_settings.learn && type->is_dense &&
           (!request_is_crowded() || way_is_of_all(n, space, tag)) && pe != shim_pe() &&
           partner_is_reached(pe);
}

// A long nonblocking one is left where it is, so that the program computes meanwhile...
static inline bool way_is_long(size_t n)
{
    return shim_settings.hint && n >= shim_settings.hint;
}

// How many long ones went to a process since one came from there; less than 0: one more came. In an exchange
// it is 1 at most.
static inline int way_count(int pe, int more)
{
    _Atomic int8_t *ahead = &partner_of(pe)->ahead;
    int was = atomic_load_explicit(ahead, memory_order_relaxed);
    int now = more > 0 ? was + (was < 2) : was > 0 ? 0 : -1;
    atomic_store_explicit(ahead, (int8_t)now, memory_order_relaxed);
    return now;
}

// ... unless one comes from there for each that goes, or another one is out to there already: then the
// program most likely waits for them soon, and the faster way is taken. Counts this one.
static inline bool way_has_traffic(int pe)
{
    return way_count(pe, 1) <= 1 ||
           atomic_load_explicit(&partner_of(pe)->out, memory_order_relaxed);
}

// Does this one, which is open, stay where it is? It is_timed if its receiver is to say when it has all.
bool way_leaves(size_t n, bool waits, uint64_t address, bool *is_timed);
// One that was left has been got.
void way_ended(size_t n);
// One came; had_choice: its sender might have sent it the other way.
void way_came(const struct transfer *t, bool was_left, bool had_choice);

#endif
