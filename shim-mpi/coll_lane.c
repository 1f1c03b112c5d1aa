// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives on the runtime's. See coll_lane.h.
#include "coll_lane.h"

#include "partner.h"
#include "stats.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

enum { DEPTH = SHOAL_COLL_DEPTH, LANE_AFTER = 4 };
enum { LOOKS = 8 }; // at events, before it takes part in what is left to those who wait
enum { PLACES_KEPT = 64, TRIES = 32 }; // places for teams that lanes leave to others
enum { NEVER = INT_MAX };              // of colls_without_lane

enum state { ASKS_PLACES, ASKS_MADE, OPEN, SHUT };

// One that is under way.
struct slot {
    bool is_used;
    struct coll_request *q; // NULL: this process is done with it
    char *room;
    size_t size;
    shoal_event_t event;
};

struct coll_lane {
    struct coll_lane *next; // of all
    struct comm *comm;      // with a reference
    _Atomic int state;      // enum state
    _Atomic bool is_busy;   // a thread goes through it
    bool is_hooked, is_ended;
    bool is_crowded; // its members share cores
    struct progress_hook hook;
    int tag, end_tag; // of the questions, and of the barrier at the end
    int tries;
    struct request *question;
    uint64_t word[SHOAL_TEAM_WORDS];
    shmem_team_t team;
    char *room;
    size_t size;                        // of it
    struct coll_request *first, **last; // those that wait
    struct slot slot[DEPTH];
    unsigned started, looks;
};

static struct coll_lane *lanes;
static shim_lock lanes_lock;

// Others than the thread that goes through the lane look whether it is settled.
static int state_of(const struct coll_lane *lane)
{
    return atomic_load_explicit(&lane->state, memory_order_acquire);
}

static void set_state(struct coll_lane *lane, enum state state)
{
    atomic_store_explicit(&lane->state, state, memory_order_release);
}

// ---- The agreement
static void ask(struct coll_lane *lane, MPI_Count words)
{
    struct coll_call c = coll_team_question(lane->comm, lane->word, words);
    lane->question = coll_begin(&c, lane->tag);
}

static void ask_places(struct coll_lane *lane)
{
    set_state(lane, ASKS_PLACES);
    shoal_team_places(lane->word);
    ask(lane, SHOAL_TEAM_WORDS);
}

static void give_back(struct coll_lane *lane)
{
    if (lane->team != SHMEM_TEAM_INVALID)
        shoal_team_undo(lane->team);
    if (lane->room)
        shoal_free(lane->room);
    lane->team = SHMEM_TEAM_INVALID;
    lane->room = NULL;
}

// One of the places that all have free; lanes that ask at the same time seldom choose the same. -1:
// there are too few left.
static int place_of(const struct coll_lane *lane)
{
    unsigned mixed = (unsigned)lane->tag + lane->comm->context * 0x9e3779b1u;
    mixed += (unsigned)lane->tries * (mixed * 0x85ebca6bu >> 16); // two that met once part again
    int n = 0;
    for (int w = 0; w < SHOAL_TEAM_WORDS; w++)
        n += __builtin_popcountll(lane->word[w]);
    for (int p = 0, k = n > PLACES_KEPT ? (int)(mixed % (unsigned)n) : -1; k >= 0; p++)
        if (lane->word[p / 64] >> (p % 64) & 1 && k-- == 0)
            return p;
    return -1;
}

// What this member has: a team, and room. And whether it may have to wait for a core.
enum { HAS_TEAM = 1, HAS_ROOM = 2, HAS_BOTH = 3, IS_CROWDED = 4 };
static uint64_t take(struct coll_lane *lane, int place)
{
    const struct group *g = lane->comm->group;
    uint64_t has = HAS_ROOM | (request_is_crowded() ? IS_CROWDED : 0);
    if (shoal_team_make(g->first, g->stride, g->size, place, &lane->team) == SHOAL_OK)
        has |= HAS_TEAM;
    if (lane->size && !lane->room && !(lane->room = shoal_alloc(lane->size)))
        has &= ~(uint64_t)HAS_ROOM;
    return has;
}

static void answer_places(struct coll_lane *lane)
{
    int place = place_of(lane);
    if (place < 0 || ++lane->tries > TRIES) {
        set_state(lane, SHUT);
        return;
    }
    lane->word[0] = take(lane, place);
    set_state(lane, ASKS_MADE);
    ask(lane, 1);
}

// Does every member have them? If it is but the place that a lane took of another communicator, again.
static void answer_made(struct coll_lane *lane)
{
    if ((lane->word[0] & HAS_BOTH) == HAS_BOTH) {
        lane->is_crowded = lane->word[0] & IS_CROWDED;
        set_state(lane, OPEN);
        return;
    }
    bool again = lane->word[0] & HAS_ROOM;
    give_back(lane);
    if (again)
        ask_places(lane);
    else
        set_state(lane, SHUT);
}

// Goes on when a question has been answered.
static bool settle(struct coll_lane *lane)
{
    if (state_of(lane) >= OPEN || !request_is_done(lane->question))
        return false;
    bool failed = lane->question->error != MPI_SUCCESS;
    request_drop(lane->question);
    if (failed) {
        give_back(lane);
        set_state(lane, SHUT);
    } else if (state_of(lane) == ASKS_PLACES) {
        answer_places(lane);
    } else {
        answer_made(lane);
    }
    return true;
}

// ---- Starting
static bool is_free(const struct coll_lane *lane, const char *room, size_t n)
{
    for (int i = 0; i < DEPTH; i++) {
        const struct slot *used = &lane->slot[i];
        if (used->is_used && room < used->room + used->size && used->room < room + n)
            return false;
    }
    return room + n <= lane->room + lane->size;
}

// The first that is free, so that few pages are touched. False: there is none.
static bool find_room(const struct coll_lane *lane, size_t n, char **room)
{
    *room = lane->room;
    bool found = n == 0 || is_free(lane, *room, n);
    for (int i = 0; i < DEPTH && !found; i++)
        if (lane->slot[i].is_used && lane->slot[i].size) {
            *room = lane->slot[i].room + lane->slot[i].size;
            found = is_free(lane, *room, n);
        }
    return found;
}

// False: not yet.
static bool begin(struct coll_lane *lane, struct coll_request *q)
{
    struct slot *slot = &lane->slot[lane->started % DEPTH];
    size_t size = coll_lane_bytes(q);
    if (slot->is_used || !find_room(lane, size, &q->run.room))
        return false;
    shoal_coll_t sc = coll_lane_describe(q);
    int status = shoal_coll(lane->team, &sc, &slot->event);
    if (status == SHOAL_ENOMEM)
        return false;
    if (status)
        shim_fatal("%s: the runtime does not start it (%s)", q->call.name, shoal_strerror(status));
    stats_count(COLL_TRIGGERED);
    slot->is_used = true;
    slot->room = q->run.room;
    slot->size = size;
    slot->q = coll_lane_gives(q) ? NULL : q;
    lane->started++;
    return true;
}

// ---- Ending
// Has one ended? Now and then the thread takes part in them, and at once where it may have been woken
// to do so.
static bool look(struct coll_lane *lane)
{
    shoal_event_t *event[DEPTH];
    size_t n = 0, done = 0;
    bool any = ++lane->looks % LOOKS == 0 || progress_may_sleep();
    for (int i = 0; i < DEPTH; i++) {
        shoal_event_t *e = &lane->slot[i].event;
        if (!lane->slot[i].is_used)
            continue;
        event[n++] = e;
        any |= !e->word ||
               atomic_load_explicit((_Atomic uint64_t *)e->word, memory_order_relaxed) >= e->least;
    }
    return any && n && shoal_test(n, event, &done, NULL) == SHOAL_OK && done;
}

// Requests that are through are added to the list.
static bool end_some(struct coll_lane *lane, struct coll_request ***list)
{
    if (!look(lane))
        return false;
    for (int i = 0; i < DEPTH; i++) {
        struct slot *slot = &lane->slot[i];
        struct coll_request *q = slot->q;
        if (!slot->is_used || slot->event.word)
            continue;
        slot->is_used = false;
        if (!q)
            continue;
        coll_lane_results(q, slot->event.status);
        q->run.is_done = true;
        **list = q;
        *list = &q->next;
    }
    return true;
}

// ---- Going through it. The requests that leave the lane in a step are ended, or sent on by messages,
// when the thread is no longer in it: the lane may end with one.
static bool step(struct coll_lane *lane, struct coll_request **left)
{
    bool did = settle(lane);
    if (state_of(lane) == OPEN)
        did |= end_some(lane, &left);
    while (lane->first && state_of(lane) >= OPEN) {
        struct coll_request *q = lane->first;
        if (state_of(lane) == OPEN && !begin(lane, q))
            break;
        lane->first = q->next;
        if (state_of(lane) == SHUT || coll_lane_gives(q)) {
            q->run.is_done = state_of(lane) == OPEN;
            *left = q;
            left = &q->next;
        }
        did = true;
    }
    *left = NULL;
    return did;
}

static void send_off(struct coll_request *q)
{
    for (struct coll_request *next; q; q = next) {
        struct request *r = &q->schedule.request;
        next = q->next;
        if (q->run.is_done) {
            request_complete(r);
        } else {
            coll_start_messages(q);
            request_drop(r); // the lane's
        }
    }
}

static bool is_empty(const struct coll_lane *lane)
{
    for (int i = 0; i < DEPTH; i++)
        if (lane->slot[i].is_used)
            return false;
    return !lane->first && state_of(lane) >= OPEN;
}

static bool enter(struct coll_lane *lane)
{
    if (shim_threads)
        return !atomic_exchange_explicit(&lane->is_busy, true, memory_order_acquire);
    bool was = atomic_load_explicit(&lane->is_busy, memory_order_relaxed);
    atomic_store_explicit(&lane->is_busy, true, memory_order_relaxed);
    return !was;
}

static void leave(struct coll_lane *lane)
{
    atomic_store_explicit(&lane->is_busy, false, memory_order_release);
}

// Waits for another thread of this process that goes through it, which waits for nobody.
static void enter_surely(struct coll_lane *lane)
{
    while (!enter(lane))
        sched_yield();
}

static void forget(struct coll_lane *lane)
{
    shim_lock_take(&lanes_lock);
    struct coll_lane **at = &lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    shim_lock_give(&lanes_lock);
    give_back(lane);
    comm_free(lane->comm);
    free(lane);
}

static void all_have_left(struct request *r, void *lane)
{
    (void)r;
    forget(lane);
}

// It is empty, and nothing comes any more.
static void part(struct coll_lane *lane)
{
    if (state_of(lane) == SHUT) {
        forget(lane);
        return;
    }
    struct coll_call c = coll_team_barrier(lane->comm);
    struct request *barrier = coll_begin(&c, lane->end_tag);
    request_then(barrier, all_have_left, lane);
    request_drop(barrier);
}

static bool move_on(struct progress_hook *hook)
{
    struct coll_lane *lane = (void *)((char *)hook - offsetof(struct coll_lane, hook));
    struct coll_request *left;
    if (!enter(lane))
        return false;
    bool did = step(lane, &left), is_over = is_empty(lane);
    if (is_over) {
        progress_remove(hook);
        lane->is_hooked = false;
    }
    bool parts = is_over && lane->is_ended;
    leave(lane);
    send_off(left);
    if (parts)
        part(lane);
    return did;
}

static void hook_on(struct coll_lane *lane)
{
    if (lane->is_hooked)
        return;
    lane->is_hooked = true;
    lane->hook = (struct progress_hook){.fn = move_on};
    progress_add(&lane->hook);
}

void coll_lane_start(struct coll_request *q)
{
    struct coll_lane *lane = q->lane;
    struct request *r = &q->schedule.request;
    struct coll_request *left;
    r->is_held = true;
    request_keep(r);
    q->run.is_done = false;
    q->next = NULL;
    enter_surely(lane);
    if (!lane->first)
        lane->last = &lane->first;
    *lane->last = q;
    lane->last = &q->next;
    hook_on(lane);
    step(lane, &left);
    leave(lane);
    send_off(left);
}

// ---- Life
static struct coll_lane *lane_new(struct comm *comm, size_t room)
{
    struct coll_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        shim_fatal("no memory for a communicator's nonblocking collectives");
    lane->comm = comm;
    object_keep(comm);
    lane->tag = comm_next_tag(comm);
    lane->end_tag = comm_lasting_tag(comm);
    lane->team = SHMEM_TEAM_INVALID;
    lane->size = room;
    shim_lock_take(&lanes_lock);
    lane->next = lanes;
    lanes = lane;
    shim_lock_give(&lanes_lock);
    ask_places(lane);
    hook_on(lane);
    return lane;
}

// That of a communicator which has one by now; every member comes here for the same collectives.
static struct coll_lane *lane_of(struct comm *comm)
{
    if (comm->lane || comm->colls_without_lane == NEVER || ++comm->colls_without_lane < LANE_AFTER)
        return comm->lane;
    if (partner_are_near(comm->group))
        comm->lane = lane_new(comm, COLL_LANE_ROOM);
    else
        comm->colls_without_lane = NEVER;
    return comm->lane;
}

void coll_lane_join(struct coll_request *q)
{
    size_t room;
    if (coll_lane_choose(&q->call, &q->run, &room))
        q->lane = lane_of(q->call.comm);
}

void coll_lane_make(struct coll_request *q)
{
    size_t room;
    if (!coll_lane_choose(&q->call, &q->run, &room) || !partner_are_near(q->call.comm->group))
        return;
    q->lane = lane_new(q->call.comm, room);
    q->owns_lane = true;
}

bool coll_lane_run(const struct coll_call *c, int *error)
{
    struct lane_run run;
    size_t room;
    if (!coll_lane_is_sooner(c) || !coll_lane_choose(c, &run, &room))
        return false;
    struct coll_lane *lane = lane_of(c->comm);
    struct idle idle = idle_start("MPI collective");
    while (lane && state_of(lane) < OPEN)
        idle_step(&idle);
    if (!lane || state_of(lane) == SHUT || !lane->is_crowded)
        return false;
    struct coll_request *q = coll_request_of(c, coll_tag(c));
    q->lane = lane;
    q->run = run;
    coll_lane_start(q);
    request_wait(&q->schedule.request);
    *error = q->schedule.request.error;
    request_drop(&q->schedule.request);
    return true;
}

void coll_lane_end(struct coll_lane *lane)
{
    if (!lane)
        return;
    enter_surely(lane);
    lane->is_ended = true;
    bool parts = !lane->is_hooked; // else its hook sees to it
    leave(lane);
    if (parts)
        part(lane);
}

static struct coll_lane *find(bool also_ended)
{
    shim_lock_take(&lanes_lock);
    struct coll_lane *lane = lanes;
    while (lane && lane->is_ended && !also_ended)
        lane = lane->next;
    shim_lock_give(&lanes_lock);
    return lane;
}

void coll_lane_down(void)
{
    struct coll_lane *lane;
    while ((lane = find(false)))
        coll_lane_end(lane);
    struct idle idle = idle_start("MPI_Finalize");
    while (find(true))
        idle_step(&idle);
}
