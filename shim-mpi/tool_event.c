// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Tool Support": events and their sources. There are none, so no index, name, handle or
// instance is a right one.
#include "tool.h"
#include "unsupported.h"

MPI_DEFINE(int, T_event_get_num, int *num_events)
{
    int error = tool_check(num_events);
    if (!error)
        *num_events = 0;
    return error;
}

MPI_DEFINE(int, T_source_get_num, int *num_sources)
{
    int error = tool_check(num_sources);
    if (!error)
        *num_sources = 0;
    return error;
}

static int error_unless_down(int error)
{
    int down = tool_check(&error);
    return down ? down : error;
}

static int no_index(const char *call)
{
    (void)call;
    return error_unless_down(MPI_T_ERR_INVALID_INDEX);
}

static int no_name(const char *call)
{
    (void)call;
    return error_unless_down(MPI_T_ERR_INVALID_NAME);
}

static int no_handle(const char *call)
{
    (void)call;
    return error_unless_down(MPI_T_ERR_INVALID_HANDLE);
}

#define NO_INDEX(name) UNSUPPORTED_BY(no_index, name)
NO_INDEX(T_event_get_info)
NO_INDEX(T_event_handle_alloc)
NO_INDEX(T_source_get_info)
NO_INDEX(T_source_get_timestamp)

#define NO_NAME(name) UNSUPPORTED_BY(no_name, name)
NO_NAME(T_event_get_index)

#define NO_HANDLE(name) UNSUPPORTED_BY(no_handle, name)
NO_HANDLE(T_event_callback_get_info)
NO_HANDLE(T_event_callback_set_info)
NO_HANDLE(T_event_copy)
NO_HANDLE(T_event_get_source)
NO_HANDLE(T_event_get_timestamp)
NO_HANDLE(T_event_handle_free)
NO_HANDLE(T_event_handle_get_info)
NO_HANDLE(T_event_handle_set_info)
NO_HANDLE(T_event_read)
NO_HANDLE(T_event_register_callback)
NO_HANDLE(T_event_set_dropped_handler)
