// SPDX-License-Identifier: BSD-3-Clause
// What follows a transfer: events, the signal, the target's counter, the message, this PE's counter;
// for every kind of transfer, to memory that is shared and to memory that is private.
#include "../check.h"

#include <shoal.h>

enum { SIZE = 1024, PUT, GET, PUTS, GETS, PUTV, GETV, ATOMIC, ACC, CALLS_END, AM = 9 };

static struct {
    shoal_key_t key[2]; // of shared and private memory
    shoal_rptr_t word;
} names, theirs;
static uint64_t word, pad[7]; // the signal
static unsigned char *memory[2];
static unsigned char local[SIZE], got[SIZE];
static shoal_ct_t target_ct, own_ct;
static uint64_t targets, owns; // what the counters have reached
static uint64_t messages, expected_arg;
static int expected_from;

static uint64_t success(shoal_ct_t ct)
{
    shoal_ct_value_t v = {99, 99};
    CHECK_EQ(shoal_ct_get(ct, &v), SHOAL_OK);
    CHECK_EQ(v.failure, 0);
    return v.success;
}

// The message is the last to come to the target.
static void handler(const shoal_am_t *am)
{
    CHECK_EQ(am->from, expected_from);
    CHECK_EQ(am->arg, expected_arg);
    CHECK_EQ(am->id, AM);
    CHECK_EQ(am->n, 0);
    CHECK_EQ(am->is_reply, 0);
    CHECK(am->user == &word);
    CHECK_EQ(word, expected_arg);
    CHECK_EQ(success(target_ct), targets + 1);
    messages++;
}

// n bytes in the way of `call`; those that put leave what is in `local` at r.
static int transfer(int call, shoal_rptr_t r, size_t n, const shoal_comp_t *comp,
                    shoal_event_t *event)
{
    const ptrdiff_t stride[] = {(ptrdiff_t)n / 2};
    const size_t halves[] = {n / 2, 2};
    uint64_t first;
    shoal_part_t part[] = {
        {r, call == PUTV ? local : got, n / 4},
        {shoal_rptr_add(r, (ptrdiff_t)(n / 4)), (call == PUTV ? local : got) + n / 4, n - n / 4}};
    memcpy(&first, local, sizeof first);
    switch (call) {
    case PUT: return shoal_put(r, local, n, comp, event);
    case GET: return shoal_get(got, r, n, comp, event);
    case PUTS: return shoal_puts(r, stride, local, stride, halves, 1, comp, event);
    case GETS: return shoal_gets(got, stride, r, stride, halves, 1, comp, event);
    case PUTV: return shoal_putv(part, 2, comp, event);
    case GETV: return shoal_getv(part, 2, comp, event);
    case ATOMIC: return shoal_atomic(r, SHOAL_SET, SHOAL_UINT64, &first, NULL, NULL, comp, event);
    default:
        return shoal_acc(r, stride, local, stride, halves, 1, SHOAL_SET, SHOAL_UINT8, NULL, comp,
                         event);
    }
}

static bool is_get(int call)
{
    return call == GET || call == GETS || call == GETV;
}

static size_t bytes_of(int call)
{
    return call == ATOMIC ? sizeof(uint64_t) : SIZE;
}

static void wait_for(shoal_event_t *event)
{
    shoal_event_t *list[] = {NULL, event, NULL, event}; // twice: it is one event all the same
    size_t done = 0, index[4] = {9, 9, 9, 9};
    CHECK_EQ(shoal_wait(4, list, 4, &done, index), SHOAL_OK);
    CHECK_EQ(done, 4);
    CHECK_EACH(i, 4, index[i], i);
    done = 0;
    CHECK_EQ(shoal_test(4, list, &done, NULL), SHOAL_OK);
    CHECK_EQ(done, 4);
    CHECK_EQ(event->status, SHOAL_OK);
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

// The target, which is me here too: all that it is told, and the data.
static void arrived(int call, int kind, int from, uint64_t signal)
{
    CHECK_EQ(shoal_ct_wait(1, &target_ct, &(uint64_t){targets + 1}, &(size_t){0}), SHOAL_OK);
    CHECK_EQ(word, signal);
    uint64_t before = messages;
    while (before == 0 && messages == 0)
        look();
    messages = 0;
    targets++;
    for (size_t i = 0; i < bytes_of(call) && !is_get(call); i++)
        if (!CHECK_EQ(memory[kind][i], fill_byte((unsigned)(from + call), i)))
            break;
}

static void all_of_it(int call, int kind, int op)
{
    shoal_event_t event = {0};
    shoal_rptr_t r;
    shoal_comp_t comp = {.initiator_ct = own_ct,
                         .target_ct = target_ct,
                         .signal = &theirs.word,
                         .signal_value = 1000u + (unsigned)call,
                         .signal_op = op,
                         .am_id = AM,
                         .am_arg = 1000u + (unsigned)call + (op == SHMEM_SIGNAL_ADD ? 5 : 0)};
    word = op == SHMEM_SIGNAL_ADD ? 5 : 6;
    expected_arg = comp.am_arg;
    expected_from = left_pe();
    fill(memory[kind], SIZE, (unsigned)(me + 100));
    fill(local, SIZE, (unsigned)(me + call));
    memset(got, 0, SIZE);
    shmem_barrier_all();
    CHECK_EQ(shoal_rptr(&theirs.key[kind], 0, &r), SHOAL_OK);
    CHECK_EQ(transfer(call, r, SIZE, &comp, &event), SHOAL_OK);
    wait_for(&event);
    CHECK_EQ(shoal_ct_wait(1, &own_ct, &(uint64_t){++owns}, &(size_t){0}), SHOAL_OK);
    CHECK_EQ(success(own_ct), owns);
    for (size_t i = 0; i < SIZE && is_get(call); i++)
        if (!CHECK_EQ(got[i], fill_byte((unsigned)(right_pe() + 100), i)))
            break;
    arrived(call, kind, left_pe(), comp.am_arg);
    shmem_barrier_all();
}

// Each completion by itself, of no bytes at all: they happen, and only they.
static void one_at_a_time(int call, int kind)
{
    shoal_rptr_t r;
    size_t n = 0;
    CHECK_EQ(shoal_rptr(&theirs.key[kind], call == ATOMIC ? 0 : SIZE, &r), SHOAL_OK);
    for (int which = 0; which < 5; which++) {
        shoal_comp_t comp = {0};
        shoal_event_t event = {0};
        word = 0;
        shmem_barrier_all();
        comp.initiator_ct = which == 1 ? own_ct : SHOAL_CT_NONE;
        comp.target_ct = which == 2 ? target_ct : SHOAL_CT_NONE;
        comp.signal = which == 3 ? &theirs.word : NULL;
        comp.signal_value = 7;
        comp.signal_op = SHMEM_SIGNAL_SET;
        CHECK_EQ(transfer(call, r, n, which ? &comp : NULL, which == 4 ? &event : NULL), SHOAL_OK);
        CHECK_EQ(shoal_quiet(right_pe()), SHOAL_OK);
        owns += which == 1;
        targets += which == 2;
        CHECK_EQ(success(own_ct), owns);
        shmem_barrier_all();
        CHECK_EQ(success(target_ct), targets);
        CHECK_EQ(word, which == 3 ? 7 : 0);
        CHECK_EQ(messages, 0);
        shmem_barrier_all();
    }
}

static void event_arguments(void)
{
    shoal_event_t event = {0}, *list[] = {&event, NULL};
    size_t done = 7;
    CHECK_EQ(shoal_wait(1, list, 2, &done, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_wait(1, NULL, 1, &done, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_test(1, NULL, &done, NULL), SHOAL_EINVAL);
    CHECK_EQ(done, 7);
    CHECK_EQ(shoal_wait(0, NULL, 0, &done, NULL), SHOAL_OK);
    CHECK_EQ(done, 0);
    CHECK_EQ(shoal_wait(2, list, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    CHECK_EQ(shoal_quiet(npes), SHOAL_EINVAL);
    CHECK_EQ(shoal_quiet(-2), SHOAL_EINVAL);
}

int main(void)
{
    shoal_region_t region[2];
    check_start();
    memory[0] = must_shmalloc(SIZE);
    memory[1] = must_alloc(SIZE);
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(shoal_region_register(memory[k], SIZE, &region[k]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[k], &names.key[k]), SHOAL_OK);
    }
    CHECK_EQ(shoal_rptr_own(&word, &names.word), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &target_ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &own_ct), SHOAL_OK);
    CHECK_EQ(shoal_am_register(AM, handler, &word), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof names, right_pe());
    for (int call = PUT; call < CALLS_END; call++)
        for (int kind = 0; kind < 2; kind++) {
            all_of_it(call, kind, SHMEM_SIGNAL_SET);
            all_of_it(call, kind, SHMEM_SIGNAL_ADD);
            one_at_a_time(call, kind);
        }
    event_arguments();
    CHECK_EACH(i, 7, pad[i], 0);
    return check_done();
}
