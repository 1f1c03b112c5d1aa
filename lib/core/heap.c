// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap: one allocator per PE over the same offsets, all in step. See heap.h.
#include "heap.h"

#include "boot.h"
#include "coll.h"
#include "cpus.h"
#include "dump.h"
#include "log.h"
#include "remote.h"
#include "settings.h"
#include "tlsf.h"
#include "world.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PUNCH_LEAST (1UL << 20) // zeroing more than this gives the pages back instead

static struct tlsf *space;
static unsigned operations; // collective heap calls so far: the parity picks the record
static size_t dumped;       // of the heap, from its start on, in whatever life of the library

// By address, not by world.job_fd: the program may have closed that, and its number may by now be one
// of the user's files.
static int punch(uintptr_t from, uintptr_t to)
{
    return madvise((void *)from, to - from, MADV_REMOVE);
}

int heap_up(void)
{
    space = tlsf_create(world.heap_size);
    operations = 0;
    if (!space)
        log_line(LOG_ERROR, LOG_HEAP, "no memory for the symmetric heap's records");
    log_line(LOG_DEBUG, LOG_HEAP, "symmetric heap: %zu bytes at %#lx", world.heap_size, world.heap);
    if (world.heap_size > 8 * JOB_HEAP_CHECKED && !settings.symmetric_size && job_is_checked())
        log_line(
            LOG_WARN, LOG_HEAP,
            "valgrind reads all of the symmetric heaps when the program ends, %zu bytes "
            "of each PE, and makes pages of them; SHMEM_SYMMETRIC_SIZE=64M, or --leak-check=no, avoids that",
            world.heap_size);
    return space ? 0 : -1;
}

// The pages go back to the system, and read as zero if the library is initialized again.
void heap_down(void)
{
    punch(world.heap, world.heap + world.heap_size);
    tlsf_destroy(space);
    space = NULL;
}

static void zero(void *ptr, size_t size)
{
    uintptr_t from = (uintptr_t)ptr, to = from + size;
    uintptr_t page = page_size(), first = (from + page - 1) & -page, last = to & -page;
    if (size < PUNCH_LEAST || punch(first, last)) {
        memset(ptr, 0, size);
        return;
    }
    memset(ptr, 0, first - from);
    memset((void *)last, 0, to - last);
}

static const char *describe(const struct call_record *r, char text[64])
{
    if (r->b > 1)
        snprintf(text, 64, "%s(%lu, %lu)", call_name(r->call), (unsigned long)r->a,
                 (unsigned long)r->b);
    else // an alignment that nobody asked for, or nothing
        snprintf(text, 64, "%s(%lu)", call_name(r->call), (unsigned long)r->a);
    return text;
}

// Synchronizes all PEs and checks that they were given the same. Two records suffice: a PE writes
// the next but one only after a synchronization that every reader of this one has entered.
static void agree(enum call_id call, uint64_t a, uint64_t b)
{
    struct call_record mine = {call, a, b};
    unsigned parity = operations++ & 1;
    world_ctl(world.me)->record[parity] = mine;
    coll_barrier_world();
    if (!settings.check)
        return;
    struct call_record other;
    const struct call_record *first = &world_ctl(0)->record[parity];
    if (!world_is_here(0)) {
        remote_load(0, &world_ctl(world.me)->record[parity], &other, sizeof other, false);
        first = &other;
    }
    if (memcmp(first, &mine, sizeof mine) == 0)
        return;
    if (!first->call || first->call >= CALL_COUNT)
        fatal("%s here, but another collective call on PE 0: all PEs must make the same calls",
              call_name(call));
    char here[64], there[64];
    fatal("%s here, but %s on PE 0: all PEs must call it with the same arguments",
          describe(&mine, here), describe(first, there));
}

static void explain(enum call_id call, size_t size)
{
    if (world.me == 0)
        log_line(LOG_WARN, LOG_HEAP,
                 "%s: %zu bytes asked, %zu left (largest piece %zu) of a "
                 "symmetric heap of %zu; SHMEM_SYMMETRIC_SIZE raises it",
                 call_name(call), size, tlsf_available(space), tlsf_largest(space),
                 world.heap_size);
}

static void tell(enum call_id call, size_t size, const void *ptr)
{
    log_line(LOG_DEBUG, LOG_HEAP, "%s: %zu bytes at %p, %zu left", call_name(call), size, ptr,
             tlsf_available(space));
}

static void *address(size_t offset)
{
    return (void *)(world.heap + offset);
}

// The offset of a new block, or TLSF_NONE.
static size_t allocate(size_t size, size_t align)
{
    size_t offset = tlsf_alloc(space, size, align);
    if (offset != TLSF_NONE)
        dump_take_in(address(0), world.heap_size, &dumped, offset + size);
    return offset;
}

// The offset of a block in use, or the end of the program.
static size_t offset_of(enum call_id call, void *ptr)
{
    size_t offset = (uintptr_t)ptr - world.heap;
    if (!world_in_heap(ptr, 1))
        fatal("%s: %p is not in the symmetric heap: pass what shmem_malloc returned",
              call_name(call), ptr);
    if (!tlsf_size(space, offset))
        fatal("%s: no block in use starts at %p: freed twice, or not what shmem_malloc returned",
              call_name(call), ptr);
    return offset;
}

void *heap_malloc(enum call_id call, size_t size, size_t align, int zeroed)
{
    call_enter(call);
    size_t offset = align <= HEAP_ALIGN ? allocate(size, align) : TLSF_NONE;
    void *ptr = offset == TLSF_NONE ? NULL : address(offset);
    if (ptr && zeroed)
        zero(ptr, size);
    agree(call, size, align);
    if (!ptr)
        explain(call, size);
    tell(call, size, ptr);
    call_leave();
    return ptr;
}

void *heap_realloc(void *ptr, size_t size)
{
    call_enter(CALL_realloc);
    size_t offset = offset_of(CALL_realloc, ptr);
    agree(CALL_realloc, offset, size);
    if (tlsf_resize(space, offset, size) == 0) {
        dump_take_in(address(0), world.heap_size, &dumped, offset + size);
    } else {
        size_t kept = tlsf_size(space, offset), moved = allocate(size, 1);
        if (moved == TLSF_NONE) {
            ptr = NULL;
            explain(CALL_realloc, size);
        } else {
            ptr = memcpy(address(moved), ptr, kept < size ? kept : size);
            tlsf_free(space, offset);
        }
    }
    tell(CALL_realloc, size, ptr);
    coll_barrier_world();
    call_leave();
    return ptr;
}

void heap_free(void *ptr)
{
    call_enter(CALL_free);
    size_t offset = offset_of(CALL_free, ptr);
    size_t size = tlsf_size(space, offset);
    agree(CALL_free, offset, 0);
    tlsf_free(space, offset);
    tell(CALL_free, size, ptr);
    call_leave();
}
