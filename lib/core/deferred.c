// SPDX-License-Identifier: BSD-3-Clause
// Chains of works for the network. See deferred.h.
#include "deferred.h"

#include "counter.h"
#include "net.h"
#include "region.h"
#include "remote.h"
#include "settings.h"
#include "stream.h"
#include "trigger.h"
#include "wait.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CHAINS = 8, STEPS = HOSTILE ? 3 : 16 };

static struct chain {
    size_t n, counted; // n 0: free
    struct work *work[STEPS];
    struct transport_request request;
} chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned running;
static unsigned long works_run, chains_run; // with the lock held

// ---- What a provider can do
static bool step_of_put(const struct work *w, struct transport_step *step)
{
    step->n = w->op.n;
    step->from = place_here(w->op.local);
    return step->n > 0 && step->n <= net.facts.chain_put_max;
}

static bool step_of_atomic(const struct work *w, struct transport_step *step)
{
    static const struct {
        int op;
        enum transport_op is;
    } ops[] = {{SHOAL_SET, TRANSPORT_SET},
               {SHOAL_SUM, TRANSPORT_ADD},
               {SHOAL_AND, TRANSPORT_AND},
               {SHOAL_OR, TRANSPORT_OR},
               {SHOAL_XOR, TRANSPORT_XOR}};
    const int type = w->op.type;
    bool is_32 = type == SHOAL_INT32 || type == SHOAL_UINT32;
    bool is_64 = type == SHOAL_INT64 || type == SHOAL_UINT64;
    step->n = 0;
    step->width = is_32 ? TRANSPORT_32 : TRANSPORT_64;
    step->operand = w->op.a;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (w->op.op == ops[i].op) {
            step->op = ops[i].is;
            return !w->op.has_local && (is_32 || is_64) && net_does_amo(step->op, step->width) &&
                   w->op.remote.offset % (is_32 ? 4 : 8) == 0;
        }
    return false;
}

static bool has_completion(const struct operation *op)
{
    const struct completion *comp = &op->comp;
    return op->has_comp &&
           (comp->initiator_ct || comp->target_ct || comp->signal_op >= 0 || comp->am_id);
}

// A put or atomic of this PE to symmetric memory of another node, with no completion but done_ct.
static bool step_of(const struct work *w, struct transport_step *step)
{
    const struct operation *op = &w->op;
    struct place at;
    if (w->owner != world.me || has_completion(op) || op->remote.region >= REGION_FIRST ||
        (op->kind != SHOAL_WORK_PUT && op->kind != SHOAL_WORK_ATOMIC) ||
        region_resolve(&op->remote, op->kind == SHOAL_WORK_PUT ? op->n : 8, &at) ||
        world_is_here(at.pe))
        return false;
    step->at = remote_at(at);
    return op->kind == SHOAL_WORK_PUT ? step_of_put(w, step) : step_of_atomic(w, step);
}

static bool can_follow(const struct work *w)
{
    return step_of(w, &(struct transport_step){0});
}

// ---- Making a chain
// The work that the end of work[n - 1] makes due: then the counter is at what it is now and what
// the chain will have counted there.
static struct work *follower(struct work *const work[], size_t n)
{
    uint64_t ref = work[n - 1]->done, more = 0;
    if (!ref)
        return NULL;
    for (size_t i = 0; i < n; i++)
        more += work[i]->done == ref;
    return trigger_take_next(ref_at(ref), ref == atomic_load(&work[0]->counter), more, can_follow);
}

static struct chain *chain_new(void)
{
    struct chain *chain = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS && !chain; i++)
        if (chains[i].n == 0)
            chain = &chains[i];
    if (chain) {
        *chain = (struct chain){.n = 1};
        // Not yet an end to be counted, see deferred_move.
        atomic_store_explicit(&chain->request.left, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&running, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return chain;
}

static void chain_give(struct chain *chain)
{
    pthread_mutex_lock(&lock);
    chain->n = 0;
    atomic_fetch_sub_explicit(&running, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static void chain_run(struct chain *chain, const struct transport_step *step)
{
    int status;
    for (size_t i = 0; i < chain->n; i++)
        net_connect(step[i].at.pe);
    while ((status = net.transport->chain(net.ep, step, chain->n, &chain->request)) ==
           TRANSPORT_AGAIN)
        net.transport->progress(net.ep); // alone: nothing that may itself wait for this chain
    if (status < 0)
        net_failed("a triggered operation", step[0].at.pe, status);
}

bool deferred_start(struct work *w)
{
    struct transport_step step[STEPS];
    struct work *work[STEPS] = {w};
    size_t n = 1, most = net.facts.chain_max < STEPS ? net.facts.chain_max : STEPS;
    // What waits for batches before a fence is run by software.
    if (most < 2 || !w->done || stream_is_fenced(&stream_default) || !step_of(w, &step[0]))
        return false;
    struct chain *chain = chain_new();
    if (!chain)
        return false;
    while (n < most && (work[n] = follower(work, n)) != NULL) {
        step_of(work[n], &step[n]);
        n++;
    }
    if (n < 2) {
        chain_give(chain);
        return false;
    }
    struct counter *c = ref_at(atomic_load_explicit(&w->counter, memory_order_relaxed));
    atomic_fetch_add_explicit(&c->deferred, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    memcpy(chain->work, work, n * sizeof *work);
    chain->n = n;
    atomic_store_explicit(&chain->request.left, (int)n, memory_order_relaxed);
    works_run += n;
    chains_run++;
    pthread_mutex_unlock(&lock);
    chain_run(chain, step);
    return true;
}

// ---- Their ends
// With the lock held, so that ends are counted in the order of the chain; releasing is not for
// here.
static struct counter *count_next(struct chain *chain)
{
    struct work *w = chain->work[chain->counted++];
    struct counter *on = ref_at(atomic_load_explicit(&w->counter, memory_order_relaxed));
    struct counter *done = w->done ? ref_at(w->done) : NULL;
    trigger_free(w);
    // Pairs with the acquire load of who waits for it: what is run next comes after this work.
    atomic_fetch_sub_explicit(&on->deferred, 1, memory_order_release);
    if (done)
        atomic_fetch_add_explicit(&done->success, 1, memory_order_seq_cst);
    if (chain->counted == chain->n) {
        chain->n = 0;
        atomic_fetch_sub_explicit(&running, 1, memory_order_release);
    }
    return done;
}

// The next work that is complete, and has not been counted.
static bool look(struct counter **done)
{
    bool found = false;
    int status = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS && !found && !status; i++) {
        struct chain *chain = &chains[i];
        // Pairs with the transport's release: the work's memory may be used again.
        int left = atomic_load_explicit(&chain->request.left, memory_order_acquire);
        if (chain->n == 0 || chain->counted == chain->n - (size_t)left)
            continue;
        status = chain->request.status;
        found = !status;
        if (found)
            *done = count_next(chain);
        else
            chain->n = 0; // told once: what follows moves the network, and comes here again
    }
    pthread_mutex_unlock(&lock);
    if (status)
        net_failed("a triggered operation", -1, status);
    return found;
}

int deferred_move(void)
{
    struct counter *done;
    int n = 0;
    while (atomic_load_explicit(&running, memory_order_relaxed) && look(&done)) {
        if (done)
            counter_changed(done, world.me);
        else
            peer_wake(world.me);
        n++;
    }
    return n;
}

void deferred_wait(void)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    // Pairs with the release where the last work of a chain is counted.
    while (atomic_load_explicit(&running, memory_order_acquire))
        waiter_step(&w);
}

void deferred_down(void)
{
    if (settings.stats && works_run)
        fprintf(stderr, "shoal: PE %d: %lu triggered operations in %lu chains of the network\n",
                world.me, works_run, chains_run);
    works_run = chains_run = 0;
    memset(chains, 0, sizeof chains); // what was under way ends with the transport
    atomic_store_explicit(&running, 0, memory_order_relaxed);
}
