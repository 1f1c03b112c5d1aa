// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alloc_mem: memory that other processes reach by load and store, as long as there is some; then
// the system's, which is kept in a list sorted by address so that MPI_Free_mem knows it.
#include "check.h"
#include "info.h"

#include <pthread.h>
#include <shoal.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void **private_blocks;
static size_t blocks, room;

// Where p is in the list, or belongs.
static size_t place_of(const void *p)
{
    size_t low = 0, high = blocks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)private_blocks[middle] < (uintptr_t)p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool list_add(void *p)
{
    pthread_mutex_lock(&lock);
    bool fits = blocks < room;
    if (!fits) {
        size_t more = room ? 2 * room : 16;
        void **grown = realloc(private_blocks, more * sizeof *grown);
        if (grown) {
            private_blocks = grown;
            room = more;
            fits = true;
        }
    }
    if (fits) {
        size_t i = place_of(p);
        memmove(private_blocks + i + 1, private_blocks + i,
                (blocks++ - i) * sizeof *private_blocks);
        private_blocks[i] = p;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

static bool list_remove(const void *p)
{
    pthread_mutex_lock(&lock);
    size_t i = place_of(p);
    bool found = i < blocks && private_blocks[i] == p;
    if (found)
        memmove(private_blocks + i, private_blocks + i + 1,
                (--blocks - i) * sizeof *private_blocks);
    pthread_mutex_unlock(&lock);
    return found;
}

static void *private_alloc(size_t size, size_t alignment)
{
    void *p = NULL;
    if (posix_memalign(&p, alignment, size))
        return NULL;
    if (list_add(p))
        return p;
    free(p);
    return NULL;
}

MPI_DEFINE(int, Alloc_mem, MPI_Aint size, MPI_Info info, void *baseptr)
{
    static const char call[] = "MPI_Alloc_mem";
    struct info *i;
    int error = check_pointer(call, NULL, "baseptr", baseptr);
    if (!error)
        error = info_check(info, NULL, call, &i);
    if (error)
        return error;
    if (size < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "size %lld is negative", (long long)size);
    size_t alignment = info_alignment(i), n = size ? (size_t)size : 1;
    if (!alignment)
        return raise_on(NULL, MPI_ERR_INFO_VALUE, call, INFO_ALIGNMENT " is not a power of two");
    void *p = alignment == INFO_ALIGNED ? shoal_alloc(n) : NULL;
    if (!p)
        p = private_alloc(n, alignment);
    if (!p)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "there are no %zu bytes", n);
    *(void **)baseptr = p;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Free_mem, void *base)
{
    if (!base)
        return MPI_SUCCESS; // what MPI_Alloc_mem of other libraries gives for no bytes
    if (list_remove(base)) {
        free(base);
        return MPI_SUCCESS;
    }
    if (shoal_free(base))
        return raise_on(NULL, MPI_ERR_BASE, "MPI_Free_mem", "base is not from MPI_Alloc_mem");
    return MPI_SUCCESS;
}
