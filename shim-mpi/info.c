// SPDX-License-Identifier: BSD-3-Clause
// Info objects. See info.h. All calls are legal before MPI_Init and after MPI_Finalize.
#include "info.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all keys and values

struct info *info_new(void)
{
    return object_new(sizeof(struct info), OBJECT_INFO);
}

void info_free(struct info *info)
{
    if (!info)
        return;
    for (int i = 0; i < info->n; i++) {
        free(info->entry[i].key);
        free(info->entry[i].value);
    }
    free(info->entry);
    object_end(info);
}

static struct info_entry *find(const struct info *info, const char *key)
{
    for (int i = 0; i < info->n; i++)
        if (strcmp(info->entry[i].key, key) == 0)
            return &info->entry[i];
    return NULL;
}

const char *info_get(const struct info *info, const char *key, char value[MPI_MAX_INFO_VAL])
{
    if (!info)
        return NULL;
    pthread_mutex_lock(&lock);
    const struct info_entry *e = find(info, key);
    if (e) { // no value is longer: MPI_Info_set and info_env.c see to it
        size_t n = strnlen(e->value, MPI_MAX_INFO_VAL - 1);
        memcpy(value, e->value, n);
        value[n] = 0;
    }
    pthread_mutex_unlock(&lock);
    return e ? value : NULL;
}

size_t info_alignment(const struct info *info)
{
    char room[MPI_MAX_INFO_VAL];
    const char *value = info_get(info, INFO_ALIGNMENT, room);
    char *end;
    unsigned long long n = value ? strtoull(value, &end, 10) : INFO_ALIGNED;
    if (value && (*end || n == 0 || n & (n - 1)))
        return 0;
    return n < INFO_ALIGNED ? INFO_ALIGNED : (size_t)n;
}

static bool make_room(struct info *info)
{
    if (info->n < info->room)
        return true;
    int room = info->room ? 2 * info->room : 8;
    struct info_entry *grown = realloc(info->entry, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    info->entry = grown;
    info->room = room;
    return true;
}

// With the lock held.
static int set(struct info *info, const char *key, const char *value)
{
    char *new_value = strdup(value);
    struct info_entry *e = find(info, key);
    if (e && new_value) {
        free(e->value);
        e->value = new_value;
        return MPI_SUCCESS;
    }
    char *new_key = strdup(key);
    if (!new_value || !new_key || !make_room(info)) {
        free(new_value);
        free(new_key);
        return MPI_ERR_NO_MEM;
    }
    info->entry[info->n++] = (struct info_entry){new_key, new_value};
    return MPI_SUCCESS;
}

int info_set(struct info *info, const char *key, const char *value)
{
    pthread_mutex_lock(&lock);
    int error = set(info, key, value);
    pthread_mutex_unlock(&lock);
    return error;
}

// ---- Kinds of memory
static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && !memcmp(at, word, n);
}

// mpi, or mpi with restrictors; system has none.
static bool is_kind(const char *at, size_t n)
{
    static const char *const restrictors[] = {"alloc_mem", "win_allocate", "win_allocate_shared"};
    if (is_word(at, n, "system"))
        return true;
    size_t used = strcspn(at, ":,");
    bool ok = is_word(at, used, "mpi");
    while (ok && used < n) {
        at += used + 1;
        n -= used + 1;
        used = strcspn(at, ":,");
        ok = false;
        for (size_t i = 0; i < ARRAY_LEN(restrictors); i++)
            ok = ok || is_word(at, used, restrictors[i]);
    }
    return ok;
}

bool info_has_kinds(const char *list)
{
    for (size_t n;; list += n + 1) {
        n = strcspn(list, ",");
        if (!is_kind(list, n))
            return false;
        if (!list[n])
            return true;
    }
}

struct info *info_copy(const struct info *info)
{
    struct info *copy = info_new();
    int error = copy ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    pthread_mutex_lock(&lock);
    for (int i = 0; !error && info && i < info->n; i++)
        error = set(copy, info->entry[i].key, info->entry[i].value);
    pthread_mutex_unlock(&lock);
    if (!error)
        return copy;
    info_free(copy);
    return NULL;
}

// ---- Arguments
static int raise_no_memory(const char *call)
{
    return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the info");
}

int info_check(MPI_Info h, struct comm *comm, const char *call, struct info **info)
{
    struct info *i = info_of(h);
    if (!i && h != MPI_INFO_NULL)
        return raise_on(comm, MPI_ERR_INFO, call, "info is not an info object, or a freed one");
    if (info)
        *info = i;
    return MPI_SUCCESS;
}

static int check(MPI_Info h, const char *call, struct info **info)
{
    *info = info_of(h);
    if (*info)
        return MPI_SUCCESS;
    return raise_on(NULL, MPI_ERR_INFO, call, "info is %s",
                    h == MPI_INFO_NULL ? "MPI_INFO_NULL" : "not an info object, or a freed one");
}

// One that the program may change.
static int check_own(MPI_Info h, const char *call, struct info **info)
{
    int error = check(h, call, info);
    if (!error && (*info)->head.code)
        return raise_on(NULL, MPI_ERR_INFO, call, "MPI_INFO_ENV cannot be changed");
    return error;
}

static int check_key(const char *key, const char *call)
{
    if (!key || !*key)
        return raise_on(NULL, MPI_ERR_INFO_KEY, call, "key is %s", key ? "empty" : "NULL");
    if (strlen(key) >= MPI_MAX_INFO_KEY)
        return raise_on(NULL, MPI_ERR_INFO_KEY, call, "key has %zu characters, %d are the most",
                        strlen(key), MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

// ---- Calls
MPI_DEFINE(int, Info_create, MPI_Info *info)
{
    static const char call[] = "MPI_Info_create";
    if (!info)
        return raise_null(call, "info");
    struct info *new = info_new();
    if (!new)
        return raise_no_memory(call);
    *info = object_handle(new);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_dup, MPI_Info info, MPI_Info *newinfo)
{
    static const char call[] = "MPI_Info_dup";
    struct info *old;
    int error = check(info, call, &old);
    if (error)
        return error;
    if (!newinfo)
        return raise_null(call, "newinfo");
    struct info *new = info_copy(old);
    if (!new)
        return raise_no_memory(call);
    *newinfo = object_handle(new);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_free, MPI_Info *info)
{
    static const char call[] = "MPI_Info_free";
    if (!info)
        return raise_null(call, "info");
    struct info *old;
    int error = check_own(*info, call, &old);
    if (error)
        return error;
    info_free(old);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_set, MPI_Info info, const char *key, const char *value)
{
    static const char call[] = "MPI_Info_set";
    struct info *i;
    int error = check_own(info, call, &i);
    if (!error)
        error = check_key(key, call);
    if (error)
        return error;
    if (!value)
        return raise_on(NULL, MPI_ERR_INFO_VALUE, call, "value is NULL");
    if (strlen(value) >= MPI_MAX_INFO_VAL)
        return raise_on(NULL, MPI_ERR_INFO_VALUE, call, "value has %zu characters, %d are the most",
                        strlen(value), MPI_MAX_INFO_VAL - 1);
    return info_set(i, key, value) ? raise_no_memory(call) : MPI_SUCCESS;
}

static bool take_out(struct info *info, const char *key)
{
    pthread_mutex_lock(&lock);
    struct info_entry *e = find(info, key);
    if (e) {
        free(e->key);
        free(e->value);
        info->n--;
        memmove(e, e + 1, (size_t)(info->entry + info->n - e) * sizeof *e);
    }
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

MPI_DEFINE(int, Info_delete, MPI_Info info, const char *key)
{
    static const char call[] = "MPI_Info_delete";
    struct info *i;
    int error = check_own(info, call, &i);
    if (!error)
        error = check_key(key, call);
    if (error)
        return error;
    if (!take_out(i, key))
        return raise_on(NULL, MPI_ERR_INFO_NOKEY, call, "info has no key \"%s\"", key);
    return MPI_SUCCESS;
}

// The value of a key, copied to `room`, NULL: none. Checks what all calls that look one up are given.
static int look_up(MPI_Info info, const char *key, const int *flag, const char *call,
                   char room[MPI_MAX_INFO_VAL], const char **value)
{
    struct info *i;
    int error = check(info, call, &i);
    if (!error)
        error = check_key(key, call);
    if (!error && !flag)
        error = raise_null(call, "flag");
    if (!error)
        *value = info_get(i, key, room);
    return error;
}

MPI_DEFINE(int, Info_get, MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    static const char call[] = "MPI_Info_get";
    const char *found;
    char room[MPI_MAX_INFO_VAL];
    int error = look_up(info, key, flag, call, room, &found);
    if (error)
        return error;
    if (valuelen < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "valuelen is %d", valuelen);
    if (!value)
        return raise_on(NULL, MPI_ERR_INFO_VALUE, call, "value is NULL");
    *flag = found != NULL;
    if (found) {
        size_t n = strnlen(found, (size_t)valuelen);
        memcpy(value, found, n);
        value[n] = 0; // the caller has valuelen + 1 characters
    }
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_get_valuelen, MPI_Info info, const char *key, int *valuelen, int *flag)
{
    static const char call[] = "MPI_Info_get_valuelen";
    const char *found;
    char room[MPI_MAX_INFO_VAL];
    int error = look_up(info, key, flag, call, room, &found);
    if (error)
        return error;
    if (!valuelen)
        return raise_null(call, "valuelen");
    *flag = found != NULL;
    if (found)
        *valuelen = (int)strlen(found);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_get_string, MPI_Info info, const char *key, int *buflen, char *value,
           int *flag)
{
    static const char call[] = "MPI_Info_get_string";
    const char *found;
    char room[MPI_MAX_INFO_VAL];
    int error = look_up(info, key, flag, call, room, &found);
    if (error)
        return error;
    if (!buflen || *buflen < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "buflen is %s", buflen ? "negative" : "NULL");
    if (*buflen > 0 && !value)
        return raise_on(NULL, MPI_ERR_INFO_VALUE, call, "value is NULL");
    *flag = found != NULL;
    if (!found)
        return MPI_SUCCESS;
    size_t n = strlen(found);
    if (*buflen > 0) {
        size_t fits = n < (size_t)*buflen ? n : (size_t)*buflen - 1;
        memcpy(value, found, fits);
        value[fits] = 0;
    }
    *buflen = (int)n + 1;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_get_nkeys, MPI_Info info, int *nkeys)
{
    static const char call[] = "MPI_Info_get_nkeys";
    struct info *i;
    int error = check(info, call, &i);
    if (error)
        return error;
    if (!nkeys)
        return raise_null(call, "nkeys");
    pthread_mutex_lock(&lock);
    *nkeys = i->n;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Info_get_nthkey, MPI_Info info, int n, char *key)
{
    static const char call[] = "MPI_Info_get_nthkey";
    struct info *i;
    int error = check(info, call, &i);
    if (error)
        return error;
    if (!key)
        return raise_on(NULL, MPI_ERR_INFO_KEY, call, "key is NULL");
    pthread_mutex_lock(&lock);
    int keys = i->n;
    if (n >= 0 && n < keys)
        strcpy(key, i->entry[n].key);
    pthread_mutex_unlock(&lock);
    if (n < 0 || n >= keys)
        return raise_on(NULL, MPI_ERR_ARG, call, "n is %d, the info has %d keys", n, keys);
    return MPI_SUCCESS;
}
