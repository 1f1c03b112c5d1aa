// SPDX-License-Identifier: BSD-3-Clause
// Going through the steps of collectives over nodes. See coll_run.h.
#include "coll_run.h"

#include "coll_rounds.h"
#include "copy.h"
#include "elements.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "reduce_ops.h"
#include "remote.h"
#include "shoal.h"

#include <pthread.h>
#include <stdlib.h>

// A leader whose sends nobody answers, in broadcasts, may run ahead of others by so many collectives.
enum { MEET_EVERY = 32 };

static struct coll_run *runs, **last = &runs;            // older ones first
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the list alone, held for moments
static _Atomic bool moving;                              // somebody goes through it
static _Atomic int under_way;

// ---- Adding steps
static struct coll_step *add(struct coll_run *run, enum step_kind kind)
{
    if (run->steps == run->room) {
        run->room = run->room ? 2 * run->room : 16;
        run->step = realloc(run->step, run->room * sizeof *run->step);
        if (!run->step)
            fatal("no memory for a collective over nodes (%zu steps)", run->room);
    }
    struct coll_step *s = &run->step[run->steps++];
    *s = (struct coll_step){.kind = kind};
    return s;
}

void coll_run_send(struct coll_run *run, int node, const void *from, size_t n)
{
    struct coll_step *s = add(run, STEP_SEND);
    s->node = node;
    s->from = from;
    s->n = n;
}

void coll_run_recv(struct coll_run *run, int node, void *to, size_t n)
{
    struct coll_step *s = add(run, STEP_RECV);
    s->node = node;
    s->to = to;
    s->n = n;
}

void coll_run_copy(struct coll_run *run, void *to, const void *from, size_t n)
{
    if (n == 0 || to == from)
        return;
    struct coll_step *s = add(run, STEP_COPY);
    s->to = to;
    s->from = from;
    s->n = n;
}

void *coll_run_combine(struct coll_run *run, void *lower, void *higher, size_t n)
{
    struct coll_step *s = add(run, STEP_FOLD);
    s->to = lower;
    s->from = higher;
    s->n = n;
    return run->fold.up ? higher : lower;
}

void coll_run_call(struct coll_run *run, void (*call)(struct coll_run *run))
{
    add(run, STEP_CALL)->call = call;
}

void coll_run_wait(struct coll_run *run)
{
    add(run, STEP_WAIT);
}

// ---- Going through them
void *coll_run_fold(struct coll_run *run, void *lower, void *higher, size_t n)
{
    const struct coll_fold *f = &run->fold;
    if (run->status == SHOAL_OK && f->builtin)
        f->builtin->fn(lower, higher, n / f->size);
    else if (run->status == SHOAL_OK && f->up)
        run->status = element_reduce(higher, lower, n / f->size, f->op, f->type);
    else if (run->status == SHOAL_OK)
        run->status = element_reduce(lower, higher, n / f->size, f->op, f->type);
    return f->up ? higher : lower;
}

static int leader_of(const struct coll_run *run, int node)
{
    return set_pe(&run->team->set, run->nodes->leader[node]);
}

static struct coll_head head_of(const struct coll_run *run, enum coll_message_kind kind, size_t n)
{
    return (struct coll_head){
        .area = run->team->area, .kind = kind, .seq = run->seq, .status = run->status, .n = n};
}

// Of a collective of many parts the later ones wait until they are taken: what comes early is kept by a leader that
// may not be in the call yet.
static void send(struct coll_run *run, struct coll_step *s)
{
    struct coll_head head = head_of(run, COLL_DATA, s->n);
    s->is_long = s->n > net_coll_room() || (s->n && run->parts > MEET_EVERY);
    if (s->is_long) {
        head.is_long = 1;
        head.at = place_of(s->from);
        run->untaken++;
    }
    coll_message_send(leader_of(run, s->node), &head, s->from);
}

static void get_more(struct coll_run *run, struct coll_step *s)
{
    while (s->got < s->n) {
        size_t n = remote_start_get(place_add(s->at, (ptrdiff_t)s->got), (char *)s->to + s->got,
                                    s->n - s->got, &run->gets);
        if (n == 0)
            return;
        s->got += n;
    }
}

static void receive(struct coll_run *run, struct coll_step *s)
{
    int pe = leader_of(run, s->node);
    struct coll_head like = head_of(run, COLL_DATA, 0);
    struct coll_message *m = coll_message_take(pe, &like);
    if (!m)
        return;
    if (m->head.n != s->n)
        fatal("a collective over %d PEs: PE %d sent %lu bytes where %zu were expected: the members "
              "do not agree on its arguments",
              run->team->set.size, pe, (unsigned long)m->head.n, s->n);
    run->status = run->status ? run->status : m->head.status;
    s->at = m->head.at;
    s->state = m->head.is_long ? RECV_GETS : RECV_DONE;
    if (s->state == RECV_DONE && s->n)
        copy_bytes(s->to, m->data, s->n);
    free(m);
}

// Are the sends and receives of this round done? A later receive from a node waits for the earlier
// ones: coll_message_take gives the oldest message.
static bool round_is_done(struct coll_run *run)
{
    bool all = true;
    for (size_t i = run->round; i < run->at; i++) {
        struct coll_step *s = &run->step[i];
        if (s->kind != STEP_RECV)
            continue;
        if (s->state == RECV_NOTHING)
            receive(run, s);
        if (s->state == RECV_GETS)
            get_more(run, s);
        all = all && (s->state == RECV_DONE || (s->state == RECV_GETS && s->got == s->n));
    }
    if (!all || atomic_load_explicit(&run->gets.left, memory_order_acquire))
        return false;
    if (run->gets.status < 0)
        net_failed_locked("a collective over nodes", -1, run->gets.status);
    for (size_t i = run->round; i < run->at; i++) {
        struct coll_step *s = &run->step[i];
        if (s->kind != STEP_RECV || s->state != RECV_GETS)
            continue;
        struct coll_head head = head_of(run, COLL_TAKEN, 0);
        coll_message_send(leader_of(run, s->node), &head, NULL);
        s->state = RECV_DONE;
    }
    return true;
}

static bool all_taken(struct coll_run *run)
{
    for (size_t i = run->round; i < run->at && run->untaken; i++) {
        struct coll_step *s = &run->step[i];
        if (!s->is_long || s->state == RECV_DONE)
            continue;
        struct coll_head like = head_of(run, COLL_TAKEN, 0);
        struct coll_message *m = coll_message_take(leader_of(run, s->node), &like);
        if (!m)
            continue;
        free(m);
        s->state = RECV_DONE;
        run->untaken--;
    }
    return run->untaken == 0;
}

static void do_step(struct coll_run *run, struct coll_step *s)
{
    switch (s->kind) {
    case STEP_SEND: send(run, s); break;
    case STEP_COPY: copy_move(s->to, s->from, s->n); break;
    case STEP_CALL: s->call(run); break;
    case STEP_FOLD: coll_run_fold(run, s->to, (void *)(uintptr_t)s->from, s->n); break;
    default: break; // a receive is looked after at the end of its round
    }
}

// The next part's steps; false: there is none.
static bool next_part(struct coll_run *run)
{
    run->steps = run->at = run->round = 0;
    if (run->is_last)
        return false;
    if (!run->in(run)) {
        run->is_last = true;
        if (run->seq % MEET_EVERY != MEET_EVERY - 1)
            return false;
        coll_rounds_meet(run);
    }
    run->parts++;
    coll_run_wait(run);
    return true;
}

// True: it has ended.
static bool go_on(struct coll_run *run)
{
    if (!run->is_due) {
        if (!run->due(run))
            return false;
        run->is_due = true;
        if (!next_part(run))
            return true;
    }
    for (;;) {
        while (run->step[run->at].kind != STEP_WAIT)
            do_step(run, &run->step[run->at++]);
        if (!round_is_done(run) || !all_taken(run))
            return false;
        run->round = ++run->at;
        if (run->at < run->steps)
            continue;
        if (!run->is_last)
            run->out(run);
        if (!next_part(run))
            return true;
    }
}

static void take_out(struct coll_run *run)
{
    pthread_mutex_lock(&lock);
    struct coll_run **at = &runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    if (!run->next)
        last = at;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
}

static struct coll_run *after(const struct coll_run *run)
{
    pthread_mutex_lock(&lock);
    struct coll_run *next = run ? run->next : runs;
    pthread_mutex_unlock(&lock);
    return next;
}

// A thread that waits for room to send, in here, may come back: it finds the others at work.
int coll_run_move(void)
{
    if (!coll_run_some() || atomic_exchange_explicit(&moving, true, memory_order_acquire))
        return 0;
    int ended = 0;
    struct coll_run *next = after(NULL);
    for (struct coll_run *run; (run = next);) {
        bool has_ended = go_on(run);
        next = after(run);
        if (!has_ended)
            continue;
        take_out(run);
        run->end(run);
        ended++;
    }
    atomic_store_explicit(&moving, false, memory_order_release);
    return ended;
}

bool coll_run_some(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed) > 0;
}

void coll_run_start(struct coll_run *run)
{
    run->is_due = run->is_last = false;
    run->steps = run->at = run->round = 0;
    run->untaken = run->parts = 0;
    run->gets = (struct transport_request){0};
    run->next = NULL;
    pthread_mutex_lock(&lock);
    *last = run;
    last = &run->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
}

void coll_run_free(struct coll_run *run)
{
    free(run->step);
    run->step = NULL;
    run->room = 0;
}
