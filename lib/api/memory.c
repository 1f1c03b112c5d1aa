// SPDX-License-Identifier: BSD-3-Clause
// "Memory Management Routines".
#include "heap.h"
#include "log.h"
#include "pshmem.h"
#include "remote.h"

#include <stdint.h>

void *pshmem_malloc(size_t size)
{
    check_up("shmem_malloc");
    return size ? heap_malloc(CALL_malloc, size, 1, 0) : NULL;
}
WEAK_TWIN(shmem_malloc);

void *pshmem_calloc(size_t count, size_t size)
{
    size_t bytes;
    check_up("shmem_calloc");
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return bytes ? heap_malloc(CALL_calloc, bytes, 1, 1) : NULL;
}
WEAK_TWIN(shmem_calloc);

void *pshmem_align(size_t alignment, size_t size)
{
    check_up("shmem_align");
    if (!alignment || alignment & (alignment - 1))
        fatal("shmem_align: argument alignment is %zu, not a power of two", alignment);
    return size ? heap_malloc(CALL_align, size, alignment, 0) : NULL;
}
WEAK_TWIN(shmem_align);

// Memory is the same whatever its use on a node: every hint is fulfilled, and one that is not known
// changes nothing.
void *pshmem_malloc_with_hints(size_t size, long hints)
{
    check_up("shmem_malloc_with_hints");
    if (hints & ~(long)(SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE))
        log_line(LOG_WARN, LOG_HEAP,
                 "shmem_malloc_with_hints: argument hints is %#lx, not made of "
                 "SHMEM_MALLOC_*",
                 (unsigned long)hints);
    return size ? heap_malloc(CALL_malloc_with_hints, size, 1, 0) : NULL;
}
WEAK_TWIN(shmem_malloc_with_hints);

void pshmem_free(void *ptr)
{
    check_up("shmem_free");
    remote_flush();
    if (ptr)
        heap_free(ptr);
}
WEAK_TWIN(shmem_free);

void *pshmem_realloc(void *ptr, size_t size)
{
    check_up("shmem_realloc");
    remote_flush();
    if (!ptr)
        return size ? heap_malloc(CALL_realloc, size, 1, 0) : NULL;
    if (size)
        return heap_realloc(ptr, size);
    heap_free(ptr);
    return NULL;
}
WEAK_TWIN(shmem_realloc);

// ---- Deprecated
void *pshmalloc(size_t size)
{
    return pshmem_malloc(size);
}
WEAK_TWIN(shmalloc);

void pshfree(void *ptr)
{
    pshmem_free(ptr);
}
WEAK_TWIN(shfree);

void *pshrealloc(void *ptr, size_t size)
{
    return pshmem_realloc(ptr, size);
}
WEAK_TWIN(shrealloc);

void *pshmemalign(size_t alignment, size_t size)
{
    return pshmem_align(alignment, size);
}
WEAK_TWIN(shmemalign);
