// SPDX-License-Identifier: BSD-3-Clause
// Caching: keys, and the attributes of an object. See attr.h.
//
//     keyvals[]       one entry per MPI_X_create_keyval: kind, copy, delete, extra state; used
//                     again when it was freed and no attribute needs it any more; till then the
//                     key can still be named, to delete those attributes
//     attributes      {key, value} in the order of setting
//
// One lock is held to look and to change; never while a function of the program runs.
#include "attr.h"

#include "attr_call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct attribute {
    int keyval;
    bool goes; // see attribute_change
    void *value;
};

struct attributes {
    int n, room;
    struct attribute *at;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // keyvals are made before MPI_Init, too
static struct keyval *keyvals;
static int keyval_room;

// ---- Keys
int keyval_new(const struct keyval *keyval)
{
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < keyval_room && keyvals[i].kind)
        i++;
    if (i == keyval_room) {
        int room = keyval_room ? 2 * keyval_room : 16;
        struct keyval *grown = realloc(keyvals, (size_t)room * sizeof *grown);
        if (grown) {
            memset(grown + i, 0, (size_t)(room - i) * sizeof *grown);
            keyvals = grown;
            keyval_room = room;
        }
    }
    bool fits = i < keyval_room;
    if (fits)
        keyvals[i] = *keyval;
    pthread_mutex_unlock(&lock);
    return fits ? KEYVAL_FIRST + i : MPI_KEYVAL_INVALID;
}

// With the lock held. NULL: no such key, or one of another kind.
static struct keyval *keyval_at(int number, enum object_kind kind)
{
    int i = number - KEYVAL_FIRST;
    return number >= KEYVAL_FIRST && i < keyval_room && keyvals[i].kind == kind ? &keyvals[i]
                                                                                : NULL;
}

static void keyval_unuse(struct keyval *k)
{
    if (--k->uses == 0 && k->is_freed)
        k->kind = 0;
}

// It stays until it is released. False: no such key, or a freed one.
static bool keyval_hold(int number, enum object_kind kind)
{
    pthread_mutex_lock(&lock);
    struct keyval *k = keyval_at(number, kind);
    bool is_held = k && !k->is_freed;
    if (is_held)
        k->uses++;
    pthread_mutex_unlock(&lock);
    return is_held;
}

static void keyval_release(int number, enum object_kind kind)
{
    pthread_mutex_lock(&lock);
    keyval_unuse(keyval_at(number, kind));
    pthread_mutex_unlock(&lock);
}

bool keyval_free(int number, enum object_kind kind)
{
    pthread_mutex_lock(&lock);
    struct keyval *k = keyval_at(number, kind);
    if (k && !k->is_freed) {
        k->is_freed = true;
        k->uses++;
        keyval_unuse(k);
    }
    pthread_mutex_unlock(&lock);
    return k != NULL;
}

bool keyval_is_known(int number, enum object_kind kind, bool freed_too)
{
    pthread_mutex_lock(&lock);
    const struct keyval *k = keyval_at(number, kind);
    bool is_known = k && (freed_too || !k->is_freed);
    pthread_mutex_unlock(&lock);
    return is_known;
}

// ---- Functions of the program. MPI_X_NULL_COPY_FN and MPI_X_NULL_DELETE_FN are 0, MPI_X_DUP_FN 1.
static int call_copy(const struct keyval *k, void *handle, int number, void *in, void **out,
                     int *flag)
{
    uintptr_t constant = (uintptr_t)k->copy.comm;
    *flag = constant == 1;
    *out = in;
    if (constant <= 1)
        return MPI_SUCCESS;
    switch (k->kind) {
    case OBJECT_COMM: return k->copy.comm(handle, number, k->extra, in, out, flag);
    case OBJECT_TYPE: return k->copy.type(handle, number, k->extra, in, out, flag);
    default: return k->copy.win(handle, number, k->extra, in, out, flag);
    }
}

static int call_delete(const struct keyval *k, void *handle, int number, void *value)
{
    if (!k->delete.comm)
        return MPI_SUCCESS;
    switch (k->kind) {
    case OBJECT_COMM: return k->delete.comm(handle, number, value, k->extra);
    case OBJECT_TYPE: return k->delete.type(handle, number, value, k->extra);
    default: return k->delete.win(handle, number, value, k->extra);
    }
}

// ---- Attributes. With the lock held.
static struct attribute *attribute_find(const struct attributes *a, int keyval)
{
    for (int i = 0; a && i < a->n; i++)
        if (a->at[i].keyval == keyval)
            return &a->at[i];
    return NULL;
}

static struct attribute *attribute_staying(const struct attributes *a, int keyval)
{
    for (int i = 0; a && i < a->n; i++)
        if (a->at[i].keyval == keyval && !a->at[i].goes)
            return &a->at[i];
    return NULL;
}

static bool attribute_add(struct attributes **slot, struct attribute new, struct keyval *k)
{
    struct attributes *a = *slot;
    if (!a && !(a = *slot = calloc(1, sizeof *a)))
        return false;
    if (a->n == a->room) {
        int room = a->room ? 2 * a->room : 4;
        struct attribute *grown = realloc(a->at, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        a->at = grown;
        a->room = room;
    }
    a->at[a->n++] = new;
    k->uses++;
    return true;
}

static void attribute_remove(struct attributes *a, struct attribute *gone, struct keyval *k)
{
    a->n--;
    memmove(gone, gone + 1, (size_t)(a->at + a->n - gone) * sizeof *gone);
    keyval_unuse(k);
}

// The delete function of this one has been called: it goes, or stays if that failed and nobody has set another.
static void attribute_end(struct attributes *a, const struct attribute *old, struct keyval *k,
                          bool failed)
{
    struct attribute *at = a->at;
    while (at->keyval != old->keyval || !at->goes || at->value != old->value)
        at++;
    if (failed && !attribute_staying(a, old->keyval))
        at->goes = false;
    else
        attribute_remove(a, at, k);
}

bool attribute_get(struct attributes *const *slot, int keyval, void **value)
{
    pthread_mutex_lock(&lock);
    const struct attribute *found = attribute_staying(*slot, keyval);
    if (!found)
        found = attribute_find(*slot, keyval); // in its delete function
    if (found)
        *value = found->value;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

// Deletes what is there, which goes while its delete function runs: it is there still, but nobody else deletes
// it. Then, in one step with its end, adds `next`, if that is not NULL and another thread was no faster (*is_set).
static int attribute_change(enum object_kind kind, void *handle, struct attributes **slot,
                            int keyval, const struct attribute *next, bool *found, bool *is_set)
{
    int error = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    struct attribute *a = attribute_staying(*slot, keyval);
    *found = a != NULL;
    if (a) {
        a->goes = true;
        struct attribute old = *a;
        struct keyval k = *keyval_at(keyval, kind);
        pthread_mutex_unlock(&lock);
        error = call_delete(&k, handle, keyval, old.value);
        pthread_mutex_lock(&lock);
        attribute_end(*slot, &old, keyval_at(keyval, kind), error != MPI_SUCCESS);
    }
    *is_set = next && !error && !attribute_staying(*slot, keyval);
    if (*is_set && !attribute_add(slot, *next, keyval_at(keyval, kind)))
        error = MPI_ERR_NO_MEM;
    pthread_mutex_unlock(&lock);
    return error;
}

int attribute_delete(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                     bool *found)
{
    bool is_set;
    return attribute_change(kind, handle, slot, keyval, NULL, found, &is_set);
}

int attribute_set(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                  void *value)
{
    const struct attribute next = {.keyval = keyval, .value = value};
    bool found, is_set = false;
    int error = MPI_SUCCESS;
    if (!keyval_hold(keyval, kind)) // a delete function may free the key
        return MPI_ERR_KEYVAL;
    while (!is_set && !error)
        error = attribute_change(kind, handle, slot, keyval, &next, &found, &is_set);
    keyval_release(keyval, kind);
    return error;
}

// Attribute i and its key, which stays until it is released; false: there are not so many.
static bool attribute_nth(struct attributes *const *slot, int i, enum object_kind kind,
                          struct attribute *attribute, struct keyval *k)
{
    pthread_mutex_lock(&lock);
    const struct attributes *a = *slot;
    bool exists = a && i >= 0 && i < a->n;
    if (exists) {
        *attribute = a->at[i];
        struct keyval *used = keyval_at(attribute->keyval, kind);
        used->uses++;
        *k = *used;
    }
    pthread_mutex_unlock(&lock);
    return exists;
}

int attributes_copy(enum object_kind kind, void *handle, struct attributes *const *from,
                    struct attributes **to)
{
    struct attribute old;
    struct keyval k;
    for (int i = 0; attribute_nth(from, i, kind, &old, &k); i++) {
        void *value;
        int flag = 0;
        int error = old.goes ? MPI_SUCCESS
                             : call_copy(&k, handle, old.keyval, old.value, &value, &flag);
        if (!error && flag) {
            pthread_mutex_lock(&lock);
            if (!attribute_add(to, (struct attribute){.keyval = old.keyval, .value = value},
                               keyval_at(old.keyval, kind)))
                error = MPI_ERR_NO_MEM;
            pthread_mutex_unlock(&lock);
        }
        keyval_release(old.keyval, kind);
        if (error) {
            attributes_delete(kind, handle, to);
            return error;
        }
    }
    return MPI_SUCCESS;
}

// The last one, and its key; false: there is none, and the object has no list any more.
static bool attribute_last(struct attributes **slot, enum object_kind kind, struct attribute *last)
{
    pthread_mutex_lock(&lock);
    struct attributes *a = *slot;
    bool exists = a && a->n;
    if (exists) {
        *last = a->at[a->n - 1];
        keyval_at(last->keyval, kind)->uses++;
    } else {
        *slot = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!exists && a)
        free(a->at);
    if (!exists)
        free(a);
    return exists;
}

int attributes_delete(enum object_kind kind, void *handle, struct attributes **slot)
{
    struct attribute last;
    while (attribute_last(slot, kind, &last)) {
        bool found;
        int error = attribute_delete(kind, handle, slot, last.keyval, &found);
        keyval_release(last.keyval, kind);
        if (error ||
            !found) // or it is being deleted: by a delete function that ends its own object
            return error;
    }
    return MPI_SUCCESS;
}
