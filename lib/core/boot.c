// SPDX-License-Identifier: BSD-3-Clause
// Becoming a PE. When a launcher started the process, it joins the job before main, by a
// constructor, so that its static data moves while there is one thread; the rest waits for
// shmem_init. All of it waits where another program may come after this one, which would find that
// its place is taken. See job.h, data.h, and join.h for launchers other than oshrun.
#include "boot.h"

#include "call.h"
#include "data.h"
#include "dump.h"
#include "join.h"
#include "log.h"
#include "settings.h"
#include "standard.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Own heaps are put here when the address space allows, so that a symmetric object has the same
// address on every PE: far from programs, libraries and the sanitizers' shadows.
#define HEAP_HINT 0x300000000000u

static struct pe_ctl *early_ctl; // of the slot the constructor claimed
static char early_error[256];    // "": none, or it has been told,
static bool has_failed;          // which this says
static bool is_late;             // the place is taken by shmem_init

__attribute__((format(printf, 1, 2))) static void fail_early(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(early_error, sizeof early_error, format, args);
    va_end(args);
    has_failed = true;
}

// Has the process ended? Its parent may not have looked yet; a main thread may end before others.
static bool is_gone(pid_t pid)
{
    char path[64], text[512], state;
    int threads;
    if (kill(pid, 0))
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *after_name = strrchr(text, ')');
    return after_name &&
           sscanf(after_name + 1, " %c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%d", &state,
                  &threads) == 2 &&
           (state == 'Z' || state == 'X') && threads <= 1;
}

// A slot belongs to one process. A program that a PE starts inherits the environment, and must not
// take the PE's place; but one that has ended without joining leaves it to the next, and so it does
// to what it becomes by exec. Of several that come at once one gets it.
static bool claim(struct pe_ctl *ctl, int fd, const struct job *job, int pe)
{
    pid_t own = getpid();
    int32_t owner = 0;
    while (!atomic_compare_exchange_strong_explicit(&ctl->pid, &owner, own, memory_order_acq_rel,
                                                    memory_order_acquire))
        if ((owner != own && !is_gone(owner)) || atomic_load(&ctl->joins)) {
            fail_early(is_gone(owner)
                           ? "process %d has been this PE and has ended: a PE is one process, from "
                             "its first initialization on"
                           : "process %d is this PE already; unset " JOB_ENV_FD " to run a program "
                             "of its own",
                       (int)owner);
            return false;
        }
    if (owner)
        data_forget(fd, job, ctl, pe);
    ctl->state = PE_CLAIMED;
    return true;
}

// In containers a process may have another number, and that number be another process.
static void prove(void)
{
    static uint64_t proof; // not the same in any two PEs
    struct stat pids;
    proof = world.job->stamp ^ (uint64_t)(world.me + 1) * 0x9e3779b97f4a7c15u;
    early_ctl->proof = proof;
    early_ctl->proof_at = (uintptr_t)&proof;
    early_ctl->pids = stat("/proc/self/ns/pid", &pids) ? 0 : (uint64_t)pids.st_ino;
}

// Once: from here on the place is this process's for good.
static void publish_layout(void)
{
    if (atomic_exchange(&early_ctl->joins, 1))
        return;
    fcntl(world.job_fd, F_SETFD, FD_CLOEXEC);
    prove();
    // Pairs with the acquire load in wait_for_all: data_size and data_hash come before.
    atomic_fetch_add_explicit(&world.job->ready, 1, memory_order_release);
    bell_check(&world.job->bell);
}

static bool is_oshruns(void)
{
    return getenv(JOB_ENV_FD) && getenv(JOB_ENV_PE);
}

// The descriptor of the job and this PE's number: from oshrun's environment, or by joining another
// launcher's job. False: neither, or early_error says why not.
static bool find_job(int *fd, int *pe)
{
    bool is_ours = is_oshruns();
    if (!is_ours && !pmi_is_there())
        return false;
    if (settings_read()) {
        fail_early("a setting is wrong");
        return false;
    }
    log_configure(settings.debug ? "debug" : settings.log, false);
    if (!is_ours) {
        int joined = join_job(fd, pe);
        has_failed = joined < 0;
        return joined > 0;
    }
    *fd = atoi(getenv(JOB_ENV_FD));
    *pe = atoi(getenv(JOB_ENV_PE));
    return true;
}

// A debugger that started the launcher finds the PEs first, and looks where it likes.
static void wait_for_debugger(const struct job *job)
{
    while (atomic_load_explicit(&job->is_held, memory_order_acquire))
        usleep(1000);
}

static void take_place(void)
{
    int fd, pe;
    char why[JOB_WHY];
    if (!find_job(&fd, &pe))
        return;
    struct job *job = job_find(fd, why);
    if (!job) {
        fail_early("%s", why);
        return;
    }
    if (pe < 0 || pe >= job->npes || !(early_ctl = job_map_ctl(fd, job, pe))) {
        fail_early("the job's environment (" JOB_ENV_FD ", " JOB_ENV_PE ") is not valid here");
        return;
    }
    if (!claim(early_ctl, fd, job, pe))
        return;
    join_place(early_ctl);
    world.job = job;
    world.job_fd = fd;
    world.me = pe;
    world.npes = job->npes;
    call_slot = &early_ctl->call;
    wait_for_debugger(job);
    data_move(fd, job, early_ctl, pe);
}

__attribute__((constructor(101))) static void boot_early(void)
{
    bool is_others = !is_oshruns() && pmi_is_there();
    is_late = is_others && pmi_is_handed_down();
    if (is_others) {
        standard_hold();
        join_prepare(is_late);
    }
    if (!is_late)
        take_place();
}

static int boot_alone(void)
{
    int fd = job_create(1, 1, settings.symmetric_size, 0);
    if (fd < 0)
        return -1;
    world.job = job_open(fd);
    if (!world.job) {
        close(fd);
        return -1;
    }
    world.job_fd = fd;
    world.me = 0;
    world.npes = 1;
    world.job->ready = 1;
    data_alone_forks();
    return 0;
}

// After mlockall(MCL_FUTURE) all that is mapped, and may be used, is filled at once.
static bool is_filled(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char is_there = 0;
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (mincore(p, page, &is_there))
        is_there = 0;
    munmap(p, page);
    return is_there & 1;
}

static bool map_at(char *at, size_t n, size_t offset)
{
    enum { USED = PROT_READ | PROT_WRITE };
    bool unlocks = is_filled();
    char *to = mmap(at, n, unlocks ? PROT_NONE : USED, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
                    world.job_fd, (off_t)(world.job->header_size + offset));
    return to != MAP_FAILED && (!unlocks || (munlock(to, n) == 0 && mprotect(to, n, USED) == 0));
}

static char *reserve(char *at, size_t n)
{
    return mmap(at, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// Where the hint was no use: anywhere, but with the own heap on a multiple of HEAP_ALIGN.
static char *reserve_aligned(size_t all, size_t before)
{
    char *room = reserve(NULL, all + HEAP_ALIGN);
    if (room == MAP_FAILED)
        return room;
    uintptr_t heap = ((uintptr_t)room + before + HEAP_ALIGN - 1) & ~(HEAP_ALIGN - 1);
    char *at = (char *)(heap - before), *end = at + all;
    if (at > room)
        munmap(room, (size_t)(at - room));
    if (end < room + all + HEAP_ALIGN)
        munmap(end, (size_t)(room + all + HEAP_ALIGN - end));
    return at;
}

// Where the node's PEs lie among all.
static void find_node(void)
{
    const struct job *job = world.job;
    world.nodes = job->nodes;
    world.node = job->pe[world.me].node;
    world.first = 0;
    world.end = job->npes;
    while (job->pe[world.first].node != world.node)
        world.first++;
    while (job->pe[world.end - 1].node != world.node)
        world.end--;
}

// The slices of PEs [first, end) side by side, those of other nodes left out.
static bool map_each(char *at)
{
    const struct job *job = world.job;
    if (world.nodes == 1)
        return map_at(at, (size_t)job->npes * job->slice_size, 0);
    for (int pe = world.first; pe < world.end; pe++)
        if (world_is_here(pe) &&
            !map_at(at + (size_t)(pe - world.first) * job->slice_size, job->slice_size,
                    job_slice(job, pe) - job->header_size))
            return false;
    return true;
}

static void say_unmapped(const struct job *job, int error)
{
    struct rlimit space;
    size_t n = (size_t)(world.end - world.first);
    bool is_limited = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
    bool may_fit = !is_limited || n * job_least_slice() < space.rlim_cur;
    if (error == EBADF) {
        log_line(LOG_ERROR, LOG_BOOT,
                 "the program has closed descriptor %d before it initialized: the job's memory, "
                 "which " JOB_ENV_FD " names",
                 world.job_fd);
        return;
    }
    log_line(LOG_ERROR, LOG_BOOT, "cannot map %zu symmetric heaps of %lu bytes: %s; %s%s%s", n,
             (unsigned long)job->heap_size, strerror(error),
             may_fit ? "lower SHMEM_SYMMETRIC_SIZE" : "", may_fit && is_limited ? " or " : "",
             is_limited ? "raise `ulimit -v`" : "");
}

// The own slice starts at HEAP_HINT - heap_offset when that is free.
static int map_slices(void)
{
    const struct job *job = world.job;
    size_t all = (size_t)(world.end - world.first) * job->slice_size;
    size_t before = (size_t)(world.me - world.first) * job->slice_size + job->heap_offset;
    char *hint = all < (HEAP_HINT >> 2) ? (char *)(HEAP_HINT - before) : NULL;
    char *at = hint ? reserve(hint, all) : MAP_FAILED;
    if (at != hint) {
        if (at != MAP_FAILED)
            munmap(at, all);
        at = reserve_aligned(all, before);
    }
    if (at == MAP_FAILED || !map_each(at)) {
        say_unmapped(job, errno);
        return -1;
    }
    dump_leave_out(at, all);
    world.slice_size = (ptrdiff_t)job->slice_size;
    world.to_first = -world.me * world.slice_size;
    world.ctl = at + (size_t)(world.me - world.first) * job->slice_size;
    world.slices = (char *)((uintptr_t)at - (size_t)world.first * job->slice_size);
    world.heap = (uintptr_t)world.ctl + job->heap_offset;
    world.heap_size = job->heap_size;
    return 0;
}

static void wait_for_all(void)
{
    struct waiter w = waiter_start(&world.job->bell);
    // Pairs with the release in publish_layout.
    while (atomic_load_explicit(&world.job->ready, memory_order_acquire) < world.job->slots)
        waiter_step(&w);
}

int boot_join(void)
{
    standard_hold();
    if (is_late)
        take_place();
    is_late = false;
    if (has_failed) {
        if (early_error[0])
            log_line(LOG_ERROR, LOG_BOOT, "%s", early_error);
        return -1;
    }
    if (!world.job && (join_refuse_alone() || boot_alone()))
        return -1;
    if (world.job->launcher && !world.ctl)
        prctl(PR_SET_PDEATHSIG, SIGKILL); // also when a script stands between oshrun and us
    find_node();
    if (!world.ctl && map_slices())
        return -1;
    call_slot = &world_ctl(world.me)->call;
    world.crowded = world.job->slots > world.job->cpus;
    wait_configure(world.job->slots, world.job->cpus, settings.spin);
    wait_hooks.waited = world.job->waited;
    wait_hooks.self = (uint32_t)world.me + 1;
    if (early_ctl)
        publish_layout();
    wait_for_all();
    return world.data_peers ? 0 : data_map_peers();
}
