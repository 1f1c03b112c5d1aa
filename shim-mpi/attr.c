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
    bool
        goes; // a thread is in its delete function: it is there still, but nobody else may delete it
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

// Its delete function has been called: it goes, or stays if that failed and nobody has set another one.
static void attribute_end(struct attributes *a, int keyval, struct keyval *k, bool failed)
{
    struct attribute *at = a->at;
    while (at->keyval != keyval || !at->goes)
        at++;
    at->goes = false;
    if (failed && attribute_staying(a, keyval) == at)
        return;
    a->n--;
    memmove(at, at + 1, (size_t)(a->at + a->n - at) * sizeof *at);
    keyval_unuse(k);
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

int attribute_delete(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                     bool *found)
{
    pthread_mutex_lock(&lock);
    struct attribute *a = attribute_staying(*slot, keyval);
    *found = a != NULL;
    void *value = a ? a->value : NULL;
    struct keyval k = a ? *keyval_at(keyval, kind) : (struct keyval){0};
    if (a)
        a->goes = true;
    pthread_mutex_unlock(&lock);
    if (!*found)
        return MPI_SUCCESS;
    int error = call_delete(&k, handle, keyval, value);
    pthread_mutex_lock(&lock);
    attribute_end(*slot, keyval, keyval_at(keyval, kind), error != MPI_SUCCESS);
    pthread_mutex_unlock(&lock);
    return error;
}

int attribute_set(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                  void *value)
{
    bool found, is_set = false;
    int error = MPI_SUCCESS;
    if (!keyval_hold(keyval, kind)) // a delete function may free the key
        return MPI_ERR_KEYVAL;
    while (!is_set && !error) {
        error = attribute_delete(kind, handle, slot, keyval, &found);
        pthread_mutex_lock(&lock);
        is_set = !error && !attribute_staying(*slot, keyval); // else another thread was faster
        if (is_set && !attribute_add(slot, (struct attribute){.keyval = keyval, .value = value},
                                     keyval_at(keyval, kind)))
            error = MPI_ERR_NO_MEM;
        pthread_mutex_unlock(&lock);
    }
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
        int flag;
        int error = call_copy(&k, handle, old.keyval, old.value, &value, &flag);
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

int attributes_delete(enum object_kind kind, void *handle, struct attributes **slot)
{
    struct attribute last;
    struct keyval k;
    while (*slot && attribute_nth(slot, (*slot)->n - 1, kind, &last, &k)) {
        bool found;
        int error = attribute_delete(kind, handle, slot, last.keyval, &found);
        keyval_release(last.keyval, kind);
        if (error)
            return error;
    }
    if (*slot)
        free((*slot)->at);
    free(*slot);
    *slot = NULL;
    return MPI_SUCCESS;
}
