// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// TIMEOUT: 60
// Start and end of shoal.h: before main, beside shmem_init in every order, counted, again and
// again; what ends with it; every call outside, and in a child of a PE, is
// refused; every item of shoal_query.
#include "../check.h"

#include <shoal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVES = 12, KEPT = 41, DROPPED = 42 };

static int early_status = 4711, early_refused = 4711;
static uint64_t cell; // symmetric
static uint64_t handled, dropped;

__attribute__((constructor)) static void before_main(void)
{
    early_refused = shoal_progress();
    early_status = shoal_init();
}

static void on_kept(const shoal_am_t *am)
{
    handled += am->arg;
}

static void on_dropped(const shoal_am_t *am)
{
    dropped += am->arg;
}

// ---- Outside
static void transfers_outside(void)
{
    shoal_rptr_t r = {0, 0, 0, 0};
    shoal_event_t event = {0};
    shoal_part_t part = {r, &cell, 8};
    const ptrdiff_t stride[] = {8};
    const size_t count[] = {8, 1};
    uint64_t word = 1;
    CHECK_EQ(shoal_put(r, &word, 8, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_get(&word, r, 8, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_puts(r, stride, &word, stride, count, 1, NULL, &event), SHOAL_EINIT);
    CHECK_EQ(shoal_gets(&word, stride, r, stride, count, 1, NULL, &event), SHOAL_EINIT);
    CHECK_EQ(shoal_putv(&part, 1, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_getv(&part, 1, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_atomic(r, SHOAL_SUM, SHOAL_INT64, &word, NULL, NULL, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_fetch_acc(r, &word, &word, 1, SHOAL_SUM, SHOAL_INT64, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_accv(&part, 1, &word, SHOAL_SUM, SHOAL_INT64, NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_acc(r, NULL, &word, NULL, count, 0, SHOAL_SUM, SHOAL_INT64, NULL, NULL, NULL),
             SHOAL_EINIT);
    CHECK_EQ(shoal_quiet(-1), SHOAL_EINIT);
    shoal_event_t *events[] = {&event};
    size_t done = 77;
    CHECK_EQ(shoal_test(1, events, &done, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_wait(1, events, 1, &done, NULL), SHOAL_EINIT);
    CHECK(done == 77 && word == 1);
}

static void memory_outside(void)
{
    static uint64_t here[4];
    shoal_region_t region;
    shoal_key_t key;
    shoal_rptr_t r = {0, 0, 0, 0};
    memset(&key, 0, sizeof key);
    CHECK(shoal_alloc(64) == NULL);
    CHECK_EQ(shoal_free(here), SHOAL_EINIT);
    CHECK_EQ(shoal_region_register(here, sizeof here, &region), SHOAL_EINIT);
    CHECK_EQ(shoal_region_deregister(NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_region_key(NULL, &key), SHOAL_EINIT);
    CHECK_EQ(shoal_rptr(&key, 0, &r), SHOAL_EINIT);
    CHECK_EQ(shoal_rptr_va(&key, 0, &r), SHOAL_EINIT);
    CHECK_EQ(shoal_rptr_symmetric(here, 0, &r), SHOAL_EINIT);
    CHECK_EQ(shoal_rptr_own(here, &r), SHOAL_EINIT);
    CHECK(shoal_direct(r, 8) == NULL);
}

static void counters_outside(void)
{
    shoal_ct_t ct = 1;
    shoal_ct_value_t v = {1, 0};
    const uint64_t threshold = 0;
    shoal_work_t work = {.kind = SHOAL_WORK_CT_INC, .ct = 1, .value = {1, 0}};
    shoal_trigger_t handle;
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &ct), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, 1), SHOAL_EINIT);
    CHECK(shoal_ct_at(1) == NULL);
    CHECK_EQ(shoal_ct_get(1, &v), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_inc(0, 1, v), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_set(0, 1, v), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_test(1, &ct, &threshold, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_wait(1, &ct, &threshold, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_trigger(&work, 1, 1, SHOAL_CT_NONE, &handle), SHOAL_EINIT);
    CHECK_EQ(shoal_trigger_cancel(1), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_cancel(1, NULL), SHOAL_EINIT);
}

static void messages_outside(void)
{
    const shoal_am_t am = {.from = 0, .id = 1};
    shoal_am_room_t room = {0};
    shoal_rptr_t r = {0, 0, 0, 0};
    CHECK_EQ(shoal_am_request(0, 1, 0, NULL, 0), SHOAL_EINIT);
    CHECK_EQ(shoal_am_request_long(1, 0, &room, 8, r), SHOAL_EINIT);
    CHECK_EQ(shoal_am_reply(&am, 1, 0, NULL, 0), SHOAL_EINIT);
    CHECK_EQ(shoal_am_reply_long(&am, 1, 0, &room, 8, r), SHOAL_EINIT);
    CHECK_EQ(shoal_am_reserve(0, 8, &room), SHOAL_EINIT);
    CHECK_EQ(shoal_am_commit(&room, 1, 0, 0), SHOAL_EINIT);
}

static void never_told(int pe, void *arg)
{
    (void)pe, (void)arg;
    CHECK(!"called");
}

// The teams are objects of the program, so that naming one is always possible.
static void outside(void)
{
    uint64_t value = 77;
    shoal_coll_plan_t plan;
    shoal_coll_t barrier = {.kind = SHOAL_COLL_BARRIER};
    transfers_outside();
    memory_outside();
    counters_outside();
    messages_outside();
    CHECK_EQ(shoal_finalize(), SHOAL_EINIT);
    CHECK_EQ(shoal_query(SHOAL_Q_PE, 0, &value), SHOAL_EINIT);
    CHECK_EQ(value, 77);
    CHECK_EQ(shoal_progress(), SHOAL_EINIT);
    CHECK_EQ(shoal_fail_watch(never_told, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &barrier, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_coll_init(SHMEM_TEAM_WORLD, &barrier, &plan), SHOAL_EINIT);
    CHECK_EQ(shoal_coll_start(NULL, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_coll_free(NULL), SHOAL_EINIT);
}

static void in_a_child(void)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        outside();
        CHECK_EQ(shoal_init(), SHOAL_EINIT);
        outside();
        _exit(check_failures ? 1 : 17);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
}

// ---- Inside
static uint64_t ask(int what, int pe)
{
    uint64_t value = 4711;
    CHECK_EQ(shoal_query(what, pe, &value), SHOAL_OK);
    return value;
}

static void meet(void)
{
    shoal_coll_t barrier = {.kind = SHOAL_COLL_BARRIER};
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &barrier, NULL), SHOAL_OK);
}

// By shoal.h alone: shmem_init may not have been called.
static void use_it(uint64_t round)
{
    shoal_rptr_t right;
    shoal_ct_t ct = SHOAL_CT_NONE;
    uint64_t value = round * 100 + (uint64_t)me;
    CHECK_EQ(ask(SHOAL_Q_PE, 0), me);
    CHECK_EQ(ask(SHOAL_Q_NPES, 0), npes);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&cell, right_pe(), &right), SHOAL_OK);
    CHECK_EQ(shoal_put(right, &value, sizeof value, &(shoal_comp_t){.target_ct = ct}, NULL),
             SHOAL_OK);
    CHECK_EQ(shoal_ct_wait(1, &ct, &(uint64_t){1}, NULL), SHOAL_OK);
    CHECK_EQ(cell, round * 100 + (uint64_t)left_pe());
    uint64_t before = handled; // the handler was registered in the first life
    CHECK_EQ(shoal_am_request(me, KEPT, 3, NULL, 0), SHOAL_OK);
    while (handled == before)
        CHECK(shoal_progress() >= 0);
    CHECK_EQ(handled, before + 3);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct), SHOAL_OK);
    void *own = shoal_alloc(1000);
    CHECK(own != NULL && (uintptr_t)own % 64 == 0); // gone at the end, without a free
    meet();
}

static void queries(void)
{
    static const uint64_t least[SHOAL_Q_COUNT_] = {
        [SHOAL_Q_AM_MAX] = 64, [SHOAL_Q_AM_INLINE] = 8, [SHOAL_Q_COUNTERS] = 255};
    meet(); // all are up
    for (int what = 0; what < SHOAL_Q_COUNT_; what++)
        for (int pe = 0; pe < npes; pe++)
            CHECK(ask(what, pe) >= least[what]);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(ask(SHOAL_Q_DIRECT, pe), 1);
        CHECK_EQ(ask(SHOAL_Q_STATUS, pe), SHOAL_PE_RUNNING);
        uint64_t needs = ask(SHOAL_Q_PROGRESS, pe);
        CHECK_EQ(ask(SHOAL_Q_PRIVATE, pe), !(needs & SHOAL_PROGRESS_PRIVATE));
        CHECK_EQ(needs & SHOAL_PROGRESS_RMA, 0);
        CHECK_EQ(needs & SHOAL_PROGRESS_AM, SHOAL_PROGRESS_AM);
        CHECK_EQ(needs & SHOAL_PROGRESS_ATOMIC, pe == me ? 0 : SHOAL_PROGRESS_ATOMIC);
    }
    CHECK_EQ(ask(SHOAL_Q_PRIVATE, me), 1);
    CHECK_EQ(ask(SHOAL_Q_KEY_SIZE, -1), sizeof(shoal_key_t));
    CHECK(ask(SHOAL_Q_CROWDED, 0) <= 1 && (npes > 1 || !ask(SHOAL_Q_CROWDED, 0)));
    CHECK(ask(SHOAL_Q_BESIDE, 0) <= 1);
    CHECK_EQ(ask(SHOAL_Q_GATHERED, me), 0);
    CHECK_EQ(ask(SHOAL_Q_NODE, me), 0);
    CHECK_EQ(ask(SHOAL_Q_PE, 9999), me); // no matter which PE
    CHECK(ask(SHOAL_Q_AM_INLINE, -1) <= ask(SHOAL_Q_AM_MAX, npes));
    for (int pe = 0; pe < npes; pe++)
        CHECK(ask(SHOAL_Q_AM_MAX_TO, pe) >= ask(SHOAL_Q_AM_MAX, pe));
    uint64_t value = 4711;
    static const int of_pe[] = {SHOAL_Q_DIRECT, SHOAL_Q_PRIVATE, SHOAL_Q_STATUS, SHOAL_Q_PROGRESS,
                                SHOAL_Q_AM_MAX_TO, SHOAL_Q_NODE};
    for (size_t i = 0; i < sizeof of_pe / sizeof of_pe[0]; i++) {
        CHECK_EQ(shoal_query(of_pe[i], -1, &value), SHOAL_EINVAL);
        CHECK_EQ(shoal_query(of_pe[i], npes, &value), SHOAL_EINVAL);
    }
    CHECK_EQ(shoal_query(-1, 0, &value), SHOAL_EINVAL);
    CHECK_EQ(shoal_query(SHOAL_Q_COUNT_, 0, &value), SHOAL_EINVAL);
    CHECK_EQ(shoal_query(SHOAL_Q_PE, 0, NULL), SHOAL_EINVAL);
    CHECK_EQ(value, 4711);
}

static void words(void)
{
    for (int e = SHOAL_EFAULT; e <= SHOAL_OK; e++)
        for (int other = SHOAL_EFAULT - 1; other < e; other++)
            CHECK(shoal_strerror(e) && strcmp(shoal_strerror(e), shoal_strerror(other)) != 0);
    CHECK(shoal_strerror(1) && shoal_strerror(-1000) && shoal_strerror(INT32_MIN));
}

static void progress_counts(void)
{
    uint64_t before = handled;
    CHECK_EQ(shoal_progress(), 0);
    CHECK_EQ(shoal_am_request(me, KEPT, 1, NULL, 0), SHOAL_OK);
    int got = shoal_progress();
    CHECK(handled == before || got > 0);
    while (handled == before)
        got = shoal_progress();
    CHECK(got > 0);
    meet();
}

// ---- Lives
static void first_life(void)
{
    CHECK_EQ(early_refused, SHOAL_EINIT);
    CHECK_EQ(early_status, SHOAL_OK);
    CHECK_EQ(shoal_query(SHOAL_Q_PE, 0, &(uint64_t){0}), SHOAL_OK);
    me = (int)ask(SHOAL_Q_PE, 0);
    npes = (int)ask(SHOAL_Q_NPES, 0);
    meet();
    use_it(1);
    queries();
    progress_counts();
    shmem_init();
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_init(), SHOAL_OK);
    in_a_child();
    for (int i = 0; i < 3; i++) {
        use_it(2);
        CHECK_EQ(shoal_finalize(), SHOAL_OK);
    }
    CHECK_EQ(shoal_finalize(), SHOAL_EINIT); // none of them is open, though the library is up
    use_it(3);
    shmem_barrier_all();
    shmem_finalize();
    outside();
}

// The second interface keeps the library up when the first one ends.
static void shmem_first(void)
{
    shmem_init();
    CHECK_EQ(shoal_init(), SHOAL_OK);
    long *heap = shmem_malloc(sizeof *heap);
    shmem_long_p(heap, me, right_pe());
    shmem_barrier_all();
    CHECK_EQ(*heap, left_pe());
    shmem_finalize();
    use_it(4);
    CHECK_EQ(*heap, left_pe());
    meet();
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    outside();
}

static int ended_after;

static void end_after(void)
{
    meet(); // all is there still
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    ended_after++;
}

// A layer that is done leaves its end to the last use of OpenSHMEM.
static void shoal_after(void)
{
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_finalize_after(NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_finalize_after(end_after), SHOAL_EAGAIN);
    shmem_init();
    shmem_init();
    CHECK_EQ(shoal_finalize_after(end_after), SHOAL_OK);
    use_it(7);
    shmem_finalize();
    CHECK_EQ(ended_after, 0);
    use_it(8);
    shmem_finalize();
    CHECK_EQ(ended_after, 1);
    outside();
    CHECK_EQ(shoal_finalize_after(end_after), SHOAL_EINIT);
}

static void shoal_alone(void)
{
    enum { DEEP = 50 };
    for (int i = 0; i < DEEP; i++)
        CHECK_EQ(shoal_init(), SHOAL_OK);
    for (int i = 0; i < DEEP; i++) {
        if (i % 10 == 0)
            use_it(5);
        CHECK_EQ(shoal_finalize(), SHOAL_OK);
    }
    outside();
}

// A message for which nobody has registered a handler ends with the life, and so does a counter.
static void what_ends(void)
{
    shoal_ct_t kept = 0, other = 0;
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &kept), SHOAL_OK);
    CHECK_EQ(shoal_am_request(right_pe(), DROPPED, 1, NULL, 0), SHOAL_OK);
    meet();
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_am_register(DROPPED, on_dropped, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, kept), SHOAL_EINVAL);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &other), SHOAL_OK);
    meet();
    for (int i = 0; i < 100; i++)
        shoal_progress();
    CHECK_EQ(dropped, 0);
    meet();
    CHECK_EQ(shoal_am_request(right_pe(), DROPPED, 5, NULL, 0), SHOAL_OK);
    while (dropped == 0)
        shoal_progress();
    CHECK_EQ(dropped, 5);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, other), SHOAL_OK);
    meet();
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
}

// Each PE in an order of its own: it is the first call and the last one that all make together.
static void any_order(uint64_t round, uint64_t *seed)
{
    int inits = 1 + (int)rnd_below(seed, 4), shmem_at = (int)rnd_below(seed, (size_t)inits + 1);
    for (int i = 0; i <= inits; i++)
        if (i == shmem_at)
            shmem_init();
        else
            CHECK_EQ(shoal_init(), SHOAL_OK);
    use_it(round);
    shmem_barrier_all();
    shmem_at = (int)rnd_below(seed, (size_t)inits + 1);
    for (int i = 0; i <= inits; i++)
        if (i == shmem_at)
            shmem_finalize();
        else
            CHECK_EQ(shoal_finalize(), SHOAL_OK);
    CHECK_EQ(shoal_progress(), SHOAL_EINIT);
}

int main(void)
{
    CHECK_EQ(shoal_am_register(KEPT, on_kept, NULL), SHOAL_OK);
    first_life();
    words();
    shmem_first();
    shoal_after();
    shoal_alone();
    what_ends();
    uint64_t seed = 5 + (uint64_t)me;
    for (uint64_t round = 0; round < LIVES; round++)
        any_order(round, &seed);
    outside();
    return check_done();
}
