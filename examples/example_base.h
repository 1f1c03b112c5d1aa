// SPDX-License-Identifier: BSD-3-Clause
// What all examples share, those in OpenSHMEM (example.h) and those in MPI (example_mpi.h):
// command-line options, a clock, random numbers, the list of packages.

#ifndef EXAMPLE_BASE_H
#define EXAMPLE_BASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One command-line option: a number (with its least value), a text, or a flag when arg is NULL.
struct example_option {
    const char *name; // "--keys"; NULL ends a table
    const char *arg;  // "N" or "FILE", as --help shows it
    long *number;     // where a number or a flag (1) goes
    long least;
    const char **text;
    const char *help;
};

enum { EXAMPLE_RUN = -1 }; // example_read_options: go on; otherwise the exit status

static inline void example_help(const char *program, const char *what,
                                const struct example_option *table)
{
    const char *slash = strrchr(program, '/');
    printf("%s: %s\noptions:\n", slash ? slash + 1 : program, what);
    for (const struct example_option *o = table; o->name; o++) {
        int width = printf("  %s %s", o->name, o->arg ? o->arg : "");
        printf("%*s%s", width < 20 ? 20 - width : 1, "", o->help);
        if (o->arg && o->number)
            printf(" (default %ld)", *o->number);
        printf("\n");
    }
}

// Reads a number such as 5000, 64k or 2m into *o->number. Returns false when it is not one.
static inline bool example_number(const struct example_option *o, const char *word)
{
    char *end;
    long long n = strtoll(word, &end, 10);
    long long unit = *end == 'k' ? 1 << 10 : *end == 'm' ? 1 << 20 : *end == 'g' ? 1 << 30 : 1;
    if (end == word || end[unit > 1] || n < o->least || n > INT64_MAX / unit)
        return false;
    *o->number = (long)(n * unit);
    return true;
}

// Handles one option. Returns how many words it took, 0 when it is wrong.
static inline int example_option_take(const struct example_option *o, const char *next)
{
    if (!o->arg) {
        *o->number = 1;
        return 1;
    }
    if (!next)
        return 0;
    if (o->number)
        return example_number(o, next) ? 2 : 0;
    *o->text = next;
    return 2;
}

// Reads the command line. Returns EXAMPLE_RUN, or the status to exit with; one process speaks.
static inline int example_read_options(int argc, char **argv, const char *what,
                                       const struct example_option *table, bool speak)
{
    for (int i = 1, took; i < argc; i += took) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            if (speak)
                example_help(argv[0], what, table);
            return 0;
        }
        const struct example_option *o = table;
        while (o->name && strcmp(o->name, argv[i]) != 0)
            o++;
        took = o->name ? example_option_take(o, i + 1 < argc ? argv[i + 1] : NULL) : 0;
        if (took)
            continue;
        if (speak && o->name && o->number)
            fprintf(stderr, "%s wants a number, at least %ld; see --help\n", argv[i], o->least);
        else if (speak && o->name)
            fprintf(stderr, "%s wants a %s; see --help\n", argv[i], o->arg);
        else if (speak)
            fprintf(stderr, "unknown option %s; see --help\n", argv[i]);
        return 1;
    }
    return EXAMPLE_RUN;
}

// Seconds since some fixed time.
static inline double example_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The nth number of a random sequence (splitmix64): any process can recompute
// any other's numbers.
static inline uint64_t example_random(uint64_t n)
{
    uint64_t z = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// Finds the shipped list of packages, beside the program or in the source tree it was built in.
// Returns 0 when it is there.
static inline int example_data(char *path, size_t size)
{
    static const char *const places[] = {"data", "../../examples/data", "../examples/data"};
    char self[2048];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s/%s/packages.txt", self, places[i]);
        if (!access(path, R_OK))
            return 0;
    }
    snprintf(path, size, "examples/data/packages.txt");
    return access(path, R_OK);
}

#endif
