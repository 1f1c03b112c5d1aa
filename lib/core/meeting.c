// SPDX-License-Identifier: BSD-3-Clause
// The PEs of a node meet at a socket of the unix kind, under an abstract name: nothing lies in a
// file system, nothing is left. The lowest rank, the leader, listens; name and secret are random
// and come to the others through the launcher (join.c), after which all are running.
//
//     the leader                                  every other rank of the node
//     checks user and secret     <--------------  secret, rank, process, usable cores
//     when all are there: the descriptor  ----->
//
// Whoever is not of this job does not know the secret; whoever is another user is not listened to,
// and not spoken to.
#include "meeting.h"

#include "cpus.h"
#include "job.h"
#include "log.h"
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STRANGERS 16 // connections that have not proved anything yet, beyond the expected ones

struct hello {
    uint64_t secret;
    uint32_t magic, layout;
    int32_t rank, pid;
    cpu_set_t cores;
};

static socklen_t name_address(struct sockaddr_un *address, uint64_t name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "shoal-%016lx",
                     (unsigned long)name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

// The process at the other end, as numbered here, or -1: it is another user's.
static pid_t peer_pid(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return known && peer.uid == geteuid() ? peer.pid : -1;
}

// ---- the leader

int meeting_listen(struct meeting *m)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The kernel's own limit cuts the queue; who finds it full waits.
    if (fd >= 0 && getrandom(m, sizeof *m, 0) == sizeof *m &&
        bind(fd, (struct sockaddr *)&address, name_address(&address, m->name)) == 0 &&
        listen(fd, 4096) == 0)
        return fd;
    log_line(LOG_ERROR, LOG_BOOT, "cannot make a socket for the PEs of this node: %s",
             strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int compare_ints(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

struct gathering {
    const struct meeting *m;
    const int *local;
    int locals, joined;
    int *conn;             // by place in `local`, -1: not yet
    struct pollfd *polled; // [0] listens, the others have not proved anything yet
    int npolled;
    cpu_set_t cores;
    bool same_pids;
};

enum { STRANGER = -1, OTHER_VERSION = -2 };

// Returns the sender's place among the local ranks, or STRANGER: it is none of us, or is here already.
static int check_hello(struct gathering *g, int fd)
{
    struct hello h;
    if (recv(fd, &h, sizeof h, MSG_DONTWAIT | MSG_TRUNC) != sizeof h || h.secret != g->m->secret ||
        h.magic != (uint32_t)JOB_MAGIC)
        return STRANGER;
    int *found = bsearch(&h.rank, g->local, (size_t)g->locals, sizeof h.rank, compare_ints);
    if (!found || found == g->local || g->conn[found - g->local] >= 0)
        return STRANGER;
    if (h.layout != JOB_LAYOUT) {
        log_line(LOG_ERROR, LOG_BOOT, "PE %d has another version of libshoal", h.rank);
        return OTHER_VERSION;
    }
    CPU_OR(&g->cores, &g->cores, &h.cores);
    g->same_pids &= h.pid == peer_pid(fd);
    return (int)(found - g->local);
}

static void hear(struct gathering *g, int i)
{
    int fd = g->polled[i].fd, place = check_hello(g, fd);
    g->polled[i] = g->polled[--g->npolled];
    if (place == STRANGER)
        log_line(LOG_WARN, LOG_BOOT,
                 "a process that is not of this job knocked, and was sent away");
    if (place < 0) {
        close(fd);
        return;
    }
    g->conn[place] = fd;
    g->joined++;
}

static void admit(struct gathering *g)
{
    int fd = accept4(g->polled[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (peer_pid(fd) < 0 || g->npolled == g->locals + STRANGERS) {
        close(fd);
        return;
    }
    g->polled[g->npolled++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static int gather(struct gathering *g, int limit_ms)
{
    uint64_t end = wait_now_ms() + (uint64_t)limit_ms;
    while (g->joined < g->locals) {
        long left = (long)(end - wait_now_ms());
        if (left <= 0 || (poll(g->polled, (nfds_t)g->npolled, (int)left) < 0 && errno != EINTR))
            break;
        for (int i = g->npolled; i-- > 1;)
            if (g->polled[i].revents)
                hear(g, i);
        if (g->polled[0].revents)
            admit(g);
    }
    if (g->joined == g->locals)
        return 0;
    int place = 1;
    while (g->conn[place] >= 0)
        place++;
    log_line(LOG_ERROR, LOG_BOOT, "PE %d has not joined the %d PEs of this node within %d s", //
             g->local[place], g->locals, limit_ms / 1000);
    return -1;
}

static int pass_descriptor(int to, int fd, bool same)
{
    struct iovec data = {.iov_base = &same, .iov_len = 1};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof fd)];
    } control = {0};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int pass_all(const struct gathering *g, int fd)
{
    for (int i = 1; i < g->locals; i++)
        if (pass_descriptor(g->conn[i], fd, g->same_pids)) {
            log_line(LOG_ERROR, LOG_BOOT, "cannot pass the job's memory to PE %d: %s", g->local[i],
                     strerror(errno));
            return -1;
        }
    return 0;
}

// The launcher may have bound each PE to a core: what counts is what all of them have together.
// Where a cgroup leaves this PE less than its mask says, that is for all.
static int write_cores(const struct gathering *g, int fd)
{
    cpu_set_t own;
    int32_t all = CPU_COUNT(&g->cores), here = cpus_usable();
    bool is_limited = sched_getaffinity(0, sizeof own, &own) == 0 && here < CPU_COUNT(&own);
    if (is_limited || all < here)
        all = here;
    if (pwrite(fd, &all, sizeof all, offsetof(struct job, cpus)) == sizeof all)
        return 0;
    log_line(LOG_ERROR, LOG_BOOT, "cannot write to the job's memory: %s", strerror(errno));
    return -1;
}

int meeting_serve(int listener, const struct meeting *m, const int *local, int locals, int fd,
                  int limit_ms, bool *same)
{
    struct gathering g = {
        .m = m, .local = local, .locals = locals, .joined = 1, .npolled = 1, .same_pids = true};
    int failed = -1;
    g.conn = malloc((size_t)locals * sizeof *g.conn);
    g.polled = calloc((size_t)locals + STRANGERS, sizeof *g.polled);
    if (g.conn && g.polled) {
        memset(g.conn, -1, (size_t)locals * sizeof *g.conn);
        sched_getaffinity(0, sizeof g.cores, &g.cores);
        g.polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        failed = gather(&g, limit_ms);
        if (!failed)
            failed = write_cores(&g, fd) || pass_all(&g, fd) ? -1 : 0;
        *same = g.same_pids;
        for (int i = 1; i < locals; i++)
            if (g.conn[i] >= 0)
                close(g.conn[i]);
        for (int i = 1; i < g.npolled; i++)
            close(g.polled[i].fd);
    } else {
        log_line(LOG_ERROR, LOG_BOOT, "no memory to meet %d PEs", locals);
    }
    free(g.conn);
    free(g.polled);
    close(listener);
    return failed;
}

// ---- the others

static int receive_descriptor(int from, bool *same)
{
    char byte;
    int fd = -1;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof fd)];
    } control = {0};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t n;
    do
        n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ECONNRESET;
    const struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    *same = fd >= 0 && byte;
    return fd;
}

int meeting_ask(const struct meeting *m, int rank, int limit_ms, bool *same)
{
    struct sockaddr_un address;
    struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};
    struct hello h = {.secret = m->secret,
                      .magic = (uint32_t)JOB_MAGIC,
                      .layout = JOB_LAYOUT,
                      .rank = rank,
                      .pid = getpid()};
    int got = -1, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sched_getaffinity(0, sizeof h.cores, &h.cores);
    socklen_t size = name_address(&address, m->name);
    errno = 0;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        connect(fd, (struct sockaddr *)&address, size) == 0 && peer_pid(fd) >= 0 &&
        send(fd, &h, sizeof h, MSG_NOSIGNAL) == sizeof h)
        got = receive_descriptor(fd, same);
    if (got < 0)
        log_line(LOG_ERROR, LOG_BOOT,
                 "cannot get the job's memory from the first PE of this node: "
                 "%s",
                 errno == EAGAIN ? "it did not answer in time"
                 : errno         ? strerror(errno)
                                 : "something else answered");
    if (fd >= 0)
        close(fd);
    return got;
}
