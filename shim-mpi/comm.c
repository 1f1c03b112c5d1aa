// SPDX-License-Identifier: BSD-3-Clause
// Communicators: life, and how one is found by its context. See comm.h.
//
//     context = count << bits | PE of who gave it      bits: enough for all PEs, at least 1
//
// Count 0 is nobody's: context 0 is MPI_COMM_WORLD's, and 1 MPI_COMM_SELF's, which can be the same
// everywhere as its messages stay at home.
#include "comm.h"

#include "coll_lane.h"
#include "error.h"
#include "info.h"
#include "outbox.h"
#include "p2p.h"
#include "topo.h"

#include <string.h>

enum { BUCKETS = 1024 };
enum { FIRST_COLL = TAG_COLLS / 2 / TAG_STEP - 3 }; // their tags go round soon: see PARTNER_START

struct comm comm_world, comm_self;

// Looked at by every message that arrives: each has its lock, as threads use different communicators.
static struct bucket {
    struct comm *first;
    shim_lock lock;
} known[BUCKETS];
static _Atomic uint32_t contexts_given = UINT32_MAX - 3; // as does this
static unsigned pe_bits;

static struct bucket *bucket_of(uint32_t context)
{
    return &known[context * 0x9e3779b1u >> 22];
}
_Static_assert(BUCKETS == 1 << (32 - 22), "bucket_of reaches all");

struct comm *comm_find(uint32_t context)
{
    struct bucket *b = bucket_of(context);
    shim_lock_take(&b->lock);
    struct comm *c = b->first;
    while (c && c->context != context)
        c = c->next_known;
    return c;
}

void comm_found(uint32_t context)
{
    shim_lock_give(&bucket_of(context)->lock);
}

static bool is_known(uint32_t context)
{
    bool is = comm_find(context) != NULL;
    comm_found(context);
    return is;
}

// Counts come back to their start after very many; those still in use here are passed over.
uint32_t comm_new_context(void)
{
    uint32_t context;
    do {
        uint32_t count = atomic_fetch_add_explicit(&contexts_given, 1, memory_order_relaxed) + 1;
        context = count << pe_bits | (uint32_t)shim_pe();
    } while (context >> pe_bits == 0 || is_known(context));
    return context;
}

void comm_return_context(uint32_t context)
{
    uint32_t count = context >> pe_bits; // the last one given, unless others were since
    atomic_compare_exchange_strong_explicit(&contexts_given, &count, count - 1,
                                            memory_order_relaxed, memory_order_relaxed);
}

struct comm *comm_make(struct group *group, struct group *remote)
{
    struct comm *c = object_new(sizeof *c, OBJECT_COMM);
    if (!c)
        return NULL;
    object_keep(group);
    c->group = group;
    c->rank = group->rank;
    if (remote)
        object_keep(remote);
    c->remote = remote;
    c->peers = remote ? remote : group;
    c->team = SHMEM_TEAM_INVALID;
    atomic_init(&c->colls, FIRST_COLL);
    atomic_init(&c->colls_made, FIRST_COLL);
    return c;
}

// Known first, queues after: messages that come in between wait for the queues.
int comm_publish(struct comm *c, uint32_t context)
{
    struct bucket *b = bucket_of(context);
    c->context = context;
    shim_lock_take(&b->lock);
    c->next_known = b->first;
    b->first = c;
    shim_lock_give(&b->lock);
    return p2p_attach(c);
}

static void conceal(struct comm *c)
{
    struct bucket *b = bucket_of(c->context);
    struct comm **at = &b->first;
    shim_lock_take(&b->lock);
    while (*at && *at != c)
        at = &(*at)->next_known;
    if (*at)
        *at = c->next_known;
    shim_lock_give(&b->lock);
}

struct comm *comm_new(uint32_t context, struct group *group)
{
    struct comm *c = comm_make(group, NULL);
    if (c && comm_publish(c, context)) {
        comm_free(c);
        return NULL;
    }
    return c;
}

struct comm *comm_new_inter(uint32_t context, uint32_t local_context, struct group *group,
                            struct group *remote, bool is_low)
{
    struct comm *local = comm_new(local_context, group);
    struct comm *c = local ? comm_make(group, remote) : NULL;
    if (!c) {
        comm_free(local);
        return NULL;
    }
    c->local = local;
    c->is_low = is_low;
    if (comm_publish(c, context)) {
        comm_free(c);
        return NULL;
    }
    return c;
}

int comm_give(struct comm *c, struct comm *parent, MPI_Comm *out, const char *call)
{
    if (!c)
        return raise_on(parent, MPI_ERR_NO_MEM, call, "no memory for a communicator");
    c->session = parent->session;
    struct errhandler *e = errhandler_take(&parent->errhandler);
    errhandler_set(&c->errhandler, e);
    errhandler_drop(e);
    *out = object_handle(c);
    return MPI_SUCCESS;
}

static void drop_parts(struct comm *c)
{
    p2p_detach(c, conceal);
    errhandler_set(&c->errhandler, NULL);
    info_free(c->hints);
    topology_drop(c->topology);
    comm_free(c->local);
    group_free(c->remote);
    group_free(c->group);
}

void comm_end(struct comm *c)
{
    drop_parts(c);
    object_end(c);
}

void comm_free(struct comm *c)
{
    if (c && object_drop(c))
        comm_end(c);
}

// ---- The two that are always there
static int start(struct comm *c, MPI_Comm handle, const char *name, uint32_t context,
                 struct group *group)
{
    struct errhandler *errhandler = c->errhandler; // may have been set before MPI_Init
    *c = (struct comm){.group = group, .peers = group, .rank = group ? group->rank : 0};
    c->errhandler = errhandler;
    c->team = SHMEM_TEAM_INVALID;
    atomic_init(&c->colls, FIRST_COLL);
    atomic_init(&c->colls_made, FIRST_COLL);
    object_predefine(c, OBJECT_COMM, handle);
    strcpy(c->name, name);
    return group ? comm_publish(c, context) : MPI_ERR_NO_MEM;
}

int comm_up(void)
{
    pe_bits = 1;
    while (pe_bits < 31 && 1L << pe_bits < shim_npes())
        pe_bits++;
    int error = start(&comm_world, MPI_COMM_WORLD, "MPI_COMM_WORLD", 0,
                      group_new_regular(0, 1, shim_npes()));
    if (!error)
        error = start(&comm_self, MPI_COMM_SELF, "MPI_COMM_SELF", 1,
                      group_new_regular(shim_pe(), 1, 1));
    comm_show_world(false);
    return error;
}

void comm_show_world(bool shown)
{
    object_predefined[(uintptr_t)MPI_COMM_WORLD] = shown ? &comm_world.head : NULL;
    object_predefined[(uintptr_t)MPI_COMM_SELF] = shown ? &comm_self.head : NULL;
}

void comm_mark_all_freed(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        shim_lock_take(&known[i].lock);
        for (struct comm *c = known[i].first; c; c = c->next_known)
            if (!c->head.code && !c->session)
                atomic_store_explicit(&c->is_freed, true, memory_order_relaxed);
        shim_lock_give(&known[i].lock);
    }
}

static struct comm *find_with_team(void)
{
    struct comm *c = NULL;
    for (int i = 0; i < BUCKETS && !c; i++) {
        shim_lock_take(&known[i].lock);
        for (c = known[i].first; c && (c == &comm_world || c->team == SHMEM_TEAM_INVALID);)
            c = c->next_known;
        shim_lock_give(&known[i].lock);
    }
    return c;
}

// Who has not freed a communicator meets here those who have.
static void end_teams(void)
{
    struct comm *c;
    while ((c = find_with_team()))
        coll_team_end(c);
    coll_team_down();
    coll_lane_down();
    outbox_wait_all(); // others wait for this process's part of their ends
    schedule_down();
}

void comm_down(void)
{
    end_teams();
    comm_show_world(false);
    drop_parts(&comm_self);
    drop_parts(&comm_world);
    comm_world = comm_self = (struct comm){0};
    errhandler_initial();
}
