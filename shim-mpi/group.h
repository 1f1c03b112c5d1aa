// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI 5.0, "Groups, Contexts, Communicators, and Caching"): ordered sets of processes, by
// their PE numbers in the world. A regular one (first, stride) has no list, whatever its size.
#ifndef SHOAL_MPI_GROUP_H
#define SHOAL_MPI_GROUP_H

#include "shim.h"

struct group {
    struct object head;
    _Atomic int handles;     // that the program has of it, if it is not predefined
    struct session *session; // it descends from, perhaps finalized; NULL: none
    int size;
    int rank; // this process's, or MPI_UNDEFINED
    int first, stride;
    int *pes;            // NULL: regular
    _Atomic int is_near; // partner_are_near: 1, or -1: not so; 0: nobody has asked
    _Atomic int block;   // partner_block; 0: nobody has asked
    int *_Atomic sorted; // ranks by PE, made at the first group_rank; NULL: not yet
};

// NULL: it is none, or one that the program has freed.
static inline struct group *group_of(MPI_Group h)
{
    struct group *g = object_at(h, OBJECT_GROUP);
    bool has = g && (g->head.code || atomic_load_explicit(&g->handles, memory_order_relaxed) > 0);
    return has ? g : NULL;
}

// A group of these PEs in this order; takes pes over (malloc), and drops it when the group turns
// out to be regular. NULL: no memory.
struct group *group_new(int *pes, int size);
struct group *group_new_regular(int first, int stride, int size);
void group_free(struct group *group); // drops a reference
MPI_Group group_give(struct group *group); // one more handle of the program's, with the caller's reference

static inline int group_pe(const struct group *g, int rank)
{
    return likely(!g->pes) ? g->first + rank * g->stride : g->pes[rank];
}

int group_rank_slow(struct group *g, int pe);
int group_compare(struct group *a, struct group *b); // MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL

// The rank of a PE, MPI_UNDEFINED when it is no member.
static inline int group_rank(struct group *g, int pe)
{
    if (likely(!g->pes && g->stride == 1))
        return (unsigned)(pe - g->first) < (unsigned)g->size ? pe - g->first : MPI_UNDEFINED;
    return group_rank_slow(g, pe);
}

// The group of an argument. MPI_ERR_GROUP, raised on comm (may be NULL): it is none.
int group_check(MPI_Group h, struct comm *comm, const char *call, const char *name,
                struct group **group);

#endif
