// SPDX-License-Identifier: BSD-3-Clause
// Constants: integer constant expressions that differ where they must, handles, configurations.
#include "../check.h"

_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "OpenSHMEM 1.6");
_Static_assert(SHMEM_MAX_NAME_LEN > 0 && sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "name");
_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED &&
                   SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
                   SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE,
               "thread levels increase");
_Static_assert(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD, "signal operators");
_Static_assert(SHMEM_CTX_SERIALIZED != 0 && SHMEM_CTX_PRIVATE != 0 && SHMEM_CTX_NOSTORE != 0,
               "context options");
_Static_assert(!(SHMEM_CTX_SERIALIZED & SHMEM_CTX_PRIVATE) &&
                   !(SHMEM_CTX_SERIALIZED & SHMEM_CTX_NOSTORE) &&
                   !(SHMEM_CTX_PRIVATE & SHMEM_CTX_NOSTORE),
               "context options are bits");
_Static_assert(SHMEM_TEAM_NUM_CONTEXTS != 0 && SHMEM_CTX_SESSION_BATCH != 0 &&
                   SHMEM_CTX_SESSION_TOTAL_OPS != 0,
               "masks");
_Static_assert(SHMEM_MALLOC_ATOMICS_REMOTE != 0 && SHMEM_MALLOC_SIGNAL_REMOTE != 0 &&
                   !(SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE),
               "hints are bits");
_Static_assert(SHMEM_SYNC_SIZE > 0 && SHMEM_BCAST_SYNC_SIZE > 0 && SHMEM_REDUCE_SYNC_SIZE > 0 &&
                   SHMEM_BARRIER_SYNC_SIZE > 0 && SHMEM_COLLECT_SYNC_SIZE > 0 &&
                   SHMEM_ALLTOALL_SYNC_SIZE > 0 && SHMEM_ALLTOALLS_SYNC_SIZE > 0 &&
                   SHMEM_REDUCE_MIN_WRKDATA_SIZE > 0,
               "work arrays");
_Static_assert(SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE,
               "SHMEM_SYNC_SIZE does for all");
_Static_assert(sizeof((shmem_team_config_t){0}.num_contexts) == sizeof(int), "team config");
_Static_assert(sizeof((shmem_ctx_session_config_t){0}.total_ops) == sizeof(size_t), "session");

// Usable in the preprocessor or not, they are constants in a switch: all six differ.
static int operator_index(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return 0;
    case SHMEM_CMP_NE: return 1;
    case SHMEM_CMP_GT: return 2;
    case SHMEM_CMP_GE: return 3;
    case SHMEM_CMP_LT: return 4;
    case SHMEM_CMP_LE: return 5;
    }
    return -1;
}

// Work arrays may be static with an initialiser of constants.
static long psync[SHMEM_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
static long mask = SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE;

int main(void)
{
    // Handles compare with what they were given, before the start too.
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK(team == SHMEM_TEAM_INVALID && ctx == SHMEM_CTX_INVALID);
    check_start();
    CHECK_EQ(operator_index(SHMEM_CMP_LE), 5);
    CHECK_EQ(psync[0], SHMEM_SYNC_VALUE);
    CHECK(mask != 0);
    team = SHMEM_TEAM_WORLD;
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(team == SHMEM_TEAM_WORLD && team != SHMEM_TEAM_INVALID);
    CHECK(ctx == SHMEM_CTX_DEFAULT && ctx != SHMEM_CTX_INVALID);
    return check_done();
}
