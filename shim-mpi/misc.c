// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "MPI Environmental Management": versions, names, clocks. Local, and at any time.
#include "check.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

MPI_DEFINE(int, Get_version, int *version, int *subversion)
{
    static const char call[] = "MPI_Get_version";
    int error = check_pointer(call, NULL, "version", version);
    if (!error)
        error = check_pointer(call, NULL, "subversion", subversion);
    if (error)
        return error;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

static int give(const char *call, const char *text, char *out, int *resultlen)
{
    int error = check_pointer(call, NULL, "the text", out);
    if (!error)
        error = check_pointer(call, NULL, "resultlen", resultlen);
    if (error)
        return error;
    strcpy(out, text);
    *resultlen = (int)strlen(text);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Get_library_version, char *version, int *resultlen)
{
    return give("MPI_Get_library_version", "Shoal " SHOAL_VERSION ", MPI 5.0, standard ABI 1.0",
                version, resultlen);
}

MPI_DEFINE(int, Get_processor_name, char *name, int *resultlen)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "unknown");
    return give("MPI_Get_processor_name", host, name, resultlen);
}

MPI_DEFINE(int, Pcontrol, const int level, ...)
{
    (void)level; // for tools that replace it
    return MPI_SUCCESS;
}

MPI_DEFINE(double, Wtime, void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

MPI_DEFINE(double, Wtick, void)
{
    struct timespec t;
    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
