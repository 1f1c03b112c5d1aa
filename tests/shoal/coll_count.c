// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// WHAT N: that collective of 8 bytes a PE, N times. For tests/net/coll.sh, which counts messages.
#include "../check.h"

int main(int argc, char **argv)
{
    static int64_t src[64], dst[64];
    check_start();
    const char *what = argc > 1 ? argv[1] : "";
    for (int n = argc > 2 ? atoi(argv[2]) : 0; n > 0; n--) {
        if (!strcmp(what, "barrier"))
            shmem_barrier_all();
        else if (!strcmp(what, "allreduce"))
            shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, dst, src, 1);
        else if (!strcmp(what, "broadcast"))
            shmem_int64_broadcast(SHMEM_TEAM_WORLD, dst, src, 1, 0);
        else if (!strcmp(what, "allgather"))
            shmem_int64_fcollect(SHMEM_TEAM_WORLD, dst, src, 1);
        else
            CHECK(!"known");
    }
    return check_done();
}
