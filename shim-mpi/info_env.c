// SPDX-License-Identifier: BSD-3-Clause
// MPI_INFO_ENV and MPI_Info_create_env: how this process was started.
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct info env;

// Known, and empty, from the start.
__attribute__((constructor)) static void predefine(void)
{
    object_predefine(&env, OBJECT_INFO, MPI_INFO_ENV);
}

// A value that is too long for a program's buffers is left out; lack of memory as well.
static void tell(struct info *info, const char *key, const char *value)
{
    if (value && *value && strlen(value) < MPI_MAX_INFO_VAL)
        info_set(info, key, value);
}

static void tell_arguments(struct info *info, int argc, char *const argv[])
{
    char all[MPI_MAX_INFO_VAL] = "";
    size_t n = 0;
    tell(info, "command", argv[0]);
    for (int i = 1; i < argc && argv[i]; i++) {
        size_t more = strlen(argv[i]) + (i > 1);
        if (n + more >= sizeof all)
            return;
        n += (size_t)sprintf(all + n, "%s%s", i > 1 ? " " : "", argv[i]);
    }
    tell(info, "argv", all);
}

// This process's own command line: what MPI_Init may not be given. A longer one than there is room for
// has arguments too long to be told.
static void tell_command_line(struct info *info)
{
    char text[2 * MPI_MAX_INFO_VAL + 2];
    FILE *f = fopen("/proc/self/cmdline", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    tell(info, "command", text);
    size_t first = strlen(text) + 1;
    if (first >= n || n == sizeof text - 1)
        return;
    for (size_t i = first; i < n - 1; i++) // where one argument ends the next one begins
        if (!text[i])
            text[i] = ' ';
    tell(info, "argv", text + first);
}

static void tell_machine(struct info *info)
{
    char text[MPI_MAX_INFO_VAL];
    struct utsname u;
    if (uname(&u) == 0) {
        tell(info, "host", u.nodename);
        tell(info, "arch", u.machine);
    }
    if (getcwd(text, sizeof text))
        tell(info, "wdir", text);
    tell(info, "thread_level", "MPI_THREAD_MULTIPLE");
    const char *handler = getenv("SHOAL_MPI_INITIAL_ERRHANDLER");
    tell(info, "mpi_initial_errhandler", handler ? handler : "mpi_errors_are_fatal");
}

// What MPI_Info_create_env does not tell, as it is to say the same at any time.
static void tell_job(struct info *info)
{
    char text[16];
    int npes;
    shim_app(&npes);
    snprintf(text, sizeof text, "%d", npes);
    tell(info, "maxprocs", text);
    tell(info, "soft", text);
}

void info_up(void)
{
    if (env.n)
        return;
    tell_command_line(&env);
    tell_machine(&env);
    tell_job(&env);
}

MPI_DEFINE(int, Info_create_env, int argc, char *argv[], MPI_Info *info)
{
    static const char call[] = "MPI_Info_create_env";
    if (!info)
        return raise_null(call, "info");
    struct info *new = info_new();
    if (!new)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the info");
    if (argc > 0 && argv && argv[0])
        tell_arguments(new, argc, argv);
    else
        tell_command_line(new);
    tell_machine(new);
    *info = object_handle(new);
    return MPI_SUCCESS;
}
