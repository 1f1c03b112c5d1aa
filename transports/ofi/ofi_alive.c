// SPDX-License-Identifier: BSD-3-Clause
// Does a silent peer live? Where endpoints are internet addresses, a connection to it tells: its
// system refuses when the process is gone, and accepts for a process that is only busy or stopped.
// (ofi_rxm itself tries again for ever and only says "later".)
#include "ofi.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static socklen_t address(struct ofi_ep *ep, struct ofi_peer *peer, struct sockaddr_storage *to)
{
    uint32_t format = ep->info->addr_format;
    if (format != FI_SOCKADDR && format != FI_SOCKADDR_IN && format != FI_SOCKADDR_IN6)
        return 0;
    memset(to, 0, sizeof *to);
    memcpy(to, peer->blob.name, peer->blob.name_length);
    socklen_t length = to->ss_family == AF_INET    ? sizeof(struct sockaddr_in)
                       : to->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : 0;
    return length <= peer->blob.name_length ? length : 0;
}

static bool has_answered(const struct ofi_peer *peer)
{
    return peer->done || peer->m.out_taken || peer->m.in;
}

static void lose(struct ofi_ep *ep, struct ofi_peer *peer, int error)
{
    snprintf(peer->why_text, sizeof peer->why_text, "%s: " JOB_UNREACHED,
             error == EINPROGRESS ? "no answer" : strerror(error));
    messages_peer_lose(&ep->messages, &peer->m, peer->why_text);
}

// Nobody listens, or nothing comes back: what a network does not tell at once, such as a filter that
// drops, must last, and only a peer that never answered is judged by it. (Of others, one that is
// stopped has no room for attempts at some time; and hosts watch each other.)
static void judge(struct ofi_ep *ep, struct ofi_peer *peer, int error)
{
    bool is_late = peer->alive_ms && ep->job.patience_ms &&
                   ep->watched_ms - peer->alive_ms > ep->job.patience_ms;
    if (error == 0)
        peer->alive_ms = 0;
    else if (!peer->alive_ms)
        peer->alive_ms = ep->watched_ms;
    if (error == ECONNREFUSED)
        messages_peer_lose(&ep->messages, &peer->m, strerror(error));
    else if (error && is_late && !has_answered(peer))
        lose(ep, peer, error);
}

// From the address that was chosen, like all the rest.
static bool bind_own(struct ofi_ep *ep, int fd, sa_family_t family)
{
    struct sockaddr_storage own = {0};
    const struct fi_info *info = ep->info;
    if (!info->src_addr || info->src_addrlen > sizeof own)
        return true;
    memcpy(&own, info->src_addr, info->src_addrlen);
    if (own.ss_family == AF_INET)
        ((struct sockaddr_in *)&own)->sin_port = 0;
    else if (own.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&own)->sin6_port = 0;
    return own.ss_family != family ||
           bind(fd, (struct sockaddr *)&own, (socklen_t)info->src_addrlen) == 0;
}

// A connection attempt that has not ended, -1: it has, with *error.
static int attempt(struct ofi_ep *ep, struct ofi_peer *peer, int *error)
{
    struct sockaddr_storage to;
    socklen_t length = address(ep, peer, &to);
    int fd = length ? socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
    *error = 0;
    if (fd < 0)
        return -1;
    if (!bind_own(ep, fd, to.ss_family)) {
        close(fd);
        return -1;
    }
    *error = connect(fd, (struct sockaddr *)&to, length) ? errno : 0;
    if (*error == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

bool ofi_alive_denied(struct ofi_ep *ep, struct ofi_peer *peer)
{
    int error, fd = has_answered(peer) ? -1 : attempt(ep, peer, &error);
    if (fd >= 0)
        close(fd);
    if (has_answered(peer) || fd >= 0 || !error)
        return false;
    lose(ep, peer, error);
    return true;
}

// Does not wait: the answer is looked at in the next rounds. From the interface of everything else.
void ofi_alive_look(struct ofi_ep *ep, struct ofi_peer *peer)
{
    int error;
    if (peer->alive_fd >= 0)
        return;
    peer->alive_fd = attempt(ep, peer, &error);
    judge(ep, peer, error);
}

void ofi_alive_end(struct ofi_ep *ep, struct ofi_peer *peer)
{
    struct pollfd p = {.fd = peer->alive_fd, .events = POLLOUT};
    int error = EINPROGRESS;
    socklen_t length = sizeof error;
    if (peer->alive_fd < 0)
        return;
    if (poll(&p, 1, 0) == 1) {
        if (getsockopt(peer->alive_fd, SOL_SOCKET, SO_ERROR, &error, &length))
            error = 0;
        close(peer->alive_fd);
        peer->alive_fd = -1;
    }
    judge(ep, peer, error);
}
