// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 3 4 7
// The owner of triggered operations has no part in them: it computes, sleeps in the kernel or is
// stopped, and what it armed is done all the same when another PE makes its counter pass, at a
// third PE and in its own memory. Each PE is the owner in turn; nobody lets it go before.
#include "../check.h"

#include <shoal.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 20000, ELEMENTS = 50, AM = 4, WORKS = 7 };
enum { COMPUTES, NAPS, SLEEPS, STOPPED, STATES };
enum { HEAP, STATIC, ARENA, PRIVATE, KINDS };

// The owner's buffers, and what the works use at the third PE.
struct box {
    unsigned char put_to[BYTES], get_from[BYTES], put_from[BYTES], got[BYTES];
    uint64_t word, old;
    double acc[ELEMENTS], in[ELEMENTS];
};
static struct box *box[KINDS], static_box;
static struct {
    shoal_key_t key[KINDS];
} names, thirds;
static shoal_ct_t gate, done, result, came;
static uint64_t pids[64]; // of all, at all
static uint64_t away, let_go, words;
static int message_from;

static void on_message(const shoal_am_t *am)
{
    message_from = am->from;
    CHECK_EQ(am->n, 8);
    CHECK_EQ(shoal_ct_inc(me, came, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static shoal_rptr_t at(int kind, size_t offset)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr(&thirds.key[kind], offset, &r), SHOAL_OK);
    return r;
}
#define AT(kind, field) at(kind, offsetof(struct box, field))

static void wait_for_state(uint64_t process, char state)
{
    while (check_process_state(process) != state)
        sched_yield();
}

static bool has_proc(void)
{
    return check_process_state((uint64_t)getpid()) == 'R';
}

// ---- The owner
static void prepare(int kind)
{
    struct box *b = box[kind];
    memset(b, 0, sizeof *b);
    fill(b->put_from, BYTES, (unsigned)me + 100);
    fill(b->get_from, BYTES, (unsigned)me + 200);
    b->word = 40 + (uint64_t)me;
    for (int i = 0; i < ELEMENTS; i++) {
        b->acc[i] = i;
        b->in[i] = 100 * me;
    }
    away = let_go = 0;
    words = 0;
    message_from = -1;
    const shoal_ct_t all[] = {gate, done, result, came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_EQ(shoal_ct_set(me, all[i], (shoal_ct_value_t){0, 0}), SHOAL_OK);
}

// All kinds of work, with the third PE as target; the last tells it that all are done.
static void arm(int kind, int third)
{
    struct box *b = box[kind];
    shoal_rptr_t signal;
    CHECK_EQ(shoal_rptr_symmetric(&words, third, &signal), SHOAL_OK);
    shoal_work_t work[] = {
        {.kind = SHOAL_WORK_PUT,
         .remote = AT(kind, put_to),
         .local = b->put_from,
         .n = BYTES,
         .comp = {.target_ct = result,
                  .signal = &signal,
                  .signal_value = 3,
                  .signal_op = SHMEM_SIGNAL_ADD}},
        {.kind = SHOAL_WORK_GET, .remote = AT(kind, get_from), .local = b->got, .n = BYTES},
        {.kind = SHOAL_WORK_ATOMIC,
         .remote = AT(kind, word),
         .op = SHOAL_SUM,
         .type = SHOAL_UINT64,
         .a = 1,
         .local = &b->old},
        {.kind = SHOAL_WORK_REDUCE,
         .local = b->acc,
         .local2 = b->in,
         .n = ELEMENTS,
         .op = SHOAL_SUM,
         .type = SHOAL_DOUBLE},
        {.kind = SHOAL_WORK_AM, .pe = third, .am_id = AM, .local = b->put_from, .n = 8},
        {.kind = SHOAL_WORK_CT_INC, .pe = third, .ct = result, .value = {0, 1}},
    };
    const int works = sizeof work / sizeof work[0];
    // Private memory: puts and gets alone need no help.
    for (int i = 0; i < (kind == PRIVATE ? 2 : works); i++)
        CHECK_EQ(shoal_trigger(&work[i], gate, 2, done, NULL), SHOAL_OK);
    shoal_work_t tell = {.kind = SHOAL_WORK_CT_INC, .pe = third, .ct = result, .value = {1, 0}};
    CHECK_EQ(shoal_trigger(&tell, done, kind == PRIVATE ? 2 : (uint64_t)works, SHOAL_CT_NONE, NULL),
             SHOAL_OK);
}

// Until the third PE has seen the results. No call of the library.
static void be_away(int state)
{
    const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
    sigset_t wake;
    int got = 0;
    __atomic_store_n(&away, 1, __ATOMIC_RELEASE);
    switch (state) {
    case COMPUTES:
    case STOPPED:
        while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
            ;
        break;
    case NAPS:
        while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
            nanosleep(&nap, NULL);
        break;
    case SLEEPS: // the signal is blocked: it is not lost when it comes early
        sigemptyset(&wake);
        sigaddset(&wake, SIGUSR1);
        CHECK_EQ(sigwait(&wake, &got), 0);
        CHECK_EQ(got, SIGUSR1);
        break;
    }
}

static void own(int state, int kind, int third)
{
    arm(kind, third);
    shmem_barrier_all();
    be_away(state);
    CHECK_EQ(__atomic_load_n(&let_go, __ATOMIC_ACQUIRE), 1);
    shoal_ct_value_t v = {9, 9};
    CHECK_EQ(shoal_ct_get(done, &v), SHOAL_OK);
    CHECK_EQ(v.success, kind == PRIVATE ? 2 : 6);
    CHECK_EQ(v.failure, 0);
}

// ---- The PE that makes the counter pass, once the owner is away
static void release(int state, int owner)
{
    shmem_barrier_all();
    while (!shmem_uint64_atomic_fetch(&away, owner))
        sched_yield();
    if (state == STOPPED) {
        CHECK_EQ(kill((pid_t)pids[owner], SIGSTOP), 0);
        wait_for_state(pids[owner], 'T');
    } else if (state == SLEEPS) {
        wait_for_state(pids[owner], 'S');
    }
    CHECK_EQ(shoal_ct_inc(owner, gate, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    CHECK_EQ(shoal_ct_inc(owner, gate, (shoal_ct_value_t){0, 1}), SHOAL_OK);
}

// ---- The third PE
static void check_own(const struct box *b, int kind, int owner)
{
    static unsigned char want[BYTES];
    fill(want, BYTES, (unsigned)owner + 100);
    CHECK_MEM(b->put_to, want, BYTES, "what was put");
    CHECK_EQ(words, 3);
    if (kind == PRIVATE)
        return;
    CHECK_EQ(b->word, 41 + me);
    CHECK_EQ(message_from, owner);
}

static void check_owners(int kind, int owner)
{
    static struct box copy;
    static unsigned char want[BYTES];
    shoal_key_t key;
    shoal_rptr_t r = {0};
    shmem_getmem(&key, &names.key[kind], sizeof key, owner);
    CHECK_EQ(shoal_rptr(&key, 0, &r), SHOAL_OK);
    CHECK_EQ(shoal_get(&copy, r, sizeof copy, NULL, NULL), SHOAL_OK);
    fill(want, BYTES, (unsigned)me + 200);
    CHECK_MEM(copy.got, want, BYTES, "what was got");
    if (kind == PRIVATE)
        return;
    CHECK_EQ(copy.old, 40 + me);
    CHECK_EACH(i, ELEMENTS, copy.acc[i], (double)i + 100 * owner);
}

static void look(int state, int kind, int owner)
{
    const uint64_t one = 1, all = kind == PRIVATE ? 2 : 3;
    CHECK_EQ(shoal_ct_wait(1, &result, &all, NULL), SHOAL_OK);
    if (kind != PRIVATE)
        CHECK_EQ(shoal_ct_wait(1, &came, &one, NULL), SHOAL_OK);
    check_own(box[kind], kind, owner);
    check_owners(kind, owner);
    if (state == STOPPED) {
        CHECK_EQ(check_process_state(pids[owner]), 'T'); // all of that happened while it was
        CHECK_EQ(kill((pid_t)pids[owner], SIGCONT), 0);
    }
    shmem_uint64_atomic_set(&let_go, 1, owner);
    if (state == SLEEPS)
        CHECK_EQ(kill((pid_t)pids[owner], SIGUSR1), 0);
}

static void one(int state, int kind, int owner)
{
    const int releaser = (owner + 1) % npes,
              third = (owner + 2) % npes == owner ? releaser : (owner + 2) % npes;
    unsigned before = check_failures;
    prepare(kind);
    shmem_getmem(&thirds, &names, sizeof thirds, third);
    shmem_barrier_all();
    if (me == owner)
        own(state, kind, third);
    else if (me == releaser)
        release(state, owner);
    else
        shmem_barrier_all();
    if (me == third)
        look(state, kind, owner);
    shmem_barrier_all();
    if (check_failures != before)
        fprintf(stderr, "    in state %d with memory of kind %d of PE %d\n", state, kind, owner);
}

static void start(void)
{
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &wake, NULL), 0);
    shoal_ct_t *const all[] = {&gate, &done, &result, &came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, all[i]), SHOAL_OK);
    CHECK_EQ(shoal_am_register(AM, on_message, NULL), SHOAL_OK);
    box[HEAP] = must_shmalloc(sizeof *box[HEAP]);
    box[STATIC] = &static_box;
    box[ARENA] = shoal_alloc(sizeof *box[ARENA]);
    box[PRIVATE] = must_alloc(sizeof *box[PRIVATE]);
    for (int k = 0; k < KINDS; k++) {
        shoal_region_t region;
        CHECK_EQ(shoal_region_register(box[k], sizeof *box[k], &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &names.key[k]), SHOAL_OK);
    }
    for (int pe = 0; pe < npes; pe++)
        shmem_uint64_p(&pids[me], (uint64_t)getpid(), pe);
    shmem_barrier_all();
}

int main(void)
{
    int reached = 1;
    check_start();
    if (npes > 64 || !has_proc())
        check_skip(npes > 64 ? "more than 64 PEs" : "/proc does not tell the state of processes");
    start();
    for (int pe = 0; pe < npes; pe++) {
        uint64_t yes = 0;
        CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, pe, &yes), SHOAL_OK);
        reached &= (int)yes;
    }
    for (int state = 0; state < STATES; state++)
        for (int kind = 0; kind < (reached ? KINDS : PRIVATE); kind++)
            for (int i = 0; i < npes && i < 3; i++)
                one(state, kind, (i + state) % npes);
    return check_done();
}
