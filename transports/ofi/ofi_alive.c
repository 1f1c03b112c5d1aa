// SPDX-License-Identifier: BSD-3-Clause
// Does a silent peer live? Where endpoints are internet addresses, a connection to it tells: its
// system refuses when the process is gone, and accepts for a process that is only busy or stopped.
// (ofi_rxm itself tries again for ever and only says "later".)
#include "ofi.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
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

// Nobody listens, or nothing comes back: what a network does not tell at once, such as a filter that
// drops, must last, and only a peer that never answered is judged by it. (Of others, one that is
// stopped has no room for attempts at some time; and hosts watch each other.)
static void judge(struct ofi_ep *ep, struct ofi_peer *peer, int error)
{
    bool answered = peer->done || peer->out_taken || peer->in;
    bool is_late = peer->alive_ms && ep->job.patience_ms &&
                   ep->watched_ms - peer->alive_ms > ep->job.patience_ms;
    if (error == 0)
        peer->alive_ms = 0;
    else if (!peer->alive_ms)
        peer->alive_ms = ep->watched_ms;
    if (error == ECONNREFUSED || (error && is_late && !answered))
        ofi_peer_lose(ep, peer, error == EINPROGRESS ? "no answer" : strerror(error));
}

static void close_attempt(struct ofi_peer *peer)
{
    close(peer->alive_fd);
    peer->alive_fd = -1;
}

// Does not wait: the answer is looked at in the next rounds. From the interface of everything else.
void ofi_alive_look(struct ofi_ep *ep, struct ofi_peer *peer)
{
    struct sockaddr_storage to;
    socklen_t length = address(ep, peer, &to);
    if (!length || peer->alive_fd >= 0)
        return;
    peer->alive_fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (peer->alive_fd < 0)
        return;
    int error = connect(peer->alive_fd, (struct sockaddr *)&to, length) ? errno : 0;
    if (error != EINPROGRESS)
        close_attempt(peer);
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
        close_attempt(peer);
    }
    judge(ep, peer, error);
}
