// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks share. Every program prints lines "key value unit" and nothing else; run
// collects them and makes the table. A figure is the mean of its fastest batch: other work on the
// machine only ever adds time, and a batch is too long (some 50 us) to be fast by chance.
// The sources compile with Shoal's OpenSHMEM 1.6 and with the 1.4 of Open MPI.
#ifndef BENCH_H
#define BENCH_H

#include <sched.h>
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

// Pinning is done here, not by the launcher, so that it is the same whoever starts the program.
static inline void pin(int pe)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(pe % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof set, &set);
}

// The compiler may not assume anything about memory across this.
static inline void forget(void)
{
    __asm__ volatile("" ::: "memory");
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

static inline void figure(const char *key, long number, double value, const char *unit)
{
    if (number >= 0)
        printf("%s_%ld %.3f %s\n", key, number, value, unit);
    else
        printf("%s %.3f %s\n", key, value, unit);
}

#endif
