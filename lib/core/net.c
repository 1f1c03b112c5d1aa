// SPDX-License-Identifier: BSD-3-Clause
// Opening the network. See net.h.
#include "net.h"

#include "adversary/adversary.h"
#include "card.h"
#include "deferred.h"
#include "device.h"
#include "far_region.h"
#include "host.h"
#include "host_watch.h"
#include "coll_run.h"
#include "join.h"
#include "log.h"
#include "module.h"
#include "net_message.h"
#include "net_work.h"
#include "settings.h"
#include "stream.h"
#include "thread.h"
#include "wait.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GIVE_WAY_MS = 1500 };

enum { LINGER_NS = 2000000, NET_SPINS = 16, CTX_ENDPOINTS = 4 };

struct port net;

static _Atomic unsigned char *connected; // per PE
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
static int (*other_progress)(void); // what else a wait moves

static _Atomic bool is_leaving;

void net_leave(void)
{
    atomic_store_explicit(&is_leaving, true, memory_order_relaxed);
}

bool net_is_leaving(void)
{
    return atomic_load_explicit(&is_leaving, memory_order_relaxed);
}

// The watch over hosts, or the launcher whose process the PE was, may find the same and say it for all
// PEs; it ends this process then.
static void give_way(void)
{
    bool hosts = job_has_hosts(world.job);
    unsigned most = hosts ? join_patience_ms(GIVE_WAY_MS) : GIVE_WAY_MS;
    for (unsigned ms = 0; ms < most; ms += 10) {
        if (atomic_load_explicit(&world.job->ended, memory_order_relaxed) != JOB_RUNNING)
            return;
        if (hosts)
            host_watch_beat();
        usleep(10000);
    }
}

static void on_peer_lost(void *arg, int pe, const char *why)
{
    (void)arg;
    char who[HOST_TEXT];
    if (net_is_leaving())
        return;
    give_way();
    int32_t running = JOB_RUNNING;
    if (atomic_compare_exchange_strong(&world.job->ended, &running, JOB_ENDED_FATAL))
        fatal("%s: the connection to %s is lost: %s", net.facts.name, host_of(pe, who), why);
}

void net_failed_locked(const char *call, int pe, int status)
{
    char who[HOST_TEXT];
    give_way();
    int32_t running = JOB_RUNNING;
    if (!atomic_compare_exchange_strong(&world.job->ended, &running, JOB_ENDED_FATAL))
        _exit(EXIT_FAILURE); // another PE of this node has said why
    if (pe < 0)
        fatal("%s: transport %s failed with %d", call, net.facts.name, status);
    fatal("%s: transport %s failed with %d towards %s", call, net.facts.name, status,
          host_of(pe, who));
}

void net_failed(const char *call, int pe, int status)
{
    for (int ms = 0; ms < GIVE_WAY_MS; ms += 10) { // the reason comes by on_peer_lost
        net_move();
        usleep(10000);
    }
    net_failed_locked(call, pe, status);
}

static void say(int level, const char *line)
{
    log_line((enum log_level)level, LOG_BOOT, "%s", line);
}

// Threads that have no core to run on at the same time gain nothing from a lock each, and lose what
// one of them does for all.
static unsigned ctx_endpoints(void)
{
    long most = settings.ctx_endpoints;
    if (most < 0)
        most = world.job->cpus >= CTX_ENDPOINTS * world.job->slots ? CTX_ENDPOINTS : 0;
    return (unsigned)most;
}

void net_describe(struct transport_job *job)
{
    job->me = world.me;
    job->npes = world.npes;
    job->secret = world.job->secret;
    job->region[TRANSPORT_HEAP].base = world.ctl;
    job->region[TRANSPORT_HEAP].size = (size_t)world.slice_size;
    job->region[TRANSPORT_HEAP].peers = world.slices;
    job->region[TRANSPORT_HEAP].stride = world.slice_size;
    job->region[TRANSPORT_DATA].base = (void *)world.data;
    job->region[TRANSPORT_DATA].size = world.data_size;
    job->region[TRANSPORT_DATA].peers = world.data_peers;
    job->region[TRANSPORT_DATA].stride = (ptrdiff_t)world.data_size;
    job->ctx_endpoints = ctx_endpoints();
    job->patience_ms = settings_host_timeout_ms();
    job->on_am = net_message_arrived;
    job->on_peer_lost = on_peer_lost;
    job->wants_chains = settings.ofi_offload;
    job->log = say;
}

void net_connect(int pe)
{
    if (likely(atomic_load_explicit(&connected[pe], memory_order_acquire)))
        return;
    pthread_mutex_lock(&connecting);
    if (!connected[pe]) {
        if (net.transport->connect(net.ep, pe, card_address(world.job, pe)))
            fatal("%s: the address of PE %d cannot be used", net.facts.name, pe);
        // Pairs with the acquire load above.
        atomic_store_explicit(&connected[pe], 1, memory_order_release);
    }
    pthread_mutex_unlock(&connecting);
}

// ---- Progress
int net_move(void)
{
    int moved = net.transport->progress(net.ep);
    return moved + net_work() + coll_run_move() + deferred_move();
}

void net_let_leave(unsigned *looks)
{
    enum { LOOKS = 200, REST_US = 50 };
    if (net.transport->progress(net.ep))
        *looks = 0;
    else if (++*looks < LOOKS)
        sched_yield();
    else // for long: the program may compute on this core
        usleep(REST_US);
    host_watch_beat();
}

int net_progress(void)
{
    atomic_fetch_add_explicit(&heartbeat_seen, 1, memory_order_relaxed);
    atomic_store_explicit(&heartbeat_inside, true, memory_order_relaxed);
    if (atomic_load_explicit(&stream_open, memory_order_relaxed))
        stream_push_all();
    int moved = net_move();
    atomic_store_explicit(&heartbeat_inside, false, memory_order_relaxed);
    return moved;
}

static int progress_all(void)
{
    return net_progress() + (other_progress ? other_progress() : 0);
}

static const char *unless_empty(const char *text)
{
    return text && *text ? text : NULL;
}

// Virtual nodes talk within the machine.
static const char *interface(void)
{
    bool is_one_machine = !job_has_hosts(world.job);
    return !*settings.interface && is_one_machine ? "127.0.0.0/8"
                                                  : unless_empty(settings.interface);
}

// Libfabric knows more networks. Where there are but sockets UCX starts ten times sooner and takes less memory;
// short messages and collectives take half to four fifths of the time, long puts a quarter more (docs/bench.md).
static const char *const transports[2][2] = {{"ofi", "ucx"}, {"ucx", "ofi"}};

static bool has_sockets_only(void)
{
    return !device_is_there(DEVICE_VERBS, NULL) && !device_is_there(DEVICE_CXI, NULL);
}

// Who names a provider of libfabric has chosen libfabric.
static const char *wanted_transport(void)
{
    bool is_auto = !strcmp(settings.transport, "auto");
    return !is_auto ? settings.transport : *settings.ofi_provider ? "ofi" : NULL;
}

static int choose(void)
{
    const char *wanted = wanted_transport();
    const char *const *by_preference = transports[has_sockets_only()];
    for (size_t i = 0; i < ARRAY_LEN(transports[0]); i++) {
        struct transport_job job = {.provider = unless_empty(settings.ofi_provider),
                                    .interface = interface()};
        const char *name = by_preference[i];
        if (wanted && strcmp(wanted, name))
            continue;
        net_describe(&job);
        net.transport = module_transport(name, wanted != NULL);
        if (net.transport && settings.adversary)
            net.transport = adversary_before(net.transport, (uint64_t)settings.adversary);
        if (net.transport && net.transport->open(&job, &net.facts, &net.ep) == 0) {
            net.facts.amo_coherent_with_cpu &= settings.network_atomics != 0;
            return 0;
        }
        net.transport = NULL;
    }
    return -1;
}

_Noreturn static void refuse(void)
{
    const char *wanted = wanted_transport();
    char who[HOST_TEXT], there[300];
    host_describe(world.node, who);
    if (*settings.interface && !host_has_interface(settings.interface))
        host_refuse(
            "SHOAL_INTERFACE=%s: %s has no such network interface, address or subnet; it has %s",
            settings.interface, who, host_interfaces(there, sizeof there));
    if (wanted && !strcmp(wanted, "ofi") && *settings.ofi_provider)
        host_refuse("SHOAL_OFI_PROVIDER=%s cannot be used on %s (fi_info lists libfabric's "
                    "providers; SHOAL_LOG=debug says more)",
                    settings.ofi_provider, who);
    host_refuse("no network between the job's %d nodes: on %s SHOAL_TRANSPORT=%s cannot be opened "
                "(install libfabric or UCX and Shoal's module for it; SHOAL_LOG=debug says more)",
                world.nodes, who, settings.transport);
}

// Signals are the program's: network libraries, and what these load, install handlers and a stack
// for them when they are loaded, and start threads that a signal must not go to.
static int choose_as_guest(void)
{
    enum { SIGNALS = 32 };
    struct sigaction before[SIGNALS];
    stack_t stack;
    sigset_t mask;
    thread_block_signals(&mask);
    sigaltstack(NULL, &stack);
    for (int sig = 1; sig < SIGNALS; sig++)
        sigaction(sig, NULL, &before[sig]);
    int status = choose();
    for (int sig = 1; sig < SIGNALS; sig++)
        sigaction(sig, &before[sig], NULL);
    sigaltstack(&stack, NULL);
    thread_restore_signals(&mask);
    return status;
}

// Connections take descriptors, and libraries wait without a word for ones that they do not get.
static void have_descriptors(void)
{
    enum { OWN = 64, EACH = 4 }; // of this process and its libraries, and for a PE of another node
    struct rlimit files;
    rlim_t far = (rlim_t)(world.npes - (world.end - world.first)), need = OWN + EACH * far;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need)
        return;
    bool suffices = files.rlim_max >= need;
    files.rlim_cur = suffices ? need : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (!suffices && world.me == world.first)
        log_line(LOG_WARN, LOG_BOOT,
                 "ulimit -n is %ld, and a PE may need %ld descriptors for the %ld of other nodes: "
                 "connections may fail, or never come",
                 (long)files.rlim_max, (long)need, (long)far);
}

// Messages that came are in the heap until somebody has time for them. The C library gives back what is free at
// the heap's end, from 128 KB on, and gets it again page by page, which takes longer than to copy the
// messages. From a block that it has mapped it learns how much comes and goes, and keeps twice that.
static void keep_heap(void)
{
    enum { COMES_AND_GOES = 2 << 20 };
    void *volatile block = malloc(COMES_AND_GOES);
    free(block);
}

// Bytes of a put that is gathered with others where a processor of its target has to do it in any case. By itself it
// costs both a message, and its sender a word that it is complete.
enum { GATHERED_AT_TARGET = 4096 };

int net_up(void)
{
    if (world.nodes == 1) {
        if (settings.adversary && world.me == 0)
            log_line(LOG_WARN, LOG_BOOT,
                     "SHOAL_ADVERSARY has nothing to stand before: there is one "
                     "node (SHOAL_VNODES makes more)");
        return 0;
    }
    connected = calloc((size_t)world.npes, 1);
    if (!connected)
        return -1;
    have_descriptors();
    keep_heap();
    if (choose_as_guest())
        refuse();
    if (net_message_up() || card_write())
        return -1;
    log_line(LOG_DEBUG, LOG_BOOT, "node %d of %d, between nodes: %s%s", world.node, world.nodes,
             net.facts.name, settings.adversary ? " behind an adversary" : "");
    if (net.facts.rma_needs_target && !getenv("SHOAL_COALESCE"))
        settings.coalesce = GATHERED_AT_TARGET;
    if (settings.adversary % 2) // puts that are gathered keep their order
        settings.coalesce = 0;
    if (host_watch_up())
        return -1;
    other_progress = wait_hooks.progress;
    wait_hooks.progress = progress_all;
    wait_hooks.sleeps = heartbeat_sleeps;
    wait_hooks.linger_ns = world.crowded ? 0 : LINGER_NS;
    wait_spin_less(NET_SPINS); // progress is what makes things happen
    return heartbeat_up();
}

void net_down(void)
{
    if (!net.transport)
        return;
    heartbeat_down();
    host_watch_down();
    stream_down();
    far_region_down();
    if (wait_hooks.progress) // else this PE is quiet already
        wait_hooks.progress = other_progress;
    wait_hooks.linger_ns = 0;
    wait_hooks.sleeps = NULL;
    deferred_down();
    net.transport->close(net.ep);
    net_message_down();
    net = (struct port){0};
    is_leaving = false;
    free((void *)connected);
    connected = NULL;
}
