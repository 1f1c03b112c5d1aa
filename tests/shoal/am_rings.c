// SPDX-License-Identifier: BSD-3-Clause
// Rings: pairs of PEs that talk a lot, fall silent for so long that nobody looks at their ring any
// more, and talk again. No message is overlooked, whatever the receiver does meanwhile, and three
// senders that race for one inbox all get through.
#include "../check.h"

#include <shoal.h>

enum { PING = 1, PONG, COUNT, SILENCE = 20000 };

static uint64_t pings, pongs, counted;
static shoal_ct_t arrived;

static void on_ping(const shoal_am_t *am)
{
    pings++;
    CHECK_EQ(shoal_am_reply(am, PONG, am->arg, NULL, 0), SHOAL_OK);
}

static void on_pong(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, pongs);
    pongs++;
}

static void on_count(const shoal_am_t *am)
{
    counted += am->arg;
    CHECK_EQ(shoal_ct_inc(me, arrived, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

static void ping(int pe, int times)
{
    for (int i = 0; i < times; i++) {
        uint64_t number = pongs;
        CHECK_EQ(shoal_am_request(pe, PING, number, NULL, 0), SHOAL_OK);
        while (pongs == number)
            look();
    }
}

static void look_in_vain(int times)
{
    for (int i = 0; i < times; i++)
        CHECK(shoal_progress() >= 0);
}

// Talk, silence, talk: pairs, then everybody with everybody.
static void silences(void)
{
    for (int round = 0; round < 6; round++) {
        ping(me ^ 1, (me ^ 1) < npes ? 100 : 0);
        for (int pe = 0; pe < npes; pe++)
            ping((me + pe) % npes, round ? 3 : 70);
        shmem_barrier_all();
        look_in_vain(round % 2 ? SILENCE : 100);
    }
}

// A single message after every silence, at a moment when the receiver may be tidying up; it sleeps
// until the message has come.
static void single_messages(int n)
{
    int pe = me ^ 1;
    uint64_t least = 0;
    for (int i = 0; i < n && pe < npes; i++) {
        look_in_vain(me % 2 == i % 2 ? i * 37 % 9000 : 0);
        CHECK_EQ(shoal_am_request(pe, COUNT, 1, NULL, 0), SHOAL_OK);
        least++;
        CHECK_EQ(shoal_ct_wait(1, &arrived, &least, &(size_t){0}), SHOAL_OK);
    }
    if (pe < npes)
        CHECK_EQ(counted, (unsigned)n);
    shmem_barrier_all();
    counted = 0;
}

// PEs 1 to 3 at once into PE 0's inbox, again and again from an empty one.
static void race(void)
{
    enum { ROUNDS = 30, BURST = 90 };
    uint64_t senders = npes > 4 ? 3 : (unsigned)npes - 1;
    for (int round = 0; round < ROUNDS; round++) {
        counted = 0;
        shmem_barrier_all();
        for (uint64_t i = 0; i < BURST && me >= 1 && me <= 3; i++)
            CHECK_EQ(shoal_am_request(0, COUNT, i, &i, sizeof i * (i % 2)), SHOAL_OK);
        while (me == 0 && counted < senders * (BURST * (BURST - 1) / 2))
            look();
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &arrived), SHOAL_OK);
    CHECK_EQ(shoal_am_register(PING, on_ping, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(PONG, on_pong, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(COUNT, on_count, NULL), SHOAL_OK);
    shmem_barrier_all();
    silences();
    single_messages(200);
    race();
    return check_done();
}
