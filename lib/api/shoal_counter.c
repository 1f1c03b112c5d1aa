// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Counting events".
#include "shoal_check.h"

#include "call.h"
#include "counter.h"
#include "inbox.h"
#include "net.h"
#include "net_message.h"
#include "remote.h"
#include "team.h"
#include "wait.h"

_Static_assert(sizeof(shoal_ct_value_t) == 2 * sizeof(uint64_t),
               "laid out as struct counter starts");

PUBLIC int shoal_ct_alloc(shmem_team_t team, shoal_ct_t *ct)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!ct || (team && team->magic != TEAM_MAGIC))
        return SHOAL_EINVAL;
    shoal_ct_t got = counter_alloc(team);
    if (!got)
        return SHOAL_ENOMEM;
    *ct = got;
    return SHOAL_OK;
}

PUBLIC int shoal_ct_free(shmem_team_t team, shoal_ct_t ct)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!counter_is_own(ct) || trigger_is_running() || (team && team->magic != TEAM_MAGIC))
        return SHOAL_EINVAL;
    counter_free(team, ct);
    return SHOAL_OK;
}

PUBLIC const shoal_ct_value_t *shoal_ct_at(shoal_ct_t ct)
{
    if (!shoal_is_up() || !counter_is_own(ct))
        return NULL;
    return (const shoal_ct_value_t *)(const void *)counter_at(world.me, ct);
}

PUBLIC int shoal_ct_get(shoal_ct_t ct, shoal_ct_value_t *value)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!counter_is_own(ct) || !value)
        return SHOAL_EINVAL;
    const struct counter *c = counter_at(world.me, ct);
    value->success = atomic_load_explicit(&c->success, memory_order_acquire);
    value->failure = atomic_load_explicit(&c->failure, memory_order_acquire);
    return SHOAL_OK;
}

// The counter's PE is on another node, and does it; a message may overtake earlier transfers.
static void far(int kind, int pe, shoal_ct_t ct, shoal_ct_value_t value)
{
    remote_order_message(pe);
    net_tell(&(struct operation){.kind = kind, .initiator = world.me, .pe = pe, .ct = ct,
                                 .value = value}, pe);
}

PUBLIC int shoal_ct_inc(int pe, shoal_ct_t ct, shoal_ct_value_t by)
{
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    if (unlikely(!shoal_is_pe(pe) || !counter_is_number(ct)))
        return SHOAL_EINVAL;
    if (unlikely(!world_is_here(pe)))
        far(SHOAL_WORK_CT_INC, pe, ct, by);
    else
        counter_add(counter_at(pe, ct), pe, by.success, by.failure);
    return SHOAL_OK;
}

PUBLIC int shoal_ct_set(int pe, shoal_ct_t ct, shoal_ct_value_t to)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!shoal_is_pe(pe) || !counter_is_number(ct))
        return SHOAL_EINVAL;
    if (!world_is_here(pe))
        far(SHOAL_WORK_CT_SET, pe, ct, to);
    else
        counter_set(counter_at(pe, ct), pe, to);
    return SHOAL_OK;
}

static int check_set(size_t n, const shoal_ct_t ct[], const uint64_t threshold[])
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!n || !ct || !threshold)
        return SHOAL_EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!counter_is_own(ct[i]))
            return SHOAL_EINVAL;
    return SHOAL_OK;
}

static bool look(size_t n, const shoal_ct_t ct[], const uint64_t threshold[], size_t *index)
{
    for (size_t i = 0; i < n; i++)
        if (counter_sum(counter_at(world.me, ct[i])) >= threshold[i]) {
            if (index)
                *index = i;
            return true;
        }
    return false;
}

PUBLIC int shoal_ct_test(size_t n, const shoal_ct_t ct[], const uint64_t threshold[], size_t *index)
{
    int status = check_set(n, ct, threshold);
    if (status)
        return status;
    if (look(n, ct, threshold, index))
        return SHOAL_OK;
    net_poke();
    inbox_poll();
    return SHOAL_EAGAIN;
}

PUBLIC int shoal_ct_wait(size_t n, const shoal_ct_t ct[], const uint64_t threshold[], size_t *index)
{
    int status = check_set(n, ct, threshold);
    if (status)
        return status;
    bool is_first = call_enter_first(CALL_ct_wait, -1);
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (!look(n, ct, threshold, index))
        waiter_turn(&w, inbox_poll());
    if (is_first)
        call_leave();
    return SHOAL_OK;
}
