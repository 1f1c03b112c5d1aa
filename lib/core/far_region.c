// SPDX-License-Identifier: BSD-3-Clause
// Regions of PEs of other nodes, by RMA. See far_region.h.
#include "far_region.h"

#include "net.h"
#include "region.h"
#include "remote.h"
#include "slice.h"
#include "tunables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { IMPORTS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void **handles; // of the transport, per entry of the own table

// What was imported, by PE and entry, while its owner had it filled that time.
static struct import {
    uint32_t fill; // 0: free
    int pe;
    uint32_t index;
    uint64_t base, size;
    int region; // of the transport
    int users;
} imports[IMPORTS];

// ---- The owner
static bool offers(void *base)
{
    return net.transport && net.transport->region_register && net.facts.key_size > 0 &&
           net.facts.key_size <= REGION_KEY && place_of(base).space == SPACE_PRIVATE;
}

void far_region_offer(uint32_t index, void *base, size_t size)
{
    struct region_entry *e = &slice_of(world.me)->region[index];
    if (size < LIMIT_REGION_RMA || !offers(base))
        return;
    if (!handles)
        handles = calloc(LIMIT_REGIONS, sizeof *handles);
    if (handles && net.transport->region_register(net.ep, base, size, e->key, &handles[index]) == 0)
        e->key_n = (uint32_t)net.facts.key_size;
}

void far_region_withdraw(uint32_t index)
{
    if (!handles || !handles[index] || !net.transport)
        return;
    net.transport->region_deregister(net.ep, handles[index]);
    handles[index] = NULL;
}

// ---- The others
// By its entry, NULL: only if it is known.
static struct import *take(const shoal_rptr_t *r, const struct region_entry *e)
{
    struct import *i = &imports[((unsigned)r->pe * 31 + region_slot(r)) % IMPORTS];
    uint32_t fill = region_fill(r->stamp);
    pthread_mutex_lock(&lock);
    bool is_it = fill && i->fill == fill && i->pe == r->pe && i->index == region_slot(r) &&
                 (!e || (i->base == e->base && i->size == e->size)); // numbers of fills come round
    if (!is_it && e && i->users == 0) {
        if (i->fill)
            net.transport->region_release(net.ep, i->region);
        *i = (struct import){
            .pe = r->pe, .index = region_slot(r), .base = e->base, .size = e->size};
        is_it = net.transport->region_import(net.ep, r->pe, e->key, &i->region) == 0;
        i->fill = is_it ? fill : 0;
    }
    if (is_it)
        i->users++;
    pthread_mutex_unlock(&lock);
    return is_it ? i : NULL;
}

void far_region_give(struct import *i)
{
    pthread_mutex_lock(&lock);
    i->users--;
    pthread_mutex_unlock(&lock);
}

// As its owner has lent it: that it is there need not be asked again.
static struct import *find_lent(const struct operation *op)
{
    struct import *i = region_is_lent(&op->remote) ? take(&op->remote, NULL) : NULL;
    if (!i || region_within(op->remote.offset, op->n, i->size))
        return i;
    far_region_give(i);
    return NULL;
}

// In a region that its owner has registered. When it finds none, the owner finds the words for it.
static bool find_region(const struct operation *op, struct transport_remote *at,
                        struct import **import)
{
    const shoal_rptr_t *r = &op->remote;
    struct region_entry e;
    if (op->n < LIMIT_REGION_RMA || region_slot(r) >= LIMIT_REGIONS)
        return false;
    *import = find_lent(op);
    if (!*import) {
        remote_load(r->pe, &slice_of(world.me)->region[region_slot(r)], &e, sizeof e, false);
        if (!r->stamp || e.stamp != r->stamp || !region_within(r->offset, op->n, e.size))
            return false;
        if (e.space != SPACE_PRIVATE) {
            *at = remote_at((struct place){r->pe, e.space, e.at + r->offset});
            return true;
        }
        *import = !e.asks && e.key_n == net.facts.key_size ? take(r, &e) : NULL;
    }
    if (*import)
        *at = (struct transport_remote){r->pe, (*import)->region, r->offset};
    return *import != NULL;
}

bool far_region_find(const struct operation *op, struct transport_remote *at,
                     struct import **import)
{
    struct place place;
    *import = NULL;
    if (op->kind != SHOAL_WORK_PUT && op->kind != SHOAL_WORK_GET)
        return false;
    if (region_resolve(&op->remote, op->n, &place) || place.space == SPACE_PRIVATE)
        return find_region(op, at, import);
    *at = remote_at(place);
    return true;
}

void far_region_down(void)
{
    free(handles);
    handles = NULL;
    memset(imports, 0, sizeof imports);
}
