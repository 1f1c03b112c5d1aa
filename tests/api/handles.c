// SPDX-License-Identifier: BSD-3-Clause
// Predefined handles are link-time constants: they initialize static objects ("Library Handles").
#include "check.h"

static shmem_team_t world = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED, none = SHMEM_TEAM_INVALID;
static shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};
static long x;

int main(void)
{
    check_start();
    CHECK(world == SHMEM_TEAM_WORLD && shared == SHMEM_TEAM_SHARED && none == SHMEM_TEAM_INVALID);
    CHECK(contexts[0] == SHMEM_CTX_DEFAULT && contexts[1] == SHMEM_CTX_INVALID);
    CHECK_EQ(shmem_team_n_pes(world), shmem_n_pes());
    shmem_ctx_long_p(contexts[0], &x, 5, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK_EQ(x, 5);
    return check_done();
}
