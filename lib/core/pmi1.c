// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 over a socket: each message is a line "cmd=NAME key=value ...". See pmi.h.
#include "pmi.h"

#include "compiler.h"
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST 16384 // PMI_process_mapping of an irregular job can be long

struct pmi1 {
    struct pmi pmi;
    int fd;
    unsigned long socket; // which fd was at first: the program may close what it likes
    char space[257];      // the key-value space's name
    char line[LINE_MOST];
};

int pmi1_parse(char *text, size_t n, struct pmi_reply *reply)
{
    char *at = text;
    reply->n = 0;
    if (memchr(text, '\0', n))
        return -1;
    text[n] = '\0';
    while (*(at += strspn(at, " "))) {
        size_t len = strcspn(at, " ");
        char *equals = memchr(at, '=', len);
        bool is_last = !at[len];
        if (!equals || equals == at || reply->n == PMI_WORDS)
            return -1;
        *equals = '\0';
        at[len] = '\0';
        reply->word[reply->n].key = at;
        reply->word[reply->n++].value = equals + 1;
        at += len + !is_last;
    }
    return reply->n ? 0 : -1;
}

// Reads one line into c->line, without its end. What follows it was not asked for.
static int read_line(struct pmi1 *c, const char *what, int limit_ms)
{
    size_t have = 0;
    for (;;) {
        if (have == sizeof c->line - 1)
            return pmi_refuse(&c->pmi, what, "a line that does not end");
        long n = pmi_receive(c->fd, c->line + have, sizeof c->line - 1 - have, limit_ms);
        if (n < 0)
            return pmi_lost(&c->pmi, what);
        char *end = memchr(c->line + have, '\n', (size_t)n);
        have += (size_t)n;
        if (!end)
            continue;
        *end = '\0';
        return end + 1 == c->line + have ? (int)(end - c->line)
                                         : pmi_refuse(&c->pmi, what, "more than one line");
    }
}

// Sends a command and reads the answer, which must be called `answer` and have no rc but 0.
static int PRINTF_LIKE(5, 6) ask(struct pmi1 *c, const char *what, const char *answer,
                                 struct pmi_reply *reply, const char *format, ...)
{
    char text[2048], shown[81];
    int rc = 0;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof text)
        return pmi_refuse(&c->pmi, what, "(the question is too long)");
    if (pmi_send(c->fd, text, (size_t)n))
        return pmi_lost(&c->pmi, what);
    int len = read_line(c, what, strcmp(answer, "barrier_out") ? PMI_REPLY_MS : -1);
    if (len < 0)
        return -1;
    snprintf(shown, sizeof shown, "%.80s", c->line);
    if (pmi1_parse(c->line, (size_t)len, reply))
        return pmi_refuse(&c->pmi, what, shown);
    const char *cmd = pmi_reply_text(reply, "cmd");
    bool has_rc = pmi_reply_text(reply, "rc");
    if (!cmd || strcmp(cmd, answer) || (has_rc && pmi_reply_number(reply, "rc", 0, 0, &rc)))
        return pmi_refuse(&c->pmi, what, shown);
    return 0;
}

static int put(struct pmi *pmi, const char *key, const char *value)
{
    struct pmi1 *c = (struct pmi1 *)pmi;
    struct pmi_reply reply;
    return ask(c, "put", "put_result", &reply, "cmd=put kvsname=%s key=%s value=%s\n", c->space,
               key, value);
}

// A fence waits for all others, however late they start: nothing limits it but the launcher.
static int fence(struct pmi *pmi)
{
    struct pmi_reply reply;
    return ask((struct pmi1 *)pmi, "barrier_in", "barrier_out", &reply, "cmd=barrier_in\n");
}

// The value as it lies in c->line, or NULL after one line.
static const char *get_text(struct pmi1 *c, const char *key)
{
    struct pmi_reply reply;
    if (ask(c, "get", "get_result", &reply, "cmd=get kvsname=%s key=%s\n", c->space, key))
        return NULL;
    const char *value = pmi_reply_text(&reply, "value");
    if (!value)
        pmi_refuse(&c->pmi, "get", "no value");
    return value;
}

static int get(struct pmi *pmi, int rank, const char *key, char *value, size_t size)
{
    (void)rank;
    struct pmi1 *c = (struct pmi1 *)pmi;
    const char *text = get_text(c, key);
    if (!text)
        return -1;
    if (strlen(text) >= size)
        return pmi_refuse(&c->pmi, "get", "a value that is too long");
    memcpy(value, text, strlen(text) + 1);
    return 0;
}

static char *mapping(struct pmi *pmi)
{
    const char *text = get_text((struct pmi1 *)pmi, "PMI_process_mapping");
    return text ? strdup(text) : NULL;
}

// Waits for the line that answers, or for the end, but does not look at it.
static void tell(struct pmi1 *c, const char *line)
{
    bool is_open = pmi_socket(c->fd) == c->socket;
    long n = !is_open || pmi_send(c->fd, line, strlen(line)) ? -1 : 1;
    c->line[0] = '\0';
    while (n > 0 && !memchr(c->line, '\n', (size_t)n))
        n = pmi_receive(c->fd, c->line, sizeof c->line, PMI_REPLY_MS);
}

static void end_job(struct pmi *pmi, int status, const char *text)
{
    (void)text; // the launcher has its own words
    char line[64];
    snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    tell((struct pmi1 *)pmi, line);
}

// Somebody else in this process may have done it already: nothing to complain of.
static void finalize(struct pmi *pmi)
{
    tell((struct pmi1 *)pmi, "cmd=finalize\n");
}

static int greet(struct pmi1 *c)
{
    struct pmi_reply reply;
    int value_most, key_most;
    if (ask(c, "init", "response_to_init", &reply, "cmd=init pmi_version=1 pmi_subversion=1\n") ||
        ask(c, "get_maxes", "maxes", &reply, "cmd=get_maxes\n"))
        return -1;
    if (pmi_reply_number(&reply, "vallen_max", 64, 1 << 30, &value_most) ||
        pmi_reply_number(&reply, "keylen_max", 48, 1 << 30, &key_most))
        return pmi_refuse(&c->pmi, "get_maxes", "no sizes, or too small ones");
    c->pmi.value_most = value_most > PMI_VALUE_MOST ? PMI_VALUE_MOST : (size_t)value_most - 1;
    if (ask(c, "get_my_kvsname", "my_kvsname", &reply, "cmd=get_my_kvsname\n"))
        return -1;
    const char *space = pmi_reply_text(&reply, "kvsname");
    if (!space || !space[0] || strlen(space) >= sizeof c->space)
        return pmi_refuse(&c->pmi, "get_my_kvsname", "no name, or a very long one");
    memcpy(c->space, space, strlen(space) + 1);
    return pmi_find_locals(&c->pmi);
}

struct pmi *pmi1_open(int fd, int rank, int size)
{
    struct pmi1 *c = calloc(1, sizeof *c);
    if (c) {
        c->fd = fd;
        c->socket = pmi_socket(fd);
        c->pmi = (struct pmi){.name = "PMI-1",
                              .rank = rank,
                              .size = size,
                              .put = put,
                              .fence = fence,
                              .get = get,
                              .mapping = mapping,
                              .abort = end_job,
                              .finalize = finalize};
        if (greet(c) == 0)
            return &c->pmi;
        free(c->pmi.local);
        free(c->pmi.map.blocks);
        free(c);
    }
    close(fd);
    return NULL;
}
