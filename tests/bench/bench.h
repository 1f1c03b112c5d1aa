// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks share. Every program prints lines "key value unit" and nothing else; run
// collects them and makes the table. A figure is the mean of its fastest batch: other work on the
// machine only ever adds time, and a batch is too long (20 us and more) to be fast by chance.
// The sources compile with Shoal's OpenSHMEM 1.6 and with the 1.4 of Open MPI.
#ifndef BENCH_H
#define BENCH_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 200

// A figure of an emulated operation says so.
#define EMULATED "*"

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Pinning is done here, not by the launcher, so that it is the same whoever starts the program:
// PEs go round the cores they may use. A launcher that has bound them already is left alone.
// Returns how many cores there were to choose from.
static inline int pin(int pe)
{
    cpu_set_t usable, one;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return 1;
    int cores = CPU_COUNT(&usable), wanted = pe % cores, cpu = 0;
    for (; !CPU_ISSET(cpu, &usable) || wanted > 0; cpu++)
        wanted -= CPU_ISSET(cpu, &usable) != 0;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return cores;
}

// The compiler may not assume anything about memory across this.
static inline void forget(void)
{
    __asm__ volatile("" ::: "memory");
}

// n, of which the compiler knows nothing: it calls memcpy and does not make one for this length.
static inline size_t hidden(size_t n)
{
    __asm__("" : "+r"(n));
    return n;
}

// So many steps that no memory is needed for and that wait for each other.
static inline void compute(long steps)
{
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    __asm__ volatile("" : : "r"(x));
}

static inline double keep_least(double *least, double value)
{
    if (*least <= 0 || value < *least)
        *least = value;
    return *least;
}

// Sets `least` to the ns that one `statement` takes in the fastest of `batches` batches of n. Its
// loop variable is i.
#define FASTEST(least, batches, n, statement)             \
    do {                                                  \
        least = 0;                                        \
        for (int batch = 0; batch < (batches); batch++) { \
            double start = now_ns();                      \
            for (long i = 0; i < (long)(n); i++) {        \
                statement;                                \
                forget();                                 \
            }                                             \
            keep_least(&least, (now_ns() - start) / (n)); \
        }                                                 \
    } while (0)

// For qsort of doubles.
static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void figure(const char *key, long number, double value, const char *unit)
{
    if (number >= 0)
        printf("%s_%ld %.3f %s\n", key, number, value, unit);
    else
        printf("%s %.3f %s\n", key, value, unit);
}

#endif
