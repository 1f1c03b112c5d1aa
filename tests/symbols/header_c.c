// SPDX-License-Identifier: BSD-3-Clause
// shmem.h in C11: constants where constants are needed, handles, and each generic name.
// PES: none
#include "calls.h"

#include <pshmem.h>
#include <shmemx.h>

// NOLINTBEGIN
#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6 || _SHMEM_MINOR_VERSION != 6
#error "not OpenSHMEM 1.6"
#endif
#if SHMEM_CTX_PRIVATE & SHMEM_CTX_SERIALIZED || SHMEM_CTX_NOSTORE & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED)
#error "context options share a bit"
#endif
#if SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE
#error "hints share a bit"
#endif
// NOLINTEND

_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
               SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "thread levels ascend");
_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name fits");
_Static_assert(_Generic((shmem_team_config_t){.num_contexts = 1}.num_contexts, int: 1), "int");
_Static_assert(_Generic((shmem_ctx_session_config_t){.total_ops = SIZE_MAX}.total_ops, size_t: 1), "size_t");
_Static_assert(_Generic(shmem_g((long double *)0, 0), long double: 1), "g returns the type");
_Static_assert(_Generic(shmem_g(SHMEM_CTX_DEFAULT, (const float *)0, 0), float: 1), "and on a context");

static shmem_ctx_t no_ctx = SHMEM_CTX_INVALID;
static shmem_team_t no_team = SHMEM_TEAM_INVALID;
static long work[SHMEM_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE +
                 SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE] = {SHMEM_SYNC_VALUE};

int compare(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return 1;
    case SHMEM_CMP_NE: return 2;
    case SHMEM_CMP_GT: return 3;
    case SHMEM_CMP_GE: return 4;
    case SHMEM_CMP_LT: return 5;
    case SHMEM_CMP_LE: return 6;
    default: return work[0] == _SHMEM_SYNC_VALUE;
    }
}

int main(void) // not run
{
    return no_ctx == SHMEM_CTX_DEFAULT || no_team == SHMEM_TEAM_WORLD || compare(0) == 0;
}
