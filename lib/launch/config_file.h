// SPDX-License-Identifier: BSD-3-Clause
// A command line from a file: mpiexec's "Form B" (MPI 5.0, 11.5, Portable MPI Process Startup).
#ifndef SHOAL_LAUNCH_CONFIG_FILE_H
#define SHOAL_LAUNCH_CONFIG_FILE_H

#include <stddef.h>

// Each line that is neither empty nor begins with # is what stands between two ":" of a command line. Blanks
// separate words; '...', "..." and a backslash take them and each other into one, and nothing is expanded. A
// backslash at the end of a line joins the next one to it. Returns `name` and the file's words as an argv,
// allocated for ever, and its length in *argc; NULL with one sentence in `error`.
char **config_file_read(const char *file, char *name, int *argc, char *error, size_t size);

#endif
