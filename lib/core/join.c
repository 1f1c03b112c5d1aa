// SPDX-License-Identifier: BSD-3-Clause
// Joining a job that another launcher than oshrun has started. The launcher tells ranks and keeps
// what they publish (pmi.h); the node's lowest rank makes the job's file (job.h) and hands it to
// the others, who find it by what it publishes (meeting.h).
//
// It all happens in a constructor (boot.c), so that static data can move before main, as under
// oshrun, unless a shell is in between, which may start several programs. There is no launcher of ours
// to watch the PEs: another one ends the job when a PE dies, or when a PE asks it to, which is done
// here, when the process exits.
#include "join.h"

#include "call.h"
#include "data.h"
#include "host_watch.h"
#include "job.h"
#include "libc.h"
#include "log.h"
#include "meeting.h"
#include "settings.h"
#include "wait.h"
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#define JOIN_MS 60000      // from the fence on, when all are running, until the file is there
#define GLOBAL_EXIT_MS 300 // for the others to see it, as in oshrun
#define WATCHED_MS 300     // for those who asked to be told of a death, as in oshrun
#define BUSY_MS 20000      // for a launcher to end a job
#define EXIT_MS 100 // for the others to say why they exit, too, and for a launcher to pass lines on
#define LOOK_MS 100 // between looks whether others live
#define MEETING_KEY "shoal-meeting-%d"
#define MEETING_NONE "none"

static struct pmi *launcher;
static pid_t joined_pid;
static struct pe_ctl *own_ctl;
static bool same_pids;   // a PE's number of its process is its number here
static bool is_opened;   // or that was tried: `launcher`
static bool may_pass_on; // the rank, to a program that comes after this one
static bool is_lost;     // there will be no job with this process

// ---- all together

// What the nodes agree upon before they make their files. The same in all versions: it tells them
// apart.
struct terms {
    uint32_t magic, layout;
    uint64_t secret, heap_size;
    char host[JOB_HOST];
};

// What is agreed, with the hosts' names. Leaders only.
struct agreement {
    uint64_t secret, heap_size;
    char (*host)[JOB_HOST];
};

static int own_terms(struct terms *t, const struct pmi *pmi)
{
    *t = (struct terms){.magic = (uint32_t)JOB_MAGIC, .layout = JOB_LAYOUT};
    t->heap_size = settings.symmetric_size ? (size_t)settings.symmetric_size
                                           : job_default_heap(pmi->locals);
    if (gethostname(t->host, sizeof t->host - 1))
        snprintf(t->host, sizeof t->host, "without a name");
    return getrandom(&t->secret, sizeof t->secret, 0) == sizeof t->secret ? 0 : -1;
}

// A name from elsewhere that a terminal would not obey.
static void take_name(char *to, const char *from)
{
    int n = 0;
    for (; n < JOB_HOST - 1 && from[n]; n++)
        to[n] = from[n] > ' ' && from[n] <= '~' ? from[n] : '?';
    to[n] = '\0';
}

// The secret is that of the first node, the heap the smallest that any would choose. 1: another
// version is among us, which the first node's leader says.
static int conclude(const struct pmi *pmi, const struct terms *all, struct agreement *a)
{
    *a = (struct agreement){.secret = all[0].secret,
                            .heap_size = all[0].heap_size,
                            .host = calloc((size_t)pmi->map.nodes, JOB_HOST)};
    for (int node = 0; a->host && node < pmi->map.nodes; node++) {
        take_name(a->host[node], all[node].host);
        if (all[node].heap_size < a->heap_size)
            a->heap_size = all[node].heap_size;
        if (all[node].magic == all[0].magic && all[node].layout == all[0].layout)
            continue;
        if (node_of(&pmi->map, pmi->rank) == 0)
            log_line(LOG_ERROR, LOG_BOOT,
                     "PE %d on host %s has another version of libshoal than "
                     "PE %d on host %s (layout %u, not %u): install the same one on all hosts",
                     node_rank(&pmi->map, node, 0), a->host[node], pmi->rank, a->host[0],
                     all[node].layout, all[0].layout);
        return 1;
    }
    return a->host ? 0 : -1;
}

static int agree(struct pmi *pmi, struct agreement *a)
{
    struct terms own, *all = NULL;
    bool leads = pmi->rank == pmi->local[0];
    if (leads && (pmi_map(pmi) || own_terms(&own, pmi) ||
                  !(all = calloc((size_t)pmi->map.nodes, sizeof *all))))
        return -1;
    int status = pmi_exchange(pmi, &own, sizeof own, all);
    if (leads && !status)
        status = conclude(pmi, all, a);
    free(all);
    return status;
}

// Every PE's node, and its place among those of its node.
static int create_of_several(struct pmi *pmi, const struct agreement *a)
{
    struct job_plan plan = {.npes = pmi->size,
                            .nodes = pmi->map.nodes,
                            .slots = pmi->locals,
                            .heap_size = a->heap_size,
                            .secret = a->secret,
                            .host = (const char(*)[JOB_HOST])a->host};
    struct job_pe *pe = calloc((size_t)pmi->size, sizeof *pe);
    int *used = calloc((size_t)pmi->map.nodes, sizeof *used);
    int fd = -1;
    if (pe && used) {
        for (int rank = 0; rank < pmi->size; rank++) {
            int node = node_of(&pmi->map, rank);
            pe[rank] = (struct job_pe){node, used[node]++};
        }
        plan.pe = pe;
        fd = job_create_planned(&plan);
    }
    free(pe);
    free(used);
    return fd;
}

static int create(struct pmi *pmi, const struct agreement *a)
{
    if (pmi->locals < pmi->size)
        return create_of_several(pmi, a);
    return job_create(pmi->locals, (int)settings.vnodes, settings.symmetric_size, 0);
}

// Where a node's leader publishes its address.
static void meeting_key(const struct pmi *pmi, char key[PMI_KEY_MOST + 1])
{
    snprintf(key, PMI_KEY_MOST + 1, MEETING_KEY, pmi->local[0]);
}

// Once: where the meeting is, or that no file comes from this leader and nobody needs to look for it.
static int publish(struct pmi *pmi, const char *where)
{
    static bool is_published;
    char key[PMI_KEY_MOST + 1];
    if (is_published)
        return 0;
    is_published = true;
    meeting_key(pmi, key);
    return pmi->put(pmi, key, where);
}

// On one host it is; on several card.c exchanges more.
static int last_fence(struct pmi *pmi)
{
    int failed = pmi->fence(pmi);
    pmi->has_met = failed || pmi->locals == pmi->size;
    return failed;
}

static int lead(struct pmi *pmi, const struct agreement *a)
{
    struct meeting m;
    char value[PMI_ENCODED(sizeof m) + 1];
    int fd = create(pmi, a);
    int listener = fd >= 0 ? meeting_listen(&m) : -1;
    if (listener < 0) {
        publish(pmi, MEETING_NONE);
    } else {
        pmi_encode(&m, sizeof m, value);
        if (!publish(pmi, value) && !last_fence(pmi) &&
            !meeting_serve(listener, &m, pmi->local, pmi->locals, fd, JOIN_MS, &same_pids))
            return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static int follow(struct pmi *pmi)
{
    struct meeting m;
    char key[PMI_KEY_MOST + 1], value[PMI_VALUE_MOST + 1];
    meeting_key(pmi, key);
    if (last_fence(pmi) || pmi->get(pmi, pmi->local[0], key, value, sizeof value))
        return -1;
    if (strcmp(value, MEETING_NONE) == 0)
        return -1;
    if (pmi_decode(value, &m, sizeof m) == 0)
        return meeting_ask(&m, pmi->rank, JOIN_MS, &same_pids);
    log_line(LOG_ERROR, LOG_BOOT, "%s: what PE %d published as %s is not its address", pmi->name,
             pmi->local[0], key);
    return -1;
}

// There will be no job, as one of the leaders has said: nobody ends before that line is out.
static void disagree(struct pmi *pmi)
{
    if (publish(pmi, MEETING_NONE) == 0)
        pmi->fence(pmi);
    pmi->has_met = true;
}

static int meet(struct pmi *pmi)
{
    struct agreement a = {0};
    int fd = -1, status = pmi->locals < pmi->size ? agree(pmi, &a) : 0;
    if (status == 0)
        fd = pmi->rank == pmi->local[0] ? lead(pmi, &a) : follow(pmi);
    else if (status > 0)
        disagree(pmi);
    free(a.host);
    if (fd < 0)
        pmi->abort(pmi, EXIT_FAILURE, "a PE cannot join the job"); // the others would wait for it
    return fd;
}

// ---- the end

static bool is_gone(int pid)
{
    return same_pids && pid && kill(pid, 0) && errno == ESRCH;
}

// A PE that never joined will not come to any barrier either. (left_syncs is 0.) Others find that out
// when they wait there.
static void leave(struct pe_ctl *ctl)
{
    if (!atomic_exchange(&ctl->joins, 1)) {
        atomic_fetch_add_explicit(&world.job->ready, 1, memory_order_release);
        bell_check(&world.job->bell);
    }
    // Pairs with the acquire load in end_if_abandoned (world.c).
    atomic_store_explicit(&ctl->state, PE_LEFT, memory_order_release);
    atomic_fetch_add_explicit(&world.job->left, 1, memory_order_release);
}

// How many PEs have not seen the end of the job yet?
static int count_blind(void)
{
    int n = 0;
    for (int pe = world.first; pe < world.end; pe++)
        n += pe != world.me && world_is_here(pe) && atomic_load(&world_ctl(pe)->state) != PE_LEFT &&
             !is_gone(world_ctl(pe)->pid);
    return n;
}

// shmem_global_exit was called here. The others get a moment to see it and to end in their own way,
// as under oshrun; the launcher ends those who compute.
static void end_all(int code)
{
    int blind;
    for (uint64_t end = wait_now_ms() + GLOBAL_EXIT_MS;
         (blind = count_blind()) && wait_now_ms() < end;)
        usleep(2000);
    if (!blind && code == 0)
        launcher->finalize(launcher);
    else if (blind || !launcher->is_careless)
        launcher->abort(launcher, code, "shmem_global_exit");
}

// The other hosts would find this one lost. The first of them to exit says so, if no other line has.
static void end_with_status(int status)
{
    int32_t running = JOB_RUNNING;
    if (!atomic_compare_exchange_strong(&world.job->ended, &running, JOB_ENDED_FATAL))
        return;
    log_line(LOG_ERROR, LOG_BOOT,
             "exits with status %d before it has finalized (pid %d); the other PEs are ended",
             status, (int)getpid());
    fflush(NULL);
    host_watch_leave(); // tells them
    usleep(EXIT_MS * 1000);
    launcher->abort(launcher, status, "a PE has exited");
}

// Have all PEs of this host left, as far as one is to know that joined it?
static bool all_have_left(const struct pe_ctl *ctl)
{
    return ctl && atomic_load(&world.job->left) >= world.job->slots;
}

// The others may be waiting for this one to join, and not every launcher ends them. On this host they
// find that it has left and say so; all are ended because of other hosts, but not before those have
// exited that do for the same reason, and by the first PE where a host's have all left.
static void end_before_start(struct pe_ctl *ctl, int status)
{
    bool leads = launcher->rank == launcher->local[0];
    if (ctl && !launcher->ends_own_host)
        leave(ctl);
    if (ctl && !job_has_hosts(world.job))
        return;
    if (!ctl && leads)
        publish(launcher, MEETING_NONE);
    for (uint64_t end = wait_now_ms() + EXIT_MS;
         wait_now_ms() < end && (leads || !all_have_left(ctl));)
        usleep(2000);
    if (leads || !all_have_left(ctl))
        launcher->abort(launcher, status ? status : EXIT_FAILURE, "a PE cannot join the job");
}

static bool has_launcher(void)
{
    if (getpid() != joined_pid)
        return false;
    if (is_lost && !is_opened && pmi_open(&launcher) < 1)
        launcher = NULL;
    return launcher;
}

void join_end_early(void)
{
    is_lost = true;
    if (has_launcher() && (!own_ctl || atomic_load(&own_ctl->state) == PE_CLAIMED))
        end_before_start(own_ctl, EXIT_FAILURE);
}

// Runs after world.c's handler, which was registered later.
static void at_exit(int status, void *unused)
{
    (void)unused;
    if (may_pass_on && !is_opened && status)
        is_lost = true; // a script goes on after that, but the job cannot
    if (!has_launcher())
        return;
    struct pe_ctl *ctl = own_ctl;
    int state = ctl ? atomic_load(&ctl->state) : PE_NONE;
    if (ctl &&
        atomic_load_explicit(&world.job->ended, memory_order_acquire) == JOB_ENDED_GLOBAL_EXIT) {
        fflush(NULL); // the launcher may be quick
        if (world_ends_job()) {
            end_all(atomic_load_explicit(&world.job->ended_status, memory_order_relaxed) & 0xff);
            return;
        }
        leave(ctl);
    } else if ((is_lost && state <= PE_CLAIMED) || (state == PE_CLAIMED && status)) {
        end_before_start(ctl, status & 0xff);
        return;
    } else if (state == PE_CLAIMED) {
        leave(ctl);
    } else if (status && state != PE_FINALIZED && state != PE_LEFT) {
        bool has_hosts = state == PE_RUNNING && job_has_hosts(world.job);
        if (has_hosts && launcher->ends_own_host)
            end_with_status(status & 0xff);
        else if (has_hosts && !launcher->is_careless)
            host_watch_leave();
        return; // by which the launcher knows that the job has failed
    }
    launcher->finalize(launcher);
}

// A PE has died, and the launcher has left the others alone.
static void end_for(int pe, const struct pe_ctl *ctl, pid_t pid)
{
    uint64_t call = atomic_load_explicit(&ctl->call, memory_order_relaxed);
    char name[96];
    call_describe(call, &ctl->told, name, sizeof name);
    log_line(LOG_ERROR, LOG_BOOT, "PE %d (pid %d) has died%s%s; the other PEs are ended", pe,
             (int)pid, name[0] ? call_blocks(call) ? " in " : "; its last Shoal call: " : "", name);
    if (atomic_load_explicit(&world.job->watchers, memory_order_relaxed) > 0)
        usleep(WATCHED_MS * 1000); // in which they are told
    launcher->abort(launcher, EXIT_FAILURE, "a PE has died");
}

void join_look(void)
{
    static _Atomic uint64_t next; // ms
    if (!launcher || !launcher->is_careless || !same_pids)
        return;
    uint64_t now = wait_now_ms(), due = atomic_load_explicit(&next, memory_order_relaxed);
    if (now < due || !atomic_compare_exchange_strong(&next, &due, now + LOOK_MS))
        return;
    for (int pe = world.first; pe < world.end; pe++) {
        if (pe == world.me || !world_is_here(pe))
            continue;
        struct pe_ctl *ctl = world_ctl(pe);
        pid_t pid = atomic_load(&ctl->pid);
        int32_t running = PE_RUNNING;
        // In this order: who finalizes does so before it ends.
        if (is_gone(pid) && atomic_compare_exchange_strong(&ctl->state, &running, PE_DEAD)) {
            atomic_fetch_add_explicit(&world.job->dead, 1, memory_order_release);
            end_for(pe, ctl, pid);
        }
    }
}

static void die_with_launcher(const struct pmi *pmi)
{
    pid_t parent = getppid();
    if (!pmi->ends_with_parent)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        raise(SIGKILL);
}

void join_prepare(bool is_late)
{
    may_pass_on = is_late;
    joined_pid = getpid();
    libc_on_exit(at_exit);
    log_on_fatal(join_end_early); // until world.c has more to do then
}

int join_job(int *fd, int *pe)
{
    is_opened = true;
    int opened = pmi_open(&launcher);
    if (opened < 1)
        return opened;
    *pe = launcher->rank;
    data_quiet_threads = launcher->threads;
    if (launcher->size == 1)
        return 0;
    char ident[32];
    snprintf(ident, sizeof ident, "PE %d: ", *pe);
    log_set_ident(ident);
    die_with_launcher(launcher);
    return (*fd = meet(launcher)) < 0 ? -1 : 1;
}

void join_place(struct pe_ctl *ctl)
{
    own_ctl = ctl;
}

int join_refuse_alone(void)
{
    return launcher ? 0 : pmi_refuse_alone();
}

void join_lose(void)
{
    is_lost = true;
}

void join_abort(void)
{
    if (launcher && getpid() == joined_pid)
        launcher->abort(launcher, EXIT_FAILURE, "a PE has ended");
}

unsigned join_patience_ms(unsigned otherwise)
{
    bool ends_all = launcher && !launcher->is_careless && !launcher->ends_own_host;
    return ends_all ? BUSY_MS : otherwise;
}

struct pmi *join_pmi(void)
{
    return launcher;
}
