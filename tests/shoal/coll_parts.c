// SPDX-License-Identifier: BSD-3-Clause
// Collectives over nodes of many parts, of which the later ones wait until they are taken; one of each kind is
// followed by a meeting of the leaders, as each 32nd of a team is, which never has data. In a hostile build a part
// has 8 KB; else a collective here is one part or two.
// PES: 2 4 7
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>

enum { TIMES = 33, LONG = 29, N = 40000 }; // from the 30th on they are long

static const int kinds[] = {SHOAL_COLL_BROADCAST, SHOAL_COLL_GATHER, SHOAL_COLL_ALLGATHER,
                            SHOAL_COLL_REDUCE, SHOAL_COLL_ALLREDUCE};
enum { KINDS = sizeof kinds / sizeof *kinds };

static uint64_t given(int pe, int turn, int i)
{
    return (uint64_t)pe * 1000003 + (uint64_t)turn * 7919 + (uint64_t)i;
}

// Of all PEs.
static uint64_t sum(int turn, int i)
{
    uint64_t all = 0;
    for (int pe = 0; pe < npes; pe++)
        all += given(pe, turn, i);
    return all;
}

static void check_result(int kind, int turn, int n, int root, const uint64_t *got)
{
    bool to_root = kind == SHOAL_COLL_GATHER || kind == SHOAL_COLL_REDUCE;
    if (to_root && me != root)
        return;
    if (kind == SHOAL_COLL_BROADCAST)
        CHECK_EACH(i, n, got[i], given(root, turn, i));
    else if (kind == SHOAL_COLL_REDUCE || kind == SHOAL_COLL_ALLREDUCE)
        CHECK_EACH(i, n, got[i], sum(turn, i));
    else
        for (int pe = 0; pe < npes; pe++)
            CHECK_EACH(i, n, got[pe * n + i], given(pe, turn, i));
}

int main(void)
{
    check_start();
    shmem_team_t team;
    uint64_t *from = malloc(N * sizeof *from), *to = malloc((size_t)npes * N * sizeof *to);
    for (int k = 0; k < KINDS; k++) {
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
        for (int turn = 0; turn < TIMES; turn++) {
            int root = turn % npes;
            int n = turn < LONG ? 1 : N;
            for (int i = 0; i < n; i++)
                from[i] = given(me, turn, i);
            shoal_coll_t c = {.kind = kinds[k],
                              .root = root,
                              .dst = to,
                              .src = from,
                              .count = (size_t)n,
                              .op = SHOAL_SUM,
                              .type = SHOAL_UINT64};
            CHECK_EQ(shoal_coll(team, &c, NULL), SHOAL_OK);
            check_result(kinds[k], turn, n, root, to);
        }
        shmem_team_destroy(team);
    }
    free(from);
    free(to);
    return check_done();
}
