// SPDX-License-Identifier: BSD-3-Clause
// Between two PEs messages are handled in the order they were sent: 100,000 of them of mixed sizes,
// sent and built in place, through the change from the shared inbox to a ring; to one PE at first
// and then to all in turn, self included.
#include "../check.h"

#include <shoal.h>

enum { DATA = 1, DONE, MOST_PES = 64 };

static struct {
    uint64_t seed, next;
} from[MOST_PES];
static size_t most;
static unsigned char payload[8192];
static int done;

// The size of a message follows from its number.
static size_t size_of(uint64_t *seed)
{
    switch (rnd(seed) % 16) {
    case 0: return 33 + rnd_below(seed, most - 32);
    case 1: return most;
    case 2: return rnd_below(seed, most < 200 ? most : 200);
    default: return rnd_below(seed, 33);
    }
}

static void on_data(const shoal_am_t *am)
{
    size_t n = size_of(&from[am->from].seed);
    CHECK_EQ(am->arg, from[am->from].next);
    CHECK_EQ(am->n, n);
    const unsigned char *p = am->payload, first = (unsigned char)am->arg;
    if (n > 0)
        CHECK(p[0] == first && p[n / 2] == first && p[n - 1] == first);
    from[am->from].next++;
}

static void on_done(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, from[am->from].next);
    done++;
}

static void send(int pe, uint64_t number, size_t n)
{
    if (number % 5 == 0) {
        shoal_am_room_t room;
        CHECK_EQ(shoal_am_reserve(pe, number % 2 ? n : most, &room), SHOAL_OK);
        memset(room.payload, (int)number, n);
        CHECK_EQ(shoal_am_commit(&room, DATA, number, n), SHOAL_OK);
        return;
    }
    memset(payload, (int)number, n);
    CHECK_EQ(shoal_am_request(pe, DATA, number, payload, n), SHOAL_OK);
}

static void start(void)
{
    done = 0;
    for (int pe = 0; pe < npes; pe++) {
        from[pe].next = 0;
        from[pe].seed = (uint64_t)(pe * MOST_PES + me);
    }
    shmem_barrier_all();
}

static void finish(int pe, uint64_t n)
{
    CHECK_EQ(shoal_am_request(pe, DONE, n, NULL, 0), SHOAL_OK);
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

static void until_done(int senders)
{
    while (done < senders)
        look();
    shmem_barrier_all();
}

static void to_one(int pe, uint64_t n)
{
    uint64_t seed = (uint64_t)(me * MOST_PES + pe);
    start();
    for (uint64_t i = 0; i < n; i++)
        send(pe, i, size_of(&seed));
    finish(pe, n);
    until_done(1);
}

static void to_all(uint64_t n)
{
    uint64_t seed[MOST_PES];
    start();
    for (int pe = 0; pe < npes; pe++)
        seed[pe] = (uint64_t)(me * MOST_PES + pe);
    for (uint64_t i = 0; i < n; i++)
        for (int k = 0; k < npes; k++) {
            int pe = (me + k) % npes;
            send(pe, i, size_of(&seed[pe]));
        }
    for (int pe = 0; pe < npes; pe++)
        finish(pe, n);
    until_done(npes);
}

int main(void)
{
    uint64_t v = 0, messages = 100000;
    check_start();
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &v), SHOAL_OK);
    most = (size_t)v;
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    if (most < 1024) // tiny limits: every message waits for the one before
        messages /= 10;
    if (npes > 2)
        messages /= (unsigned)npes - 1;
    CHECK_EQ(shoal_am_register(DATA, on_data, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(DONE, on_done, NULL), SHOAL_OK);
    to_all(20);
    to_one(right_pe(), messages);
    to_all(messages / 20 / (unsigned)npes);
    return check_done();
}
