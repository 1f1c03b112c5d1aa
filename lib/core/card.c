// SPDX-License-Identifier: BSD-3-Clause
// Cards: written, exchanged between hosts, compared. See card.h.
#include "card.h"

#include "host.h"
#include "join.h"
#include "log.h"
#include "net.h"
#include "wait.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t card_stride = CARD_SIZE;

// How much of one is in use.
static size_t card_bytes(void)
{
    return offsetof(struct card, address) + net.facts.address_size;
}

int card_write(void)
{
    const struct pe_ctl *ctl = world_ctl(world.me);
    if (net.facts.address_size > CARD_ADDRESS) {
        log_line(LOG_ERROR, LOG_BOOT, "%s: its addresses have %zu bytes, %d at most",
                 net.facts.name, net.facts.address_size, CARD_ADDRESS);
        return -1;
    }
    card_stride = (card_bytes() + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct card *card = card_of(world.job, world.me);
    card->layout = JOB_LAYOUT;
    card->heap_size = world.heap_size;
    card->data_size = ctl->data_size;
    card->data_hash = ctl->data_hash;
    snprintf(card->transport, sizeof card->transport, "%s", net.facts.name);
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

// A node's bytes: its extra ones, then its PEs' cards by slot.
struct blobs {
    size_t extra, each, whole;
    char *mine, *all;
};

static void pack(struct blobs *b, const void *extra)
{
    memcpy(b->mine, extra, b->extra);
    for (int pe = world.first; pe < world.end; pe++)
        if (world_is_here(pe))
            memcpy(b->mine + b->extra + (size_t)world.job->pe[pe].slot * b->each,
                   card_of(world.job, pe), b->each);
}

static void unpack(const struct blobs *b, char *extras)
{
    for (int node = 0; node < world.nodes; node++)
        memcpy(extras + (size_t)node * b->extra, b->all + (size_t)node * b->whole, b->extra);
    for (int pe = 0; pe < world.npes; pe++) {
        const struct job_pe *at = &world.job->pe[pe];
        if (!world_is_here(pe))
            memcpy(card_of(world.job, pe),
                   b->all + (size_t)at->node * b->whole + b->extra + (size_t)at->slot * b->each,
                   b->each);
    }
}

// Between hosts the nodes' leaders exchange what their PEs have written.
static int exchange(const void *extra, size_t extra_n, void *extras)
{
    bool leads = world.job->pe[world.me].slot == 0;
    struct blobs b = {.extra = extra_n, .each = card_bytes()};
    b.whole = b.extra + b.each * (size_t)most_slots();
    b.mine = leads ? calloc(1, b.whole) : NULL;
    b.all = leads ? calloc((size_t)world.nodes, b.whole) : NULL;
    int status = leads && (!b.mine || !b.all) ? -1 : 0;
    if (status)
        log_line(LOG_ERROR, LOG_BOOT, "no memory for the addresses of %d PEs", world.npes);
    if (leads && !status)
        pack(&b, extra);
    if (!status)
        status = pmi_exchange(join_pmi(), b.mine, b.whole, b.all);
    if (leads && !status)
        unpack(&b, extras);
    free(b.mine);
    free(b.all);
    return status;
}

int card_gather(const void *extra, size_t extra_n, void *extras)
{
    static int times;
    bool hosts = job_has_hosts(world.job);
    int before = times * (world.job->slots + hosts);
    times++;
    wait_for_cards(before + world.job->slots);
    if (!hosts)
        return 0;
    if (exchange(extra, extra_n, extras))
        return -1;
    if (world.job->pe[world.me].slot == 0) {
        atomic_fetch_add_explicit(&world.job->carded, 1, memory_order_release);
        bell_check(&world.job->bell);
    }
    wait_for_cards(before + world.job->slots + 1);
    return 0;
}

// What b has otherwise than a, and what to do about it.
static const char *difference(const struct card *a, const struct card *b)
{
    if (a->layout != b->layout)
        return "another version of libshoal: install the same one on all hosts";
    if (a->heap_size != b->heap_size)
        return "another size of symmetric heap: give all hosts the same SHMEM_SYMMETRIC_SIZE";
    if (a->data_size != b->data_size || a->data_hash != b->data_hash)
        return "another executable: all hosts need the same file";
    if (strncmp(a->transport, b->transport, sizeof a->transport) || a->address_n != b->address_n)
        return "another transport: give all hosts the same SHOAL_TRANSPORT";
    return NULL;
}

// All PEs compare the same cards and find the same; the first one says so.
void card_compare(void)
{
    int node = 0;
    for (int pe = 0; pe < world.npes; pe++) {
        if (world.job->pe[pe].node != node) // one of each node stands for all of it
            continue;
        node++;
        const char *what = difference(card_of(world.job, 0), card_of(world.job, pe));
        if (!what)
            continue;
        char there[HOST_TEXT], here[HOST_TEXT];
        if (world.me == 0)
            log_line(LOG_ERROR, LOG_BOOT, "%s runs otherwise than %s, with %s", host_of(pe, there),
                     host_of(0, here), what);
        if (job_has_hosts(world.job))
            join_pmi()->fence(join_pmi()); // nobody ends before that line is out
        _exit(EXIT_FAILURE);
    }
}
