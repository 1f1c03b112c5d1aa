// SPDX-License-Identifier: BSD-3-Clause
// Where a gather takes the contribution of a member that is not the root: dst means nothing there but where src
// is NULL, and then it begins with it; the same of short ones.
// PES: 1 2 3 7
#include "../check.h"

#include <shoal.h>

enum { ROOM = 64 };

typedef int gather_fn(shmem_team_t team, const shoal_coll_t *c);

static int blocking(shmem_team_t team, const shoal_coll_t *c)
{
    return shoal_coll(team, c, NULL);
}

static void gathered(gather_fn *fn, int64_t *mine, int64_t *all, int root, bool has_src)
{
    for (int i = 0; i < ROOM; i++) {
        mine[i] = -i - 1000;
        all[i] = -1;
    }
    int64_t *dst = me == root ? all : mine;
    *(me == root && !has_src ? &all[me] : mine) = me + 100;
    shmem_barrier_all();
    shoal_coll_t c = {.kind = SHOAL_COLL_GATHER,
                      .root = root,
                      .dst = dst,
                      .src = has_src ? mine : NULL,
                      .count = 1,
                      .type = SHOAL_INT64};
    CHECK_EQ(fn(SHMEM_TEAM_WORLD, &c), SHOAL_OK);
    for (int i = 0; i < npes && me == root; i++)
        CHECK_EQ(all[i], i + 100);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    int64_t *mine = shmem_malloc(ROOM * sizeof *mine), *all = shmem_malloc(ROOM * sizeof *all);
    bool is_near = true;
    for (int pe = 0; pe < npes; pe++)
        is_near = is_near && shmem_ptr(mine, pe);
    for (int root = 0; root<npes; root += npes> 1 ? npes - 1 : 1) {
        for (int has_src = 0; has_src < 2; has_src++) {
            gathered(blocking, mine, all, root, has_src);
            if (is_near)
                gathered(shoal_coll_short, mine, all, root, has_src);
        }
    }
    shmem_free(mine);
    shmem_free(all);
    return check_done();
}
