// SPDX-License-Identifier: BSD-3-Clause
// Four threads of each PE that put, get, count, wait, trigger, accumulate, send messages and do
// atomics at once: what each thread moves is right, and nothing that is added up is lost.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 4, ROUNDS = 150, WORDS = 40, MESSAGE = 7 };

static uint64_t lane[THREADS][WORDS], chained[THREADS]; // symmetric
static uint64_t ticket, sums[WORDS];
static long double wide[2];
static shoal_ct_t arrived[THREADS], checked[THREADS], fired[THREADS];
static uint64_t handled, argument_sum, payload_sum; // handlers run one at a time
static _Atomic uint64_t total_handled;

static void on_message(const shoal_am_t *am)
{
    uint64_t word = 0;
    if (CHECK_EQ(am->n, sizeof word))
        memcpy(&word, am->payload, sizeof word);
    handled++;
    argument_sum += am->arg;
    payload_sum += word;
    total_handled++;
}

static shoal_rptr_t at(const void *addr, int pe)
{
    shoal_rptr_t r = {0, 0, 0, 0};
    CHECK_EQ(shoal_rptr_symmetric(addr, pe, &r), SHOAL_OK);
    return r;
}

static uint64_t value(int pe, uintptr_t t, uint64_t round, size_t i)
{
    return (uint64_t)pe << 48 | (uint64_t)t << 40 | round << 16 | i;
}

static void wait_for(shoal_ct_t ct, uint64_t least)
{
    CHECK_EQ(shoal_ct_wait(1, &ct, &least, NULL), SHOAL_OK);
}

// A block goes right and comes back by a get; one word goes right when the left one's has come.
static void move(uintptr_t t, uint64_t round)
{
    uint64_t block[WORDS], back[WORDS], word = value(me, t, round, 99);
    shoal_event_t event = {0}, *events[] = {&event};
    for (size_t i = 0; i < WORDS; i++)
        block[i] = value(me, t, round, i);
    shoal_work_t work = {.kind = SHOAL_WORK_PUT,
                         .remote = at(&chained[t], right_pe()),
                         .local = &word,
                         .n = sizeof word,
                         .comp = {.target_ct = fired[t]}};
    CHECK_EQ(shoal_trigger(&work, arrived[t], round + 1, SHOAL_CT_NONE, NULL), SHOAL_OK);
    CHECK_EQ(shoal_put(at(lane[t], right_pe()), block, sizeof block,
                       &(shoal_comp_t){.target_ct = arrived[t]}, &event),
             SHOAL_OK);
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_get(back, at(lane[t], right_pe()), sizeof back, NULL, &event), SHOAL_OK);
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EACH(i, WORDS, back[i], block[i]);
    wait_for(arrived[t], round + 1);
    CHECK_EACH(i, WORDS, lane[t][i], value(left_pe(), t, round, i));
    wait_for(fired[t], round + 1);
    CHECK_EQ(chained[t], value(left_pe(), t, round, 99));
    CHECK_EQ(shoal_ct_inc(left_pe(), checked[t], (shoal_ct_value_t){1, 0}), SHOAL_OK);
    wait_for(checked[t], round + 1); // the right one has seen both
}

static void add(uint64_t round)
{
    uint64_t one = 1, old = UINT64_MAX, ones[WORDS];
    const long double wide_ones[2] = {1, 2};
    const size_t all = sizeof ones, both = sizeof wide;
    int pe = (int)((unsigned)me + round) % npes;
    for (size_t i = 0; i < WORDS; i++)
        ones[i] = i;
    CHECK_EQ(shoal_atomic(at(&ticket, 0), SHOAL_SUM, SHOAL_UINT64, &one, NULL, &old, NULL, NULL),
             SHOAL_OK);
    CHECK(old < (uint64_t)npes * THREADS * ROUNDS);
    CHECK_EQ(shoal_acc(at(sums, pe), NULL, ones, NULL, &all, 0, SHOAL_SUM, SHOAL_UINT64, NULL, NULL,
                       NULL),
             SHOAL_OK);
    CHECK_EQ(shoal_acc(at(wide, pe), NULL, wide_ones, NULL, &both, 0, SHOAL_SUM, SHOAL_LONG_DOUBLE,
                       NULL, NULL, NULL),
             SHOAL_OK);
    CHECK_EQ(shoal_am_request(pe, MESSAGE, round, &(uint64_t){round * 3}, sizeof(uint64_t)),
             SHOAL_OK);
}

static void *work(void *arg)
{
    uintptr_t t = (uintptr_t)arg;
    void *own[4];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        own[round % 4] = shoal_alloc(8 * (round % 50 + 1));
        if (CHECK(own[round % 4] != NULL))
            memset(own[round % 4], (int)t, 8 * (round % 50 + 1));
        move(t, round);
        add(round);
        CHECK(shoal_progress() >= 0);
        if (own[round % 4])
            CHECK_EQ(shoal_free(own[round % 4]), SHOAL_OK);
    }
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    return NULL;
}

static void check_totals(void)
{
    const uint64_t each = (uint64_t)THREADS * ROUNDS; // so many on each PE: all send round robin
    uint64_t expected = 0, messages = 0;
    for (int from = 0; from < npes; from++)
        for (uint64_t round = 0; round < ROUNDS; round++)
            if ((int)((unsigned)from + round) % npes == me) {
                messages += THREADS;
                expected += THREADS * round;
            }
    while (total_handled < messages)
        CHECK(shoal_progress() >= 0);
    shmem_barrier_all();
    CHECK_EQ(handled, messages);
    CHECK_EQ(argument_sum, expected);
    CHECK_EQ(payload_sum, 3 * expected);
    CHECK_EACH(i, WORDS, sums[i], messages * i);
    CHECK_EQ(wide[0], messages);
    CHECK_EQ(wide[1], 2 * messages);
    CHECK_EQ(ticket, me == 0 ? each * (uint64_t)npes : 0);
}

int main(void)
{
    pthread_t thread[THREADS];
    check_start_threads();
    CHECK_EQ(shoal_am_register(MESSAGE, on_message, NULL), SHOAL_OK);
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &arrived[t]), SHOAL_OK);
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &checked[t]), SHOAL_OK);
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &fired[t]), SHOAL_OK);
    }
    shmem_barrier_all();
    for (uintptr_t t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, work, (void *)t), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    check_totals();
    shmem_barrier_all();
    return check_done();
}
