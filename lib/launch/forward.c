// SPDX-License-Identifier: BSD-3-Clause
// Output by whole lines. See forward.h.
#include "forward.h"

#include "launch.h"
#include "pattern.h"
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define REST_MOST (64UL << 10) // a longer line is passed on in parts
#define READ_SIZE (64UL << 10)
#define LOOK_NS 50000000u
#define LOOKS 4 // at a silent stream in a row, after which its unfinished line is shown
#define DRAIN_NS 100000000u
#define DRAIN_MOST (1UL << 20) // more than any pipe holds
enum { STUCK_MS = 2000 };

static void sink_append(struct sink *k, const char *data, size_t n)
{
    if (k->error)
        return;
    if (k->head + k->len + n > k->cap && k->len)
        memmove(k->data, k->data + k->head, k->len);
    if (k->head + k->len + n > k->cap)
        k->head = 0;
    if (k->len + n > k->cap) {
        size_t cap = 2 * (k->len + n);
        char *data_new = realloc(k->data, cap);
        if (!data_new) {
            k->error = ENOMEM;
            return;
        }
        k->data = data_new;
        k->cap = cap;
    }
    memcpy(k->data + k->head + k->len, data, n);
    k->len += n;
}

static bool sink_is_ready(const struct sink *k)
{
    struct pollfd p = {.fd = k->fd, .events = POLLOUT};
    return k->is_file || poll(&p, 1, 0) > 0;
}

// A pipe that is ready takes PIPE_BUF bytes without blocking.
static void sink_flush(struct sink *k)
{
    while (k->len && sink_is_ready(k)) {
        size_t most = k->is_file || k->len < PIPE_BUF ? k->len : PIPE_BUF;
        ssize_t n = write(k->fd, k->data + k->head, most);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            k->error = errno;
            k->len = 0;
            return;
        }
        k->head += (size_t)n;
        k->len -= (size_t)n;
    }
    if (!k->len)
        k->head = 0;
}

static struct sink *sink_open(struct forward *f, int fd, const char *name)
{
    struct stat st;
    struct sink *k = &f->sinks[f->nsinks++];
    *k = (struct sink){.fd = fd, .name = name};
    k->is_file = f->nsinks > 2 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
    return k;
}

static void make_folders(char *name)
{
    for (char *slash = name; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(name, 0777); // what cannot be made is seen when the file is opened
        *slash = '/';
    }
}

// The file of this name, which several PEs may write to. NULL with errno and f->wrong.
static struct sink *file_open(struct forward *f, const char *pattern, int pe)
{
    size_t size = pattern_write(pattern, pe, f->npes, NULL, 0) + 1;
    char *name = malloc(size);
    if (!name)
        return NULL;
    pattern_write(pattern, pe, f->npes, name, size);
    for (int i = 2; i < f->nsinks; i++)
        if (strcmp(f->sinks[i].name, name) == 0) {
            free(name);
            return &f->sinks[i];
        }
    f->wrong = name;
    make_folders(name);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : sink_open(f, fd, name);
}

int forward_open(struct forward *f, int npes, const struct forward_how *how)
{
    size_t files = how->files[0] || how->files[1] ? 2 * (size_t)npes : 0;
    *f = (struct forward){.how = *how, .npes = npes};
    f->sinks = calloc(2 + files, sizeof *f->sinks);
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!f->sinks || f->epoll < 0)
        return -1;
    sink_open(f, STDOUT_FILENO, "stdout");
    sink_open(f, STDERR_FILENO, "stderr");
    f->streams = how->direct ? NULL : calloc(2 * (size_t)npes, sizeof *f->streams);
    return f->streams || how->direct ? 0 : -1;
}

// which: 0 for stdout, 1 for stderr
static int stream_open(struct forward *f, int pe, int which, int *end)
{
    int pair[2];
    struct sink *file = NULL;
    const char *pattern = f->how.files[which];
    f->wrong = "no pipe for its output";
    if (pattern && !(file = file_open(f, pattern, pe)))
        return -1;
    if (pipe2(pair, O_CLOEXEC))
        return -1;
    struct stream *s = &f->streams[f->nstreams];
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    *s = (struct stream){.fd = pair[0], .pe = pe, .budget = SIZE_MAX};
    s->sinks[0] = file && !f->how.copies ? file : &f->sinks[which];
    s->sinks[1] = f->how.copies ? file : NULL;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, pair[0], &e)) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    *end = pair[1];
    f->nstreams++;
    f->nopen++;
    return 0;
}

int forward_pipes(struct forward *f, int pe, int ends[2])
{
    if (stream_open(f, pe, 0, &ends[0]))
        return -1;
    int failed = f->how.merges ? (ends[1] = fcntl(ends[0], F_DUPFD_CLOEXEC, 0)) < 0
                               : stream_open(f, pe, 1, &ends[1]);
    if (failed)
        close(ends[0]);
    return failed ? -1 : 0;
}

// Without a prefix bytes pass as they are. With one, every piece at the start of a line gets it, and
// another PE's unfinished line is ended first.
static void emit_to(struct forward *f, struct stream *s, struct sink *k, const char *data, size_t n)
{
    char prefix[256];
    size_t len = f->how.prefix ? pattern_write(f->how.prefix, s->pe, f->npes, prefix, sizeof prefix)
                               : 0;
    if (len >= sizeof prefix)
        len = sizeof prefix - 1;
    if (len && k->open && k->open != s) {
        sink_append(k, "\n", 1);
        k->open = NULL;
    }
    while (n) {
        const char *end = len ? memchr(data, '\n', n) : NULL;
        size_t piece = end ? (size_t)(end - data) + 1 : n;
        if (len && k->open != s)
            sink_append(k, prefix, len);
        sink_append(k, data, piece);
        k->open = data[piece - 1] == '\n' ? NULL : s;
        data += piece;
        n -= piece;
    }
}

static void emit(struct forward *f, struct stream *s, const char *data, size_t n)
{
    for (int i = 0; i < 2 && s->sinks[i]; i++)
        emit_to(f, s, s->sinks[i], data, n);
}

static void rest_emit(struct forward *f, struct stream *s)
{
    if (!s->len)
        return;
    emit(f, s, s->rest, s->len);
    s->len = 0;
    f->nrest--;
}

static void rest_keep(struct forward *f, struct stream *s, const char *data, size_t n, uint64_t now)
{
    if (!n)
        return;
    if (s->len + n > s->cap) {
        char *rest = realloc(s->rest, s->len + n + 256);
        if (!rest) {
            rest_emit(f, s);
            emit(f, s, data, n);
            return;
        }
        s->rest = rest;
        s->cap = s->len + n + 256;
    }
    f->nrest += s->len == 0;
    memcpy(s->rest + s->len, data, n);
    s->len += n;
    s->look_at = now + LOOK_NS;
    s->looks = 0;
    if (s->len >= REST_MOST)
        rest_emit(f, s);
}

static void stream_end(struct forward *f, struct stream *s)
{
    rest_emit(f, s);
    // By name: a PE that is about to exec may still hold a copy, and then close removes nothing.
    epoll_ctl(f->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    close(s->fd);
    s->fd = -1;
    f->nopen--;
}

void forward_read(struct forward *f, struct stream *s, uint64_t now)
{
    static char buffer[READ_SIZE];
    size_t most = s->budget < sizeof buffer ? s->budget : sizeof buffer;
    ssize_t n = read(s->fd, buffer, most);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        stream_end(f, s);
        return;
    }
    if (s->budget != SIZE_MAX)
        s->budget -= (size_t)n;
    const char *end = memrchr(buffer, '\n', (size_t)n);
    size_t lines = end ? (size_t)(end - buffer) + 1 : 0;
    if (lines) {
        rest_emit(f, s);
        emit(f, s, buffer, lines);
    }
    rest_keep(f, s, buffer + lines, (size_t)n - lines, now);
}

// While a slow reader held us up, we did not look.
static bool is_silent(const struct stream *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

// By looks, not by the time: of a machine that stood still we may be the first to run again.
uint64_t forward_tick(struct forward *f, uint64_t now)
{
    uint64_t next = 0;
    for (int i = 0; f->nrest && i < f->nstreams; i++) {
        struct stream *s = &f->streams[i];
        if (!s->len)
            continue;
        if (s->look_at <= now) {
            s->looks = is_silent(s) ? s->looks + 1 : 0;
            s->look_at = now + LOOK_NS;
        }
        if (s->looks == LOOKS)
            rest_emit(f, s);
        else if (!next || s->look_at < next)
            next = s->look_at;
    }
    return next;
}

void forward_flush(struct forward *f)
{
    for (int i = 0; i < f->nsinks; i++)
        sink_flush(&f->sinks[i]);
}

// Files are written at once.
bool forward_blocked(const struct forward *f)
{
    return f->sinks[0].len || f->sinks[1].len;
}

const struct sink *forward_failed(const struct forward *f)
{
    for (int i = 0; i < f->nsinks; i++)
        if (i != 1 && f->sinks[i].error)
            return &f->sinks[i];
    return NULL;
}

static void give_up(struct sink *k)
{
    k->error = k->len ? ETIMEDOUT : k->error;
    k->len = 0;
}

static void forward_finish(struct forward *f)
{
    while (forward_flush(f), forward_blocked(f)) {
        size_t left = f->sinks[0].len + f->sinks[1].len;
        forward_wait(f, -1, f->is_hurried ? STUCK_MS : -1);
        if (f->is_hurried && f->sinks[0].len + f->sinks[1].len == left) {
            give_up(&f->sinks[0]);
            give_up(&f->sinks[1]);
        }
    }
}

void forward_say(struct forward *f, const char *line)
{
    struct sink *k = &f->sinks[1];
    if (k->open)
        sink_append(k, "\n", 1);
    k->open = NULL;
    sink_append(k, line, strlen(line));
    sink_append(k, "\n", 1);
    forward_finish(f);
}

void forward_wait(struct forward *f, int signal_fd, int timeout_ms)
{
    struct pollfd p[3] = {{.fd = signal_fd, .events = POLLIN}};
    for (int i = 0; i < 2; i++)
        p[1 + i] = (struct pollfd){.fd = f->sinks[i].len ? f->sinks[i].fd : -1, .events = POLLOUT};
    poll(p, 3, timeout_ms);
    forward_flush(f);
}

// Reads every stream until it is empty. Returns whether anything came.
static bool read_all(struct forward *f, uint64_t now)
{
    bool any = false;
    struct epoll_event events[16];
    int n = epoll_wait(f->epoll, events, 16, 0);
    for (int i = 0; i < n; i++) {
        struct stream *s = events[i].data.ptr;
        if (!s)
            continue;
        any = true;
        if (s->budget)
            forward_read(f, s, now);
        else
            stream_end(f, s);
    }
    return any;
}

void forward_drain(struct forward *f)
{
    uint64_t deadline = wait_now_ns() + DRAIN_NS;
    for (int i = 0; i < f->nstreams; i++)
        f->streams[i].budget = DRAIN_MOST;
    while (f->nopen) {
        uint64_t now = wait_now_ns();
        bool any = read_all(f, now);
        forward_finish(f);
        if (any)
            continue;
        if (now >= deadline)
            break;
        struct epoll_event e;
        epoll_wait(f->epoll, &e, 1, (int)((deadline - now) / 1000000) + 1);
    }
    for (int i = 0; i < f->nstreams; i++)
        rest_emit(f, &f->streams[i]);
    forward_finish(f);
}
