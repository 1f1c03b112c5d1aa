// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move data, one row a type, behind void pointers; and the teams to run
// them on.
#ifndef TESTS_API_COLL_ROWS_H
#define TESTS_API_COLL_ROWS_H

#include "types.h"

typedef struct {
    const char *name;
    size_t size;
    int (*broadcast)(shmem_team_t, void *, const void *, size_t, int);
    int (*collect)(shmem_team_t, void *, const void *, size_t);
    int (*fcollect)(shmem_team_t, void *, const void *, size_t);
    int (*alltoall)(shmem_team_t, void *, const void *, size_t);
    int (*alltoalls)(shmem_team_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t);
} coll_row;

#define WRAP(T, F)                                                           \
    static int coll_##F(shmem_team_t team, void *d, const void *s, size_t n) \
    {                                                                        \
        return shmem_##F(team, d, s, n);                                     \
    }
#define X(T, N)                                                                                    \
    WRAP(T, N##_collect)                                                                           \
    WRAP(T, N##_fcollect)                                                                          \
    WRAP(T, N##_alltoall)                                                                          \
    static int coll_##N##_broadcast(shmem_team_t team, void *d, const void *s, size_t n, int root) \
    {                                                                                              \
        return shmem_##N##_broadcast(team, d, s, n, root);                                         \
    }                                                                                              \
    static int coll_##N##_alltoalls(shmem_team_t team, void *d, const void *s, ptrdiff_t dst,      \
                                    ptrdiff_t sst, size_t n)                                       \
    {                                                                                              \
        return shmem_##N##_alltoalls(team, d, s, dst, sst, n);                                     \
    }
EACH_RMA(X)
#undef X
#undef WRAP

static const coll_row coll_rows[] = {{"mem", 1, shmem_broadcastmem, shmem_collectmem,
                                      shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem},
#define X(T, N)            \
    {#N,                   \
     sizeof(T),            \
     coll_##N##_broadcast, \
     coll_##N##_collect,   \
     coll_##N##_fcollect,  \
     coll_##N##_alltoall,  \
     coll_##N##_alltoalls},
                                     EACH_RMA(X)
#undef X
};
enum { COLL_ROWS = sizeof coll_rows / sizeof coll_rows[0] };

// A team with the world numbers of its members, known to members and others alike.
typedef struct {
    shmem_team_t team; // SHMEM_TEAM_INVALID for those outside
    int size, rank;    // rank -1 for those outside
    int start, stride; // in world numbers
} test_team;

static inline int team_world_pe(const test_team *t, int rank)
{
    return t->start + rank * t->stride;
}

static inline test_team make_team(int start, int stride, int size)
{
    test_team t = {SHMEM_TEAM_INVALID, size, -1, start, stride};
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &t.team), 0);
    for (int k = 0; k < size; k++)
        if (team_world_pe(&t, k) == me)
            t.rank = k;
    CHECK_EQ(t.rank >= 0, t.team != SHMEM_TEAM_INVALID);
    return t;
}

enum { MAX_TEAMS = 8 };

// The world, every second PE, the others, all backwards, one PE, all but the first.
static inline int make_teams(test_team teams[MAX_TEAMS])
{
    int n = 0;
    teams[n++] = (test_team){SHMEM_TEAM_WORLD, npes, me, 0, 1};
    teams[n++] = make_team(0, 2, (npes + 1) / 2);
    teams[n++] = make_team(npes - 1, -1, npes);
    teams[n++] = make_team(npes / 2, 1, 1);
    if (npes > 1) {
        teams[n++] = make_team(1, 2, npes / 2);
        teams[n++] = make_team(1, 1, npes - 1);
    }
    return n;
}

static inline void destroy_teams(test_team *teams, int n)
{
    for (int i = 0; i < n; i++)
        if (teams[i].team != SHMEM_TEAM_WORLD)
            shmem_team_destroy(teams[i].team);
}

#endif
