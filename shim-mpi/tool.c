// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Tool Support": initialization, enumerations, categories. See tool.h.
#include "tool.h"

#include "core.h"

#include <stdio.h>
#include <string.h>

static _Atomic int users; // MPI_T_init_thread less MPI_T_finalize

int tool_check(const void *output)
{
    if (atomic_load_explicit(&users, memory_order_relaxed) == 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    return output ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int tool_check_index(const void *output, int index, int n)
{
    int error = tool_check(output);
    if (error)
        return error;
    return index >= 0 && index < n ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

void tool_string(const char *string, char *buffer, int *length)
{
    if (!length)
        return;
    if (buffer && *length > 0)
        snprintf(buffer, (size_t)*length, "%s", string);
    *length = (int)strlen(string) + 1;
}

MPI_DEFINE(int, T_init_thread, int required, int *provided)
{
    if (!thread_level_name(required))
        return MPI_T_ERR_INVALID;
    shim_settings_read();
    atomic_fetch_add_explicit(&users, 1, memory_order_relaxed);
    TOOL_SET(provided, MPI_THREAD_MULTIPLE);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_finalize, void)
{
    int n = atomic_load_explicit(&users, memory_order_relaxed);
    while (n > 0)
        if (atomic_compare_exchange_weak_explicit(&users, &n, n - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return MPI_SUCCESS;
    return MPI_T_ERR_NOT_INITIALIZED;
}

// ---- Enumerations: no variable has one.
MPI_DEFINE(int, T_enum_get_info, MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    int error = tool_check(num);
    (void)enumtype;
    (void)name;
    (void)name_len;
    return error ? error : MPI_T_ERR_INVALID_HANDLE;
}

MPI_DEFINE(int, T_enum_get_item, MPI_T_enum enumtype, int indx, int *value, char *name,
           int *name_len)
{
    int error = tool_check(value);
    (void)enumtype;
    (void)indx;
    (void)name;
    (void)name_len;
    return error ? error : MPI_T_ERR_INVALID_HANDLE;
}

// ---- Categories: each has all variables of its sort, and no other category.
static const struct {
    const char *name, *description;
    int cvars, pvars;
} categories[] = {
    {"shoal_settings", "settings of the MPI layer, from the environment", TOOL_CVARS, 0},
    {"shoal_messages", "which way the messages of this process went", 0, TOOL_PVARS},
};
enum { CATEGORIES = ARRAY_LEN(categories) };

MPI_DEFINE(int, T_category_get_num, int *num_cat)
{
    int error = tool_check(num_cat);
    if (!error)
        *num_cat = CATEGORIES;
    return error;
}

MPI_DEFINE(int, T_category_get_info, int cat_index, char *name, int *name_len, char *desc,
           int *desc_len, int *num_cvars, int *num_pvars, int *num_categories)
{
    int error = tool_check_index(categories, cat_index, CATEGORIES);
    if (error)
        return error;
    tool_string(categories[cat_index].name, name, name_len);
    tool_string(categories[cat_index].description, desc, desc_len);
    TOOL_SET(num_cvars, categories[cat_index].cvars);
    TOOL_SET(num_pvars, categories[cat_index].pvars);
    TOOL_SET(num_categories, 0);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_category_get_num_events, int cat_index, int *num_events)
{
    int error = tool_check_index(num_events, cat_index, CATEGORIES);
    if (!error)
        *num_events = 0;
    return error;
}

MPI_DEFINE(int, T_category_get_index, const char *name, int *cat_index)
{
    int error = tool_check(cat_index);
    if (error || !name)
        return error ? error : MPI_T_ERR_INVALID;
    for (int i = 0; i < CATEGORIES; i++) {
        if (strcmp(name, categories[i].name) != 0)
            continue;
        *cat_index = i;
        return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
}

// Numbers of all n variables, as far as there is room.
static int list(int cat_index, int n, int len, int indices[])
{
    int error = tool_check_index(len ? indices : (const void *)categories, cat_index, CATEGORIES);
    for (int i = 0; !error && i < n && i < len; i++)
        indices[i] = i;
    return error;
}

static int of_category(int cat_index, bool is_pvars)
{
    if (cat_index < 0 || cat_index >= CATEGORIES)
        return 0;
    return is_pvars ? categories[cat_index].pvars : categories[cat_index].cvars;
}

MPI_DEFINE(int, T_category_get_cvars, int cat_index, int len, int indices[])
{
    return list(cat_index, of_category(cat_index, false), len, indices);
}

MPI_DEFINE(int, T_category_get_pvars, int cat_index, int len, int indices[])
{
    return list(cat_index, of_category(cat_index, true), len, indices);
}

MPI_DEFINE(int, T_category_get_categories, int cat_index, int len, int indices[])
{
    return list(cat_index, 0, len, indices);
}

MPI_DEFINE(int, T_category_get_events, int cat_index, int len, int indices[])
{
    return list(cat_index, 0, len, indices);
}

MPI_DEFINE(int, T_category_changed, int *update_number)
{
    int error = tool_check(update_number);
    if (!error)
        *update_number = 0;
    return error;
}
