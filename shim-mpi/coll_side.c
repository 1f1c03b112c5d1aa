// SPDX-License-Identifier: BSD-3-Clause
// One side of a collective call: its blocks, and what of it outlives the call.
#include "coll.h"

#include <stdlib.h>
#include <string.h>

// MPI_DATATYPE_NULL is the type of nothing.
static struct type *type_at_block(const struct side *s, int i)
{
    if (s->types)
        return s->types[i];
    MPI_Datatype t = s->datatypes[i];
    return type_of(t == MPI_DATATYPE_NULL ? MPI_BYTE : t);
}

struct block coll_block(const struct side *s, int i)
{
    if (s->form == SIDE_EACH)
        return (struct block){coll_at(s, i), s->count, s->type};
    struct block b = {.count = number_at(s->counts, i), .type = s->type};
    MPI_Count at = number_at(s->displs, i);
    if (s->form == SIDE_TYPED)
        b.type = type_at_block(s, i);
    else
        at *= s->type->extent;
    b.buf = (char *)s->buf + at;
    return b;
}

// ---- What a request keeps, and of it the types what a call beside other threads does
void coll_keep_types(struct side *s)
{
    if (s->type)
        type_keep(s->type);
    if (s->form != SIDE_TYPED || !s->blocks)
        return;
    struct type **types = malloc((size_t)s->blocks * sizeof *types);
    if (!types)
        shim_fatal("no memory for the datatypes of a collective");
    for (int i = 0; i < s->blocks; i++) {
        types[i] = type_at_block(s, i);
        type_keep(types[i]);
    }
    s->types = types;
}

// The caller's arrays may be gone when a persistent one starts again.
static void keep_numbers(struct numbers *a, int n)
{
    if (!a->at)
        return;
    size_t bytes = (size_t)n * (a->is_large ? sizeof(MPI_Count) : sizeof(int));
    void *copy = malloc(bytes + 1);
    if (!copy)
        shim_fatal("no memory for the counts of a collective");
    a->at = memcpy(copy, a->at, bytes);
}

void coll_keep_side(struct side *s, int n)
{
    coll_keep_types(s);
    keep_numbers(&s->counts, n);
    keep_numbers(&s->displs, n);
}

void coll_drop_types(struct side *s)
{
    if (s->type)
        type_drop(s->type);
    for (int i = 0; s->types && i < s->blocks; i++)
        type_drop(s->types[i]);
    free(s->types);
}

void coll_drop_side(struct side *s)
{
    coll_drop_types(s);
    free((void *)(uintptr_t)s->counts.at);
    free((void *)(uintptr_t)s->displs.at);
}
