// SPDX-License-Identifier: BSD-3-Clause
// MPI objects and their handles. A handle is the address of its object, or for a predefined object
// the number that the ABI gives it (below 4096): then the object is found in a table. Every object
// starts with a struct object, whose magic tells its kind while it is alive.
#ifndef SHOAL_MPI_OBJECT_H
#define SHOAL_MPI_OBJECT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))
// Of a variable of another file: known to be in this library, so one load and not two.
#define HIDDEN __attribute__((visibility("hidden")))
#define ARRAY_LEN(a) (sizeof(a) / sizeof *(a))

enum object_kind {
    OBJECT_COMM = 0x53484d01, OBJECT_TYPE, OBJECT_ERRHANDLER, OBJECT_GROUP, OBJECT_INFO,
    OBJECT_MESSAGE, OBJECT_OP, OBJECT_REQUEST, OBJECT_SESSION, OBJECT_WIN, OBJECT_FILE,
};

struct object {
    uint32_t magic; // enum object_kind; 0 after its end
    _Atomic int refs;
    uint32_t code;   // of a predefined object: its handle; else 0
    _Atomic int number; // for MPI_X_toint, 0: none yet
};

enum { FIRST_ADDRESS = 4096 };
HIDDEN extern struct object *object_predefined[FIRST_ADDRESS];

// The object of a handle, or NULL: it is of another kind, freed, or no object at all.
static inline void *object_at(const void *handle, enum object_kind kind)
{
    uintptr_t h = (uintptr_t)handle;
    struct object *o = h < FIRST_ADDRESS ? object_predefined[h] : (struct object *)handle;
    return likely(o && o->magic == (uint32_t)kind) ? o : NULL;
}

static inline void *object_handle(const void *object)
{
    const struct object *o = object;
    return o->code ? (void *)(uintptr_t)o->code : (void *)(uintptr_t)object;
}

// size bytes of zeros with one reference; NULL: no memory.
void *object_new(size_t size, enum object_kind kind);
// Names of objects, of MPI_MAX_OBJECT_NAME characters, which several threads may give and ask for. Longer ones are
// cut off. Asking returns the length.
void object_set_name(char *name, const char *to);
int object_get_name(const char *name, char *out);
// Makes a static object known under the number of a predefined handle; it is never freed.
void object_predefine(void *object, enum object_kind kind, const void *handle);

HIDDEN extern bool shim_threads; // MPI_THREAD_MULTIPLE

// Adds to a count that only other threads could change meanwhile; what it was.
static inline int object_count(_Atomic int *count, int n)
{
    if (shim_threads) // acq_rel: the last one to drop an object sees what all others did with it
        return atomic_fetch_add_explicit(count, n, memory_order_acq_rel);
    int was = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, was + n, memory_order_relaxed);
    return was;
}

// References to predefined objects, which never end, are not counted.
static inline void object_keep(void *object)
{
    struct object *o = object;
    if (o->code == 0)
        object_count(&o->refs, 1);
}

// True: that was the last reference, nobody else has the object; the caller takes it apart and ends
// with object_end. Never true for predefined objects.
static inline bool object_drop(void *object)
{
    struct object *o = object;
    return o->code == 0 && object_count(&o->refs, -1) == 1;
}
void object_forget(void *object); // no handle or number leads to it any more
void object_end(void *object); // that, and frees the memory

#endif
