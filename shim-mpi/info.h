// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI 5.0, "The Info Object"): keys with values, in the order they came. One lock for all, as
// several threads may change one.
#ifndef SHOAL_MPI_INFO_H
#define SHOAL_MPI_INFO_H

#include "shim.h"

struct info_entry {
    char *key, *value;
};

struct info {
    struct object head;
    int n, room;
    struct info_entry *entry;
};

static inline struct info *info_of(MPI_Info h)
{
    return object_at(h, OBJECT_INFO);
}

struct info *info_new(void);                         // NULL: no memory
struct info *info_copy(const struct info *info);     // of NULL: empty; NULL: no memory
void info_free(struct info *info);                   // may be NULL
// The value of a key, copied to `value`; NULL: no such key, or no info.
const char *info_get(const struct info *info, const char *key, char value[MPI_MAX_INFO_VAL]);
int info_set(struct info *info, const char *key, const char *value); // 0, or MPI_ERR_NO_MEM

// The info of an argument, NULL for MPI_INFO_NULL; to nowhere (NULL) where none of its keys means
// something. An error code, which was raised on comm (may be NULL).
int info_check(MPI_Info h, struct comm *comm, const char *call, struct info **info);

// What memory is aligned to: as shoal_alloc does it, or as the key asks; 0: it asks for no power of two.
#define INFO_ALIGNMENT "mpi_minimum_memory_alignment"
enum { INFO_ALIGNED = 64 };
size_t info_alignment(const struct info *info);

// Kinds of memory (MPI 5.0, "Memory Allocation Kinds"): those there are here, and whether a list names
// no others.
#define INFO_KINDS "mpi,system"
bool info_has_kinds(const char *list);

void info_up(void); // what MPI_INFO_ENV tells of the job

#endif
