// SPDX-License-Identifier: BSD-3-Clause
// Symmetric static data: the main program's writable segment is copied into the job's file and
// mapped again where it was, shared.
//
//     PT_LOAD (rw)   | .data.rel.ro (PT_GNU_RELRO) | .data | .bss |
//                                                  ^ data         ^ data + data_size, whole pages
//
// In the file the PEs' segments lie DATA_STRIDE apart, so that programs of different size (an
// error, found when all are up) cannot overwrite each other before they are told.
// A forked child must not share its variables with the PE: it gets a private copy, made in the
// parent before the fork and moved over the segment in the child.
#include "data.h"

#include "call.h"
#include "cpus.h"
#include "dump.h"
#include "log.h"
#include "settings.h"
#include "world.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA_STRIDE (1ULL << 40)

struct segment {
    uintptr_t start, file_end, end, relro_end;
    uint64_t hash;
};

int data_quiet_threads;

static off_t data_offset(const struct job *job, int slot)
{
    return (off_t)(job->header_size + (uint64_t)job->slots * job->slice_size +
                   (uint64_t)slot * DATA_STRIDE);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

// The first object is the main program. Its layout, and its build id when it has one, make the hash.
static int find_segment(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    struct segment *s = out;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + ph->p_vaddr, end = start + ph->p_memsz;
        if (ph->p_type == PT_LOAD || ph->p_type == PT_GNU_RELRO)
            s->hash = hash_bytes(s->hash, &ph->p_vaddr,
                                 sizeof ph->p_vaddr + sizeof ph->p_paddr + sizeof ph->p_filesz +
                                     sizeof ph->p_memsz);
        if (ph->p_type == PT_NOTE)
            s->hash = hash_bytes(s->hash, (void *)start, ph->p_filesz);
        if (ph->p_type == PT_GNU_RELRO)
            s->relro_end = end;
        if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W)) {
            s->start = start;
            s->file_end = start + ph->p_filesz;
            s->end = end;
        }
    }
    return 1;
}

static int thread_count(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) ? 1 : (int)st.st_nlink - 2;
}

// Copies the initialized variables, and of the others, which begin at file_end, the pages that were
// ever touched: the rest of those reads as zero in the file too. (A page of initialized variables
// that nobody touched is not mapped yet, and is anything but zero.) Where /proc/self/pagemap cannot
// be read every page counts as touched.
static int copy_pages(int fd, off_t offset, uintptr_t start, uintptr_t file_end, uintptr_t end)
{
    enum { BATCH = 512 };
    uint64_t entry[BATCH];
    uintptr_t page = page_size();
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    int failed = 0;
    for (uintptr_t at = start; at < end && !failed;) {
        size_t n = (end - at) / page < BATCH ? (end - at) / page : BATCH;
        if (pagemap < 0 || pread(pagemap, entry, n * 8, (off_t)(at / page * 8)) != (ssize_t)n * 8)
            memset(entry, 0xff, sizeof entry);
        for (size_t i = 0; i < n && !failed; i++, at += page)
            if (at < file_end || entry[i] >> 62) // present or swapped
                failed = pwrite(fd, (void *)at, page, offset + (off_t)(at - start)) !=
                         (ssize_t)page;
    }
    if (pagemap >= 0)
        close(pagemap);
    return failed ? -1 : 0;
}

// The handlers run in the thread that forks, and several may; not in the segment that moves either.
static TLS_FAST void *fork_copy;

// Is world.job_fd still the job's file? A program may close all it did not open itself.
static struct stat job_file;
static bool job_is_open(void)
{
    struct stat st;
    return fstat(world.job_fd, &st) == 0 && st.st_ino == job_file.st_ino &&
           st.st_dev == job_file.st_dev;
}

// By no call that a sanitizer looks into: it objects to the gaps between variables.
__attribute__((no_sanitize_address, no_sanitize_thread)) static void copy_plainly(void *to,
                                                                                  const void *from,
                                                                                  size_t n)
{
    for (size_t i = 0; i < n / sizeof(uint64_t); i++)
        ((volatile uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}

// Only what the file really holds is copied; the rest of the private copy stays zero.
static void before_fork(void)
{
    if (world.forked) // its data is private already
        return;
    fork_copy = mmap(NULL, world.data_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                     0);
    if (fork_copy == MAP_FAILED)
        fatal("fork: no memory for a private copy of %zu bytes of static data", world.data_size);
    if (!job_is_open()) {
        copy_plainly(fork_copy, (void *)world.data, world.data_size);
        return;
    }
    off_t base = data_offset(world.job, world.job->pe[world.me].slot),
          last = base + (off_t)world.data_size;
    for (off_t at = base; (at = lseek(world.job_fd, at, SEEK_DATA)) >= 0 && at < last;) {
        off_t hole = lseek(world.job_fd, at, SEEK_HOLE);
        hole = hole < 0 || hole > last ? last : hole;
        // Read, not copied: a sanitizer objects to the gaps between variables.
        ssize_t n = pread(world.job_fd, (char *)fork_copy + (at - base), (size_t)(hole - at), at);
        if (n <= 0)
            fatal("fork: cannot copy the static data: %s", strerror(errno));
        at += n;
    }
}

static void in_parent(void)
{
    if (!world.forked)
        munmap(fork_copy, world.data_size);
}

// Nothing reaches other PEs directly from now on, so every call comes to its check.
static void mark_child(void)
{
    world.forked = true;
    world.direct_count = 0;
    call_slot = NULL;
}

static void in_child(void)
{
    if (world.forked)
        return;
    if (mremap(fork_copy, world.data_size, world.data_size, MREMAP_MAYMOVE | MREMAP_FIXED,
               (void *)world.data) == MAP_FAILED)
        fatal("fork: the child cannot have its own static data: %s", strerror(errno));
    mark_child();
}

void data_alone_forks(void)
{
    pthread_atfork(NULL, NULL, mark_child);
}

void data_forget(int fd, const struct job *job, struct pe_ctl *ctl, int pe)
{
    // Pages that the next one never touched have to read as zero.
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  data_offset(job, job->pe[pe].slot), DATA_STRIDE))
        fatal("cannot clear the static data of an earlier process: %s", strerror(errno));
    ctl->data_size = ctl->data_hash = 0;
    atomic_store_explicit(&ctl->call, 0, memory_order_relaxed);
}

// What data_move is about: the segment's pages, of which the initialized ones end at file_end.
static int share_pages(int fd, const struct job *job, int slot, uintptr_t start, uintptr_t file_end,
                       uintptr_t end)
{
    off_t offset = data_offset(job, slot), size = data_offset(job, job->slots);
    struct rlimit limit;
    if (!job_raise_limit((uint64_t)size, &limit))
        return -1;
    bool failed = fstat(fd, &job_file) || (job_file.st_size < size && ftruncate(fd, size)) ||
                  copy_pages(fd, offset, start, file_end, end) ||
                  mmap((void *)start, end - start, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       fd, offset) == MAP_FAILED;
    int error = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = error;
    return failed ? -1 : 0;
}

void data_move(int fd, const struct job *job, struct pe_ctl *ctl, int me)
{
    struct segment s = {.hash = 0xcbf29ce484222325u};
    dl_iterate_phdr(find_segment, &s);
    ctl->data_hash = settings.static_data ? s.hash : 0; // else programs may differ
    uintptr_t start = s.relro_end > s.start && s.relro_end <= s.end ? s.relro_end : s.start;
    uintptr_t page = page_size();
    start &= -page; // the loader protects whole pages only, so this one can be written to
    uintptr_t end = (s.end + page - 1) & -page;
    bool has_others = thread_count() > 1 + data_quiet_threads;
    if (!settings.static_data || job->npes == 1 || end <= start || has_others) {
        if (has_others)
            log_line(LOG_WARN, LOG_DATA,
                     "the process had %d threads already when it joined the job: global variables "
                     "are not symmetric (a script should start it by exec)",
                     thread_count());
        pthread_atfork(NULL, NULL, mark_child);
        return;
    }
    if (share_pages(fd, job, job->pe[me].slot, start, s.file_end, end))
        fatal("cannot make %zu bytes of static data symmetric: %s; SHOAL_STATIC=0 does without%s",
              end - start, strerror(errno), errno == EFBIG ? ", or raise `ulimit -f`" : "");
    world.data = start;
    world.data_size = end - start;
    ctl->data_size = end - start;
    pthread_atfork(before_fork, in_parent, in_child);
    log_line(LOG_DEBUG, LOG_DATA, "static data: %zu bytes at %p", end - start, (void *)start);
}

// A single PE is its own and only peer: its variables stay where the loader put them.
static void data_alone(void)
{
    struct segment s = {0};
    dl_iterate_phdr(find_segment, &s);
    world.data = s.start;
    world.data_size = s.end - s.start;
    world.data_peers = (char *)s.start;
}

int data_map_peers(void)
{
    if (world.npes == 1 && settings.static_data) {
        data_alone();
        return 0;
    }
    const struct pe_ctl *first = world_ctl(world.first), *own = world_ctl(world.me);
    if (own->data_hash != first->data_hash || own->data_size != first->data_size) {
        log_line(LOG_ERROR, LOG_DATA,
                 "PE %d and PE %d run different programs (static data of %lu "
                 "and %lu bytes): start one executable, or set SHOAL_STATIC=0",
                 world.me, world.first, (unsigned long)own->data_size,
                 (unsigned long)first->data_size);
        return -1;
    }
    if (!world.data_size)
        return 0;
    int span = world.end - world.first;
    char *all = mmap(NULL, (size_t)span * world.data_size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int i = 0; i < span && all != MAP_FAILED; i++)
        if (world_is_here(world.first + i) &&
            mmap(all + (size_t)i * world.data_size, world.data_size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, world.job_fd,
                 data_offset(world.job, world.job->pe[world.first + i].slot)) == MAP_FAILED)
            all = MAP_FAILED;
    if (all == MAP_FAILED) {
        log_line(LOG_ERROR, LOG_DATA,
                 "cannot map the static data of %d PEs: %s; SHOAL_STATIC=0 "
                 "does without",
                 span, strerror(errno));
        return -1;
    }
    dump_leave_out(all, (size_t)span * world.data_size);
    world.data_peers = (char *)((uintptr_t)all - (size_t)world.first * world.data_size);
    return 0;
}
