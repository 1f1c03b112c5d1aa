// SPDX-License-Identifier: BSD-3-Clause
// Teams. Members of a new team agree on the lowest area that is free on every PE of the parent:
// one AND over the maps of free areas. See team.h.
#include "team.h"

#include "coll.h"
#include "ctx.h"
#include "log.h"

#include <string.h>

enum { MAP_WORDS = LIMIT_TEAMS / 64, WORLD_AREA = 0, SHARED_AREA = 1, MOST_SPLITS = 2 };
_Static_assert(LIMIT_TEAMS % 64 == 0, "whole words");

struct shoal_team shoal_team_world = {.area = WORLD_AREA, .predefined = true, .magic = TEAM_MAGIC};
struct shoal_team shoal_team_shared = {.area = SHARED_AREA, .predefined = true, .magic = TEAM_MAGIC};

static unsigned long free_areas[MAP_WORDS];
static struct shoal_team records[LIMIT_TEAMS]; // by area, those made by team_split; not given back,
                                               // so that a destroyed team's handle is told

int set_find(const struct pe_set *set, int pe)
{
    int distance = pe - set->start;
    if (set->stride == 0)
        return distance == 0 && set->size > 0 ? 0 : -1;
    int i = distance / set->stride;
    return distance % set->stride == 0 && i >= 0 && i < set->size ? i : -1;
}

// The sequence numbers go on where they were when the library is initialized again, as do those
// in the areas.
static void predefine(struct shoal_team *team)
{
    team->set = (struct pe_set){0, 1, world.npes};
    team->me = world.me;
}

int team_up(void)
{
    memset(free_areas, 0xff, sizeof free_areas);
    free_areas[0] &= ~(1UL << WORLD_AREA | 1UL << SHARED_AREA);
    predefine(&shoal_team_world);
    predefine(&shoal_team_shared);
    return 0;
}

void team_down(void)
{
    for (int area = 0; area < LIMIT_TEAMS; area++)
        records[area].magic = 0;
}

// The n-th set bit of the map, or -1.
static int nth_free(const unsigned long *map, int n)
{
    for (int area = 0; area < LIMIT_TEAMS; area++)
        if (map[area / 64] >> (area % 64) & 1 && n-- == 0)
            return area;
    return -1;
}

static struct shoal_team *team_new(const struct pe_set *set, int area, int num_contexts)
{
    struct shoal_team *team = &records[area];
    *team = (struct shoal_team){.set = *set, .me = set_find(set, world.me), .area = area,
                                .num_contexts = num_contexts, .magic = TEAM_MAGIC};
    memset((void *)team_area_at(team, team->me), 0, sizeof(struct team_area));
    free_areas[area / 64] &= ~(1UL << (area % 64));
    return team;
}

int team_split(struct shoal_team *parent, int count, const struct pe_set *sets,
               const int *num_contexts, bool valid, struct shoal_team **new_team)
{
    struct group g = group_of_team(parent);
    unsigned long common[MAP_WORDS + 1];
    memcpy(common, free_areas, sizeof free_areas);
    common[MAP_WORDS] = valid;
    coll_reduce(&g, &reduce_and_ulong, common, common, MAP_WORDS + 1);
    for (int i = 0; i < count; i++)
        new_team[i] = NULL;
    if (!common[MAP_WORDS])
        return -1;
    if (nth_free(common, count - 1) < 0) {
        if (parent->me == 0)
            log_line(LOG_WARN, LOG_TEAM, "shmem_team_split: %d teams are alive, the most there "
                     "can be; destroy some", LIMIT_TEAMS);
        return -1;
    }
    int area[MOST_SPLITS];
    for (int i = 0; i < count; i++)
        area[i] = nth_free(common, i);
    for (int i = 0; i < count; i++)
        if (set_find(&sets[i], world.me) >= 0)
            new_team[i] = team_new(&sets[i], area[i], num_contexts[i]);
    coll_sync(&g); // nobody writes into an area before its owner has cleared it
    return 0;
}

void team_destroy(struct shoal_team *team)
{
    struct group g = group_of_team(team);
    ctx_destroy_of_team(team);
    coll_sync(&g); // nobody still reads the areas
    free_areas[team->area / 64] |= 1UL << (team->area % 64);
    team->magic = 0;
}
