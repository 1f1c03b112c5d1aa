// SPDX-License-Identifier: BSD-3-Clause
// Tells of memory that the program unmaps, by userfaultfd(2): a range that is watched costs nothing
// until then, and no access to it is ever held up.
//
// Whoever unmaps (munmap, mremap, mmap over it, a heap that shrinks) waits in the kernel until the
// thread here has read that; so this thread waits for nobody, and neither allocates nor frees.
#ifndef SHOAL_BASE_UNMAP_H
#define SHOAL_BASE_UNMAP_H

#include <stddef.h>
#include <stdint.h>

// Called by that thread, under its rules. Something was unmapped: `begin` comes before whoever did it
// may go on, then `gone` for each range, of which but a part may be watched, then `end`. `emptied`: it
// is still mapped, but its pages have been given back (madvise, as allocators do), and others will come.
struct unmap_calls {
    void (*begin)(void);
    void (*gone)(uintptr_t from, uintptr_t to);
    void (*emptied)(uintptr_t from, uintptr_t to);
    void (*end)(void);
};

enum unmap_status {
    UNMAP_WATCHED,
    UNMAP_CANNOT, // of this kind of memory, such as a mapped file, the kernel does not tell
    UNMAP_NEVER,  // nor of any: it does not know userfaultfd, or forbids it
};

// Whole pages, and the same functions always.
enum unmap_status unmap_watch(const void *base, size_t n, const struct unmap_calls *calls);
void unmap_forget(const void *base, size_t n);

// When it returns `end` has come for all that was unmapped before; unmap_settle_all: also for what
// other threads are about to return from, the addresses of which may be in use again.
void unmap_settle(void);
void unmap_settle_all(void);

void unmap_down(void); // forgets all; nobody unmaps meanwhile who must be heard

#endif
