// SPDX-License-Identifier: BSD-3-Clause
// What one PE shares with the other members of one team, in its slice's internal area.
//
//     struct team_area: | flag[round] one line each | publish 0 1 ... | leave | ... | place 0 1 ... |
//
// flag[r] is written by the partner of round r of the dissemination barrier, arrived and opened of
// the team's first member by all, everything else by the owner alone. Every value is a sequence
// number that only grows, so nothing is ever reset while the team lives.
#ifndef SHOAL_CORE_TEAM_AREA_H
#define SHOAL_CORE_TEAM_AREA_H

#include "coll_area.h"
#include "compiler.h"
#include "tunables.h"
#include "wait.h"

#include <stdatomic.h>
#include <stdint.h>

#define TEAM_ROUNDS 20 // log2 of LIMIT_PES

#define LINE_BYTES (CACHE_LINE - 8)

enum { EXCHANGE_LINES = HOSTILE ? 2 : 64, EXCHANGE_PLACES = 16 };

struct team_line {
    LINE_ALIGNED unsigned char bytes[LINE_BYTES]; // a short payload that travels with it
    _Atomic uint64_t seq;
};

struct team_area {
    struct team_line flag[TEAM_ROUNDS];
    struct team_line publish[EXCHANGE_LINES]; // seq: this PE's part of that exchange is there
    struct team_line leave;             // seq: this PE has read all it wanted of exchanges up to it
    LINE_ALIGNED struct bell bell;      // for those who wait for publish or leave
    LINE_ALIGNED struct bell flag_bell; // for the owner, waiting for a flag
    LINE_ALIGNED _Atomic uint64_t arrived; // central barrier: counter at the team's first PE
    LINE_ALIGNED _Atomic uint64_t opened;  // and the sequence number it has released
    LINE_ALIGNED uint64_t used[EXCHANGE_PLACES]; // the last exchange whose part was there
    struct coll_entry coll[COLL_ENTRIES];
    // All before is 0 at first.
    LINE_ALIGNED unsigned char place[EXCHANGE_PLACES][4 * LIMIT_COLL_SLOT / EXCHANGE_PLACES];
};

_Static_assert(sizeof(struct team_area) % CACHE_LINE == 0, "whole lines");
_Static_assert((1 << TEAM_ROUNDS) >= LIMIT_PES, "a flag for every round");

#endif
