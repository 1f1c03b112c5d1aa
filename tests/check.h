// SPDX-License-Identifier: BSD-3-Clause
// Checks for test programs, in C and in C++. A failed check prints one line (file:line, PE,
// function, what was expected) and the program goes on; check_done() ends it:
//
//     int main(void)
//     {
//         check_start();                      shmem_init, sets me and npes
//         CHECK(pointer != NULL);
//         CHECK_EQ(shmem_n_pes(), npes);      any arithmetic type, compared exactly
//         CHECK_EACH(i, n, dest[i], i + 1);   stops at the first difference
//         return check_done();                shmem_finalize, 0 or 1
//     }
//
// A source line "// PES: 2 4" makes tests/run use those PE counts, "// ENV: NAME=value" sets an
// environment variable, "// ARGS: ..." gives arguments and "// PES: none" leaves the program out.
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <shmem.h>

enum { CHECK_SHOWN = 10 }; // failures printed by one PE; the rest are counted

static int me, npes;
static unsigned check_failures;

// Pages that this process has been given so far.
static inline long check_faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

static inline void check_start(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

// Puts neighbouring PEs on different cores, so that a race that lasts milliseconds is one: some
// systems keep young processes together. Only for programs without threads of their own.
static inline void check_spread(void)
{
    cpu_set_t mine, one;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) < 2)
        return;
    int skip = me % CPU_COUNT(&mine), cpu = 0;
    while (!CPU_ISSET(cpu, &mine) || skip-- > 0)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static inline double check_now(void) // s, of a clock that only goes on
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// 'R', 'S', 'T', ... of a process; '?' where /proc does not say.
static inline char check_process_state(uint64_t process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)process);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : '?';
}

static inline int check_done(void)
{
    int running = 0;
    shmem_query_initialized(&running);
    if (running)
        shmem_finalize();
    unsigned failed = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
    if (failed > CHECK_SHOWN)
        fprintf(stderr, "PE %d: %u failed checks in all\n", me, failed);
    return failed > 0;
}

static inline void check_skip(const char *reason)
{
    if (me == 0)
        printf("skipped: %s\n", reason);
    exit(77);
}

// Of a test in which one thread reads what the library's own thread writes, in an order that leads
// through other processes.
static inline void check_skip_under_tsan(void)
{
#if defined(__SANITIZE_THREAD__)
    check_skip("the thread sanitizer does not see an order made by other processes");
#endif
}

// Counts a failure; true when it should be printed too.
static inline bool check_count(void)
{
    return __atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED) < CHECK_SHOWN;
}

static inline bool check_true(const char *file, int line, const char *func, bool ok,
                              const char *text)
{
    if (!ok && check_count())
        fprintf(stderr, "%s:%d: PE %d: %s: expected %s\n", file, line, me, func, text);
    return ok;
}

// long double holds every 64-bit integer exactly on the machines Shoal runs on.
static inline bool check_eq(const char *file, int line, const char *func, long double got,
                            long double want, const char *text)
{
    bool ok = got == want;
    if (!ok && check_count())
        fprintf(stderr, "%s:%d: PE %d: %s: %s is %.20Lg, expected %.20Lg\n", file, line, me, func,
                text, got, want);
    return ok;
}

static inline bool check_item(const char *file, int line, const char *func, long double got,
                              long double want, const char *text, size_t i)
{
    bool ok = got == want;
    if (!ok && check_count())
        fprintf(stderr, "%s:%d: PE %d: %s: %s is %.20Lg, expected %.20Lg, at index %zu\n", file,
                line, me, func, text, got, want, i);
    return ok;
}

static inline bool check_mem(const char *file, int line, const char *func, const void *got,
                             const void *want, size_t n, const char *what)
{
    const unsigned char *g = (const unsigned char *)got, *w = (const unsigned char *)want;
    if (n == 0 || memcmp(g, w, n) == 0)
        return true;
    size_t i = 0;
    while (g[i] == w[i])
        i++;
    if (check_count())
        fprintf(stderr, "%s:%d: PE %d: %s: %s: byte %zu of %zu is 0x%02x, expected 0x%02x\n", file,
                line, me, func, what, i, n, g[i], w[i]);
    return false;
}

#define CHECK(condition) check_true(__FILE__, __LINE__, __func__, (condition), #condition)
#define CHECK_EQ(got, want) \
    check_eq(__FILE__, __LINE__, __func__, (long double)(got), (long double)(want), #got)
#define CHECK_EACH(i, n, got, want)                                                                \
    do {                                                                                           \
        for (size_t i = 0; i < (size_t)(n); i++)                                                   \
            if (!check_item(__FILE__, __LINE__, __func__, (long double)(got), (long double)(want), \
                            #got, i))                                                              \
                break;                                                                             \
    } while (0)
#define CHECK_MEM(got, want, n, what) \
    check_mem(__FILE__, __LINE__, __func__, (got), (want), (n), (what))

// A small generator: the same seed gives the same numbers on every PE.
static inline uint64_t rnd(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline size_t rnd_below(uint64_t *state, size_t n)
{
    return (size_t)(rnd(state) % n);
}

static inline void rnd_shuffle(uint64_t *state, size_t n, size_t a[])
{
    for (size_t i = n; i-- > 1;) {
        size_t j = rnd_below(state, i + 1), was = a[i];
        a[i] = a[j];
        a[j] = was;
    }
}

// Bytes that tell apart their writer (seed) and their place.
static inline unsigned char fill_byte(unsigned seed, size_t i)
{
    return (unsigned char)(seed * 151u + i * 7u + (i >> 8) * 13u + 1u);
}

static inline void fill(void *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)p)[i] = fill_byte(seed, i);
}

// A value of arithmetic type T that uses all its bits and tells apart its seeds.
#define VALUE(T, seed)                  \
    ((T)0.5 != 0 ? (T)((seed)*1.25 - 3) \
                 : (T)(UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)(seed) + 1)))

// Private memory, or the end of the program.
static inline void *must_alloc(size_t n)
{
    void *p = malloc(n > 0 ? n : 1);
    if (p == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", n);
        exit(1);
    }
    return p;
}

// Symmetric memory, or the end of the job.
static inline void *must_shmalloc(size_t n)
{
    void *p = shmem_malloc(n);
    if (p == NULL) {
        fprintf(stderr, "PE %d: shmem_malloc(%zu) returned NULL\n", me, n);
        shmem_global_exit(1);
    }
    return p;
}

static inline int right_pe(void)
{
    return (me + 1) % npes;
}

static inline int left_pe(void)
{
    return (me + npes - 1) % npes;
}

// check_start, with SHMEM_THREAD_MULTIPLE; what the library provides.
static inline int check_start_threads(void)
{
    int provided = -1;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    return provided;
}

#endif
