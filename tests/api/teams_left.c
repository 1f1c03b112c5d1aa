// SPDX-License-Identifier: BSD-3-Clause
// Teams that nobody has destroyed end with the library, and leave nothing when it comes up again (the
// address sanitizer looks).
// PES: 4
// ENV: SHOAL_VNODES=2
#include "../check.h"

enum { TIMES = 3 };

static long all, one;

int main(void)
{
    for (int i = 0; i < TIMES; i++) {
        shmem_team_t team;
        check_start();
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
        one = me;
        CHECK_EQ(shmem_long_sum_reduce(team, &all, &one, 1), 0);
        CHECK_EQ(all, npes * (npes - 1) / 2);
        if (i < TIMES - 1)
            shmem_finalize();
    }
    return check_done();
}
