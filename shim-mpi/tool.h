// SPDX-License-Identifier: BSD-3-Clause
// The tool information interface (MPI 5.0, "Tool Support"): what its files share. Its calls work
// before MPI_Init, call no error handler and return codes of their own. There are variables for the
// settings (settings.h) and the counters (stats.h) of this process, none bound to an object.
#ifndef SHOAL_MPI_TOOL_H
#define SHOAL_MPI_TOOL_H

#include "settings.h"
#include "stats.h"

#define X(...) +1
enum { TOOL_CVARS = 0 SHIM_SETTINGS(X), TOOL_PVARS = 0 STATS(X) };
#undef X

// MPI_SUCCESS; or MPI_T_ERR_NOT_INITIALIZED, or MPI_T_ERR_INVALID when there is no place for output.
int tool_check(const void *output);
// The same, and MPI_T_ERR_INVALID_INDEX unless index is below n.
int tool_check_index(const void *output, int index, int n);

// A string for the caller, cut where it must be: *length is the room in buffer, then what the whole
// string takes. Each may be NULL.
void tool_string(const char *string, char *buffer, int *length);

#define TOOL_SET(pointer, value) ((pointer) ? (void)(*(pointer) = (value)) : (void)0)

#endif
