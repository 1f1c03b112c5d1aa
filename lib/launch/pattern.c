// SPDX-License-Identifier: BSD-3-Clause
// Patterns. See pattern.h.
#include "pattern.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

bool pattern_is_good(const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '%')); at += 2)
        if (!at[1] || !strchr("rhgpt%", at[1]))
            return false;
    return true;
}

const char *pattern_host(void)
{
    static struct utsname here;
    return uname(&here) ? "?" : here.nodename;
}

static size_t write_item(char item, int pe, int npes, char *text, size_t size)
{
    char when[32];
    time_t now = time(NULL);
    struct tm local;
    switch (item) {
    case 'r': return (size_t)snprintf(text, size, "%d", pe);
    case 'R': return (size_t)snprintf(text, size, "%0*d", snprintf(NULL, 0, "%d", npes - 1), pe);
    case 'h': return (size_t)snprintf(text, size, "%s", pattern_host());
    case 't': return (size_t)snprintf(text, size, "%lld", (long long)now);
    case 'T':
        localtime_r(&now, &local);
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &local);
        return (size_t)snprintf(text, size, "%s", when);
    case '%': return (size_t)snprintf(text, size, "%%");
    default: return (size_t)snprintf(text, size, "0");
    }
}

size_t pattern_write(const char *pattern, int pe, int npes, char *text, size_t size)
{
    size_t n = 0;
    for (const char *at = pattern; *at; at++) {
        size_t room = n < size ? size - n : 0;
        char *to = room ? text + n : NULL;
        if (*at == '%' && at[1])
            n += write_item(*++at, pe, npes, to, room);
        else
            n += (size_t)snprintf(to, room, "%c", *at);
    }
    return n;
}
