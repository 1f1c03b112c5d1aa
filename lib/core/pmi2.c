// SPDX-License-Identifier: BSD-3-Clause
// PMI-2 over a socket: after a first line as in PMI-1, each message is six characters that hold its
// length, then "cmd=NAME;key=value;...", in which ";;" stands for a semicolon. See pmi.h.
#include "pmi.h"

#include "compiler.h"
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MOST 65536

struct pmi2 {
    struct pmi pmi;
    int fd;
    bool asks_ranks;      // for the node map: the launcher's is of no use
    unsigned long socket; // which fd was at first: the program may close what it likes
    char job[257];
    char text[MESSAGE_MOST + 1];
};

int pmi2_length(const char digits[6])
{
    int i = 0, n = 0, any = 0;
    while (i < 6 && digits[i] == ' ')
        i++;
    for (; i < 6 && digits[i] >= '0' && digits[i] <= '9'; i++, any = 1)
        n = 10 * n + (digits[i] - '0');
    while (i < 6 && (digits[i] == ' ' || digits[i] == '\0'))
        i++;
    return any && i == 6 ? n : -1;
}

// Ends a value at its semicolon, and makes one of each pair of them. Returns what follows, or NULL.
static char *end_value(char *from)
{
    char *to = from;
    for (;; from++) {
        if (*from == '\0')
            return NULL;
        if (*from == ';' && *++from != ';')
            break;
        *to++ = *from;
    }
    *to = '\0'; // no farther than the semicolon before `from`
    return from;
}

int pmi2_parse(char *text, size_t n, struct pmi_reply *reply)
{
    char *at = text;
    reply->n = 0;
    text[n] = '\0';
    if (strlen(text) != n)
        return -1;
    while (*at) {
        char *equals = at + strcspn(at, "=;");
        if (*equals != '=' || equals == at || reply->n == PMI_WORDS)
            return -1;
        *equals = '\0';
        reply->word[reply->n].key = at;
        reply->word[reply->n++].value = equals + 1;
        at = end_value(equals + 1);
        if (!at)
            return -1;
    }
    return reply->n ? 0 : -1;
}

static int read_all(struct pmi2 *c, size_t n, int limit_ms)
{
    for (size_t have = 0; have < n;) {
        long got = pmi_receive(c->fd, c->text + have, n - have, limit_ms);
        if (got < 0)
            return -1;
        have += (size_t)got;
    }
    return 0;
}

// Reads a message into c->text; returns its length, -1 when it does not come, -2 when it has none.
static int read_message(struct pmi2 *c, int limit_ms)
{
    if (read_all(c, 6, limit_ms))
        return -1;
    int n = pmi2_length(c->text);
    c->text[6] = '\0';
    if (n < 1 || n > MESSAGE_MOST)
        return -2;
    return read_all(c, (size_t)n, limit_ms) ? -1 : n;
}

// Sends a message, or says nothing when it cannot.
static int send_message(struct pmi2 *c, const char *format, va_list args)
{
    char text[2048], head[7];
    int n = vsnprintf(text + 6, sizeof text - 6, format, args);
    if (n < 0 || n >= (int)sizeof text - 6) {
        errno = EMSGSIZE;
        return -1;
    }
    snprintf(head, sizeof head, "%6d", n);
    memcpy(text, head, 6);
    return pmi_send(c->fd, text, (size_t)n + 6);
}

// Sends the command `what` with arguments and reads its answer, which must have rc=0.
static int PRINTF_LIKE(4, 5)
    ask(struct pmi2 *c, const char *what, struct pmi_reply *reply, const char *format, ...)
{
    char shown[81], answer[64];
    int rc;
    va_list args;
    va_start(args, format);
    int failed = send_message(c, format, args);
    va_end(args);
    if (failed)
        return pmi_lost(&c->pmi, what);
    int n = read_message(c, strcmp(what, "kvs-fence") ? PMI_REPLY_MS : -1);
    if (n < 0)
        return n == -1 ? pmi_lost(&c->pmi, what) : pmi_refuse(&c->pmi, what, c->text);
    c->text[n] = '\0';
    snprintf(shown, sizeof shown, "%.80s", c->text);
    if (pmi2_parse(c->text, (size_t)n, reply))
        return pmi_refuse(&c->pmi, what, shown);
    const char *cmd = pmi_reply_text(reply, "cmd");
    snprintf(answer, sizeof answer, "%s-response", what);
    if (!cmd || strcmp(cmd, answer) || pmi_reply_number(reply, "rc", 0, 0, &rc))
        return pmi_refuse(&c->pmi, what, shown);
    return 0;
}

static int put(struct pmi *pmi, const char *key, const char *value)
{
    struct pmi_reply reply;
    return ask((struct pmi2 *)pmi, "kvs-put", &reply, "cmd=kvs-put;key=%s;value=%s;", key, value);
}

// A fence waits for all others, however late they start: nothing limits it but the launcher.
static int fence(struct pmi *pmi)
{
    struct pmi_reply reply;
    return ask((struct pmi2 *)pmi, "kvs-fence", &reply, "cmd=kvs-fence;");
}

static const char *found_value(struct pmi2 *c, const char *what, const struct pmi_reply *reply)
{
    const char *found = pmi_reply_text(reply, "found"), *value = pmi_reply_text(reply, "value");
    if (found && strcmp(found, "TRUE") == 0 && value)
        return value;
    pmi_refuse(&c->pmi, what, "no value");
    return NULL;
}

static int get(struct pmi *pmi, int rank, const char *key, char *value, size_t size)
{
    struct pmi2 *c = (struct pmi2 *)pmi;
    struct pmi_reply reply;
    if (ask(c, "kvs-get", &reply, "cmd=kvs-get;jobid=%s;srcid=%d;key=%s;", c->job, rank, key))
        return -1;
    const char *text = found_value(c, "kvs-get", &reply);
    if (!text)
        return -1;
    if (strlen(text) >= size)
        return pmi_refuse(&c->pmi, "kvs-get", "a value that is too long");
    memcpy(value, text, strlen(text) + 1);
    return 0;
}

static char *mapping(struct pmi *pmi)
{
    struct pmi2 *c = (struct pmi2 *)pmi;
    struct pmi_reply reply;
    if (c->asks_ranks)
        return pmi_slurm_map(pmi);
    if (ask(c, "info-getjobattr", &reply, "cmd=info-getjobattr;key=PMI_process_mapping;"))
        return NULL;
    const char *text = found_value(c, "info-getjobattr", &reply);
    return text ? strdup(text) : NULL;
}

static int PRINTF_LIKE(2, 3) tell(struct pmi *pmi, const char *format, ...)
{
    struct pmi2 *c = (struct pmi2 *)pmi;
    va_list args;
    va_start(args, format);
    int failed = pmi_socket(c->fd) != c->socket || send_message(c, format, args);
    va_end(args);
    return failed;
}

// Slurm kills all and has their status from that; this process may still end by itself, with its own.
static void end_job(struct pmi *pmi, int status, const char *text)
{
    tell(pmi, "cmd=abort;isworld=TRUE;exitcode=%d;msg=%s;", status, text);
}

// Waits for an answer, or for the end, but does not look at it.
static void finalize(struct pmi *pmi)
{
    if (tell(pmi, "cmd=finalize;") == 0)
        read_message((struct pmi2 *)pmi, PMI_REPLY_MS);
}

// The first exchange settles the protocol; it is in lines of text, of which we read exactly one.
static int agree_on_version(struct pmi2 *c)
{
    static const char hello[] = "cmd=init pmi_version=2 pmi_subversion=0\n";
    struct pmi_reply reply;
    char shown[81];
    int version, rc;
    size_t have = 0;
    if (pmi_send(c->fd, hello, sizeof hello - 1))
        return pmi_lost(&c->pmi, "init");
    do {
        if (pmi_receive(c->fd, c->text + have, 1, PMI_REPLY_MS) < 0)
            return pmi_lost(&c->pmi, "init");
    } while (c->text[have++] != '\n' && have < 256);
    c->text[--have] = '\0';
    snprintf(shown, sizeof shown, "%.80s", c->text);
    if (pmi1_parse(c->text, have, &reply) || !pmi_reply_text(&reply, "cmd") ||
        strcmp(pmi_reply_text(&reply, "cmd"), "response_to_init") ||
        pmi_reply_number(&reply, "rc", 0, 0, &rc) ||
        pmi_reply_number(&reply, "pmi_version", 2, 2, &version))
        return pmi_refuse(&c->pmi, "init", shown);
    return 0;
}

static int greet(struct pmi2 *c)
{
    struct pmi_reply reply;
    int n;
    if (agree_on_version(c) || ask(c, "fullinit", &reply,
                                   "cmd=fullinit;pmijobid=%s;pmirank=%d;"
                                   "threaded=FALSE;",
                                   c->job, c->pmi.rank))
        return -1;
    if (pmi_reply_number(&reply, "rank", c->pmi.rank, c->pmi.rank, &n) ||
        pmi_reply_number(&reply, "size", c->pmi.size, c->pmi.size, &n))
        return pmi_refuse(&c->pmi, "fullinit", "not the rank and size of the environment");
    if (pmi_map(&c->pmi))
        return -1;
    c->asks_ranks = pmi_slurm_is_unsaid(&c->pmi);
    return c->asks_ranks ? pmi_slurm_find_locals(&c->pmi) : pmi_find_locals(&c->pmi);
}

struct pmi *pmi2_open(int fd, int rank, int size, const char *job)
{
    struct pmi2 *c = calloc(1, sizeof *c);
    if (c) {
        c->fd = fd;
        c->socket = pmi_socket(fd);
        snprintf(c->job, sizeof c->job, "%.*s", (int)strcspn(job, ";"), job);
        c->pmi = (struct pmi){.name = "PMI-2",
                              .rank = rank,
                              .size = size,
                              .value_most = PMI_VALUE_MOST,
                              .put = put,
                              .fence = fence,
                              .get = get,
                              .mapping = mapping,
                              .abort = end_job,
                              .finalize = finalize,
                              .is_careless = true};
        if (greet(c) == 0)
            return &c->pmi;
        free(c->pmi.local);
        free(c->pmi.map.blocks);
        free(c);
    }
    close(fd);
    return NULL;
}
