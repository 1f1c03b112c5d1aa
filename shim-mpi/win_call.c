// SPDX-License-Identifier: BSD-3-Clause
// What a window is: names, group, hints, where the memory of others is; and the checks that calls on
// windows share.
#include "check.h"
#include "error.h"
#include "info.h"
#include "win.h"

#include <string.h>

// ---- Checks
int win_check(const char *call, MPI_Win h, struct win **w)
{
    struct win *found = win_of(h);
    if (likely(found != NULL)) {
        *w = found;
        return MPI_SUCCESS;
    }
    if (!shim_is_up())
        return raise_not_up(call);
    return raise_on(NULL, MPI_ERR_WIN, call, "win is %s",
                    h == MPI_WIN_NULL ? "MPI_WIN_NULL" : "not a window, or a freed one");
}

int win_check_pointer(const char *call, struct win *w, const char *argument, const void *pointer)
{
    if (likely(pointer))
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_ARG, call, "argument %s is NULL", argument);
}

int win_check_rank(const char *call, struct win *w, int rank)
{
    if (likely((unsigned)rank < (unsigned)w->size || rank == MPI_PROC_NULL))
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_RANK, call, "rank %d: there are ranks 0 to %d", rank,
                        w->size - 1);
}

// ---- Names
MPI_DEFINE(int, Win_set_name, MPI_Win win, const char *win_name)
{
    static const char call[] = "MPI_Win_set_name";
    struct win *w = NULL;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_pointer(call, w, "win_name", win_name);
    if (!error)
        object_set_name(w->name, win_name);
    return error;
}

MPI_DEFINE(int, Win_get_name, MPI_Win win, char *win_name, int *resultlen)
{
    static const char call[] = "MPI_Win_get_name";
    struct win *w = NULL;
    int error = win == MPI_WIN_NULL ? MPI_SUCCESS : win_check(call, win, &w);
    if (error)
        return error;
    if (!win_name || !resultlen)
        return w ? win_check_pointer(call, w, win_name ? "resultlen" : "win_name", NULL)
                 : check_pointer(call, NULL, win_name ? "resultlen" : "win_name", NULL);
    *resultlen = object_get_name(w ? w->name : "MPI_WIN_NULL", win_name);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Win_get_group, MPI_Win win, MPI_Group *group)
{
    static const char call[] = "MPI_Win_get_group";
    struct win *w = NULL;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_pointer(call, w, "group", group);
    if (error)
        return error;
    object_keep(w->group);
    *group = group_give(w->group);
    return MPI_SUCCESS;
}

// ---- Hints, with their defaults. Those that change nothing here are kept all the same: orders and
// operations are guaranteed without a price, sizes and units are in every target's record.
enum hint_kind { HINT_BOOLEAN, HINT_NUMBER, HINT_ORDER, HINT_OPS, HINT_KINDS };
static const struct hint {
    const char *key, *value;
    enum hint_kind kind;
    bool is_fixed; // at the window's creation
} hints[] = {
    {"no_locks", "false", HINT_BOOLEAN, false},
    {"accumulate_ordering", "rar,raw,war,waw", HINT_ORDER, false},
    {"accumulate_ops", "same_op_no_op", HINT_OPS, false},
    {"mpi_accumulate_granularity", "0", HINT_NUMBER, true},
    {"same_size", "false", HINT_BOOLEAN, false},
    {"same_disp_unit", "false", HINT_BOOLEAN, false},
    {"alloc_shared_noncontig", "false", HINT_BOOLEAN, true},
    {"mpi_assert_memory_alloc_kinds", NULL, HINT_KINDS, true},
};

bool hint_is_true(const struct info *info, const char *key)
{
    char room[MPI_MAX_INFO_VAL];
    const char *value = info_get(info, key, room);
    return value && !strcmp(value, "true");
}

static bool is_order(const char *value)
{
    if (!strcmp(value, "none"))
        return true;
    while (strlen(value) >= 3 && strchr("rw", value[0]) && value[1] == 'a' &&
           strchr("rw", value[2])) {
        value += 3;
        if (!*value)
            return true;
        if (*value++ != ',')
            return false;
    }
    return false;
}

static bool is_sound(const struct hint *hint, const char *value)
{
    switch (hint->kind) {
    case HINT_BOOLEAN: return !strcmp(value, "true") || !strcmp(value, "false");
    case HINT_NUMBER: return *value && strspn(value, "0123456789") == strlen(value);
    case HINT_ORDER: return is_order(value);
    case HINT_KINDS: return info_has_kinds(value);
    default: return !strcmp(value, "same_op") || !strcmp(value, "same_op_no_op");
    }
}

// The first time with all defaults. Values that make no sense are ignored, as the standard wants.
int win_set_hints(struct win *w, const struct info *info)
{
    bool is_first = !w->hints;
    if (is_first && !(w->hints = info_new()))
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
        char room[MPI_MAX_INFO_VAL];
        const char *value = NULL;
        if (is_first || !hints[i].is_fixed)
            value = info_get(info, hints[i].key, room);
        if (value && !is_sound(&hints[i], value))
            value = NULL;
        if (!value && is_first)
            value = hints[i].value;
        if (value && info_set(w->hints, hints[i].key, value))
            return MPI_ERR_NO_MEM;
    }
    w->no_locks = hint_is_true(w->hints, "no_locks");
    return is_first ? info_set(w->hints, "mpi_memory_alloc_kinds", INFO_KINDS) : MPI_SUCCESS;
}

MPI_DEFINE(int, Win_set_info, MPI_Win win, MPI_Info info)
{
    static const char call[] = "MPI_Win_set_info";
    struct win *w = NULL;
    int error = win_check(call, win, &w);
    if (error)
        return error;
    struct info *i = info_of(info);
    if (!i && info != MPI_INFO_NULL)
        return raise_on_win(w, MPI_ERR_INFO, call, "info is not an info object, or a freed one");
    if (win_set_hints(w, i))
        return raise_on_win(w, MPI_ERR_NO_MEM, call, "no memory for the hints");
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Win_get_info, MPI_Win win, MPI_Info *info_used)
{
    static const char call[] = "MPI_Win_get_info";
    struct win *w = NULL;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_pointer(call, w, "info_used", info_used);
    if (error)
        return error;
    struct info *used = info_copy(w->hints);
    if (!used)
        return raise_on_win(w, MPI_ERR_NO_MEM, call, "no memory for the info");
    *info_used = object_handle(used);
    return MPI_SUCCESS;
}

// ---- The memory of others. What is not mapped here has no size.
static int check_query(const char *call, MPI_Win win, int rank, const MPI_Aint *size,
                       const void *disp_unit, const void *baseptr, struct win **w)
{
    int error = win_check(call, win, w);
    if (!error)
        error = win_check_pointer(call, *w, "disp_unit", disp_unit);
    if (!error)
        error = win_check_rank(call, *w, rank);
    if (!error)
        error = win_check_pointer(call, *w, "size", size);
    if (!error)
        error = win_check_pointer(call, *w, "baseptr", baseptr);
    if (!error && (*w)->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return raise_on_win(*w, MPI_ERR_RMA_FLAVOR, call, "the window is dynamic");
    return error;
}

// The unit.
static MPI_Aint query(struct win *w, int rank, MPI_Aint *size, void *baseptr)
{
    int i = rank == MPI_PROC_NULL ? 0 : rank;
    if (rank == MPI_PROC_NULL) // the first that has memory
        while (i < w->size - 1 && !(w->target[i].size && w->target[i].direct))
            i++;
    struct target *t = &w->target[i];
    void *base = t->size || rank != MPI_PROC_NULL ? t->direct : NULL;
    *size = base ? (MPI_Aint)t->size : 0;
    memcpy(baseptr, &base, sizeof base);
    if (base)
        win_give_address(w, t);
    return t->disp_unit;
}

#define QUERIES(X)           \
    X(Win_shared_query, int) \
    X(Win_shared_query_c, MPI_Aint)
#define X(name, unit)                                                                            \
    MPI_DEFINE(int, name, MPI_Win win, int rank, MPI_Aint *size, unit *disp_unit, void *baseptr) \
    {                                                                                            \
        struct win *w = NULL;                                                                    \
        int error = check_query("MPI_" #name, win, rank, size, disp_unit, baseptr, &w);          \
        MPI_Aint n = error ? 0 : query(w, rank, size, baseptr);                                  \
        if (!error && (unit)n != n)                                                              \
            return raise_on_win(w, MPI_ERR_VALUE_TOO_LARGE, "MPI_" #name, "disp_unit is %lld",   \
                                (long long)n);                                                   \
        if (!error)                                                                              \
            *disp_unit = (unit)n;                                                                \
        return error;                                                                            \
    }
QUERIES(X)
#undef X
