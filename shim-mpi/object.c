// SPDX-License-Identifier: BSD-3-Clause
// Objects and handles. See object.h. Numbers of handles (MPI 5.0, "Application Binary Interface":
// conversion to integers) are places in one growing table:
//
//     numbered[0]  object            MPI_X_toint is FIRST_ADDRESS + place
//     numbered[1]  NULL, free: objects come and go, places are used again
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

struct object *object_predefined[FIRST_ADDRESS];

// Cold, and legal before MPI_Init when nobody knows yet whether there will be threads.
static pthread_mutex_t number_lock = PTHREAD_MUTEX_INITIALIZER;
static struct object **numbered;
static int numbers, first_free; // first_free: no place below it is free

void *object_new(size_t size, enum object_kind kind)
{
    struct object *o = calloc(1, size);
    if (!o)
        return NULL;
    o->magic = (uint32_t)kind;
    atomic_init(&o->refs, 1);
    return o;
}

void object_predefine(void *object, enum object_kind kind, const void *handle)
{
    struct object *o = object;
    o->magic = (uint32_t)kind;
    o->code = (uint32_t)(uintptr_t)handle;
    atomic_store_explicit(&o->refs, 1, memory_order_relaxed);
    object_predefined[o->code] = o;
}

static void number_free(struct object *o)
{
    int place = atomic_load_explicit(&o->number, memory_order_relaxed) - FIRST_ADDRESS;
    if (place < 0)
        return;
    pthread_mutex_lock(&number_lock);
    numbered[place] = NULL;
    if (place < first_free)
        first_free = place;
    pthread_mutex_unlock(&number_lock);
    atomic_store_explicit(&o->number, 0, memory_order_relaxed);
}

void object_forget(void *object)
{
    struct object *o = object;
    o->magic = 0;
    number_free(o);
}

void object_end(void *object)
{
    object_forget(object);
    free(object);
}

// A free place, or -1. With the lock held.
static int place_find(void)
{
    while (first_free < numbers && numbered[first_free])
        first_free++;
    if (first_free < numbers)
        return first_free;
    int more = numbers ? 2 * numbers : 64;
    struct object **grown = realloc(numbered, (size_t)more * sizeof *grown);
    if (!grown)
        return -1;
    for (int i = numbers; i < more; i++)
        grown[i] = NULL;
    numbered = grown;
    numbers = more;
    return first_free;
}

// Handles as integers: predefined ones have their own number, others get one from 4096 on, which is
// theirs while the object lives. What is no handle, or no number, becomes `null`, the kind's handle
// of nothing.
static int object_toint(const void *handle, enum object_kind kind, const void *null)
{
    if ((uintptr_t)handle < FIRST_ADDRESS)
        return (int)(uintptr_t)handle;
    struct object *o = object_at(handle, kind);
    if (!o)
        return (int)(uintptr_t)null;
    pthread_mutex_lock(&number_lock);
    int number = atomic_load_explicit(&o->number, memory_order_relaxed);
    if (number == 0) {
        int place = place_find();
        if (place >= 0) {
            numbered[place] = o;
            number = FIRST_ADDRESS + place;
            atomic_store_explicit(&o->number, number, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&number_lock);
    return number ? number : (int)(uintptr_t)null;
}

static void *object_fromint(int number, enum object_kind kind, const void *null)
{
    if (number >= 0 && number < FIRST_ADDRESS)
        return (void *)(uintptr_t)number;
    pthread_mutex_lock(&number_lock);
    struct object *o = number > 0 && number - FIRST_ADDRESS < numbers
                           ? numbered[number - FIRST_ADDRESS]
                           : NULL;
    pthread_mutex_unlock(&number_lock);
    return o && o->magic == (uint32_t)kind ? (void *)o : (void *)(uintptr_t)null;
}

// ---- MPI_X_toint, MPI_X_fromint: name, type of the handle, kind, handle of nothing
#define HANDLES(X)                                                        \
    X(Comm, MPI_Comm, OBJECT_COMM, MPI_COMM_NULL)                         \
    X(Errhandler, MPI_Errhandler, OBJECT_ERRHANDLER, MPI_ERRHANDLER_NULL) \
    X(File, MPI_File, OBJECT_FILE, MPI_FILE_NULL)                         \
    X(Group, MPI_Group, OBJECT_GROUP, MPI_GROUP_NULL)                     \
    X(Info, MPI_Info, OBJECT_INFO, MPI_INFO_NULL)                         \
    X(Message, MPI_Message, OBJECT_MESSAGE, MPI_MESSAGE_NULL)             \
    X(Op, MPI_Op, OBJECT_OP, MPI_OP_NULL)                                 \
    X(Request, MPI_Request, OBJECT_REQUEST, MPI_REQUEST_NULL)             \
    X(Session, MPI_Session, OBJECT_SESSION, MPI_SESSION_NULL)             \
    X(Type, MPI_Datatype, OBJECT_TYPE, MPI_DATATYPE_NULL)                 \
    X(Win, MPI_Win, OBJECT_WIN, MPI_WIN_NULL)

#define X(name, type, kind, null)                  \
    MPI_DEFINE(int, name##_toint, type handle)     \
    {                                              \
        return object_toint(handle, kind, null);   \
    }                                              \
    MPI_DEFINE(type, name##_fromint, int number)   \
    {                                              \
        return object_fromint(number, kind, null); \
    }
HANDLES(X)
#undef X

// ---- Names
static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;

void object_set_name(char *name, const char *to)
{
    size_t n = strnlen(to, MPI_MAX_OBJECT_NAME - 1);
    pthread_mutex_lock(&name_lock);
    memcpy(name, to, n);
    name[n] = 0;
    pthread_mutex_unlock(&name_lock);
}

int object_get_name(const char *name, char *out)
{
    pthread_mutex_lock(&name_lock);
    size_t n = strlen(name);
    memcpy(out, name, n + 1);
    pthread_mutex_unlock(&name_lock);
    return (int)n;
}
