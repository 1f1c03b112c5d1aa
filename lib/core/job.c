// SPDX-License-Identifier: BSD-3-Clause
// Making and opening the job's shared file. See job.h.
#include "job.h"

#include "cpus.h"
#include "tunables.h"
#include "log.h"
#include "settings.h"
#include "slice.h"
#include "card.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAP_GRAIN (2UL << 20) // heaps start and end on what may be a huge page
#define HEAP_LEAST (64UL << 20)
#define ARENA_LEAST (64UL << 20)

static size_t round_up(size_t n, size_t grain)
{
    return (n + grain - 1) / grain * grain;
}

bool job_is_checked(void)
{
    const char *preload = getenv("LD_PRELOAD"); // as valgrind shows it to what it runs
    return preload && strstr(preload, "/vgpreload_memcheck");
}

// All heaps together may fill the memory this node lets us use, and a quarter of the address
// space we may reserve.
size_t job_default_heap(int npes)
{
    if (LIMIT_HEAP_DEFAULT)
        return LIMIT_HEAP_DEFAULT;
    if (job_is_checked())
        return JOB_HEAP_CHECKED;
    size_t size = memory_usable() / (size_t)npes;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        size > space.rlim_cur / 4 / (size_t)npes)
        size = space.rlim_cur / 4 / (size_t)npes;
    else if (size < HEAP_LEAST)
        size = HEAP_LEAST;
    return size;
}

// Consecutive PEs, as evenly as it goes, or one to each node in turn.
static void fill_pes(struct job *job, const struct job_pe *pe)
{
    for (int i = 0; i < job->npes; i++) {
        int block = (int)((int64_t)i * job->nodes / job->npes);
        job->pe[i] = pe ? pe[i]
                        : (struct job_pe){settings.vnodes_cyclic ? i % job->nodes : block, i};
    }
}

static size_t tables_size(int npes)
{
    return sizeof(struct job) + (size_t)npes * sizeof(struct job_pe);
}

static void fill_header(struct job *job, const struct job_plan *plan)
{
    size_t tables = round_up(tables_size(plan->npes), CACHE_LINE);
    size_t heap_size = plan->heap_size ? plan->heap_size : job_default_heap(plan->slots);
    job->magic = JOB_MAGIC;
    job->layout = JOB_LAYOUT;
    job->npes = plan->npes;
    job->cpus = cpus_usable();
    job->launcher = plan->launcher;
    job->nodes = plan->nodes < plan->npes ? plan->nodes : plan->npes;
    job->slots = plan->slots;
    job->cards = job->nodes > 1 ? tables : 0;
    size_t end = tables + (job->cards ? (size_t)plan->npes * CARD_SIZE : 0);
    job->hosts = plan->host ? end : 0;
    end += plan->host ? (size_t)job->nodes * JOB_HOST : 0;
    job->header_size = round_up(end, HEAP_GRAIN);
    job->heap_offset = round_up(sizeof(struct slice), HEAP_GRAIN);
    job->heap_size = round_up(heap_size, HEAP_GRAIN);
    job->arena_size = job->heap_size > ARENA_LEAST ? job->heap_size : ARENA_LEAST;
    job->slice_size = job->heap_offset + job->heap_size + job->arena_size;
    fill_pes(job, plan->pe);
}

static int write_hosts(int fd, const struct job *job, const struct job_plan *plan)
{
    size_t size = plan->host ? (size_t)job->nodes * JOB_HOST : 0;
    return pwrite(fd, plan->host, size, (off_t)job->hosts) == (ssize_t)size ? 0 : -1;
}

size_t job_least_slice(void)
{
    return round_up(sizeof(struct slice), HEAP_GRAIN) + HEAP_GRAIN + ARENA_LEAST;
}

bool job_raise_limit(uint64_t size, struct rlimit *before)
{
    *before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY}; // where a sandbox does not tell
    if (getrlimit(RLIMIT_FSIZE, before) || before->rlim_cur >= size)
        return true;
    struct rlimit most = {.rlim_cur = before->rlim_max, .rlim_max = before->rlim_max};
    if (most.rlim_cur >= size && setrlimit(RLIMIT_FSIZE, &most) == 0)
        return true;
    errno = EFBIG;
    return false;
}

static int fill_file(int fd, const struct job *job, const struct job_plan *plan, off_t size)
{
    struct rlimit limit;
    size_t tables = tables_size(plan->npes);
    if (!job_raise_limit((uint64_t)size, &limit))
        return -1;
    bool failed = ftruncate(fd, size) || pwrite(fd, job, tables, 0) != (ssize_t)tables ||
                  write_hosts(fd, job, plan);
    int error = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = error;
    return failed ? -1 : 0;
}

static int new_secret(uint64_t *secret)
{
    if (getrandom(secret, sizeof *secret, 0) == sizeof *secret)
        return 0;
    log_line(LOG_ERROR, LOG_BOOT, "getrandom: %s", strerror(errno));
    return -1;
}

int job_create_planned(const struct job_plan *plan)
{
    struct job *job = calloc(1, tables_size(plan->npes));
    if (!job) {
        log_line(LOG_ERROR, LOG_BOOT, "no memory for the tables of %d PEs", plan->npes);
        return -1;
    }
    job->secret = plan->secret;
    if (new_secret(&job->stamp) || (!plan->secret && new_secret(&job->secret))) {
        free(job);
        return -1;
    }
    fill_header(job, plan);
    off_t size = (off_t)(job->header_size + (size_t)plan->slots * job->slice_size);
    int fd = memfd_create("shoal", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    int failed = fd >= 0 && fill_file(fd, job, plan, size);
    free(job);
    if (fd < 0) {
        log_line(LOG_ERROR, LOG_BOOT, "memfd_create: %s", strerror(errno));
    } else if (failed) {
        log_line(LOG_ERROR, LOG_BOOT,
                 "cannot make a shared file of %lld bytes for %d PEs: %s; "
                 "lower SHMEM_SYMMETRIC_SIZE%s",
                 (long long)size, plan->slots, strerror(errno),
                 errno == EFBIG ? " or raise `ulimit -f`" : "");
        close(fd);
        fd = -1;
    } else {
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); // no PE can be given a SIGBUS by another
    }
    return fd;
}

int job_create(int npes, int nodes, size_t heap_size, pid_t launcher)
{
    return job_create_planned(&(struct job_plan){
        .npes = npes, .nodes = nodes, .slots = npes, .heap_size = heap_size, .launcher = launcher});
}

static bool cards_fit(const struct job *job)
{
    return job->nodes <= job->npes && job->cards >= tables_size(job->npes) &&
           job->cards + (uint64_t)job->npes * CARD_SIZE <= job->header_size &&
           job->hosts + (uint64_t)job->nodes * JOB_HOST <= job->header_size;
}

static bool header_is_sound(const struct job *job, off_t file_size)
{
    return job->magic == JOB_MAGIC && job->layout == JOB_LAYOUT && job->npes > 0 &&
           job->npes <= LIMIT_PES && job->header_size >= tables_size(job->npes) && job->slots > 0 &&
           job->slots <= job->npes && job->nodes > 0 &&
           (job->nodes == 1 ? job->slots == job->npes : cards_fit(job)) &&
           job->heap_offset < job->slice_size &&
           job->heap_size + job->arena_size == job->slice_size - job->heap_offset &&
           job->header_size + (uint64_t)job->slots * job->slice_size <= (uint64_t)file_size;
}

struct job *job_find(int fd, char why[JOB_WHY])
{
    struct stat st;
    struct job *job = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *job)
        job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (job == MAP_FAILED) {
        snprintf(why, JOB_WHY,
                 JOB_ENV_FD "=%d is not the job's shared file here: a program "
                            "that a PE starts needs " JOB_ENV_FD " unset, or oshrun",
                 fd);
        return NULL;
    }
    if (header_is_sound(job, st.st_size)) {
        size_t whole = job->header_size;
        munmap(job, sizeof *job);
        job = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (job != MAP_FAILED)
            return job;
        snprintf(why, JOB_WHY, "cannot map %zu bytes of the job's shared file: %s", whole,
                 strerror(errno));
        return NULL;
    }
    snprintf(why, JOB_WHY,
             "the job's shared file has layout %u, this library %u: oshrun and "
             "libshoal are of different versions",
             job->layout, JOB_LAYOUT);
    munmap(job, sizeof *job);
    return NULL;
}

struct job *job_open(int fd)
{
    char why[JOB_WHY];
    struct job *job = job_find(fd, why);
    if (!job)
        log_line(LOG_ERROR, LOG_BOOT, "%s", why);
    return job;
}

struct pe_ctl *job_map_ctl(int fd, const struct job *job, int pe)
{
    void *p = mmap(NULL, sizeof(struct pe_ctl), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   (off_t)job_slice(job, pe));
    return p == MAP_FAILED ? NULL : p;
}
