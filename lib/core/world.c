// SPDX-License-Identifier: BSD-3-Clause
// Start-up and shutdown of a PE. See world.h.
#include "world.h"

#include "arena.h"
#include "attendant.h"
#include "boot.h"
#include "call.h"
#include "coll.h"
#include "counter.h"
#include "ctx.h"
#include "handlers.h"
#include "heap.h"
#include "host.h"
#include "host_watch.h"
#include "inbox.h"
#include "join.h"
#include "libc.h"
#include "log.h"
#include "net.h"
#include "region.h"
#include "remote.h"
#include "settings.h"
#include "team.h"
#include "trigger.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct world world = {.npes = 1, .nodes = 1, .end = 1}; // none of them direct
bool world_takes_turns;

static void tell_launcher_fatal(void)
{
    int32_t running = JOB_RUNNING;
    if (!world.job || world.forked)
        return;
    atomic_compare_exchange_strong(&world.job->ended, &running, JOB_ENDED_FATAL);
    if (!job_has_hosts(world.job)) {
        join_end_early();
        return;
    }
    host_watch_leave(); // those who watch this host do not find it lost
    if (!world.ctl || world_ctl(world.me)->state != PE_RUNNING)
        join_abort();
}

static int32_t meetings; // of this process's lives

// Is this PE in a barrier over the world that a PE of its node which has left will never enter? Whoever
// has completed a barrier knows that all have entered it, so one entered less means just that. And who
// has ended in an earlier life does not come to this one's first.
static void end_if_abandoned(void)
{
    for (int pe = world.first; pe < world.end; pe++) {
        const struct pe_ctl *ctl = world_ctl(pe);
        if (!world_is_here(pe))
            continue;
        int32_t last = atomic_load_explicit(&ctl->last_life, memory_order_acquire);
        bool left = atomic_load_explicit(&ctl->state, memory_order_acquire) == PE_LEFT;
        if ((left && ctl->left_syncs < shoal_team_world.syncs) || (last && last < meetings)) {
            const char *call = call_name(call_slot ? *call_slot : CALL_none);
            fatal("%s%sPE %d has ended its program%s and will never come", call, *call ? ": " : "",
                  pe, left ? " without shmem_finalize" : "");
        }
    }
}

static struct {
    pthread_mutex_t lock; // not while fn runs
    void (*fn)(int pe, void *arg);
    void *arg;
    _Atomic int told; // of so many dead PEs
    unsigned char *is_told;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

void world_watch_failures(void (*fn)(int pe, void *arg), void *arg)
{
    pthread_mutex_lock(&watch.lock);
    if (!watch.fn != !fn)
        atomic_fetch_add(&world.job->watchers, fn ? 1 : -1);
    watch.arg = arg;
    watch.fn = fn;
    pthread_mutex_unlock(&watch.lock);
}

// The next dead PE from pe on that nobody was told of; now it is. npes: there is none.
static int next_dead(int pe, int dead, void (**fn)(int pe, void *arg), void **arg)
{
    pthread_mutex_lock(&watch.lock);
    if (!watch.is_told)
        watch.is_told = calloc((size_t)world.npes, 1);
    bool tells = watch.fn && watch.is_told;
    while (tells && pe < world.npes &&
           (watch.is_told[pe] || !world_is_here(pe) ||
            atomic_load_explicit(&world_ctl(pe)->state, memory_order_acquire) != PE_DEAD))
        pe++;
    if (tells && pe < world.npes)
        watch.is_told[pe] = 1;
    else if (tells)
        watch.told = dead;
    *fn = watch.fn;
    *arg = watch.arg;
    pthread_mutex_unlock(&watch.lock);
    return tells ? pe : world.npes;
}

static void tell_of_dead(int dead)
{
    void (*fn)(int pe, void *arg);
    void *arg;
    for (int pe = 0; (pe = next_dead(pe, dead, &fn, &arg)) < world.npes; pe++)
        fn(pe, arg);
}

// exit(3) is for one thread of a process, which may call it once more in a handler. Another one that finds the job
// ended meanwhile waits for the end.
static atomic_flag exits = ATOMIC_FLAG_INIT;
static _Thread_local bool exits_here;

static _Noreturn void exit_once(int status)
{
    while (!exits_here && atomic_flag_test_and_set(&exits))
        pause();
    exits_here = true;
    exit(status);
}

void world_follow_exit(void)
{
    if (unlikely(atomic_load_explicit(&world.job->ended, memory_order_acquire) ==
                 JOB_ENDED_GLOBAL_EXIT))
        exit_once(atomic_load_explicit(&world.job->ended_status, memory_order_relaxed));
}

// Seen by every wait that takes long.
static void look_at_job(void)
{
    join_look();
    host_watch_beat();
    int dead = atomic_load_explicit(&world.job->dead, memory_order_acquire);
    if (unlikely(dead > atomic_load_explicit(&watch.told, memory_order_relaxed)))
        tell_of_dead(dead);
    world_follow_exit();
    if (unlikely(atomic_load_explicit(&world.job->left, memory_order_relaxed)))
        end_if_abandoned();
}

static _Atomic int enders; // threads that have called it first, or do not know yet

bool world_ends_job(void)
{
    return atomic_load(&enders) > 0;
}

void world_global_exit(int status)
{
    int32_t running = JOB_RUNNING;
    // Pairs with the acquire load in world_follow_exit: the status comes before.
    atomic_store_explicit(&world.job->ended_status, status, memory_order_relaxed);
    atomic_fetch_add(&enders, 1); // before another thread of ours sees that it has ended
    if (atomic_compare_exchange_strong_explicit(&world.job->ended, &running, JOB_ENDED_GLOBAL_EXIT,
                                                memory_order_release, memory_order_relaxed))
        atomic_store_explicit(&world.job->ended_by, world.me, memory_order_relaxed);
    else
        atomic_fetch_sub(&enders, 1);
    exit_once(status);
}

static void print_settings(void)
{
    if (world.me != 0)
        return;
    if (settings.version)
        fprintf(stderr, "Shoal %s, OpenSHMEM 1.6\n", SHOAL_VERSION);
    if (settings.info)
        settings_print(stderr);
}

static int settings_up(void)
{
    if (settings_read())
        return -1;
    log_configure(settings.debug ? "debug" : settings.log, world.me == 0);
    log_backtrace_on_fatal(settings.backtrace || settings.debug);
    log_on_fatal(tell_launcher_fatal);
    if (world.me == 0)
        settings_warn_unknown();
    return 0;
}

static int ident_up(void)
{
    char ident[32];
    snprintf(ident, sizeof ident, "PE %d: ", world.me);
    if (world.npes > 1)
        log_set_ident(ident);
    print_settings();
    if (settings.report_bindings)
        host_report_bindings();
    wait_hooks.check = look_at_job;
    wait_hooks.check_apart = host_watch_beat;
    return 0;
}

static int direct_up(void)
{
    int others = 0; // between this node's
    for (int pe = world.first; pe < world.end; pe++)
        others += !world_is_here(pe);
    world.direct_first = (unsigned)world.first;
    world.direct_count = settings.direct && !others ? (unsigned)(world.end - world.first) : 0;
    atomic_store_explicit(&world_ctl(world.me)->state, PE_RUNNING, memory_order_release);
    return 0;
}

static void direct_down(void)
{
    world.direct_count = 0;
    atomic_store_explicit(&world_ctl(world.me)->state, PE_FINALIZED, memory_order_release);
}

// Nobody puts into a PE that has not come here: it may still be setting its variables, or putting
// away what an earlier time of the library left.
static int meet(void)
{
    coll_sync_world();
    return 0;
}

static const struct step {
    const char *name;
    int (*up)(void);
    void (*down)(void);
} steps[] = {
    {"settings", settings_up, NULL},    {"boot", boot_join, NULL},
    {"ident", ident_up, NULL},          {"heap", heap_up, heap_down},
    {"remote", remote_up, remote_down}, {"teams", team_up, team_down},
    {"contexts", ctx_up, ctx_down},     {"arena", arena_up, arena_down},
    {"inbox", inbox_up, inbox_down},    {"network", net_up, net_down},
    {"regions", NULL, region_down},     {"meeting", meet, NULL},
    {"direct", direct_up, direct_down}, {"counters", NULL, counter_down},
};

// Announced: one thread may end the process as another finalizes.
static _Atomic bool leaves, quiet, ends_shmem;
static int shmem_lives; // that began

int32_t world_life(void)
{
    return meetings;
}

static int world_up(void)
{
    meetings++;
    leaves = quiet = false;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (steps[i].up && steps[i].up()) {
            while (i-- > 0)
                if (steps[i].down)
                    steps[i].down();
            meetings--; // the others wait for this PE still
            join_lose();
            return -1;
        }
    }
    return 0;
}

// The last meetings of all PEs have their own counters, not a barrier's: a PE that merely leaves takes
// part, and cannot be mistaken for one that enters a barrier. When all are leaving there are no more
// calls; but who waits handles messages and may send some, until all are quiet: none comes later into
// an inbox that has been put away. Who is quiet drops what comes, so that nobody waits for room, and
// sends nothing.
static void announce(_Atomic bool *is_announced, _Atomic int32_t *count)
{
    if (atomic_exchange_explicit(is_announced, true, memory_order_relaxed))
        return;
    // acq_rel: whoever sees the count sees what all of them did before.
    atomic_fetch_add_explicit(count, 1, memory_order_acq_rel);
    bell_check(&world.job->bell);
}

static void wait_for_all(const _Atomic int32_t *count, int times)
{
    int32_t all = times * world.job->slots;
    struct waiter w = waiter_start(&world.job->bell);
    while (atomic_load_explicit(count, memory_order_acquire) < all)
        waiter_step(&w);
}

static void wait_for_leavers(void)
{
    net_leave();
    announce(&leaves, &world.job->leaving);
    wait_for_all(&world.job->leaving, meetings);
}

static void fall_quiet(void)
{
    attendant_down();
    wait_hooks.user = NULL;
    handlers_fall_quiet();
    announce(&quiet, &world.job->quiet);
    wait_for_all(&world.job->quiet, meetings);
}

// Hosts share no counter: their PEs meet over the network.
static void meet_hosts(void)
{
    if (world.job->slots < world.npes)
        coll_barrier_world();
}

void world_end_shmem(void)
{
    meet_hosts();
    announce(&ends_shmem, &world.job->shmem_ended);
    if (world.job->slots == world.npes)
        wait_for_all(&world.job->shmem_ended, shmem_lives);
}

static void world_down(void)
{
    meet_hosts();
    wait_for_leavers();
    fall_quiet();
    for (size_t i = ARRAY_LEN(steps); i-- > 0;)
        if (steps[i].down)
            steps[i].down();
}

static int exit_status;
static const char *finalizing_call; // that the program has to make, NULL: none

void world_finalized_by(const char *call)
{
    finalizing_call = call;
}

static void note_status(int status, void *unused)
{
    (void)unused;
    exit_status = status;
    exits_here = true;
    (void)atomic_flag_test_and_set(&exits);
}

static void note_exits(void)
{
    static bool are_noted;
    if (!are_noted)
        libc_on_exit(note_status);
    are_noted = true;
}

static pthread_mutex_t user_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*leaves_after)(void); // with the lock

int world_enter(enum world_user user)
{
    if (world.forked) {
        log_line(LOG_ERROR, LOG_BOOT,
                 "a PE's child, made by fork, cannot become a PE: start the library in the PE "
                 "itself, or the child by exec");
        return -1;
    }
    pthread_mutex_lock(&user_lock);
    bool is_first = !world_is_up();
    world.users[user]++;
    if (world_takes_turns) // where there are several threads it is not, and others may read it now
        world_takes_turns = false;
    note_exits(); // first: a thread may end the process meanwhile
    int failed = 0;
    if (is_first) {
        call_enter(CALL_init);
        failed = world_up();
        call_leave();
    }
    if (failed)
        world.users[user]--;
    else if (user == WORLD_SHMEM && world.users[user] == 1) {
        shmem_lives++;
        ends_shmem = false;
    }
    bool again = !is_first && world.users[user] > 1;
    pthread_mutex_unlock(&user_lock);
    return failed ? -1 : again;
}

bool world_leave(enum world_user user)
{
    pthread_mutex_lock(&user_lock);
    if (world.users[user] == 0)
        fatal("%s: called more often than the library was initialized",
              user == WORLD_SHMEM ? "shmem_finalize" : "shoal_finalize");
    bool is_last = world.users[WORLD_SHMEM] + world.users[WORLD_SHOAL] == 1;
    if (is_last)
        world_down();
    void (*fn)(void) = NULL;
    if (--world.users[user] == 0 && user == WORLD_SHMEM) {
        fn = leaves_after;
        leaves_after = NULL;
    }
    pthread_mutex_unlock(&user_lock);
    if (fn)
        fn();
    return is_last;
}

bool world_leave_after(void (*fn)(void))
{
    pthread_mutex_lock(&user_lock);
    bool is_there = world.users[WORLD_SHMEM] > 0;
    if (is_there)
        leaves_after = fn;
    pthread_mutex_unlock(&user_lock);
    return is_there;
}

static pthread_t promiser; // that threads take turns

void world_promise_turns(bool it_does)
{
    pthread_mutex_lock(&user_lock);
    promiser = pthread_self();
    bool is_alone = world.users[WORLD_SHMEM] + world.users[WORLD_SHOAL] == 1;
    world_takes_turns = it_does && is_alone && !attendant_is_there();
    pthread_mutex_unlock(&user_lock);
}

static void tell_end(struct pe_ctl *ctl)
{
    // Pairs with the acquire load in end_if_abandoned.
    atomic_store_explicit(&ctl->last_life, meetings, memory_order_release);
    atomic_fetch_add_explicit(&world.job->left, 1, memory_order_release);
}

static void leave(void)
{
    struct pe_ctl *ctl = world_ctl(world.me);
    bool is_in_shmem = world.users[WORLD_SHMEM] > 0; // then it takes part in its end, too
    if (net.transport) {
        remote_flush_all();
        if (is_in_shmem)
            meet_hosts();
        meet_hosts();
        host_watch_leave();
    }
    if (is_in_shmem)
        announce(&ends_shmem, &world.job->shmem_ended);
    ctl->left_syncs = shoal_team_world.syncs;
    // Pairs with the acquire load in end_if_abandoned.
    atomic_store_explicit(&ctl->state, PE_LEFT, memory_order_release);
    tell_end(ctl);
    handlers_fall_quiet();
    trigger_refuse(world.me); // what others have handed to it fails
    inbox_poll();
    announce(&quiet, &world.job->quiet); // before `leaving`: who sees that needs no more of this PE
    if (net.transport) { // others may still send to it, and its end would break their connections
        wait_for_leavers();
        return;
    }
    announce(&leaves, &world.job->leaving);
}

// A program may end without shmem_finalize, as those that begin with start_pes do. Its memory stays
// with the job, so nobody needs to wait; with a nonzero status the launcher ends the job.
//
// A destructor, because it has to run after the program's own handlers, which may finalize, and
// before the network's libraries end: these were loaded later, so their destructors come later. A
// handler that a constructor registers runs after all destructors.
// Who has finalized before only says that it does not come again.
__attribute__((destructor)) static void leave_at_exit(void)
{
    if (world.forked)
        return;
    if (!world_is_up()) {
        if (world.ctl)
            tell_end(world_ctl(world.me));
        return;
    }
    attendant_leave(); // who has left helps nobody
    if (world_takes_turns && !pthread_equal(promiser, pthread_self()))
        inbox_leave_alone(); // another one may be in the middle of it
    if (atomic_load_explicit(&world.job->ended, memory_order_relaxed)) {
        host_watch_leave();
    } else if (!exit_status && finalizing_call && world.npes > 1) {
        fflush(NULL);
        fatal("it exits with status 0 without %s",
              finalizing_call); // others would wait for it for ever
    } else if (!exit_status) {
        leave();
    }
    if (net.transport)
        heartbeat_leave();
}
