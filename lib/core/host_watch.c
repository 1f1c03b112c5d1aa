// SPDX-License-Identifier: BSD-3-Clause
// The watch over hosts. The hosts' leaders (each node's first PE) are a ring: each connects to the
// next one by TCP, over the interface that the transport uses.
//
//     leader of node 0 ----> leader of node 1 ----> leader of node 2 ----> (leader of node 0)
//
// Nothing is sent while all is well: the kernels probe an idle connection every second and answer
// such probes also for processes that compute, sleep or are stopped. So what is noticed is a host
// that is down, frozen or cut off for more than settings.host_timeout seconds, from both of its
// sides; on a host that was cut off, its own leader finds its neighbours lost. The kernel is not asked
// to decide (TCP_USER_TIMEOUT): it takes a connection for dead by its clock alone, after one probe
// without an answer, also where this very machine stood still. Whoever notices says so, ends its
// own node (job->ended, at which every PE's heartbeat looks) and passes the word on around the ring,
// so that all ends even where the launcher waits for a host that will never answer. By the same way
// the end of a job by shmem_global_exit, or by a fatal error, comes to all hosts.
//
// A record is all that is ever sent, and carries the job's secret. The heartbeat's thread does all of
// this; the lock is for the end of the process, which may come meanwhile.
#include "host_watch.h"

#include "card.h"
#include "host.h"
#include "join.h"
#include "log.h"
#include "net.h"
#include "settings.h"
#include "wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_MS = 50,    // between looks
    PROBE_MS = 1000, // between the kernel's
    LATE_LOOKS = 5,  // in a row at which an answer has to be late
    GRACE_MS = 1000, // a launcher that sees a PE die ends the job by itself, with its own line,
    BUSY_GRACE_MS = 3000, // and on a busy host takes its time
    STRANGER_MS = 30000,  // a busy host needs time to say who it is
    STRANGERS = 4,        // connections that have not proved anything yet
};

enum record_kind { HELLO = 1, BYE, LOST, ENDED };

struct record {
    uint64_t secret;
    uint32_t magic, kind;
    int32_t node;            // HELLO: the sender's; LOST: the one that is
    int32_t how, status, by; // ENDED: of struct job
};

enum state { NONE, CONNECTING, OPEN, CLOSED };

// A connection; `node` is at the other end, -1: it has not said so yet.
struct edge {
    enum state state;
    int fd, node;
    uint64_t since_ms; // connecting, or closed without a word
    int late_looks;    // at which an answer was late, or since it closed without a word
    struct record in;
    size_t got;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool watching; // this is a leader of several hosts
static int listener = -1;
static struct edge next, previous, stranger[STRANGERS];
static uint64_t looked_ms, ended_ms, told_ms; // told: by another host that one is lost
static bool has_passed_on;

static void close_edge(struct edge *e)
{
    if (e->state == CONNECTING || e->state == OPEN)
        close(e->fd);
    e->state = CLOSED;
}

// ---- Sending

static void say(struct edge *e, struct record r)
{
    r.secret = world.job->secret;
    r.magic = (uint32_t)JOB_MAGIC;
    if (e->state == OPEN) // all that was ever sent fits into the socket's buffer
        (void)!send(e->fd, &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_both(struct record r)
{
    say(&next, r);
    say(&previous, r);
}

// When it is to be passed on; an edge that opens later is told when it does.
static void say_end(struct edge *e)
{
    if (has_passed_on)
        say(e, (struct record){.kind = ENDED,
                               .how = atomic_load(&world.job->ended),
                               .status = atomic_load(&world.job->ended_status),
                               .by = atomic_load(&world.job->ended_by)});
}

static void pass_end_on(void)
{
    if (has_passed_on)
        return;
    has_passed_on = true;
    say_end(&next);
    say_end(&previous);
}

static void end_node(int how, int status, int by)
{
    int32_t running = JOB_RUNNING;
    // Pairs with the acquire load in world_follow_exit (world.c): the status comes before.
    if (atomic_load(&world.job->ended) == JOB_RUNNING) {
        atomic_store(&world.job->ended_status, status);
        atomic_store(&world.job->ended_by, by);
    }
    atomic_compare_exchange_strong(&world.job->ended, &running, how);
    if (how == JOB_ENDED_LOST)
        atomic_store(&world.job->ended, how); // whatever else was to end it did not
}

// ---- What is noticed

static void lose(const struct edge *e, const char *why)
{
    char who[HOST_TEXT], here[HOST_TEXT];
    if (atomic_load(&world.job->ended) == JOB_ENDED_LOST) // by the other edge, to the same host
        return;
    log_line(LOG_ERROR, LOG_BOOT, "%s is lost: %s; %s ends, and the job with it",
             host_describe(e->node, who), why, host_describe(world.node, here));
    say_both((struct record){.kind = LOST, .node = e->node});
    end_node(JOB_ENDED_LOST, EXIT_FAILURE, world.me);
}

static void lose_silent(const struct edge *e, int error)
{
    char why[160];
    snprintf(why, sizeof why, "no answer for %ld s (%s): it is down, or one of us is cut off",
             settings.host_timeout, strerror(error));
    lose(e, why);
}

static void unreachable(const struct edge *e, int error)
{
    char why[300], there[300];
    snprintf(why, sizeof why,
             "it cannot be reached from here (%s): look at routes and firewalls, or "
             "choose another network with SHOAL_INTERFACE; this host has %s",
             error == ETIMEDOUT ? "no answer" : strerror(error),
             host_interfaces(there, sizeof there));
    lose(e, why);
}

static void take_record(struct edge *e, const struct record *r)
{
    switch (r->kind) {
    case HELLO: break;
    case BYE:
        close_edge(e);
        e->since_ms = 0;
        break;
    case LOST:
        if (!told_ms && atomic_load(&world.job->ended) != JOB_ENDED_LOST) {
            say(e == &next ? &previous : &next, *r);
            told_ms = wait_now_ms(); // and see watch: a launcher drops lines when a first host has ended
        }
        break;
    case ENDED:
        if (r->how == JOB_ENDED_GLOBAL_EXIT || r->how == JOB_ENDED_FATAL)
            end_node(r->how, r->status, r->by);
        break;
    }
}

static bool is_ours(const struct record *r)
{
    return r->secret == world.job->secret && r->magic == (uint32_t)JOB_MAGIC && r->node >= 0 &&
           r->node < world.nodes;
}

// One record, if there is one. 0, or an errno; -1: the other end has closed.
static int receive(struct edge *e, bool *complete)
{
    ssize_t n = recv(e->fd, (char *)&e->in + e->got, sizeof e->in - e->got, MSG_DONTWAIT);
    *complete = false;
    if (n <= 0)
        return n == 0 ? -1 : errno == EAGAIN || errno == EINTR ? 0 : errno;
    e->got += (size_t)n;
    *complete = e->got == sizeof e->in;
    e->got %= sizeof e->in;
    return 0;
}

// An outage that ends in time is seen to have ended by the next probe. By looks, not by time alone:
// where we did not get to look for seconds, nobody got to answer.
static bool is_silent(struct edge *e)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    getsockopt(e->fd, IPPROTO_TCP, TCP_INFO, &info, &size);
    bool is_late = info.tcpi_last_ack_recv > settings_host_timeout_ms() + PROBE_MS;
    e->late_looks = is_late ? e->late_looks + 1 : 0;
    return e->late_looks >= LATE_LOOKS;
}

// The process at the other end is gone without a word: its launcher's to deal with; if not, ours. After looks, not time:
// where we stood still, it did so too.
static void vanish(struct edge *e)
{
    close_edge(e);
    e->late_looks = 0;
    e->since_ms = wait_now_ms();
}

static void look_at_open(struct edge *e)
{
    bool complete = true;
    while (e->state == OPEN && complete) {
        int error = receive(e, &complete);
        if (error == -1 || error == ECONNRESET || error == EPIPE) {
            vanish(e);
        } else if (error) {
            close_edge(e);
            lose_silent(e, error);
        } else if (complete && !is_ours(&e->in)) {
            log_line(LOG_WARN, LOG_BOOT, "a record from node %d makes no sense", e->node);
            close_edge(e);
        } else if (complete) {
            take_record(e, &e->in);
        }
    }
    if (e->state == OPEN && is_silent(e)) {
        close_edge(e);
        lose_silent(e, ETIMEDOUT);
    }
}

static void greet(struct edge *e)
{
    e->state = OPEN;
    say(e, (struct record){.kind = HELLO, .node = world.node});
    say_end(e);
}

static void look_at_connecting(struct edge *e)
{
    struct pollfd p = {.fd = e->fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (poll(&p, 1, 0) == 1)
        getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    else if (wait_now_ms() - e->since_ms > settings_host_timeout_ms())
        error = ETIMEDOUT;
    else
        return;
    if (!error) {
        greet(e);
    } else if (error == ECONNREFUSED || error == ECONNRESET) { // it ended before it looked
        vanish(e);
    } else {
        close_edge(e);
        unreachable(e, error);
    }
}

static void look_at(struct edge *e)
{
    if (e->state == CONNECTING)
        look_at_connecting(e);
    else if (e->state == OPEN)
        look_at_open(e);
    else if (e->state == CLOSED && e->since_ms &&
             (unsigned)++e->late_looks > join_patience_ms(BUSY_GRACE_MS) / LOOK_MS) {
        e->since_ms = 0;
        if (atomic_load(&world.job->ended) == JOB_RUNNING)
            lose(e, "its first PE has ended without a word");
    }
}

// ---- Connections

// Probes each second, for ever.
static void keep_alive(int fd)
{
    static const int on = 1, seconds = PROBE_MS / 1000, for_ever_ms = INT_MAX;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &for_ever_ms, sizeof for_ever_ms);
}

static void accept_strangers(void)
{
    for (int i = 0; i < STRANGERS; i++) {
        if (stranger[i].state == OPEN)
            continue;
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        keep_alive(fd);
        stranger[i] = (struct edge){.state = OPEN, .fd = fd, .node = -1, .since_ms = wait_now_ms()};
    }
}

// The host before us is the only one that may connect.
static void look_at_stranger(struct edge *e)
{
    bool complete;
    int before = (world.node + world.nodes - 1) % world.nodes;
    if (e->state != OPEN)
        return;
    int error = receive(e, &complete);
    if (complete && is_ours(&e->in) && e->in.kind == HELLO && e->in.node == before &&
        previous.state == NONE) {
        previous = *e;
        previous.node = before;
        e->state = NONE;
        say_end(&previous);
    } else if (error || complete || wait_now_ms() - e->since_ms > STRANGER_MS) {
        close_edge(e);
    }
}

// An internet address of either family; family 0: none.
union address {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
};

static socklen_t address_size(const union address *a)
{
    return a->any.sa_family == AF_INET    ? sizeof a->ip4
           : a->any.sa_family == AF_INET6 ? sizeof a->ip6
                                          : 0;
}

// Of the interface that the transport uses, any port.
static union address own_address(void)
{
    union address a = {0};
    if (inet_pton(AF_INET, net.facts.interface, &a.ip4.sin_addr) == 1)
        a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, net.facts.interface, &a.ip6.sin6_addr) == 1)
        a.any.sa_family = AF_INET6;
    return a;
}

// Where the host before this one finds us goes to *at.
static int listen_here(union address *at)
{
    socklen_t size = address_size(at);
    listener = socket(at->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, &at->any, size) == 0 && listen(listener, 16) == 0 &&
        getsockname(listener, &at->any, &size) == 0)
        return 0;
    log_line(LOG_ERROR, LOG_BOOT, "cannot listen for other hosts: %s", strerror(errno));
    return -1;
}

// From the same interface as everything else.
static void connect_next(const union address *to)
{
    union address own = own_address();
    next = (struct edge){
        .state = CONNECTING, .node = (world.node + 1) % world.nodes, .since_ms = wait_now_ms()};
    next.fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (next.fd < 0 || bind(next.fd, &own.any, address_size(&own))) {
        unreachable(&next, errno);
        return;
    }
    keep_alive(next.fd);
    if (connect(next.fd, &to->any, address_size(to)) == 0)
        greet(&next);
    else if (errno != EINPROGRESS)
        unreachable(&next, errno);
}

// ---- Up, down, and from the heartbeat

int host_watch_up(void)
{
    bool leads = world.job->pe[world.me].slot == 0 && job_has_hosts(world.job);
    bool wanted = leads && settings.host_timeout > 0;
    union address own = wanted ? own_address() : (union address){0};
    union address *all = leads ? calloc((size_t)world.nodes, sizeof *all) : NULL;
    if ((leads && !all) || (address_size(&own) && listen_here(&own)) ||
        card_gather(&own, sizeof own, all)) {
        free(all);
        return -1;
    }
    const union address *to = leads ? &all[(world.node + 1) % world.nodes] : NULL;
    watching = to && address_size(&own) && address_size(to);
    if (watching)
        connect_next(to);
    else if (leads)
        log_line(LOG_INFO, LOG_BOOT, "the next host is not watched");
    free(all);
    return 0;
}

static void watch(uint64_t now)
{
    accept_strangers();
    for (int i = 0; i < STRANGERS; i++)
        look_at_stranger(&stranger[i]);
    look_at(&next);
    look_at(&previous);
    if (told_ms && now - told_ms > GRACE_MS)
        end_node(JOB_ENDED_LOST, EXIT_FAILURE, world.me);
    if (ended_ms &&
        (atomic_load(&world.job->ended) == JOB_ENDED_GLOBAL_EXIT || now - ended_ms > GRACE_MS / 2))
        pass_end_on();
}

// How the job has ended, for this process at this time; JOB_RUNNING: go on.
static int look(void)
{
    uint64_t now = wait_now_ms();
    int ended = atomic_load(&world.job->ended);
    if (now - looked_ms < LOOK_MS && ended != JOB_ENDED_LOST)
        return JOB_RUNNING;
    looked_ms = now;
    if (ended != JOB_RUNNING && !ended_ms)
        ended_ms = now;
    if (watching)
        watch(now);
    ended = atomic_load(&world.job->ended);
    bool is_over = ended == JOB_ENDED_FATAL && ended_ms && now - ended_ms > GRACE_MS;
    return is_over || ended == JOB_ENDED_LOST ? ended : JOB_RUNNING;
}

void host_watch_beat(void)
{
    if (!job_has_hosts(world.job) || pthread_mutex_trylock(&lock))
        return;
    int ended = look();
    pthread_mutex_unlock(&lock);
    if (ended == JOB_ENDED_FATAL && world.job->pe[world.me].slot == 0)
        join_abort(); // for hosts that nobody watches
    if (ended != JOB_RUNNING)
        _exit(EXIT_FAILURE);
}

// The end may come before the first look: the next host is told all the same.
static void connect_now(void)
{
    struct pollfd p = {.fd = next.fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (next.state == CONNECTING && poll(&p, 1, LOOK_MS) > 0 &&
        getsockopt(next.fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && !error)
        greet(&next);
}

void host_watch_leave(void)
{
    pthread_mutex_lock(&lock);
    if (watching && atomic_load(&world.job->ended) == JOB_RUNNING)
        say_both((struct record){.kind = BYE});
    else if (watching) {
        connect_now();
        pass_end_on();
    }
    pthread_mutex_unlock(&lock);
}

void host_watch_down(void)
{
    host_watch_leave();
    close_edge(&next);
    close_edge(&previous);
    for (int i = 0; i < STRANGERS; i++)
        close_edge(&stranger[i]);
    if (listener >= 0)
        close(listener);
    listener = -1;
    watching = false;
    next = previous = (struct edge){0};
    memset(stranger, 0, sizeof stranger);
}
