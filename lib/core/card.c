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

size_t card_stride = CARD_ADDRESS;

int card_write(void)
{
    const struct pe_ctl *ctl = world_ctl(world.me);
    const struct transport_facts *facts = &net.facts;
    if (facts->address_size > CARD_ADDRESS) {
        log_line(LOG_ERROR, LOG_BOOT, "%s: its addresses have %zu bytes, %d at most", facts->name,
                 facts->address_size, CARD_ADDRESS);
        return -1;
    }
    card_stride = (facts->address_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct card *card = card_of(world.job, world.me);
    card->data_size = ctl->data_size;
    card->data_hash = ctl->data_hash;
    card->address_n = (uint32_t)facts->address_size;
    snprintf(card->transport, sizeof card->transport, "%s", facts->name);
    snprintf(card->provider, sizeof card->provider, "%s", facts->provider ? facts->provider : "");
    if (net.transport->address(net.ep, card_address(world.job, world.me)))
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

static bool leads(void)
{
    return world.job->pe[world.me].slot == 0;
}

// One blob of n bytes from each node, in *all, to be freed; NULL for those who do not lead. `mine` is
// freed. 0, or -1 after one line.
static int exchange(char *mine, size_t n, char **all)
{
    *all = leads() ? calloc((size_t)world.nodes, n) : NULL;
    int status = leads() && (!mine || !*all) ? -1 : 0;
    if (status)
        log_line(LOG_ERROR, LOG_BOOT, "no memory for the addresses of %d PEs", world.npes);
    else
        status = pmi_exchange(join_pmi(), mine, n, *all);
    free(mine);
    if (status)
        free(*all);
    return status;
}

// The node's PEs have found their cards to be the same, so that of its leader stands for them.
static int exchange_cards(const void *extra, size_t extra_n, char *extras)
{
    size_t n = sizeof(struct card) + extra_n;
    char *mine = leads() ? malloc(n) : NULL, *all;
    if (mine) {
        memcpy(mine, card_of(world.job, world.me), sizeof(struct card));
        memcpy(mine + sizeof(struct card), extra, extra_n);
    }
    if (exchange(mine, n, &all))
        return -1;
    for (int pe = 0; all && pe < world.npes; pe++)
        if (!world_is_here(pe))
            memcpy(card_of(world.job, pe), all + (size_t)world.job->pe[pe].node * n,
                   sizeof(struct card));
    for (int node = 0; all && node < world.nodes; node++)
        memcpy(extras + (size_t)node * extra_n, all + (size_t)node * n + sizeof(struct card),
               extra_n);
    free(all);
    return 0;
}

// By node and slot.
static int exchange_addresses(void)
{
    size_t each = net.facts.address_size, n = each * (size_t)most_slots();
    char *mine = leads() ? calloc(1, n) : NULL, *all;
    for (int pe = world.first; mine && pe < world.end; pe++)
        if (world_is_here(pe))
            memcpy(mine + (size_t)world.job->pe[pe].slot * each, card_address(world.job, pe), each);
    if (exchange(mine, n, &all))
        return -1;
    for (int pe = 0; all && pe < world.npes; pe++) {
        const struct job_pe *at = &world.job->pe[pe];
        if (!world_is_here(pe))
            memcpy(card_address(world.job, pe),
                   all + (size_t)at->node * n + (size_t)at->slot * each, each);
    }
    free(all);
    return 0;
}

// ---- Comparing
static const char *describe(const struct card *card, char *text, size_t size)
{
    snprintf(text, size, "%.*s%s%.*s", (int)sizeof card->transport, card->transport,
             card->provider[0] ? " with provider " : "", (int)sizeof card->provider,
             card->provider);
    return text;
}

// In words; false: they are the same.
static bool differ(int a, int b, char *line, size_t size)
{
    const struct card *one = card_of(world.job, a), *other = card_of(world.job, b);
    char who_a[HOST_TEXT], who_b[HOST_TEXT], has_a[80], has_b[80];
    host_of(a, who_a);
    host_of(b, who_b);
    describe(one, has_a, sizeof has_a);
    describe(other, has_b, sizeof has_b);
    if (one->data_size != other->data_size || one->data_hash != other->data_hash)
        snprintf(
            line, size,
            "%s runs otherwise than %s, with another executable: all hosts need the same file, "
            "different programs SHOAL_STATIC=0",
            who_b, who_a);
    else if (strcmp(has_a, has_b))
        snprintf(line, size,
                 "%s uses transport %s, and %s %s: give all PEs the same SHOAL_TRANSPORT and "
                 "SHOAL_OFI_PROVIDER",
                 who_b, has_b, who_a, has_a);
    else if (one->address_n != other->address_n)
        snprintf(line, size,
                 "%s has another version of libshoal-%s than %s: install the same one on all hosts",
                 who_b, net.facts.name, who_a);
    else
        return false;
    return true;
}

// The PEs of this file; whoever finds a difference first says so.
static void compare_here(void)
{
    bool hosts = job_has_hosts(world.job);
    int first = hosts ? world.first : 0;
    char line[600];
    for (int pe = first; pe < (hosts ? world.end : world.npes); pe++)
        if ((!hosts || world_is_here(pe)) && differ(first, pe, line, sizeof line))
            host_refuse("%s", line);
}

// All PEs compare the same cards and find the same; the first one says so.
static void compare_hosts(void)
{
    char line[600];
    for (int pe = 0; pe < world.npes; pe++) {
        if (world.job->pe[pe].slot || !differ(0, pe, line, sizeof line))
            continue;
        if (world.me == 0)
            log_line(LOG_ERROR, LOG_BOOT, "%s", line);
        join_pmi()->fence(join_pmi()); // nobody ends before that line is out
        _exit(EXIT_FAILURE);
    }
}

// ---- All of it

// The leader has written into the file what others wait for: they are `count` steps in all.
static void step(int count)
{
    if (leads()) {
        atomic_fetch_add_explicit(&world.job->carded, 1, memory_order_release);
        bell_check(&world.job->bell);
    }
    wait_for_cards(count);
}

int card_gather(const void *extra, size_t extra_n, void *extras)
{
    enum { STEPS = 2 };
    static int times;
    bool hosts = job_has_hosts(world.job);
    int written = times * (world.job->slots + hosts * STEPS) + world.job->slots;
    times++;
    wait_for_cards(written);
    compare_here();
    if (!hosts)
        return 0;
    join_pmi()->has_met = false;
    if (exchange_cards(extra, extra_n, extras))
        return -1;
    step(written + 1);
    compare_hosts();
    if (exchange_addresses())
        return -1;
    join_pmi()->has_met = true;
    step(written + STEPS);
    return 0;
}
