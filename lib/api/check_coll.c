// SPDX-License-Identifier: BSD-3-Clause
// Checks of what collective calls are given. See check_coll.h.
#include "check_coll.h"

#include "log.h"
#include "remote.h"
#include "settings.h"
#include "shmem.h"

bool check_team(const char *call, struct shoal_team *team)
{
    check_up(call);
    if (team == SHMEM_TEAM_INVALID)
        return false;
    if (team->magic != TEAM_MAGIC)
        fatal("%s: %p is not a team, or a destroyed one", call, (void *)team);
    return true;
}

void check_root(const char *call, int root, int size)
{
    if (root < 0 || root >= size)
        fatal("%s: argument PE_root is %d, the team has PEs 0 to %d", call, root, size - 1);
}

void check_buffers(const char *call, const void *dest, size_t dest_bytes, const void *source,
                   size_t source_bytes)
{
    if (!settings.check)
        return;
    check_symmetric(call, "dest", dest, dest_bytes);
    check_symmetric(call, "source", source, source_bytes);
}

void check_in_place(const char *call, const void *dest, const void *source, size_t bytes)
{
    check_buffers(call, dest, bytes, source, bytes);
    uintptr_t to = (uintptr_t)dest, from = (uintptr_t)source;
    if (settings.check && to != from && (to < from ? from - to : to - from) < bytes)
        fatal("%s: arguments dest and source overlap in part: they must be the same or apart",
              call);
}

// Bytes from the first to the end of the last of n > 0 elements.
static size_t span(size_t n, ptrdiff_t stride, size_t size)
{
    size_t last;
    if (__builtin_mul_overflow(n - 1, (size_t)stride, &last) || last == SIZE_MAX)
        return SIZE_MAX;
    return BYTES_OF(last + 1, size);
}

void check_alltoall(const char *call, const void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int npes)
{
    if (dst < 1 || sst < 1)
        fatal("%s: arguments dst %td and sst %td must be at least 1", call, dst, sst);
    size_t all = BYTES_OF(nelems, npes);
    if (all)
        check_buffers(call, dest, span(all, dst, size), source, span(all, sst, size));
}

struct group check_active_set(const char *call, int start, int log_stride, int size, long *psync)
{
    check_up(call);
    if (log_stride < 0 || log_stride > 20 || size < 1 || start < 0 ||
        start + ((long)(size - 1) << log_stride) >= world.npes)
        fatal("%s: arguments PE_start %d, logPE_stride %d, PE_size %d: no such active set among "
              "%d PEs", call, start, log_stride, size, world.npes);
    struct group g = group_of_active_set(start, 1 << log_stride, size, psync);
    if (g.me < 0)
        fatal("%s: called on a PE outside the active set: PE_start %d, logPE_stride %d, PE_size "
              "%d", call, start, log_stride, size);
    if (!g.team)
        check_symmetric(call, "pSync", psync, SHMEM_SYNC_SIZE * sizeof *psync);
    return g;
}
