// SPDX-License-Identifier: BSD-3-Clause
// Does a silent peer live? Where endpoints are internet addresses, a connection to it tells: its
// system refuses when the process is gone, and accepts for a process that is only busy or stopped.
// (ofi_rxm itself tries again for ever and only says "later".)
#include "ofi.h"

#include <errno.h>
#include <netinet/in.h>
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

static void judge(struct ofi_ep *ep, struct ofi_peer *peer, int error)
{
    if (error == ECONNREFUSED || error == EHOSTUNREACH)
        messages_peer_lose(&ep->messages, &peer->m, strerror(error));
}

// Does not wait: the answer is looked at in the next round.
void ofi_alive_look(struct ofi_ep *ep, struct ofi_peer *peer)
{
    struct sockaddr_storage to;
    socklen_t length = address(ep, peer, &to);
    if (!length || peer->alive_fd >= 0)
        return;
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (struct sockaddr *)&to, length) == 0) {
        close(fd);
    } else if (errno == EINPROGRESS) {
        peer->alive_fd = fd;
    } else {
        int error = errno;
        close(fd);
        judge(ep, peer, error);
    }
}

void ofi_alive_end(struct ofi_ep *ep, struct ofi_peer *peer)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(peer->alive_fd, SOL_SOCKET, SO_ERROR, &error, &length))
        error = 0;
    close(peer->alive_fd);
    peer->alive_fd = -1;
    judge(ep, peer, error);
}
