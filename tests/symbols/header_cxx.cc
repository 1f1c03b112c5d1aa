// SPDX-License-Identifier: BSD-3-Clause
// shmem.h in C++11 and later: the same generic names, as overloads.
// PES: none
#include "calls.h"

#include <pshmem.h>
#include <shmemx.h>

static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "OpenSHMEM 1.6");
static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name fits");

static shmem_ctx_t no_ctx = SHMEM_CTX_INVALID;
static shmem_team_t no_team = SHMEM_TEAM_INVALID;

int main() // not run
{
    return no_ctx == SHMEM_CTX_DEFAULT || no_team == SHMEM_TEAM_WORLD;
}
