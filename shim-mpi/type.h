// SPDX-License-Identifier: BSD-3-Clause
// Datatypes (MPI 5.0, "Datatypes") as the rest of the shim sees them. The data of `count` elements
// is a stream of count * size bytes, the basic elements in the order of the type map; packing and
// unpacking move any part of it.
#ifndef SHOAL_MPI_TYPE_H
#define SHOAL_MPI_TYPE_H

#include "shim.h"

struct type_body; // normalised form (type_body.h)
struct type_recipe;
struct predefined;
struct attributes;
struct comm;

struct type {
    struct object head;
    MPI_Count size;                 // bytes of data of an element; MPI_UNDEFINED: this optional
                                    // predefined type does not exist here
    MPI_Count lb, extent;           // the extent: ub - lb
    MPI_Count true_lb, true_extent;
    MPI_Count elements;             // basic elements; those of pair types are 2 each
    const struct type *basic;       // the predefined type all elements are of, NULL: mixed or empty
    const struct predefined *what;  // of predefined types, named or not (type_table.h); else NULL
    bool is_dense;                  // any count of elements is one block: size == extent, true_lb ==
                                    // lb, and the data lies in the order of the stream
    _Atomic bool is_committed;      // which several threads may do
    bool is_bounded;                // lb and ub were set by a resize, and win over other bounds
    uint8_t align;
    _Atomic int handles;            // that the user has and will free
    struct type_body *body;
    struct type_recipe *recipe;     // how it was made, for envelope and contents; NULL: named
    struct attributes *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct type *type_of(MPI_Datatype h)
{
    return object_at(h, OBJECT_TYPE);
}

// The program has no handle any more; requests, or types that are made of it, have it.
static inline bool type_is_freed(const struct type *t)
{
    return !t->what && atomic_load_explicit(&t->handles, memory_order_relaxed) == 0;
}

// The type of the argument `datatype`, one that does not exist here included. An error class, raised.
int type_check(const char *call, MPI_Datatype handle, struct type **type);
int raise_no_type(const char *call, const char *argument, MPI_Datatype handle) __attribute__((cold));
// The type of a handle for a call that only asks about it: committed or not. An error class, raised.
int type_asked(const char *call, struct comm *comm, MPI_Datatype handle, struct type **type);

// Before the first use of predefined types; any time, idempotent.
void type_up(void);
void type_drop(struct type *t); // a reference
static inline void type_keep(struct type *t)
{
    object_keep(t);
}

// Bytes [from, from + n) of the stream of count elements at buf, to out, or from in. from + n is at
// most count * size. buf may be MPI_BOTTOM with absolute displacements. Cheap when called with
// increasing `from`: the place is computed, not searched, in O(depth * log).
void type_pack(const struct type *t, const void *buf, MPI_Count count, MPI_Count from, void *out,
               size_t n);
void type_unpack(const struct type *t, void *buf, MPI_Count count, MPI_Count from, const void *in,
                 size_t n);

// From one layout to another; moves the smaller stream's bytes, and returns how many.
size_t type_copy(const struct type *to_type, void *to, MPI_Count to_count,
                 const struct type *from_type, const void *from, MPI_Count from_count);

// count blocks of n bytes, those of each side so far apart.
void type_copy_steps(char *to, MPI_Count to_step, const char *from, MPI_Count from_step,
                     MPI_Count count, MPI_Count n);

// fn(disp, bytes) for each block of count elements in the order of the stream, until it gives
// something else than 0, which is returned. disp: from the buffer.
typedef int type_block_fn(MPI_Count disp, MPI_Count bytes, void *arg);
int type_walk(const struct type *t, MPI_Count count, type_block_fn *fn, void *arg);

// count elements as blocks of count[0] bytes, the first at disp; dimension i repeats what is within it count[i]
// times, stride[i - 1] apart, in the order of the stream. False: they are not like that.
enum { TYPE_LEVELS = 8 };
struct type_loops {
    MPI_Count disp;
    int levels;
    size_t count[TYPE_LEVELS + 1];
    ptrdiff_t stride[TYPE_LEVELS];
};
bool type_loops(const struct type *t, MPI_Count count, struct type_loops *loops);

// Address of the first byte of data of a dense type.
static inline void *type_at(const struct type *t, const void *buf)
{
    return (char *)((uintptr_t)buf + (uintptr_t)t->true_lb);
}

// The address to use with a type whose first byte, lb after that address, is at `at`.
static inline void *type_base(const void *at, MPI_Count lb)
{
    return (char *)((uintptr_t)at - (uintptr_t)lb);
}

// The span in memory of count elements: from *lb, *length bytes, 0 where there is no data; for temporary
// buffers.
void type_span(const struct type *t, MPI_Count count, MPI_Count *lb, MPI_Count *length);

// The predefined type all elements are of (pair types count as predefined), NULL: mixed or empty.
static inline const struct type *type_basic(const struct type *t)
{
    return t->basic;
}

// The bytes of so many basic elements of the stream, for MPI_Status_set_elements; -1: t has no elements, or
// too many bytes.
MPI_Count type_elements_bytes(const struct type *t, MPI_Count elements);

#endif
