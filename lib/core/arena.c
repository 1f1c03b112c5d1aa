// SPDX-License-Identifier: BSD-3-Clause
// The arena: see arena.h.
#include "arena.h"

#include "dump.h"
#include "log.h"
#include "shoal.h"
#include "tlsf.h"
#include "world.h"

#include <pthread.h>
#include <stdint.h>

static struct tlsf *space;
static size_t dumped; // from its start on, in whatever life of the library
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of both

static char *start(void)
{
    return (char *)world.heap + world.heap_size;
}

int arena_up(void)
{
    space = tlsf_create(world.job->arena_size);
    if (!space)
        log_line(LOG_ERROR, LOG_HEAP, "no memory for the arena's records");
    return space ? 0 : -1;
}

void arena_down(void)
{
    tlsf_destroy(space);
    space = NULL;
}

void *arena_alloc(size_t size)
{
    pthread_mutex_lock(&lock);
    size_t offset = tlsf_alloc(space, size ? size : 1, 1);
    if (offset != TLSF_NONE)
        dump_take_in(start(), world.job->arena_size, &dumped, offset + size);
    pthread_mutex_unlock(&lock);
    return offset == TLSF_NONE ? NULL : start() + offset;
}

int arena_free(void *ptr)
{
    size_t offset = (size_t)((uintptr_t)ptr - (uintptr_t)start());
    int status = SHOAL_OK;
    if (!ptr)
        return SHOAL_OK;
    if (offset >= world.job->arena_size)
        return SHOAL_EINVAL;
    pthread_mutex_lock(&lock);
    if (tlsf_size(space, offset))
        tlsf_free(space, offset);
    else
        status = SHOAL_EINVAL;
    pthread_mutex_unlock(&lock);
    return status;
}
