// SPDX-License-Identifier: BSD-3-Clause
// The rhythm of messages changes: one there and one back, many times; bursts; a few without an answer;
// to one PE and then to another, of any length. All of them come once and in order, every byte as it
// was sent.
#include "../check.h"

#include <shoal.h>

enum { MOST_PES = 64, ROUNDS = 400, DATA = 1, ANSWER };

#define ASKS (UINT64_C(1) << 32) // in a message's argument, beside its number

static uint64_t sent[MOST_PES], came[MOST_PES], gave[MOST_PES], got[MOST_PES];
static uint64_t handled, asked, answered;
static size_t most;

static unsigned char byte_of(uint64_t arg, size_t i)
{
    return (unsigned char)(arg * 31 + i * 7 + (arg >> 8));
}

static void fill_from(unsigned char *payload, uint64_t arg, size_t n)
{
    for (size_t i = 0; i < n; i++)
        payload[i] = byte_of(arg, i);
}

static void check(const shoal_am_t *am)
{
    for (size_t i = 0; i < am->n; i++)
        if (!CHECK_EQ(((const unsigned char *)am->payload)[i], byte_of(am->arg, i)))
            break;
}

static void on_data(const shoal_am_t *am)
{
    unsigned char payload[8192];
    uint64_t number = am->arg & (ASKS - 1);
    CHECK_EQ(number, came[am->from]++);
    check(am);
    handled++;
    if (!(am->arg & ASKS))
        return;
    size_t n = number % 3 ? number % 70 : number * 37 % (most + 1);
    uint64_t arg = gave[am->from]++;
    fill_from(payload, arg, n);
    CHECK_EQ(shoal_am_reply(am, ANSWER, arg, payload, n), SHOAL_OK);
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, got[am->from]++);
    check(am);
    answered++;
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    if (shoal_progress() == 0)
        sched_yield();
}

static void send(uint64_t *seed, int pe, bool asks)
{
    unsigned char payload[8192];
    shoal_am_room_t room;
    size_t n = rnd_below(seed, 3) ? rnd_below(seed, 80) : rnd_below(seed, most + 1);
    uint64_t arg = sent[pe]++ | (asks ? ASKS : 0);
    asked += asks;
    if (rnd_below(seed, 6) == 0) {
        CHECK_EQ(shoal_am_reserve(pe, n, &room), SHOAL_OK);
        fill_from(room.payload, arg, n);
        CHECK_EQ(shoal_am_commit(&room, DATA, arg, n), SHOAL_OK);
    } else {
        fill_from(payload, arg, n);
        CHECK_EQ(shoal_am_request(pe, DATA, arg, payload, n), SHOAL_OK);
    }
}

// Bursts of `length`, after each of which this PE waits, if the last of it asks for an answer.
static void exchange(uint64_t *seed, int pe, int bursts, int length, bool asks)
{
    for (int b = 0; b < bursts; b++) {
        for (int i = 0; i < length; i++)
            send(seed, pe, asks && i == length - 1);
        while (answered < asked)
            look();
    }
}

int main(void)
{
    static const int lengths[] = {1, 1, 1, 1, 1, 2, 2, 3, 5, 9, 70};
    check_start();
    uint64_t v = 0, seed = (uint64_t)me, expected = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &v), SHOAL_OK);
    most = (size_t)v < 8192 ? (size_t)v : 8192;
    CHECK_EQ(shoal_am_register(DATA, on_data, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        int length = lengths[rnd_below(&seed, sizeof lengths / sizeof *lengths)];
        int bursts = length < 3 ? 1 + (int)rnd_below(&seed, 30) : 1;
        exchange(&seed, (int)rnd_below(&seed, (size_t)npes), bursts, length, rnd_below(&seed, 3));
    }
    static uint64_t all[MOST_PES], own[MOST_PES];
    memcpy(own, sent, sizeof own);
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, own, (size_t)npes);
    for (expected = all[me]; handled < expected;)
        look();
    shmem_barrier_all();
    CHECK_EQ(handled, expected);
    return check_done();
}
