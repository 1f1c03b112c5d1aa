// SPDX-License-Identifier: BSD-3-Clause
// Messages to stderr and the one way to die. See log.h.
#include "log.h"

#include "libc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_name[] = {"error", "warn", "info", "debug"};

#define X(id, name) name,
static const char *const topic_name[] = {LOG_TOPICS(X)};
#undef X
_Static_assert(ARRAY_LEN(topic_name) == LOG_TOPIC_COUNT, "a name for every topic");

#define X(id, name) LOG_WARN,
static enum log_level topic_level[] = {LOG_TOPICS(X)};
#undef X

static char ident[32];
static pid_t printer; // the process that has tell_fatal
static void (*tell_fatal)(void);
static bool want_backtrace;

static int find_name(const char *const *names, size_t n, const char *word, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return (int)i;
    return -1;
}

static int configure_word(const char *word, size_t len)
{
    const char *colon = memchr(word, ':', len);
    const char *level_word = colon ? colon + 1 : word;
    int level = find_name(level_name, ARRAY_LEN(level_name), level_word,
                          len - (size_t)(level_word - word));
    int topic = -1;
    if (colon)
        topic = find_name(topic_name, LOG_TOPIC_COUNT, word, (size_t)(colon - word));
    if (level < 0 || (colon && topic < 0))
        return -1;
    for (int t = 0; t < LOG_TOPIC_COUNT; t++)
        if (!colon || t == topic)
            topic_level[t] = (enum log_level)level;
    return 0;
}

int log_configure(const char *spec, bool tells)
{
    while (*spec) {
        size_t len = strcspn(spec, ",");
        if (len && configure_word(spec, len)) {
            if (!tells)
                return -1;
            char topics[128] = "";
            for (int t = 0; t < LOG_TOPIC_COUNT; t++)
                strcat(strcat(topics, " "), topic_name[t]);
            log_line(LOG_WARN, LOG_BOOT, "SHOAL_LOG: \"%.*s\" is neither LEVEL nor TOPIC:LEVEL "
                     "(levels: error warn info debug; topics:%s)", (int)len, spec, topics);
            return -1;
        }
        spec += len + (spec[len] == ',');
    }
    return 0;
}

void log_set_ident(const char *text)
{
    snprintf(ident, sizeof ident, "%s", text);
}

void log_on_fatal(void (*tell)(void))
{
    tell_fatal = tell;
    printer = getpid();
}

void log_backtrace_on_fatal(bool on)
{
    want_backtrace = on;
}

bool log_enabled(enum log_level level, enum log_topic topic)
{
    return level <= topic_level[topic];
}

static void write_line(const char *prefix, const char *fmt, va_list args)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "shoal: %s%s", ident, prefix);
    int m = vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
    n += m < 0 ? 0 : m;
    if (n > (int)sizeof line - 1)
        n = (int)sizeof line - 1;
    line[n++] = '\n';
    ssize_t ignored UNUSED = write(STDERR_FILENO, line, (size_t)n);
}

void log_line(enum log_level level, enum log_topic topic, const char *fmt, ...)
{
    if (!log_enabled(level, topic))
        return;
    char prefix[32] = "";
    if (level == LOG_WARN)
        snprintf(prefix, sizeof prefix, "warning: ");
    else if (level >= LOG_INFO)
        snprintf(prefix, sizeof prefix, "[%s] ", topic_name[topic]);
    va_list args;
    va_start(args, fmt);
    write_line(prefix, fmt, args);
    va_end(args);
}

void fatal(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line("", fmt, args);
    va_end(args);
    if (want_backtrace)
        libc_backtrace();
    if (tell_fatal)
        tell_fatal();
    // What the program printed before, but not in a child, which has a copy, nor where it is printing just now.
    if (printer == getpid() && ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(EXIT_FAILURE);
}
