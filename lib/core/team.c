// SPDX-License-Identifier: BSD-3-Clause
// Teams. Members of a new team agree on the lowest area that is free on every PE of the parent:
// one AND over the maps of free areas. See team.h.
#include "team.h"

#include "coll.h"
#include "coll_choose.h"
#include "coll_nodes.h"
#include "ctx.h"
#include "log.h"
#include "shoal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SHOAL_TEAM_WORDS == LIMIT_TEAMS / 64, "a bit for each team");
enum { MAP_WORDS = LIMIT_TEAMS / 64, WORLD_AREA = 0, SHARED_AREA = 1 };
_Static_assert(LIMIT_TEAMS % 64 == 0, "whole words");

struct shoal_team shoal_team_world = {.area = WORLD_AREA, .predefined = true, .magic = TEAM_MAGIC};
struct shoal_team shoal_team_shared = {.area = SHARED_AREA, .predefined = true, .magic = TEAM_MAGIC};

static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER; // threads may split different teams
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

bool set_has_triplet(const struct pe_set *set, int start, int stride, int size)
{
    long last = start + (long)stride * (size - 1);
    return size > 0 && start >= 0 && start < set->size && last >= 0 && last < set->size &&
           (stride != 0 || size == 1);
}

bool set_is_here(const struct pe_set *set)
{
    for (int i = 0; world.nodes > 1 && i < set->size; i++)
        if (!world_is_here(set_pe(set, i)))
            return false;
    return true;
}

// This node's PEs, or this PE alone where they are no arithmetic progression.
static struct pe_set node_set(void)
{
    struct pe_set set = {world.first, 1, 1};
    int last = world.first;
    for (int pe = world.first + 1; pe < world.end; pe++) {
        if (!world_is_here(pe))
            continue;
        if (set.size == 1)
            set.stride = pe - last;
        else if (pe - last != set.stride)
            return (struct pe_set){world.me, 1, 1};
        last = pe;
        set.size++;
    }
    return set;
}

static void find_nodes(struct shoal_team *team)
{
    team->spans = !set_is_here(&team->set);
    team->nodes = team->spans ? coll_nodes_new(&team->set) : NULL;
    if (team->spans && !team->nodes)
        fatal("no memory for a team of %d PEs on several nodes", team->set.size);
}

// The sequence numbers go on where they were when the library is initialized again, as do those
// in the areas.
static void predefine(struct shoal_team *team, const struct pe_set *set)
{
    team->set = *set;
    team->me = set_find(set, world.me);
    find_nodes(team);
}

int team_up(void)
{
    memset(free_areas, 0xff, sizeof free_areas);
    free_areas[0] &= ~(1UL << WORLD_AREA | 1UL << SHARED_AREA);
    struct pe_set here = node_set();
    predefine(&shoal_team_world, &(struct pe_set){0, 1, world.npes});
    predefine(&shoal_team_shared, &here);
    return coll_choose_up();
}

void team_down(void)
{
    free(shoal_team_world.nodes);
    shoal_team_world.nodes = NULL;
    for (int area = SHARED_AREA + 1; area < LIMIT_TEAMS; area++) {
        if (free_areas[area / 64] >> (area % 64) & 1)
            continue;
        records[area].magic = 0;
        free(records[area].nodes); // of a team that nobody has destroyed
        records[area].nodes = NULL;
    }
}

// The n-th set bit of the map, or -1.
static int nth_free(const unsigned long *map, int n)
{
    for (int area = 0; area < LIMIT_TEAMS; area++)
        if (map[area / 64] >> (area % 64) & 1 && n-- == 0)
            return area;
    return -1;
}

static void mark_free(int area)
{
    pthread_mutex_lock(&map_lock);
    free_areas[area / 64] |= 1UL << (area % 64);
    pthread_mutex_unlock(&map_lock);
}

// False when a split in another thread took it meanwhile.
static bool claim(int area)
{
    unsigned long bit = 1UL << (area % 64);
    pthread_mutex_lock(&map_lock);
    bool is_free = free_areas[area / 64] & bit;
    free_areas[area / 64] &= ~bit;
    pthread_mutex_unlock(&map_lock);
    return is_free;
}

// NULL: its area was taken.
static struct shoal_team *team_new(const struct pe_set *set, int area, int num_contexts)
{
    if (!claim(area))
        return NULL;
    struct shoal_team *team = &records[area];
    *team = (struct shoal_team){.set = *set, .me = set_find(set, world.me), .area = area,
                                .num_contexts = num_contexts, .magic = TEAM_MAGIC};
    find_nodes(team);
    memset((void *)team_area_at(team, team->me), 0, offsetof(struct team_area, place));
    return team;
}

void team_undo(struct shoal_team *team)
{
    free(team->nodes);
    team->nodes = NULL;
    team->magic = 0;
    mark_free(team->area);
}

// The areas free on every PE of the parent; bit 0 of the last word: all say the split is valid.
static void agree(struct group *g, unsigned long common[MAP_WORDS + 1], bool valid)
{
    pthread_mutex_lock(&map_lock);
    memcpy(common, free_areas, sizeof free_areas);
    pthread_mutex_unlock(&map_lock);
    common[MAP_WORDS] = valid;
    coll_reduce(g, &reduce_and_ulong, common, common, MAP_WORDS + 1);
}

// One try: SPLIT_AGAIN when on some PE another thread took an area first.
enum { SPLIT_AGAIN = 1 };
static int try_split(struct group *g, int count, const struct pe_set *sets, const int *num_contexts,
                     bool valid, struct shoal_team **new_team)
{
    unsigned long common[MAP_WORDS + 1], ok = 1;
    agree(g, common, valid);
    for (int i = 0; i < count; i++)
        new_team[i] = NULL;
    if (!common[MAP_WORDS])
        return -1;
    if (nth_free(common, count - 1) < 0) {
        if (g->me == 0)
            log_line(LOG_WARN, LOG_TEAM, "shmem_team_split: %d teams are alive, the most there "
                     "can be; destroy some", LIMIT_TEAMS);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (set_find(&sets[i], world.me) >= 0)
            ok &= (new_team[i] = team_new(&sets[i], nth_free(common, i), num_contexts[i])) != NULL;
    // Everybody hears from everybody: nobody writes into an area before its owner has cleared it.
    coll_reduce(g, &reduce_and_ulong, &ok, &ok, 1);
    for (int i = 0; i < count && !ok; i++)
        if (new_team[i])
            team_undo(new_team[i]);
    return ok ? 0 : SPLIT_AGAIN;
}

void team_places(uint64_t free_places[MAP_WORDS])
{
    pthread_mutex_lock(&map_lock);
    for (int i = 0; i < MAP_WORDS; i++)
        free_places[i] = free_areas[i];
    pthread_mutex_unlock(&map_lock);
}

struct shoal_team *team_make(const struct pe_set *set, int place)
{
    return team_new(set, place, 0);
}

int team_split(struct shoal_team *parent, int count, const struct pe_set *sets,
               const int *num_contexts, bool valid, struct shoal_team **new_team)
{
    struct group g = group_of_team(parent);
    int status;
    while ((status = try_split(&g, count, sets, num_contexts, valid, new_team)) == SPLIT_AGAIN)
        ;
    return status;
}

void team_destroy(struct shoal_team *team)
{
    ctx_destroy_of_team(team);
    coll_part_team(team); // nobody still reads or writes the own area
    team_undo(team);
}
