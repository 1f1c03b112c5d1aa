// SPDX-License-Identifier: BSD-3-Clause
// "Point-To-Point Synchronization Routines".
#include "p2p.h"

#include "compiler.h"
#include "pshmem.h"

#define SET(name, TYPE, is_vector, value)                                                      \
    &(const struct p2p_set)                                                                    \
    {                                                                                          \
        .call = name, .ivars = ivars, .n = nelems, .status = status, .cmp = cmp,               \
        .values = value, .vector = is_vector, .kind = P2P_KIND(TYPE)                           \
    }

#define ONE(TYPE, NAME)                                                                        \
    void pshmem_##NAME##_wait_until(TYPE *ivars, int cmp, TYPE cmp_value)                      \
    {                                                                                          \
        const size_t nelems = 1;                                                               \
        const int *const status = NULL;                                                        \
        p2p_wait_one(SET("shmem_" #NAME "_wait_until", TYPE, false, &cmp_value));              \
    }                                                                                          \
    WEAK_TWIN(shmem_##NAME##_wait_until);                                                      \
    int pshmem_##NAME##_test(TYPE *ivars, int cmp, TYPE cmp_value)                             \
    {                                                                                          \
        const size_t nelems = 1;                                                               \
        const int *const status = NULL;                                                        \
        return p2p_test_one(SET("shmem_" #NAME "_test", TYPE, false, &cmp_value));             \
    }                                                                                          \
    WEAK_TWIN(shmem_##NAME##_test);
SHOAL_SYNC_TYPES(ONE)
SHOAL_SYNC_OLD_TYPES(ONE)

#define PLAIN(name, TYPE, RETURN, give, look, want)                                            \
    RETURN p##name(TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value)     \
    {                                                                                          \
        give look(SET(#name, TYPE, false, &cmp_value), want, NULL);                            \
    }                                                                                          \
    WEAK_TWIN(name);
#define SOME(name, TYPE, look)                                                                 \
    size_t p##name(TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp,    \
                   TYPE cmp_value)                                                             \
    {                                                                                          \
        return look(SET(#name, TYPE, false, &cmp_value), P2P_SOME, indices);                   \
    }                                                                                          \
    WEAK_TWIN(name);
#define PLAIN_VECTOR(name, TYPE, RETURN, give, look, want)                                     \
    RETURN p##name(TYPE *ivars, size_t nelems, const int *status, int cmp,                     \
                   const TYPE *cmp_values)                                                     \
    {                                                                                          \
        give look(SET(#name, TYPE, true, cmp_values), want, NULL);                             \
    }                                                                                          \
    WEAK_TWIN(name);
#define SOME_VECTOR(name, TYPE, look)                                                          \
    size_t p##name(TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp,    \
                   const TYPE *cmp_values)                                                     \
    {                                                                                          \
        return look(SET(#name, TYPE, true, cmp_values), P2P_SOME, indices);                    \
    }                                                                                          \
    WEAK_TWIN(name);

#define SETS(TYPE, NAME)                                                                       \
    PLAIN(shmem_##NAME##_wait_until_all, TYPE, void, , p2p_wait, P2P_ALL)                      \
    PLAIN(shmem_##NAME##_wait_until_any, TYPE, size_t, return, p2p_wait, P2P_ANY)              \
    SOME(shmem_##NAME##_wait_until_some, TYPE, p2p_wait)                                       \
    PLAIN(shmem_##NAME##_test_all, TYPE, int, return (int), p2p_look, P2P_ALL)                 \
    PLAIN(shmem_##NAME##_test_any, TYPE, size_t, return, p2p_look, P2P_ANY)                    \
    SOME(shmem_##NAME##_test_some, TYPE, p2p_look)                                             \
    PLAIN_VECTOR(shmem_##NAME##_wait_until_all_vector, TYPE, void, , p2p_wait, P2P_ALL)        \
    PLAIN_VECTOR(shmem_##NAME##_wait_until_any_vector, TYPE, size_t, return, p2p_wait, P2P_ANY) \
    SOME_VECTOR(shmem_##NAME##_wait_until_some_vector, TYPE, p2p_wait)                         \
    PLAIN_VECTOR(shmem_##NAME##_test_all_vector, TYPE, int, return (int), p2p_look, P2P_ALL)   \
    PLAIN_VECTOR(shmem_##NAME##_test_any_vector, TYPE, size_t, return, p2p_look, P2P_ANY)      \
    SOME_VECTOR(shmem_##NAME##_test_some_vector, TYPE, p2p_look)
SHOAL_SYNC_TYPES(SETS)

// ---- Deprecated
void pshmem_wait_until(long *ivar, int cmp, long cmp_value)
{
    pshmem_long_wait_until(ivar, cmp, cmp_value);
}
WEAK_TWIN(shmem_wait_until);

void pshmem_wait(long *ivar, long cmp_value)
{
    pshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
}
WEAK_TWIN(shmem_wait);

#define OLD(TYPE, NAME)                                                                        \
    void pshmem_##NAME##_wait(TYPE *ivar, TYPE cmp_value)                                      \
    {                                                                                          \
        pshmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, cmp_value);                             \
    }                                                                                          \
    WEAK_TWIN(shmem_##NAME##_wait);
SHOAL_WAIT_OLD_TYPES(OLD)
