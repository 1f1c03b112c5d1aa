// SPDX-License-Identifier: BSD-3-Clause
// Floods: everybody to everybody, all to one that seldom looks, and floods in which every message
// is answered from its handler. All end, nothing is lost, and what a PE keeps of messages that
// wait for it stays bounded: a sender is held back instead.
#include "../check.h"
#include "../proc.h"

#include <shoal.h>

enum { COUNT = 1, ASK, ANSWER, RELAY, MEGABYTE = 1 << 20 };

static uint64_t counted, answered, sum, relayed;
static size_t most;
static unsigned char payload[8192];
static uint64_t messages; // of one flood, per PE

static void on_count(const shoal_am_t *am)
{
    counted++;
    sum += am->arg;
}

static void on_ask(const shoal_am_t *am)
{
    sum += am->arg;
    counted++;
    CHECK_EQ(shoal_am_reply(am, ANSWER, am->arg, am->payload, am->n), SHOAL_OK);
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->is_reply, 1);
    answered++;
    sum += am->arg;
}

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

// Goes around all PEs `arg` times.
static void on_relay(const shoal_am_t *am)
{
    relayed++;
    if (am->arg > 0)
        CHECK_EQ(shoal_am_request(right_pe(), RELAY, am->arg - 1, am->payload, am->n), SHOAL_OK);
}

static void until(const uint64_t *count, uint64_t least)
{
    while (*count < least)
        look();
    CHECK_EQ(*count, least);
}

static void start(void)
{
    counted = answered = sum = relayed = 0;
    shmem_barrier_all();
}

static void all_to_all(void)
{
    start();
    for (uint64_t i = 0; i < messages; i++)
        for (int k = 0; k < npes; k++)
            CHECK_EQ(shoal_am_request((me + k) % npes, COUNT, i, payload, i % most), SHOAL_OK);
    until(&counted, messages * (unsigned)npes);
    CHECK_EQ(sum, (unsigned)npes * (messages * (messages - 1) / 2));
    shmem_barrier_all();
}

// The receiver takes a few, then does something else for a while.
static void all_to_one(int one)
{
    start();
    for (uint64_t i = 0; i < messages && me != one; i++)
        CHECK_EQ(shoal_am_request(one, COUNT, i, payload, i % 64), SHOAL_OK);
    while (me == one && counted < messages * (unsigned)(npes - 1)) {
        CHECK(shoal_progress() >= 0);
        for (volatile int i = 0; i < 2000; i++)
            ;
    }
    shmem_barrier_all();
    CHECK_EQ(counted, me == one ? messages * (unsigned)(npes - 1) : 0);
}

// Everybody asks everybody, and answers from the handler.
static void ask_all(void)
{
    start();
    for (uint64_t i = 0; i < messages; i++)
        for (int k = 0; k < npes; k++)
            CHECK_EQ(shoal_am_request((me + k) % npes, ASK, i, payload, i % most), SHOAL_OK);
    until(&answered, messages * (unsigned)npes);
    until(&counted, messages * (unsigned)npes);
    CHECK_EQ(sum, 2 * (unsigned)npes * (messages * (messages - 1) / 2));
    shmem_barrier_all();
}

static void relay(void)
{
    enum { LAPS = 30 };
    uint64_t hops = LAPS * (unsigned)npes;
    start();
    for (int i = 0; i < 100; i++)
        CHECK_EQ(shoal_am_request(right_pe(), RELAY, hops - 1, payload, (size_t)i), SHOAL_OK);
    until(&relayed, 100 * hops); // as many from each starter
    shmem_barrier_all();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they keep what is freed
// The most this process has had in memory so far, in KB.
static size_t peak(void)
{
    return (size_t)proc_kb("/proc/self/status", "VmHWM:");
}

// What is on its way does not pile up where it is waited for: the receiver of a long flood needs
// little memory, also when its handlers answer a sender that computes between two messages and
// never has to wait. Odd PEs send.
static void memory(int id, int pause, const char *what)
{
    size_t before = peak(), sent = 0, total = (most < 1024 ? 4u : 48u) * MEGABYTE;
    int pe = me ^ 1;
    start();
    for (; sent < total && me % 2 && pe < npes; sent += most) {
        CHECK_EQ(shoal_am_request(pe, id, 0, payload, most), SHOAL_OK);
        for (volatile int i = 0; i < pause; i++)
            ;
    }
    if (pe < npes)
        until(me % 2 == 0 ? &counted : &answered,
              me % 2 == 0 || id == ASK ? (total + most - 1) / most : 0);
    size_t after = peak();
    if (!CHECK(after < before + (total >> 10) / 8))
        fprintf(stderr, "    %zu KB in %s of %zu KB\n", after - before, what, total >> 10);
    shmem_barrier_all();
}

static void memories(void)
{
    memory(COUNT, 0, "a flood");
    memory(ASK, 3000, "a slow flood that is answered");
    memory(ASK, 0, "a flood that is answered");
}
#else
static void memories(void)
{
}
#endif

int main(void)
{
    uint64_t v = 0;
    check_start();
    check_spread();
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &v), SHOAL_OK);
    most = (size_t)v;
    messages = (most < 1024 ? 3000u : 30000u) / (unsigned)(npes * npes) + 300;
    CHECK_EQ(shoal_am_register(COUNT, on_count, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ASK, on_ask, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(RELAY, on_relay, NULL), SHOAL_OK);
    memories();
    all_to_all();
    all_to_one(0);
    all_to_one(npes - 1);
    ask_all();
    relay();
    return check_done();
}
