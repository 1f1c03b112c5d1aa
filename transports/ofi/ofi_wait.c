// SPDX-License-Identifier: BSD-3-Clause
// What a thread sleeps on until something comes: the completion queue's descriptor, or our own set
// of the provider's sockets.
//
// A queue with a descriptor (FI_WAIT_FD) makes tcp;ofi_rxm look at its sockets through epoll instead
// of poll and write to a pipe beside: a put then takes a fifth longer. Without one it does not tell
// its sockets. But they can be told: this process's sockets that have our endpoint's address, or
// whose other end has the address of a peer's endpoint. (The provider sockets has no descriptor at all
// where progress is manual, and with one jobs hang over net;ofi_rxm of libfabric 1.17: both are told in
// the same way.) They are put into an epoll set, edge triggered, so that while nobody sleeps arriving
// data costs next to nothing. The provider takes a message or two a call and does not tell whether more
// has come with them, for which there is no edge: so a second set tells what nobody has read.
#include "ofi.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

enum { SEARCH_FIRST_MS = 10, SEARCH_LAST_MS = 640, LOOKS = 16 };

static bool open_kind(struct ofi_ep *ep, enum fi_wait_obj kind)
{
    struct fi_cq_attr attr = {
        .size = OFI_OPS + OFI_RECEIVES + 64, .format = FI_CQ_FORMAT_MSG, .wait_obj = kind};
    return fi_cq_open(ep->domain, &attr, &ep->cq, NULL) == 0;
}

// Few sockets: poll looks at all of them each time.
static bool open_polled(struct ofi_ep *ep)
{
    const char *provider = ep->info->fabric_attr->prov_name;
    bool needs = !strcmp(provider, "net;ofi_rxm");
    bool may = ep->job.npes <= OFI_POLLED &&
               (!strcmp(provider, "tcp;ofi_rxm") || !strcmp(provider, "sockets"));
    if (!(needs || may) || !open_kind(ep, FI_WAIT_NONE))
        return false;
    ep->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    ep->unread_fd = epoll_create1(EPOLL_CLOEXEC);
    ep->owns_fds = true;
    return true;
}

static bool open_with_fd(struct ofi_ep *ep)
{
    if (!open_kind(ep, FI_WAIT_FD))
        return false;
    if (fi_control(&ep->cq->fid, FI_GETWAIT, &ep->wait_fd) == 0)
        return true;
    ep->wait_fd = -1; // sockets opens the queue and then has no descriptor for it
    fi_close(&ep->cq->fid);
    ep->cq = NULL;
    return false;
}

int ofi_queue_open(struct ofi_ep *ep)
{
    bool is_sole = !ep->parent; // what is slept on leads to those of lanes, too
    if ((is_sole && (open_polled(ep) || open_with_fd(ep))) || open_kind(ep, FI_WAIT_NONE))
        return 0;
    ofi_log(ep, LOG_DEBUG, "no completion queue");
    return TRANSPORT_UNSUPPORTED;
}

// ---- The provider's sockets
static bool same_address(const struct sockaddr_storage *a, const void *name)
{
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    if (a->ss_family == AF_INET) {
        memcpy(&four, name, sizeof four);
        const struct sockaddr_in *s = (const struct sockaddr_in *)a;
        return four.sin_family == AF_INET && s->sin_port == four.sin_port &&
               s->sin_addr.s_addr == four.sin_addr.s_addr;
    }
    memcpy(&six, name, sizeof six);
    const struct sockaddr_in6 *s = (const struct sockaddr_in6 *)a;
    return a->ss_family == AF_INET6 && six.sin6_family == AF_INET6 &&
           s->sin6_port == six.sin6_port &&
           memcmp(&s->sin6_addr, &six.sin6_addr, sizeof six.sin6_addr) == 0;
}

static bool is_of_peer(struct ofi_ep *ep, const struct sockaddr_storage *address)
{
    for (struct messages_peer *m = ep->messages.peers; m; m = m->next) {
        const struct ofi_peer *peer = ofi_peer_of(m);
        if (peer->addr != FI_ADDR_UNSPEC && same_address(address, peer->blob.name))
            return true;
    }
    return false;
}

// What they know and have to do; false: a thread is there, which will see to it.
static bool lane_locked(struct ofi_ep *lane)
{
    return lane && pthread_mutex_trylock(&lane->lock) == 0;
}

static bool is_ours(struct ofi_ep *ep, int fd)
{
    struct sockaddr_storage address;
    socklen_t n = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &n))
        return false;
    if (same_address(&address, ep->name))
        return true;
    n = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &n))
        return false;
    bool is_known = is_of_peer(ep, &address);
    for (int i = 0; i < OFI_LANES && !is_known; i++) {
        struct ofi_ep *lane = ofi_lane_at(ep, i);
        if (!lane_locked(lane))
            continue;
        is_known = is_of_peer(lane, &address);
        pthread_mutex_unlock(&lane->lock);
    }
    return is_known;
}

static unsigned count_peers(struct ofi_ep *ep)
{
    unsigned n = ep->peer_count;
    for (int i = 0; i < OFI_LANES; i++)
        n += ofi_lane_at(ep, i) ? ofi_lane_at(ep, i)->peer_count : 0;
    return n;
}

// Adds those that are new. What the provider has closed is gone from the set by itself.
static bool search(struct ofi_ep *ep)
{
    struct epoll_event edges = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    bool found = false;
    while (fds && (entry = readdir(fds))) {
        int fd = atoi(entry->d_name);
        struct epoll_event unread = {.events = EPOLLIN, .data.fd = fd};
        if (*entry->d_name != '.' && is_ours(ep, fd) &&
            epoll_ctl(ep->wait_fd, EPOLL_CTL_ADD, fd, &edges) == 0) {
            epoll_ctl(ep->unread_fd, EPOLL_CTL_ADD, fd, &unread);
            found = true;
        }
    }
    if (fds)
        closedir(fds);
    ep->has_fds |= found;
    return found;
}

// Now and then: more rarely while nothing changes.
static void search_in_time(struct ofi_ep *ep)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    unsigned peers = count_peers(ep);
    if (now < ep->search_ms && peers == ep->searched_peers)
        return;
    bool changes = search(ep) || peers != ep->searched_peers;
    ep->search_every = changes ? SEARCH_FIRST_MS : ep->search_every * 2;
    if (ep->search_every > SEARCH_LAST_MS)
        ep->search_every = SEARCH_LAST_MS;
    ep->searched_peers = peers;
    ep->search_ms = now + ep->search_every;
}

static bool lanes_have(struct ofi_ep *ep, bool (*what)(const struct ofi_ep *lane))
{
    bool have = false;
    for (int i = 0; i < OFI_LANES && !have; i++) {
        struct ofi_ep *lane = ofi_lane_at(ep, i);
        if (!lane_locked(lane))
            continue;
        have = what(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    return have;
}

static bool has_pending(const struct ofi_ep *lane)
{
    return lane->pending > 0;
}

static bool has_work(const struct ofi_ep *lane)
{
    return lane->retry || messages_waiting(&lane->messages);
}

// -1 where there are peers but no socket is known, or one of the library's own does not tell of lanes:
// then the caller looks now and then instead.
int ofi_wait_fd(void *ep_)
{
    struct ofi_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    if (ep->owns_fds && !ep->has_fds)
        search_in_time(ep);
    bool is_deaf = ep->owns_fds ? !ep->has_fds && ep->messages.peers
                                : ep->ctxs && lanes_have(ep, has_pending);
    int fd = is_deaf ? -1 : ep->wait_fd;
    pthread_mutex_unlock(&ep->lock);
    return fd;
}

// Is there something to read? When it stays the same for some looks, the provider does not want it now.
static bool has_unread(struct ofi_ep *ep)
{
    struct epoll_event events[OFI_POLLED];
    uint64_t before = ep->unread;
    int n = epoll_wait(ep->unread_fd, events, OFI_POLLED, 0), bytes;
    ep->unread = 0;
    for (int i = 0; i < n; i++)
        if (ioctl(events[i].data.fd, FIONREAD, &bytes) == 0) // of one that listens it fails
            ep->unread += (uint64_t)bytes;
    ep->looks = ep->unread == before ? ep->looks + 1 : 0;
    return ep->unread && ep->looks < LOOKS;
}

// Takes what the set has to tell, so that its descriptor is quiet; false: it had something.
static bool is_quiet(struct ofi_ep *ep)
{
    struct epoll_event events[OFI_POLLED];
    search_in_time(ep);
    return epoll_wait(ep->wait_fd, events, OFI_POLLED, 0) == 0 && !has_unread(ep);
}

int ofi_arm(void *ep_)
{
    struct ofi_ep *ep = ep_;
    struct fid *fid = &ep->cq->fid;
    pthread_mutex_lock(&ep->lock);
    bool idle = !messages_waiting(&ep->messages) && !ep->retry && ep->wait_fd >= 0 &&
                !(ep->ctxs && lanes_have(ep, has_work));
    if (idle)
        idle = ep->owns_fds ? is_quiet(ep) : fi_trywait(ep->fabric, &fid, 1) == 0;
    pthread_mutex_unlock(&ep->lock);
    return idle ? TRANSPORT_DONE : TRANSPORT_AGAIN;
}
