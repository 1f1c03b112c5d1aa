// SPDX-License-Identifier: BSD-3-Clause
// Which way messages go (shim-mpi/way.h), in simulated time: most of them the faster one, whatever the program
// does in between.
#include "unit.h"

#include "comm.h"
#include "way.h"

enum { SENDER = 1, MESSAGES = 4000 };

static double now, has_all_at; // s; from then on the receiver has what was staged

// ---- What way.c asks.
struct partner *_Atomic *partners;
_Atomic uint32_t partners_out;
struct shim_settings shim_settings = {.stage = 1 << 20, .learn = true};
bool shim_threads;

double PMPI_Wtime(void)
{
    return now;
}

bool stage_is_caught_up(double *when)
{
    *when = has_all_at <= now ? has_all_at : 0;
    return has_all_at <= now;
}

int shim_pe(void)
{
    return SENDER;
}

enum { PROCESSES = 16 };
static bool is_crowded;

int shim_npes(void)
{
    return PROCESSES;
}

bool request_is_crowded(void)
{
    return is_crowded;
}

bool partner_is_reached(int pe)
{
    (void)pe;
    return true;
}

struct partner *partner_make(int pe)
{
    (void)pe;
    abort();
}

void shim_lock_wait(shim_lock *lock)
{
    (void)lock;
    abort();
}

// ---- A sender that runs ahead of its receiver as far as stages have room, and waits for what it leaves.
struct model {
    double copy, taking; // s a message: to stage it, and to take it from there,
    double getting;      // or to get what was left
    int burst;
    double pause; // between bursts
};

static double later(double a, double b)
{
    return a > b ? a : b;
}

static bool send_one(const struct model *m, size_t n, uint64_t address)
{
    enum { AHEAD = 32 };
    bool is_timed, leaves = way_leaves(n, true, address, &is_timed);
    if (leaves) {
        now = later(now, has_all_at) + m->getting;
        way_ended(n);
    } else {
        now = later(now, has_all_at - AHEAD * m->taking) + m->copy;
        has_all_at = later(now, has_all_at) + m->taking;
    }
    return leaves;
}

// How many of a hundred messages are left, of the later half.
static int left_of_hundred(const struct model *m, size_t n, int tag)
{
    int left = 0;
    struct comm comm = {.context = 1};
    uint64_t address = address_of(&comm, SPACE_COLL, tag);
    for (int i = 0; i < MESSAGES; i++) {
        bool leaves = send_one(m, n, address);
        left += i >= MESSAGES / 2 && leaves;
        if (i % m->burst == m->burst - 1)
            now = later(now, has_all_at) + m->pause;
    }
    return 200 * left / MESSAGES;
}

static const int bursts[] = {1, 5, 16, 50, 300};
static const double pauses[] = {0, 2e-5, 2e-4, 2e-3, 2e-2};
enum { BURSTS = sizeof bursts / sizeof *bursts, PAUSES = sizeof pauses / sizeof *pauses };

// Each pair of a burst and a pause is another kind of collective, which begins with what the last one found out,
// or in the second test with what it did in the first.
static void each(double taking, double getting, int least, int most)
{
    for (int i = 0; i < BURSTS * PAUSES; i++) {
        struct model m = {3e-6, taking, getting, bursts[i / PAUSES], pauses[i % PAUSES]};
        now += 1;
        int left = left_of_hundred(&m, 1 << 16, i % TAG_STEP);
        if (left < least || left > most)
            fail_msg("%d of 100 left: bursts of %d, %g s between", left, m.burst, m.pause);
    }
}

static void test_staged_is_faster(void **state)
{
    (void)state;
    each(6e-6, 13e-6, 0, 20);
}

static void test_left_is_faster(void **state)
{
    (void)state;
    each(13e-6, 6e-6, 80, 100);
}

// Where processes share cores, each sends to all others, a few at a time, and waits meanwhile for what they do:
// which is, as they follow this one, what it did an exchange before. Long ones, of which few are tried elsewhere.
static int left_of_exchanges(double staged, double left_s, int tag)
{
    enum { OTHERS = PROCESSES - 1, AT_ONCE = 4 };
    int left = 0;
    struct comm comm = {.context = 1};
    uint64_t address = address_of(&comm, SPACE_COLL, tag);
    bool before[OTHERS] = {false}, is_timed;
    for (int i = 0; i < MESSAGES; i++) {
        bool *leaves = &before[i % OTHERS];
        now += *leaves ? left_s : staged;
        *leaves = way_leaves(1 << 18, true, address, &is_timed);
        left += i >= MESSAGES / 2 && *leaves;
        if (i % OTHERS % AT_ONCE == 0)
            has_all_at = now;
    }
    return 200 * left / MESSAGES;
}

static void test_exchanges(void **state)
{
    (void)state;
    is_crowded = true;
    for (int i = 0; i < 8; i++) {
        now += 1;
        assert_in_range(left_of_exchanges(130e-6, 80e-6, i), 80, 100);
        assert_in_range(left_of_exchanges(80e-6, 130e-6, i + 8), 0, 20);
    }
    is_crowded = false;
}

// Windows of messages both ways: each of two sends some, waits for all, and works on what came, which takes longer
// where it was staged. The other one, to which this one is the one before, does in a window what this one did in
// the last; and memory is where the old way left it in the first window that both go a new one.
enum { WINDOW = 16 };
struct window {
    double copy, wait, use; // s: to stage one, for all to be there, to work on them
};

static void expect(const struct transfer *came, bool was_left)
{
    for (int i = 0; i < WINDOW; i++)
        way_came(came, was_left, true);
}

static int left_of_windows(const struct window way[2], int tag)
{
    int left = 0;
    bool before = false, is_timed;
    struct comm comm = {.context = 1};
    struct type bytes = {.is_dense = true};
    struct transfer came = {
        .pe = SENDER + 1, .space = SPACE_COLL, .type = &bytes, .request.bytes = 1 << 15};
    came.request.tag = tag;
    for (int i = 0; i < MESSAGES / WINDOW; i++) {
        const struct window *w = NULL;
        bool leaves = false, last = before;
        for (int k = 0; k < WINDOW; k++) {
            leaves = way_leaves(1 << 15, false, address_of(&comm, SPACE_COLL, tag), &is_timed);
            w = &way[leaves];
            now += leaves ? 0 : w->copy;
            has_all_at = leaves ? has_all_at : now + w->wait;
            partners_out += leaves;
        }
        now += w->wait;
        if (partners_out)
            way_ended(1 << 15);
        partners_out = 0;
        expect(&came, last);
        now += leaves == last ? w->use : 2 * way[0].use + 2 * way[1].use;
        before = leaves;
        left += i >= MESSAGES / WINDOW / 2 && leaves;
    }
    return 200 * left / (MESSAGES / WINDOW);
}

static void test_windows(void **state)
{
    (void)state;
    static const struct window left_faster[2] = {{3e-6, 20e-6, 60e-6}, {0, 70e-6, 20e-6}};
    static const struct window staged_faster[2] = {{3e-6, 20e-6, 20e-6}, {0, 60e-6, 60e-6}};
    for (int i = 0; i < 8; i++) {
        now += 1;
        assert_in_range(left_of_windows(left_faster, i), 80, 100);
        assert_in_range(left_of_windows(staged_faster, i + 8), 0, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_staged_is_faster),
        cmocka_unit_test(test_left_is_faster),
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
