// SPDX-License-Identifier: BSD-3-Clause
// "Collective Routines" over teams: checks, then core.
#include "coll.h"

#include "call.h"
#include "check_coll.h"
#include "pshmem.h"
#include "remote.h"

void pshmem_barrier_all(void)
{
    check_up("shmem_barrier_all");
    call_enter(CALL_barrier_all);
    coll_barrier_world();
    call_leave();
}
WEAK_TWIN(shmem_barrier_all);

void pshmem_sync_all(void)
{
    check_up("shmem_sync_all");
    call_enter(CALL_sync_all);
    coll_sync_world();
    call_leave();
}
WEAK_TWIN(shmem_sync_all);

int pshmem_team_sync(shmem_team_t team)
{
    if (!check_team("shmem_team_sync", team))
        return -1;
    call_enter(CALL_team_sync);
    coll_sync_team(team);
    call_leave();
    return 0;
}
WEAK_TWIN(shmem_team_sync);

static int broadcast(const char *call, shmem_team_t team, void *dest, const void *source,
                     size_t bytes, int root)
{
    if (!check_team(call, team))
        return -1;
    check_root(call, root, team->set.size);
    check_buffers(call, dest, bytes, source, bytes);
    struct group g = group_of_team(team);
    call_enter(CALL_broadcast);
    coll_broadcast(&g, dest, source, bytes, root, true);
    call_leave();
    return 0;
}

static int collect(const char *call, shmem_team_t team, void *dest, const void *source,
                   size_t bytes)
{
    if (!check_team(call, team))
        return -1;
    check_buffers(call, dest, bytes, source, bytes);
    struct group g = group_of_team(team);
    call_enter(CALL_collect);
    coll_collect(&g, dest, source, bytes);
    call_leave();
    return 0;
}

static int fcollect(const char *call, shmem_team_t team, void *dest, const void *source,
                    size_t bytes)
{
    if (!check_team(call, team))
        return -1;
    check_buffers(call, dest, bytes * (size_t)team->set.size, source, bytes);
    struct group g = group_of_team(team);
    call_enter(CALL_fcollect);
    coll_fcollect(&g, dest, source, bytes);
    call_leave();
    return 0;
}

static int alltoall(const char *call, enum call_id id, shmem_team_t team, void *dest,
                    const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size)
{
    if (!check_team(call, team))
        return -1;
    check_alltoall(call, dest, source, dst, sst, nelems, size, team->set.size);
    struct group g = group_of_team(team);
    call_enter(id);
    coll_alltoall(&g, dest, source, dst, sst, nelems, size);
    call_leave();
    return 0;
}

#define MOVES(TYPE, bytes, broadcast_name, collect_name, fcollect_name, alltoall_name,         \
              alltoalls_name)                                                                  \
    int p##broadcast_name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,    \
                          int PE_root)                                                         \
    {                                                                                          \
        return broadcast(#broadcast_name, team, dest, source, BYTES_OF(nelems, bytes), PE_root);      \
    }                                                                                          \
    WEAK_TWIN(broadcast_name);                                                                 \
    int p##collect_name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)      \
    {                                                                                          \
        return collect(#collect_name, team, dest, source, BYTES_OF(nelems, bytes));                   \
    }                                                                                          \
    WEAK_TWIN(collect_name);                                                                   \
    int p##fcollect_name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)     \
    {                                                                                          \
        return fcollect(#fcollect_name, team, dest, source, BYTES_OF(nelems, bytes));                 \
    }                                                                                          \
    WEAK_TWIN(fcollect_name);                                                                  \
    int p##alltoall_name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)     \
    {                                                                                          \
        return alltoall(#alltoall_name, CALL_alltoall, team, dest, source, 1, 1, nelems,       \
                        bytes);                                                                \
    }                                                                                          \
    WEAK_TWIN(alltoall_name);                                                                  \
    int p##alltoalls_name(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst,    \
                          ptrdiff_t sst, size_t nelems)                                        \
    {                                                                                          \
        return alltoall(#alltoalls_name, CALL_alltoalls, team, dest, source, dst, sst, nelems, \
                        bytes);                                                                \
    }                                                                                          \
    WEAK_TWIN(alltoalls_name);

#define TYPED(TYPE, NAME)                                                                      \
    MOVES(TYPE, sizeof(TYPE), shmem_##NAME##_broadcast, shmem_##NAME##_collect,                \
          shmem_##NAME##_fcollect, shmem_##NAME##_alltoall, shmem_##NAME##_alltoalls)
SHOAL_RMA_TYPES(TYPED)

MOVES(void, 1, shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem,
      shmem_alltoallsmem)
