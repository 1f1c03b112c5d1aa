// SPDX-License-Identifier: BSD-3-Clause
// A model of datatypes for tests: the type map, entry by entry, and what follows from it.
#ifndef TESTS_MPI_TYPE_MAP_H
#define TESTS_MPI_TYPE_MAP_H

#include <check.h>
#include <mpi.h>

enum { MOST = 20000 }; // entries of a map

// A type map (MPI 5.0, "Derived Datatypes"): entries in order, and the markers of a resize.
struct entry {
    int64_t disp;
    int basic;
};
struct map {
    struct entry *entries;
    int n;
    bool bounded;
    int64_t lb, ub; // when bounded
};
static const struct {
    MPI_Datatype type;
    int size, align;
} basics[] = {{MPI_CHAR, 1, 1},
              {MPI_SHORT, 2, 2},
              {MPI_INT, 4, 4},
              {MPI_DOUBLE, 8, 8},
              {MPI_C_DOUBLE_COMPLEX, 16, 8}};
enum { BASICS = sizeof basics / sizeof *basics };

static int64_t low(const struct map *m)
{
    if (m->bounded || m->n == 0)
        return m->bounded ? m->lb : 0;
    int64_t lb = m->entries[0].disp;
    for (int i = 0; i < m->n; i++)
        lb = m->entries[i].disp < lb ? m->entries[i].disp : lb;
    return lb;
}

static int64_t high(const struct map *m, bool pad)
{
    if (m->bounded || m->n == 0)
        return m->bounded ? m->ub : 0;
    int64_t ub = INT64_MIN, align = 1;
    for (int i = 0; i < m->n; i++) {
        int64_t end = m->entries[i].disp + basics[m->entries[i].basic].size;
        ub = end > ub ? end : ub;
        align = basics[m->entries[i].basic].align > align ? basics[m->entries[i].basic].align
                                                          : align;
    }
    int64_t over = (ub - low(m)) % align;
    return pad && over ? ub + align - over : ub;
}

static int64_t width(const struct map *m)
{
    return high(m, true) - low(m);
}

static int64_t map_size(const struct map *m)
{
    int64_t size = 0;
    for (int i = 0; i < m->n; i++)
        size += basics[m->entries[i].basic].size;
    return size;
}

static struct map map_new(void)
{
    return (struct map){.entries = must_alloc(MOST * sizeof(struct entry))};
}

// n elements of `old` from disp on are part of m.
static void map_add(struct map *m, const struct map *old, int64_t disp, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t at = disp + k * width(old);
        if (old->bounded) {
            int64_t lb = old->lb + at, ub = old->ub + at;
            m->lb = m->bounded && m->lb < lb ? m->lb : lb;
            m->ub = m->bounded && m->ub > ub ? m->ub : ub;
            m->bounded = true;
        }
        for (int i = 0; i < old->n; i++)
            m->entries[m->n++] = (struct entry){old->entries[i].disp + at, old->entries[i].basic};
    }
}

#endif
