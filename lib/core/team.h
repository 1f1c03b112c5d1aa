// SPDX-License-Identifier: BSD-3-Clause
// Teams (OpenSHMEM 1.6, "Team Management Routines"): an arithmetic progression of world PEs, and
// an index of the area (team_area.h) that its members agreed upon.
#ifndef SHOAL_CORE_TEAM_H
#define SHOAL_CORE_TEAM_H

#include "slice.h"
#include "world.h"

#include <stdbool.h>
#include <stdint.h>

// World PE of member i: start + i * stride. Splitting a progression by a triplet gives one again.
struct pe_set {
    int start, stride, size;
};

// Of a fixed size: a program that names a predefined team holds the object itself (the linker copies
// it there), whatever version of the library it runs with.
struct shoal_team {
    union {
        struct {
            struct pe_set set;
            int me;             // this PE's number in the team
            int area;           // index of its team_area
            bool predefined;    // shmem_team_destroy leaves it alone
            int num_contexts;   // configuration
            uint64_t syncs;     // barriers so far
            uint64_t exchanges; // collective exchanges so far
            uint64_t all_left;  // exchanges that every member is known to have left
            uint64_t plans;     // nonblocking collectives so far
            struct shoal_coll_plan *running[COLL_DEPTH]; // the last ones, by entry
            bool spans;         // it has members on other nodes;
            uint64_t calls;     // then: blocking collectives so far
            struct coll_nodes *nodes; // where they are then, else NULL
            unsigned magic;
        };
        unsigned char fixed_size[256];
    };
};
_Static_assert(sizeof(struct shoal_team) == 256, "part of the binary interface");

#define TEAM_MAGIC 0x7ea37ea3u

// Exported: their addresses are SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED, link-time constants.
extern PUBLIC struct shoal_team shoal_team_world, shoal_team_shared;

int team_up(void);
void team_down(void);

static inline int set_pe(const struct pe_set *set, int i)
{
    return set->start + i * set->stride;
}

// The number in the set of a world PE, -1 when it is no member.
int set_find(const struct pe_set *set, int pe);
bool set_has_triplet(const struct pe_set *set, int start, int stride, int size); // of its members
bool set_is_here(const struct pe_set *set); // all on this node

// The area that member i of the team keeps for it.
static inline struct team_area *team_area_at(const struct shoal_team *team, int i)
{
    return &slice_of(set_pe(&team->set, i))->team[team->area];
}

// Collective over parent. *sets: the set this PE joins for each of `count` splits done at once
// (size 0: none). Fills new_team[i] (NULL where not a member). Returns 0, or -1 on every PE of the
// parent, then without any team. Every member of one new team passes the same num_contexts.
int team_split(struct shoal_team *parent, int count, const struct pe_set *sets,
               const int *num_contexts, bool valid, struct shoal_team **new_team);
void team_destroy(struct shoal_team *team);

// The steps of a split for those who agree by other means (shoal.h). team_make: NULL when the place
// was taken; team_undo: of a team that nobody has used, or that all have left.
void team_places(uint64_t free_places[LIMIT_TEAMS / 64]);
struct shoal_team *team_make(const struct pe_set *set, int place);
void team_undo(struct shoal_team *team);

#endif
