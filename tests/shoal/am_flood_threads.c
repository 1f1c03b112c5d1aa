// SPDX-License-Identifier: BSD-3-Clause
// Threads that send at once, to all PEs: each thread's messages come in its order, every one of
// them once, whoever of them happens to run the handlers, one at a time; with slots reserved by
// some while others send, through the change from the shared inbox to a ring.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 4, MOST_PES = 64, DATA = 1, ANSWER };

static uint64_t next[MOST_PES][THREADS], answers[THREADS];
static _Atomic uint64_t handled, answered;
static _Atomic int inside;
static uint64_t messages;
static size_t most;

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

static void on_data(const shoal_am_t *am)
{
    uint64_t thread = am->arg >> 32, number = am->arg & UINT32_MAX;
    CHECK_EQ(++inside, 1);
    CHECK_EQ(number, next[am->from][thread]++);
    for (size_t i = 0; i < am->n; i++)
        if (!CHECK_EQ(((const unsigned char *)am->payload)[i], (unsigned char)(number + thread)))
            break;
    if (number % 8 == 0)
        CHECK_EQ(shoal_am_reply(am, ANSWER, thread, NULL, 0), SHOAL_OK);
    inside--;
    handled++;
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(++inside, 1);
    answers[am->arg]++;
    inside--;
    answered++;
}

static void *sender(void *arg)
{
    uint64_t thread = (uint64_t)(uintptr_t)arg, seed = thread;
    unsigned char payload[8192];
    for (uint64_t i = 0; i < messages; i++)
        for (int k = 0; k < npes; k++) {
            int pe = (me + k) % npes;
            size_t n = rnd_below(&seed, 4) ? rnd_below(&seed, 40) : rnd_below(&seed, most + 1);
            uint64_t number = thread << 32 | i;
            if (rnd_below(&seed, 3) == 0) {
                shoal_am_room_t room;
                CHECK_EQ(shoal_am_reserve(pe, n, &room), SHOAL_OK);
                if (rnd_below(&seed, 8) == 0)
                    sched_yield(); // the others go on meanwhile
                memset(room.payload, (int)(i + thread), n);
                CHECK_EQ(shoal_am_commit(&room, DATA, number, n), SHOAL_OK);
            } else {
                memset(payload, (int)(i + thread), n);
                CHECK_EQ(shoal_am_request(pe, DATA, number, payload, n), SHOAL_OK);
            }
        }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    uint64_t v = 0;
    check_start_threads();
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &v), SHOAL_OK);
    most = (size_t)v;
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    messages = (most < 1024 ? 2000u : 12000u) / (unsigned)(npes * npes) + 100;
    CHECK_EQ(shoal_am_register(DATA, on_data, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (uintptr_t t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, sender, (void *)t), 0);
    uint64_t each = messages * (unsigned)npes, replies = (messages + 7) / 8 * (unsigned)npes;
    while (handled < THREADS * each || answered < THREADS * replies)
        look();
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
    CHECK_EQ(handled, THREADS * each);
    CHECK_EACH(t, THREADS, answers[t], replies);
    return check_done();
}
