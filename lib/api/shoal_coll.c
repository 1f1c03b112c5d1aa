// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Collectives".
#include "shoal_check.h"

#include "coll_plan.h"

static int wait_for(shoal_event_t *event)
{
    int status = shoal_wait(1, &event, 1, NULL, NULL);
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

PUBLIC int shoal_coll_init(shmem_team_t team, const shoal_coll_t *coll, shoal_coll_plan_t *plan)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return team && team->magic == TEAM_MAGIC && coll && plan ? coll_plan_new(team, coll, NULL, plan) : SHOAL_EINVAL;
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
