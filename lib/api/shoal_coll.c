// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Collectives".
#include "shoal_check.h"

#include "call.h"
#include "coll_now.h"
#include "coll_plan.h"

static int wait_for(shoal_event_t *event)
{
    bool is_first = call_enter_first(CALL_coll, -1);
    int status = shoal_wait(1, &event, 1, NULL, NULL);
    if (is_first)
        call_leave();
    return status ? status : event->status;
}

PUBLIC int shoal_coll(shmem_team_t team, const shoal_coll_t *coll, shoal_event_t *event)
{
    struct shoal_coll_plan *plan;
    shoal_event_t own;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!team || team->magic != TEAM_MAGIC || !coll)
        return SHOAL_EINVAL;
    int status = coll_plan_new(team, coll, NULL, &plan);
    if (status)
        return status;
    plan->once = true;
    status = coll_plan_start(plan, event ? event : &own);
    if (status)
        coll_plan_free(plan);
    return status || event ? status : wait_for(&own);
}

// Are the buffers there?
static bool has_buffers(const struct shoal_team *team, const shoal_coll_t *c)
{
    bool gets = c->kind != SHOAL_COLL_GATHER || team->me == c->root;
    return c->kind == SHOAL_COLL_BARRIER || c->count == 0 || c->dst || (!gets && c->src);
}

PUBLIC int shoal_coll_short(shmem_team_t team, const shoal_coll_t *coll)
{
    size_t size;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (unlikely(!team || team->magic != TEAM_MAGIC || !coll))
        return SHOAL_EINVAL;
    int status = coll_plan_check(team, coll, &size);
    if (unlikely(status || !has_buffers(team, coll)))
        return SHOAL_EINVAL;
    bool is_first = call_enter_first(CALL_coll, -1);
    bool is_done = coll_now(team, coll, size);
    if (is_first)
        call_leave();
    return is_done ? SHOAL_OK : SHOAL_EAGAIN;
}

PUBLIC int shoal_team_places(uint64_t free_places[SHOAL_TEAM_WORDS])
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!free_places)
        return SHOAL_EINVAL;
    team_places(free_places);
    return SHOAL_OK;
}

PUBLIC int shoal_team_make(int first, int stride, int size, int place, shmem_team_t *team)
{
    struct pe_set set = {first, size == 1 ? 1 : stride, size};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!team || place < 0 || place >= LIMIT_TEAMS ||
        !set_has_triplet(&shoal_team_world.set, first, stride, size) ||
        set_find(&set, world.me) < 0)
        return SHOAL_EINVAL;
    struct shoal_team *made = team_make(&set, place);
    if (!made)
        return SHOAL_EAGAIN;
    *team = made;
    return SHOAL_OK;
}

PUBLIC int shoal_team_undo(shmem_team_t team)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!team || team->magic != TEAM_MAGIC || team->predefined)
        return SHOAL_EINVAL;
    team_undo(team);
    return SHOAL_OK;
}

PUBLIC int shoal_coll_init(shmem_team_t team, const shoal_coll_t *coll, shoal_coll_plan_t *plan)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return team && team->magic == TEAM_MAGIC && coll && plan ? coll_plan_new(team, coll, NULL, plan)
                                                             : SHOAL_EINVAL;
}

PUBLIC int shoal_coll_start(shoal_coll_plan_t plan, shoal_event_t *event)
{
    shoal_event_t own;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!plan || plan->is_running)
        return SHOAL_EINVAL;
    int status = coll_plan_start(plan, event ? event : &own);
    return status || event ? status : wait_for(&own);
}

PUBLIC int shoal_coll_free(shoal_coll_plan_t plan)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!plan || plan->is_running)
        return SHOAL_EINVAL;
    coll_plan_free(plan);
    return SHOAL_OK;
}
