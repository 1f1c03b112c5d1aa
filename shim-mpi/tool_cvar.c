// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Tool Support": control variables, which are the settings. They are read, not written. A
// handle is the address of its row.
#include "tool.h"

#include <string.h>

static const struct cvar {
    const char *name, *description;
    const uint64_t *value;
} cvars[] = {
#define X(field, env, def, meaning) {env, meaning, &shim_settings.field},
    SHIM_SETTINGS(X)
#undef X
};
_Static_assert(ARRAY_LEN(cvars) == TOOL_CVARS, "a row for each setting");

static const struct cvar *cvar_of(MPI_T_cvar_handle handle)
{
    const struct cvar *c = (const void *)handle;
    for (int i = 0; i < TOOL_CVARS; i++)
        if (c == &cvars[i])
            return c;
    return NULL;
}

MPI_DEFINE(int, T_cvar_get_num, int *num_cvar)
{
    int error = tool_check(num_cvar);
    if (!error)
        *num_cvar = TOOL_CVARS;
    return error;
}

MPI_DEFINE(int, T_cvar_get_info, int cvar_index, char *name, int *name_len, int *verbosity,
           MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
           int *scope)
{
    int error = tool_check_index(cvars, cvar_index, TOOL_CVARS);
    if (error)
        return error;
    tool_string(cvars[cvar_index].name, name, name_len);
    tool_string(cvars[cvar_index].description, desc, desc_len);
    TOOL_SET(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    TOOL_SET(datatype, MPI_UNSIGNED_LONG_LONG);
    TOOL_SET(enumtype, MPI_T_ENUM_NULL);
    TOOL_SET(bind, MPI_T_BIND_NO_OBJECT);
    TOOL_SET(scope, MPI_T_SCOPE_READONLY);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_cvar_get_index, const char *name, int *cvar_index)
{
    int error = tool_check(cvar_index);
    if (error || !name)
        return error ? error : MPI_T_ERR_INVALID;
    for (int i = 0; i < TOOL_CVARS; i++) {
        if (strcmp(name, cvars[i].name) != 0)
            continue;
        *cvar_index = i;
        return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
}

MPI_DEFINE(int, T_cvar_handle_alloc, int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
           int *count)
{
    int error = tool_check_index(handle, cvar_index, TOOL_CVARS);
    (void)obj_handle;
    if (error)
        return error;
    *handle = (MPI_T_cvar_handle)(uintptr_t)&cvars[cvar_index];
    TOOL_SET(count, 1);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_cvar_handle_free, MPI_T_cvar_handle *handle)
{
    int error = tool_check(handle);
    if (error)
        return error;
    if (!cvar_of(*handle))
        return MPI_T_ERR_INVALID_HANDLE;
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_cvar_read, MPI_T_cvar_handle handle, void *buf)
{
    int error = tool_check(buf);
    const struct cvar *c = cvar_of(handle);
    if (error || !c)
        return error ? error : MPI_T_ERR_INVALID_HANDLE;
    memcpy(buf, c->value, sizeof *c->value);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, T_cvar_write, MPI_T_cvar_handle handle, const void *buf)
{
    int error = tool_check(buf);
    if (error)
        return error;
    return cvar_of(handle) ? MPI_T_ERR_CVAR_SET_NEVER : MPI_T_ERR_INVALID_HANDLE;
}
