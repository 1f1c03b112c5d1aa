// SPDX-License-Identifier: BSD-3-Clause
// Waiting for and testing symmetric variables of this PE (OpenSHMEM 1.6, "Point-To-Point
// Synchronization Routines"). One implementation for all integer types, any, all and some, with
// one value or a vector of them.
#ifndef SHOAL_CORE_P2P_H
#define SHOAL_CORE_P2P_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum p2p_kind { P2P_S16, P2P_S32, P2P_S64, P2P_U16, P2P_U32, P2P_U64 };

#define P2P_KIND(TYPE)                                                            \
    ((enum p2p_kind)((sizeof(TYPE) == 2 ? P2P_S16 : sizeof(TYPE) == 4 ? P2P_S32 : P2P_S64) + \
                     ((TYPE)-1 > 0 ? P2P_U16 - P2P_S16 : 0)))

struct p2p_set {
    const char *call;
    const void *ivars;
    size_t n;
    const int *status; // nonzero: that one is left out; NULL: none is
    int cmp;
    const void *values; // one, or n when vector
    bool vector;
    bool is_signal;
    enum p2p_kind kind;
};

enum p2p_want { P2P_ANY, P2P_ALL, P2P_SOME };

// The indices that fulfil their comparison now go to indices (P2P_SOME; may be NULL otherwise).
// Returns how many did (SOME), 1 or 0 (ALL; an empty set is fulfilled), or the first index
// (ANY; SIZE_MAX when none does). With wait, waits until the answer is not "none".
size_t p2p_look(const struct p2p_set *set, enum p2p_want want, size_t *indices);
size_t p2p_wait(const struct p2p_set *set, enum p2p_want want, size_t *indices);

// Of the first variable alone. p2p_wait_one returns its value.
uint64_t p2p_wait_one(const struct p2p_set *set);
bool p2p_test_one(const struct p2p_set *set);

#endif
