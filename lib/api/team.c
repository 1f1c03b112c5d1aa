// SPDX-License-Identifier: BSD-3-Clause
// "Team Management Routines".
#include "team.h"

#include "call.h"
#include "log.h"
#include "pshmem.h"
#include "remote.h"

// SHMEM_TEAM_INVALID gives false; what is no team ends the program.
static bool is_valid(const char *call, shmem_team_t team)
{
    check_up(call);
    if (team != SHMEM_TEAM_INVALID && team->magic != TEAM_MAGIC)
        fatal("%s: %p is not a team, or a destroyed one", call, (void *)team);
    return team != SHMEM_TEAM_INVALID;
}

static void check_place(const char *call, const char *argument, const void *place)
{
    if (!place)
        fatal("%s: argument %s is NULL: the new team's handle goes there", call, argument);
}

int pshmem_team_my_pe(shmem_team_t team)
{
    return is_valid("shmem_team_my_pe", team) ? team->me : -1;
}
WEAK_TWIN(shmem_team_my_pe);

int pshmem_team_n_pes(shmem_team_t team)
{
    return is_valid("shmem_team_n_pes", team) ? team->set.size : -1;
}
WEAK_TWIN(shmem_team_n_pes);

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    if (!is_valid("shmem_team_get_config", team))
        return -1;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS) {
        if (!config)
            fatal("shmem_team_get_config: argument config is NULL, with a mask that is not 0");
        config->num_contexts = team->num_contexts;
    }
    return 0;
}
WEAK_TWIN(shmem_team_get_config);

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    static const char call[] = "shmem_team_translate_pe";
    if (!is_valid(call, src_team) || !is_valid(call, dest_team) || src_pe < 0 ||
        src_pe >= src_team->set.size)
        return -1;
    return set_find(&dest_team->set, set_pe(&src_team->set, src_pe));
}
WEAK_TWIN(shmem_team_translate_pe);

static int contexts_of(const shmem_team_config_t *config, long mask)
{
    return config && (mask & SHMEM_TEAM_NUM_CONTEXTS) ? config->num_contexts : 0;
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t *config, long config_mask,
                              shmem_team_t *new_team)
{
    check_place("shmem_team_split_strided", "new_team", new_team);
    *new_team = SHMEM_TEAM_INVALID;
    if (!is_valid("shmem_team_split_strided", parent_team))
        return -1;
    const struct pe_set *parent = &parent_team->set;
    bool valid = set_has_triplet(parent, start, stride, size);
    struct pe_set set = {world.me, 1, 1};
    if (valid)
        set = (struct pe_set){set_pe(parent, start), size == 1 ? 1 : stride * parent->stride, size};
    int contexts = contexts_of(config, config_mask);
    call_enter(CALL_team_split);
    int failed = team_split(parent_team, 1, &set, &contexts, valid, new_team);
    call_leave();
    return failed;
}
WEAK_TWIN(shmem_team_split_strided);

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange,
                         const shmem_team_config_t *xaxis_config, long xaxis_mask,
                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                         long yaxis_mask, shmem_team_t *yaxis_team)
{
    check_place("shmem_team_split_2d", "xaxis_team", xaxis_team);
    check_place("shmem_team_split_2d", "yaxis_team", yaxis_team);
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!is_valid("shmem_team_split_2d", parent_team))
        return -1;
    const struct pe_set *parent = &parent_team->set;
    int xsize = xrange < 1 ? 1 : xrange > parent->size ? parent->size : xrange;
    int x = parent_team->me % xsize, y = parent_team->me / xsize;
    int row = parent->size - y * xsize < xsize ? parent->size - y * xsize : xsize;
    struct pe_set sets[2] = {
        {set_pe(parent, y * xsize), parent->stride, row},
        {set_pe(parent, x), xsize * parent->stride, (parent->size - x - 1) / xsize + 1},
    };
    int contexts[2] = {contexts_of(xaxis_config, xaxis_mask),
                       contexts_of(yaxis_config, yaxis_mask)};
    shmem_team_t made[2];
    call_enter(CALL_team_split);
    int failed = team_split(parent_team, 2, sets, contexts, xrange > 0, made);
    call_leave();
    *xaxis_team = made[0];
    *yaxis_team = made[1];
    return failed;
}
WEAK_TWIN(shmem_team_split_2d);

void pshmem_team_destroy(shmem_team_t team)
{
    if (!is_valid("shmem_team_destroy", team))
        return;
    if (team->predefined)
        fatal("shmem_team_destroy: a predefined team cannot be destroyed");
    call_enter(CALL_team_destroy);
    team_destroy(team);
    call_leave();
}
WEAK_TWIN(shmem_team_destroy);
