// SPDX-License-Identifier: BSD-3-Clause
// Places and copies between them. Private memory of a peer is reached by process_vm_readv and
// process_vm_writev where the kernel allows. See place.h.
#include "place.h"

#include "copy.h"
#include "log.h"
#include "remote.h"
#include "settings.h"
#include "shoal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

enum {
    BOUNCE = 16384,                   // bytes of memory on the stack
    AROUND = HOSTILE ? 4096 : 131072, // and of that for slow copies of one thread
    SLOW_PART = 4 * COPY_LEAST,       // of less a slow copy takes no longer than a call of its own
    LINE = 64,
    NOWHERE = 64, // no process has anything mapped there
};

// `each` bytes a PE, from the node's first on.
static struct place place_in(enum space space, uintptr_t offset, size_t each)
{
    return (struct place){world.first + (int32_t)(offset / each), space, offset % each};
}

struct place place_of(const void *addr)
{
    uintptr_t own = (uintptr_t)addr - (uintptr_t)world.ctl;
    if (own < (uintptr_t)world.slice_size)
        return (struct place){world.me, SPACE_SLICE, own};
    if (world_in_data(addr, 1))
        return (struct place){world.me, SPACE_DATA, (uintptr_t)addr - world.data};
    size_t slice = (size_t)world.slice_size, first = (size_t)world.first;
    size_t pes = (size_t)(world.end - world.first);
    uintptr_t all = (uintptr_t)addr - ((uintptr_t)world.slices + first * slice);
    if (all < slice * pes)
        return place_in(SPACE_SLICE, all, slice);
    uintptr_t data = (uintptr_t)addr - ((uintptr_t)world.data_peers + first * world.data_size);
    if (world.data_peers && data < world.data_size * pes)
        return place_in(SPACE_DATA, data, world.data_size);
    return (struct place){world.me, SPACE_PRIVATE, (uintptr_t)addr};
}

typedef ssize_t cross_copy_fn(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                              unsigned long, unsigned long);

// Not there, or only with the owner's help: because the call is not allowed, or the process is gone,
// which is the business of who would ask for help.
static int refused(int error)
{
    return error == EFAULT ? SHOAL_EFAULT : SHOAL_EAGAIN;
}

// 0, SHOAL_EAGAIN or SHOAL_EFAULT as refused has it.
static int cross_copy(cross_copy_fn *how, int pe, uint64_t there, void *here, size_t n)
{
    pid_t pid = atomic_load_explicit(&world_ctl(pe)->pid, memory_order_relaxed);
    for (size_t done = 0; done < n;) {
        struct iovec local = {(char *)here + done, n - done};
        struct iovec remote = {(void *)(uintptr_t)(there + done), n - done};
        ssize_t got = how(pid, &local, 1, &remote, 1, 0);
        if (got < 0 && errno != EINTR)
            return refused(errno);
        if (got == 0)
            return SHOAL_EFAULT;
        if (got > 0)
            done += (size_t)got;
    }
    return SHOAL_OK;
}

// The kernel copies page by page, so where both ends lie in theirs tells whether its copy is slow (copy.h).
static bool is_slow(bool put, uint64_t there, const void *here)
{
    const void *far = (const void *)(uintptr_t)there;
    return copy_is_worst(put ? far : here, put ? here : far);
}

// Then by way of memory here that lies in its line as the other end does.
static int cross_by(char *room, size_t most, bool put, int pe, uint64_t there, char *here, size_t n)
{
    char *between = room + (there - (uintptr_t)room) % LINE;
    int status = SHOAL_OK;
    for (size_t part; n && !status; n -= part, there += part, here += part) {
        part = n < most ? n : most;
        if (put)
            copy_bytes(between, here, part);
        status = cross_copy(put ? process_vm_writev : process_vm_readv, pe, there, between, part);
        if (!put && !status)
            copy_bytes(here, between, part);
    }
    return status;
}

// A call of the kernel takes as long as to copy 16 KB, so the room is larger, but for one thread.
static NOINLINE int cross_around(bool put, int pe, uint64_t there, char *here, size_t n)
{
    static char large[AROUND + LINE];
    static _Atomic bool is_taken;
    if (n > BOUNCE && !atomic_exchange_explicit(&is_taken, true, memory_order_acquire)) {
        int status = cross_by(large, AROUND, put, pe, there, here, n);
        atomic_store_explicit(&is_taken, false, memory_order_release);
        return status;
    }
    char few[BOUNCE + LINE];
    return cross_by(few, BOUNCE, put, pe, there, here, n);
}

static int cross(bool put, int pe, uint64_t there, void *here, size_t n)
{
    if (unlikely(is_slow(put, there, here)) && n >= COPY_LEAST)
        return cross_around(put, pe, there, here, n);
    return cross_copy(put ? process_vm_writev : process_vm_readv, pe, there, here, n);
}

// Valgrind knows nothing of what other processes write to memory that it watches: it would call that undefined.
static int probe(int pe)
{
    // In another namespace the number of its process may be that of a stranger, or our own. Of writing,
    // any answer other than "not allowed" shows that the call works.
    const struct pe_ctl *ctl = world_ctl(pe);
    uint64_t word = 0;
    return !job_is_checked() &&
           cross_copy(process_vm_readv, pe, ctl->proof_at, &word, sizeof word) == SHOAL_OK &&
           word == ctl->proof &&
           cross_copy(process_vm_writev, pe, NOWHERE, &word, sizeof word) != SHOAL_EAGAIN;
}

int place_reaches_private(int pe)
{
    enum { UNKNOWN, YES, NO };
    static _Atomic(_Atomic unsigned char *) known;
    if (pe == world.me)
        return 1;
    if (!settings.cross_memory || !world_is_here(pe))
        return 0;
    _Atomic unsigned char *table = atomic_load_explicit(&known, memory_order_acquire);
    if (!table) {
        _Atomic unsigned char *fresh = calloc((size_t)world.npes, 1);
        if (!fresh)
            return 0;
        if (atomic_compare_exchange_strong(&known, &table, fresh))
            table = fresh;
        else
            free((void *)fresh);
    }
    unsigned char answer = atomic_load_explicit(&table[pe], memory_order_relaxed);
    if (answer == UNKNOWN) {
        answer = probe(pe) ? YES : NO;
        atomic_store_explicit(&table[pe], answer, memory_order_relaxed);
        log_line(LOG_DEBUG, LOG_RMA, "private memory of PE %d: %s", pe,
                 answer == YES ? "process_vm_readv and writev" : "only with its help");
    }
    return answer == YES;
}

// The kernel may stop between two pieces: then what is left is told again.
static int cross_pieces(bool put, int pe, const struct iovec *own, const struct iovec *there,
                        size_t n)
{
    cross_copy_fn *how = put ? process_vm_writev : process_vm_readv;
    pid_t pid = atomic_load_explicit(&world_ctl(pe)->pid, memory_order_relaxed);
    for (size_t i = 0; i < n;) {
        ssize_t got = how(pid, own + i, n - i, there + i, n - i, 0);
        if (got < 0 && errno != EINTR)
            return refused(errno);
        size_t done = got > 0 ? (size_t)got : 0, first = i;
        for (; i < n && done >= own[i].iov_len; i++)
            done -= own[i].iov_len;
        if (got >= 0 && i == first) { // within a piece, as where it is longer than one call takes
            int status = got > 0 ? cross_copy(how, pe, (uintptr_t)there[i].iov_base + done,
                                              (char *)own[i].iov_base + done, own[i].iov_len - done)
                                 : SHOAL_EFAULT;
            if (status)
                return status;
            i++;
        }
    }
    return SHOAL_OK;
}

static bool is_slow_part(bool put, const struct iovec *own, const struct iovec *there)
{
    return own->iov_len >= SLOW_PART && is_slow(put, (uintptr_t)there->iov_base, own->iov_base);
}

int place_copy_private(int pe, bool put, const struct iovec *own, const struct iovec *there,
                       size_t n)
{
    if (!place_reaches_private(pe))
        return SHOAL_EAGAIN;
    if (n == 1)
        return cross(put, pe, (uintptr_t)there->iov_base, own->iov_base, own->iov_len);
    int status = SHOAL_OK;
    for (size_t i = 0, run; i < n && !status; i += run) {
        for (run = 0; i + run < n && !is_slow_part(put, own + i + run, there + i + run); run++)
            ;
        if (run) {
            status = cross_pieces(put, pe, own + i, there + i, run);
        } else {
            status = cross_around(put, pe, (uintptr_t)there[i].iov_base, own[i].iov_base,
                                  own[i].iov_len);
            run = 1;
        }
    }
    return status;
}

// One end is symmetric memory of another node, the other is mapped here.
static int copy_far(struct place to, struct place from, void *to_here, void *from_here, size_t n)
{
    bool puts = from_here != NULL;
    struct place far = puts ? to : from;
    const void *own = far.space == SPACE_SLICE ? (void *)(world.ctl + far.offset)
                                               : (void *)(world.data + far.offset);
    if (puts)
        remote_store(far.pe, (void *)own, from_here, n);
    else
        remote_load(far.pe, own, to_here, n, false);
    return SHOAL_OK;
}

static bool is_far_symmetric(struct place p)
{
    return p.space != SPACE_PRIVATE && !world_is_here(p.pe);
}

static int copy_private(struct place to, struct place from, size_t n, int *needs)
{
    void *to_here = place_here(to), *from_here = place_here(from);
    int far = to_here ? from.pe : to.pe;
    if ((from_here && is_far_symmetric(to)) || (to_here && is_far_symmetric(from)))
        return copy_far(to, from, to_here, from_here, n);
    *needs = far; // also when only one of the two calls is allowed
    if (!place_reaches_private(far))
        return SHOAL_EAGAIN;
    if (to_here)
        return cross(false, from.pe, from.offset, to_here, n);
    if (from_here)
        return cross(true, to.pe, to.offset, from_here, n);
    char bounce[BOUNCE];
    for (size_t part; n; n -= part, to.offset += part, from.offset += part) {
        part = n < BOUNCE ? n : BOUNCE;
        struct place between = place_of(bounce);
        int status = copy_private(between, from, part, needs);
        if (!status)
            status = copy_private(to, between, part, needs);
        if (status)
            return status;
    }
    return SHOAL_OK;
}

int place_copy(struct place to, struct place from, size_t n, int *needs)
{
    void *to_here = place_here(to), *from_here = place_here(from);
    if (n == 0)
        return SHOAL_OK;
    if (unlikely(!to_here || !from_here))
        return copy_private(to, from, n, needs);
    copy_move(to_here, from_here, n);
    return SHOAL_OK;
}
