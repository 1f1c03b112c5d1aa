// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Tool Support": performance variables, which are the counters of stats.h. A handle to a
// counter counts while it is started; levels and highest levels are what they are for the process,
// always.
#include "tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct pvar {
    const char *name, *description;
    int class;
} pvars[] = {
#define X(word, name, class, meaning) {"shoal_" name, meaning, MPI_T_PVAR_CLASS_##class},
    STATS(X)
#undef X
};
_Static_assert(ARRAY_LEN(pvars) == TOOL_PVARS, "a row for each counter");

struct handle {
    struct handle *next;
    int index;
    bool is_started;
    uint64_t kept; // counted while it was started before
    uint64_t from; // the counter's value when it was started last
};

struct pvar_session {
    struct pvar_session *next;
    struct handle *handles;
};

static struct pvar_session *sessions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all this

static bool is_counter(int index)
{
    return pvars[index].class == MPI_T_PVAR_CLASS_COUNTER;
}

MPI_DEFINE(int, T_pvar_get_num, int *num_pvar)
{
    int error = tool_check(num_pvar);
    if (!error)
        *num_pvar = TOOL_PVARS;
    return error;
}

MPI_DEFINE(int, T_pvar_get_info, int pvar_index, char *name, int *name_len, int *verbosity,
           int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
           int *bind, int *readonly, int *continuous, int *atomic)
{
    int error = tool_check_index(pvars, pvar_index, TOOL_PVARS);
    if (error)
        return error;
    tool_string(pvars[pvar_index].name, name, name_len);
    tool_string(pvars[pvar_index].description, desc, desc_len);
    TOOL_SET(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
    TOOL_SET(var_class, pvars[pvar_index].class);
    TOOL_SET(datatype, MPI_UNSIGNED_LONG_LONG);
    TOOL_SET(enumtype, MPI_T_ENUM_NULL);
    TOOL_SET(bind, MPI_T_BIND_NO_OBJECT);
    TOOL_SET(readonly, !is_counter(pvar_index));
    TOOL_SET(continuous, !is_counter(pvar_index));
    TOOL_SET(atomic, is_counter(pvar_index));
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_pvar_get_index, const char *name, int var_class, int *pvar_index)
{
    int error = tool_check(pvar_index);
    if (error || !name)
        return error ? error : MPI_T_ERR_INVALID;
    for (int i = 0; i < TOOL_PVARS; i++) {
        if (strcmp(name, pvars[i].name) != 0 || var_class != pvars[i].class)
            continue;
        *pvar_index = i;
        return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
}

// ---- Sessions; what follows with the lock held, up to the calls
static struct pvar_session **find_session(MPI_T_pvar_session session)
{
    struct pvar_session **at = &sessions;
    while (*at && *at != (struct pvar_session *)session)
        at = &(*at)->next;
    return at;
}

static struct handle **find_handle(struct pvar_session *s, MPI_T_pvar_handle handle)
{
    struct handle **at = &s->handles;
    while (*at && *at != (struct handle *)handle)
        at = &(*at)->next;
    return at;
}

static uint64_t value_of(const struct handle *h, uint64_t now)
{
    if (!is_counter(h->index))
        return now;
    return h->is_started ? h->kept + now - h->from : h->kept;
}

static uint64_t now_of(const struct handle *h)
{
    return stats_get((enum stats_word)h->index);
}

static void set(struct handle *h, uint64_t value, uint64_t now)
{
    h->kept = value;
    h->from = now;
}

enum action { START, STOP, RESET, READ, READ_RESET, WRITE };

static int act(enum action action, struct handle *h, uint64_t *value)
{
    uint64_t now = now_of(h);
    if (!is_counter(h->index) && action != READ)
        return action == START || action == STOP ? MPI_T_ERR_PVAR_NO_STARTSTOP
                                                 : MPI_T_ERR_PVAR_NO_WRITE;
    if (action == READ || action == READ_RESET)
        *value = value_of(h, now);
    switch (action) {
    case START:
        set(h, value_of(h, now), now);
        h->is_started = true;
        break;
    case STOP:
        set(h, value_of(h, now), now);
        h->is_started = false;
        break;
    case RESET:
    case READ_RESET: set(h, 0, now); break;
    case WRITE: set(h, *value, now); break;
    case READ: break;
    }
    return MPI_SUCCESS;
}

// One handle, or with MPI_T_PVAR_ALL_HANDLES all of the session that can do it.
static int act_on(enum action action, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                  uint64_t *value)
{
    struct pvar_session *s = *find_session(session);
    if (!s)
        return MPI_T_ERR_INVALID_SESSION;
    if (handle == MPI_T_PVAR_ALL_HANDLES && action <= RESET) {
        for (struct handle *h = s->handles; h; h = h->next)
            act(action, h, NULL);
        return MPI_SUCCESS;
    }
    struct handle *h = *find_handle(s, handle);
    return h ? act(action, h, value) : MPI_T_ERR_INVALID_HANDLE;
}

static int call(enum action action, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                uint64_t *value)
{
    int error = tool_check(&lock);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    error = act_on(action, session, handle, value);
    pthread_mutex_unlock(&lock);
    return error;
}

// buf is the user's, of any alignment.
static int read_to(enum action action, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                   void *buf)
{
    uint64_t value = 0;
    int error = tool_check(buf);
    if (!error)
        error = call(action, session, handle, &value);
    if (!error)
        memcpy(buf, &value, sizeof value);
    return error;
}

MPI_DEFINE(int, T_pvar_start, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return call(START, session, handle, NULL);
}

MPI_DEFINE(int, T_pvar_stop, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return call(STOP, session, handle, NULL);
}

MPI_DEFINE(int, T_pvar_reset, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return call(RESET, session, handle, NULL);
}

MPI_DEFINE(int, T_pvar_read, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    return read_to(READ, session, handle, buf);
}

MPI_DEFINE(int, T_pvar_readreset, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    return read_to(READ_RESET, session, handle, buf);
}

MPI_DEFINE(int, T_pvar_write, MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    uint64_t value;
    int error = tool_check(buf);
    if (error)
        return error;
    memcpy(&value, buf, sizeof value);
    return call(WRITE, session, handle, &value);
}

// ---- Their life
MPI_DEFINE(int, T_pvar_session_create, MPI_T_pvar_session *session)
{
    int error = tool_check(session);
    struct pvar_session *s = error ? NULL : calloc(1, sizeof *s);
    if (!s)
        return error ? error : MPI_T_ERR_MEMORY;
    pthread_mutex_lock(&lock);
    s->next = sessions;
    sessions = s;
    pthread_mutex_unlock(&lock);
    *session = (MPI_T_pvar_session)s;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_pvar_session_free, MPI_T_pvar_session *session)
{
    int error = tool_check(session);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    struct pvar_session **at = find_session(*session), *s = *at;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&lock);
    if (!s)
        return MPI_T_ERR_INVALID_SESSION;
    for (struct handle *h; (h = s->handles);) {
        s->handles = h->next;
        free(h);
    }
    free(s);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_pvar_handle_alloc, MPI_T_pvar_session session, int pvar_index, void *obj_handle,
           MPI_T_pvar_handle *handle, int *count)
{
    int error = tool_check_index(handle, pvar_index, TOOL_PVARS);
    (void)obj_handle;
    struct handle *h = error ? NULL : calloc(1, sizeof *h);
    if (!h)
        return error ? error : MPI_T_ERR_MEMORY;
    h->index = pvar_index;
    pthread_mutex_lock(&lock);
    struct pvar_session *s = *find_session(session);
    if (s) {
        h->next = s->handles;
        s->handles = h;
    }
    pthread_mutex_unlock(&lock);
    if (!s) {
        free(h);
        return MPI_T_ERR_INVALID_SESSION;
    }
    *handle = (MPI_T_pvar_handle)h;
    TOOL_SET(count, 1);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_pvar_handle_free, MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    int error = tool_check(handle);
    if (error)
        return error;
    struct handle *h = NULL;
    pthread_mutex_lock(&lock);
    struct pvar_session *s = *find_session(session);
    struct handle **at = s ? find_handle(s, *handle) : &h;
    if ((h = *at))
        *at = h->next;
    pthread_mutex_unlock(&lock);
    if (!h)
        return s ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
    free(h);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}
