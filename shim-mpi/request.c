// SPDX-License-Identifier: BSD-3-Clause
// Requests: life, completion, waiting. See request.h.
#include "request.h"

#include "error.h"
#include "stats.h"
#include "win.h"

#include <shmem.h>
#include <shoal.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 1000, EARLY = 16, LOOKS = 8, LOOKS_ALONE = 64, NEAR_STEPS = 64 };

struct request_activity request_activity[SHIM_PARTS];
unsigned request_looks;

// ---- Memory
struct request_pool request_pools[SHIM_PARTS];

void *request_memory(size_t size)
{
    void *r = malloc(size);
    if (!r)
        shim_fatal("no memory for a request");
    return r;
}

static void put_pooled(void *r, enum request_pool_of pool)
{
    int part = shim_part();
    struct request_pool *p = &request_pools[part];
    struct free_request *f = r;
    if (unlikely(part == SHIM_SHARED || p->n[pool] == REQUESTS_KEPT)) {
        free(r);
        return;
    }
    f->next = p->first[pool];
    p->first[pool] = f;
    p->n[pool]++;
}

void *request_new(size_t size, enum request_kind kind, struct comm *comm,
                  const struct request_class *class)
{
    enum request_pool_of pool = size <= REQUEST_SHORT  ? POOL_SHORT
                                : size <= REQUEST_LONG ? POOL_LONG
                                                       : POOL_NONE;
    struct request *r = memset(pool ? request_take(pool) : request_memory(size), 0, size);
    request_init(r, kind, comm, class, pool);
    return r;
}

void request_end(struct request *r)
{
    if (r->class->release)
        r->class->release(r);
    if (r->comm && object_drop(r->comm))
        comm_end(r->comm);
    if (!r->pool) {
        object_end(r);
        return;
    }
    object_forget(r);
    put_pooled(r, r->pool);
}

// ---- Completion
static shoal_ct_t wake_counter; // counted up where a thread sleeps while another completes
static _Atomic int sleepers;

void request_wake(void)
{
    // seq_cst: who is not seen among the sleepers has not looked at the activity yet (sleep_on).
    atomic_fetch_add_explicit(&request_activity[shim_part()].n, 1, memory_order_seq_cst);
    if (likely(!atomic_load_explicit(&sleepers, memory_order_seq_cst)))
        return;
    atomic_fetch_add_explicit(&request_activity->n, 1, memory_order_release);
    shoal_ct_inc(shim_pe(), wake_counter, (shoal_ct_value_t){1, 0});
}

void request_restart(struct request *r)
{
    atomic_store_explicit(&r->done, 0, memory_order_relaxed);
    atomic_store_explicit(&r->then, NULL, memory_order_relaxed);
    r->is_active = true;
    r->is_cancelled = false;
    r->error = MPI_SUCCESS;
}

static void nothing(struct request *r, void *arg)
{
    (void)r;
    (void)arg;
}

struct request_place request_place(struct request *r)
{
    struct request_place place = {NULL, NULL, MPI_UNDEFINED, MPI_UNDEFINED};
    if (!r->error && !r->class->finish)
        return place;
    place.comm = r->comm;
    if (r->kind == REQUEST_RECV) {
        place.source = r->source;
        place.tag = r->tag;
    }
    place.win = r->class->window ? r->class->window(r) : NULL;
    if (place.comm)
        object_keep(place.comm);
    if (place.win)
        object_keep(place.win);
    return place;
}

void request_leave(struct request_place place)
{
    comm_free(place.comm);
    if (place.win)
        win_drop(place.win);
}

static int raise_text(const char *call, struct request_place place, int error, const char *text)
{
    int code = place.win ? raise_on_win(place.win, error, call, "%s", text)
                         : raise_on(place.comm, error, call, "%s", text);
    request_leave(place);
    return code;
}

int request_raise(const char *call, struct request_place place, int error)
{
    if (error != MPI_ERR_TRUNCATE || place.win)
        return raise_text(call, place, error, "the operation failed");
    int code = raise_on_message(place.comm, error, call, place.source, place.tag);
    request_leave(place);
    return code;
}

int request_raise_many(const char *call, struct request_place place, int errors, int first)
{
    char text[80 + MPI_MAX_ERROR_STRING], why[MPI_MAX_ERROR_STRING];
    error_text(first, why, sizeof why);
    snprintf(text, sizeof text, "%d of the operations failed, the first one with %s", errors, why);
    return raise_text(call, place, MPI_ERR_IN_STATUS, text);
}

int request_collect_or_raise(const char *call, struct request *r, MPI_Request *handle,
                             MPI_Status *status)
{
    struct request_place place = request_place(r);
    int error = request_collect(r, handle, status);
    if (unlikely(error))
        return request_raise(call, place, error);
    request_leave(place);
    return MPI_SUCCESS;
}

void request_run_then(struct request *r)
{
    if (r->is_attended)
        agent_leave();
    r->is_attended = false;
    request_then_fn *fn = atomic_load_explicit(&r->then, memory_order_relaxed);
    if (shim_threads)
        fn = atomic_exchange_explicit(&r->then, nothing, memory_order_acq_rel);
    if (fn)
        fn(r, r->then_arg);
}

void request_then(struct request *r, request_then_fn *fn, void *arg)
{
    request_then_fn *none = NULL;
    if (!request_is_done(r)) {
        r->then_arg = arg;
        if (!shim_threads) {
            atomic_store_explicit(&r->then, fn, memory_order_relaxed);
            return;
        }
        if (atomic_compare_exchange_strong_explicit(&r->then, &none, fn, memory_order_acq_rel,
                                                    memory_order_acquire))
            return;
    }
    fn(r, arg);
}

static int push_gathered(struct request *r)
{
    (void)r;
    shoal_am_push();
    return MPI_SUCCESS;
}

const struct request_class request_plain;
static const struct request_class gathered_class = {.finish = push_gathered,
                                                    .give_up = push_gathered};
static struct request done_plain, done_proc_null, done_gathered;

static void make_done(struct request *r, int source)
{
    r->head.magic = OBJECT_REQUEST;
    r->head.refs = 1 << 30; // it never ends
    r->kind = REQUEST_PLAIN;
    r->class = &request_plain;
    r->source = source;
    r->tag = MPI_ANY_TAG;
    r->is_active = true;
    r->done = 1;
}

struct request *request_done(bool proc_null)
{
    struct request *r = proc_null ? &done_proc_null : &done_plain;
    object_keep(r);
    return r;
}

struct request *request_gathered(void)
{
    object_keep(&done_gathered);
    return &done_gathered;
}

// ---- Progress
// Each thread walks through the hooks; one that another thread runs is passed over, so that a long one, as
// a reduction by the program's operator, holds up its own message alone.
struct walk {
    struct progress_hook *running, *next; // NULL: none
    struct walk *outer;                   // of another thread
};
static struct progress_hook *hooks;
static struct walk *walks;
static shim_lock hook_lock; // of all these
static SHIM_OWN bool walks_here;
_Atomic int progress_hooks;

void progress_add(struct progress_hook *hook)
{
    shim_lock_take(&hook_lock);
    hook->is_running = false;
    hook->next = hooks;
    hook->link = &hooks;
    if (hooks)
        hooks->link = &hook->next;
    hooks = hook;
    object_count(&progress_hooks, 1);
    shim_lock_give(&hook_lock);
}

void progress_remove(struct progress_hook *hook)
{
    shim_lock_take(&hook_lock);
    for (struct walk *w = walks; w; w = w->outer) {
        if (w->next == hook)
            w->next = hook->next;
        if (w->running == hook)
            w->running = NULL;
    }
    *hook->link = hook->next;
    if (hook->next)
        hook->next->link = hook->link;
    object_count(&progress_hooks, -1);
    shim_lock_give(&hook_lock);
}

static void begin_walk(struct walk *w)
{
    shim_lock_take(&hook_lock);
    *w = (struct walk){.next = hooks, .outer = walks};
    walks = w;
    shim_lock_give(&hook_lock);
}

// With the lock held.
static void end_walk(struct walk *w)
{
    struct walk **at = &walks;
    while (*at != w)
        at = &(*at)->outer;
    *at = w->outer;
}

// The one before, if it is still there, may be run by others. NULL: the walk is over.
static struct progress_hook *next_hook(struct walk *w)
{
    shim_lock_take(&hook_lock);
    if (w->running)
        w->running->is_running = false;
    struct progress_hook *hook = w->next;
    while (hook && hook->is_running)
        hook = hook->next;
    w->running = hook;
    if (hook) {
        hook->is_running = true;
        w->next = hook->next;
    } else {
        end_walk(w);
    }
    shim_lock_give(&hook_lock);
    return hook;
}

// A hook that makes progress itself does not run hooks again.
static bool run_hooks(void)
{
    struct walk walk;
    bool did = false;
    if (walks_here)
        return false;
    walks_here = true;
    begin_walk(&walk);
    for (struct progress_hook *hook; (hook = next_hook(&walk));)
        did |= hook->fn(hook);
    walks_here = false;
    return did;
}

static inline bool move_all(bool is_near)
{
    bool did = (is_near ? shoal_progress_near() : shoal_progress()) > 0;
    if (unlikely(atomic_load_explicit(&progress_hooks, memory_order_relaxed)))
        did |= run_hooks();
    return did;
}

bool progress(void)
{
    return move_all(false);
}

bool progress_sleeps(void)
{
    return atomic_load_explicit(&sleepers, memory_order_relaxed);
}

static SHIM_OWN bool may_sleep;

bool progress_may_sleep(void)
{
    return may_sleep;
}

// In every call of the runtime that waits.
static int move_on(void)
{
    agent_count_wait();
    may_sleep = true;
    bool did = atomic_load_explicit(&progress_hooks, memory_order_relaxed) && run_hooks();
    may_sleep = false;
    return did;
}

// ---- Waiting
static uint32_t spins; // steps before a waiting thread gives its core away
static uint32_t looks; // looks in vain before one that does not wait does

bool progress_look(void)
{
    static SHIM_OWN uint32_t in_vain;
    agent_count_wait();
    if (progress()) {
        in_vain = 0;
        return true;
    }
    if (++in_vain >= looks) {
        in_vain = 0;
        sched_yield();
    }
    // Other threads, and those who run hooks, may have completed some.
    return shim_threads || atomic_load_explicit(&progress_hooks, memory_order_relaxed);
}

bool request_is_crowded(void)
{
    return spins == 1;
}

// Of all parts that threads have had.
static uint64_t activity(void)
{
    uint64_t sum = 0;
    int parts = shim_parts_used();
    for (int i = 0; i < parts; i++)
        sum += atomic_load_explicit(&request_activity[i].n, memory_order_acquire);
    return sum;
}

struct idle idle_start(const char *what)
{
    return (struct idle){.seen = activity(), .what = what};
}

static void tell(const struct idle *idle)
{
    if (idle->request && idle->request->class->tell)
        idle->request->class->tell(idle->request);
    else
        shoal_waits(idle->request && idle->request->kind == REQUEST_COLL ? "MPI collective"
                                                                         : idle->what,
                    -1, -1);
}

// Until something has been completed since.
static void sleep_on(const struct idle *idle)
{
    shoal_event_t woken = {.word = (uint64_t *)&request_activity->n};
    shoal_event_t *events[] = {&woken};
    shim_lock_take(&hook_lock);
    bool is_brief = false;
    for (struct progress_hook *h = hooks; h; h = h->next)
        is_brief |= h->is_brief;
    shim_lock_give(&hook_lock);
    if (is_brief) {
        tell(idle);
        sched_yield();
        shoal_waits(NULL, -1, -1);
        return;
    }
    stats_count(SLEEPS);
    atomic_fetch_add_explicit(&sleepers, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); // pairs with the order in request_wake
    woken.least = atomic_load_explicit(&request_activity->n, memory_order_acquire) + 1;
    if (activity() == idle->seen) {
        tell(idle);
        shoal_wait(1, events, 1, NULL, NULL);
        shoal_waits(NULL, -1, -1);
    }
    atomic_fetch_sub_explicit(&sleepers, 1, memory_order_relaxed);
}

// Another process waits on this core, though there are others: it has to have it.
static bool is_beside(void)
{
    uint64_t is = 0;
    shoal_query(SHOAL_Q_BESIDE, 0, &is);
    return is;
}

void idle_step(struct idle *idle)
{
    agent_count_wait();
    if (move_all(idle->is_near && ++idle->looks % NEAR_STEPS))
        idle->steps = 0;
    else if (unlikely(++idle->steps == EARLY) && is_beside())
        idle->steps = spins;
    else if (unlikely(idle->steps > spins))
        sleep_on(idle);
    idle->seen = activity();
}

void request_wait(struct request *r)
{
    request_wait_for(r, false);
}

void request_wait_for(struct request *r, bool is_near)
{
    struct idle idle = idle_start("MPI request");
    idle.is_near = is_near;
    idle.request = r;
    while (!request_is_done(r))
        idle_step(&idle);
}

int request_up(void)
{
    uint64_t is_crowded = 0;
    shoal_query(SHOAL_Q_CROWDED, 0, &is_crowded);
    spins = is_crowded ? 1 : SPINS;
    looks = is_crowded ? LOOKS : SPINS;
    request_looks = is_crowded ? 0 : LOOKS_ALONE;
    make_done(&done_plain, MPI_ANY_SOURCE);
    make_done(&done_proc_null, MPI_PROC_NULL);
    make_done(&done_gathered, MPI_ANY_SOURCE);
    done_gathered.class = &gathered_class;
    int status = shoal_ct_alloc(SHMEM_TEAM_INVALID, &wake_counter);
    return status ? status : shoal_progress_hook(move_on);
}

void request_down(void)
{
    shoal_progress_hook(NULL);
    shoal_ct_free(SHMEM_TEAM_INVALID, wake_counter);
}

// ---- What MPI_Wait and its kin do with a request that is done
int request_collect_persistent(struct request *r, MPI_Status *status)
{
    if (!r->is_active) {
        status_empty(status);
        return MPI_SUCCESS;
    }
    int error = request_report(r, status);
    r->is_active = false;
    return error;
}
