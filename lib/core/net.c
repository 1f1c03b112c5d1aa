// SPDX-License-Identifier: BSD-3-Clause
// Opening the network. See net.h.
#include "net.h"

#include "card.h"
#include "far_region.h"
#include "join.h"
#include "log.h"
#include "module.h"
#include "net_message.h"
#include "settings.h"
#include "stream.h"
#include "wait.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINGER_NS = 2000000, NET_SPINS = 16 };

struct port net;

static _Atomic unsigned char *connected; // per PE
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
static int (*other_progress)(void); // what else a wait moves

static void on_peer_lost(void *arg, int pe, const char *why)
{
    (void)arg;
    if (atomic_load_explicit(&world.job->ended, memory_order_relaxed) == JOB_RUNNING)
        fatal("%s: the connection to PE %d is lost: %s", net.facts.name, pe, why);
}

static void say(int level, const char *line)
{
    log_line((enum log_level)level, LOG_BOOT, "%s", line);
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
    job->on_am = net_message_arrived;
    job->on_peer_lost = on_peer_lost;
    job->log = say;
}

// ---- Cards
static int write_card(void)
{
    const struct pe_ctl *ctl = world_ctl(world.me);
    struct card *card = card_of(world.job, world.me);
    *card = (struct card){.layout = JOB_LAYOUT,
                          .heap_size = world.heap_size,
                          .data_size = ctl->data_size,
                          .data_hash = ctl->data_hash};
    snprintf(card->transport, sizeof card->transport, "%s", net.facts.name);
    if (net.facts.address_size > CARD_ADDRESS) {
        log_line(LOG_ERROR, LOG_BOOT, "%s: its addresses have %zu bytes, %d at most",
                 net.facts.name, net.facts.address_size, CARD_ADDRESS);
        return -1;
    }
    card->address_n = (uint32_t)net.facts.address_size;
    if (net.transport->address(net.ep, card->address))
        return -1;
    // Pairs with the acquire load in wait_for_cards.
    atomic_fetch_add_explicit(&world.job->carded, 1, memory_order_release);
    bell_check(&world.job->bell);
    return 0;
}

static void wait_for_cards(int count)
{
    struct waiter w = waiter_start(&world.job->bell);
    while (atomic_load_explicit(&world.job->carded, memory_order_acquire) < count)
        waiter_step(&w);
}

// PEs of the node that has most.
static int most_slots(void)
{
    int most = 0;
    for (int pe = 0; pe < world.npes; pe++)
        if (world.job->pe[pe].slot >= most)
            most = world.job->pe[pe].slot + 1;
    return most;
}

// Between hosts the nodes' leaders exchange what their PEs have written, each PE at its slot.
static int exchange_cards(void)
{
    bool leads = world.job->pe[world.me].slot == 0;
    size_t each = offsetof(struct card, address) + net.facts.address_size;
    size_t whole = each * (size_t)most_slots();
    char *mine = leads ? calloc(1, whole) : NULL;
    char *all = leads ? calloc((size_t)world.nodes, whole) : NULL;
    if (leads && (!mine || !all)) {
        log_line(LOG_ERROR, LOG_BOOT, "no memory for the addresses of %d PEs", world.npes);
        return -1;
    }
    for (int pe = world.first; leads && pe < world.end; pe++)
        if (world_is_here(pe))
            memcpy(mine + (size_t)world.job->pe[pe].slot * each, card_of(world.job, pe), each);
    int status = pmi_exchange(join_pmi(), mine, whole, all);
    for (int pe = 0; leads && !status && pe < world.npes; pe++) {
        const struct job_pe *at = &world.job->pe[pe];
        if (!world_is_here(pe))
            memcpy(card_of(world.job, pe), all + (size_t)at->node * whole + (size_t)at->slot * each,
                   each);
    }
    free(mine);
    free(all);
    return status;
}

// Until all cards are in this node's file.
static int gather_cards(void)
{
    static int times;
    bool hosts = world.job->slots < world.npes;
    int before = times * (world.job->slots + hosts);
    times++;
    wait_for_cards(before + world.job->slots);
    if (!hosts)
        return 0;
    if (exchange_cards())
        return -1;
    if (world.job->pe[world.me].slot == 0) {
        atomic_fetch_add_explicit(&world.job->carded, 1, memory_order_release);
        bell_check(&world.job->bell);
    }
    wait_for_cards(before + world.job->slots + 1);
    return 0;
}

// All PEs run one program with one library and one transport, or cannot understand each other.
static const char *difference(const struct card *a, const struct card *b)
{
    if (a->layout != b->layout)
        return "another version of libshoal";
    if (a->heap_size != b->heap_size)
        return "another size of symmetric heap (SHMEM_SYMMETRIC_SIZE)";
    if (a->data_size != b->data_size || a->data_hash != b->data_hash)
        return "another executable";
    if (strncmp(a->transport, b->transport, sizeof a->transport))
        return "another transport";
    return NULL;
}

static int compare_cards(void)
{
    const struct card *own = card_of(world.job, world.me);
    for (int node = 0, pe = 0; pe < world.npes; pe++) {
        if (world.job->pe[pe].node != node) // one of each node stands for all of it
            continue;
        node++;
        const char *what = difference(card_of(world.job, pe), own);
        if (!what)
            continue;
        log_line(LOG_ERROR, LOG_BOOT, "PE %d runs with %s than PE %d", pe, what, world.me);
        return -1;
    }
    return 0;
}

void net_connect(int pe)
{
    if (likely(atomic_load_explicit(&connected[pe], memory_order_acquire)))
        return;
    pthread_mutex_lock(&connecting);
    if (!connected[pe]) {
        if (net.transport->connect(net.ep, pe, card_of(world.job, pe)->address))
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
    return moved + net_message_work();
}

int net_progress(void)
{
    atomic_fetch_add_explicit(&heartbeat_seen, 1, memory_order_relaxed);
    if (atomic_load_explicit(&stream_open, memory_order_relaxed))
        stream_push_all();
    return net_move();
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
    bool is_one_machine = world.job->slots == world.npes;
    return !*settings.interface && is_one_machine ? "127.0.0.0/8"
                                                  : unless_empty(settings.interface);
}

static int choose(void)
{
    static const char *const known[] = {"ofi", "ucx"};
    bool is_auto = !strcmp(settings.transport, "auto");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct transport_job job = {.provider = unless_empty(settings.ofi_provider),
                                    .interface = interface()};
        if (!is_auto && strcmp(settings.transport, known[i]))
            continue;
        net_describe(&job);
        net.transport = module_transport(known[i], !is_auto);
        if (net.transport && net.transport->open(&job, &net.facts, &net.ep) == 0) {
            net.facts.amo_coherent_with_cpu &= settings.network_atomics != 0;
            return 0;
        }
        net.transport = NULL;
    }
    log_line(LOG_ERROR, LOG_BOOT,
             "no network between the job's %d nodes: SHOAL_TRANSPORT=%s cannot "
             "be opened (install libfabric or UCX and Shoal's module for it; SHOAL_LOG=debug says "
             "more)",
             world.nodes, settings.transport);
    return -1;
}

// A library that a network library loads may install handlers (libpsm_infinipath does); signals are
// the program's.
static int choose_without_handlers(void)
{
    enum { SIGNALS = 32 };
    struct sigaction before[SIGNALS];
    for (int sig = 1; sig < SIGNALS; sig++)
        sigaction(sig, NULL, &before[sig]);
    int status = choose();
    for (int sig = 1; sig < SIGNALS; sig++)
        sigaction(sig, &before[sig], NULL);
    return status;
}

int net_up(void)
{
    if (world.nodes == 1)
        return 0;
    connected = calloc((size_t)world.npes, 1);
    if (!connected || choose_without_handlers() || net_message_up() || write_card())
        return -1;
    log_line(LOG_DEBUG, LOG_BOOT, "node %d of %d, between nodes: %s", world.node, world.nodes,
             net.facts.name);
    if (gather_cards() || compare_cards())
        return -1;
    other_progress = wait_hooks.progress;
    wait_hooks.progress = progress_all;
    wait_hooks.linger_ns = world.crowded ? 0 : LINGER_NS;
    if (wait_spins > NET_SPINS) // progress is what makes things happen
        wait_spins = NET_SPINS;
    return heartbeat_up();
}

void net_down(void)
{
    if (!net.transport)
        return;
    heartbeat_down();
    stream_down();
    far_region_down();
    wait_hooks.progress = other_progress;
    wait_hooks.linger_ns = 0;
    net.transport->close(net.ep);
    net_message_down();
    net = (struct port){0};
    free((void *)connected);
    connected = NULL;
}
