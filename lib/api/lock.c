// SPDX-License-Identifier: BSD-3-Clause
// "Distributed Locking Routines".
#include "lock.h"

#include "compiler.h"
#include "pshmem.h"

void pshmem_set_lock(long *lock)
{
    lock_set(lock);
}
WEAK_TWIN(shmem_set_lock);

void pshmem_clear_lock(long *lock)
{
    lock_clear(lock);
}
WEAK_TWIN(shmem_clear_lock);

int pshmem_test_lock(long *lock)
{
    return lock_test(lock);
}
WEAK_TWIN(shmem_test_lock);
