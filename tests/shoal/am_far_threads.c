// SPDX-License-Identifier: BSD-3-Clause
// Threads that send messages of all lengths to PEs of other nodes at once, of which long ones go in
// parts that those of others come between: each is whole, and comes once, each thread's in its order.
// PES: 2 4 7
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 3, MOST_PES = 64, ID = 1, MESSAGES = 60 };

static uint64_t next[MOST_PES][THREADS];
static _Atomic uint64_t handled;
static uint64_t most;

static unsigned char byte_of(int from, uint64_t arg, size_t i)
{
    return (unsigned char)((uint64_t)from * 89 + arg * 7 + (arg >> 32) * 13 + i * 31 + i / 251);
}

static uint64_t length_of(uint64_t arg)
{
    return arg % 3 == 0 ? most - arg % 4 : arg % 3 == 1 ? arg % 50 : most / 60 * (arg % 60);
}

static void on_message(const shoal_am_t *am)
{
    uint64_t thread = am->arg >> 32, number = am->arg & UINT32_MAX;
    const unsigned char *in = am->payload;
    if (!CHECK(thread < THREADS))
        return;
    CHECK_EQ(number, next[am->from][thread]++);
    CHECK_EQ(am->n, length_of(am->arg));
    CHECK_EACH(i, am->n, in[i], byte_of(am->from, am->arg, i));
    handled++;
}

static bool is_far(int pe)
{
    uint64_t direct = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &direct), SHOAL_OK);
    return !direct;
}

static void *sender(void *arg)
{
    uint64_t thread = (uint64_t)(uintptr_t)arg;
    unsigned char *out = must_alloc(most);
    for (uint64_t i = 0; i < MESSAGES; i++)
        for (int pe = 0; pe < npes; pe++) {
            uint64_t number = thread << 32 | i, n = length_of(number);
            int status = SHOAL_EAGAIN;
            if (!is_far(pe))
                continue;
            for (size_t k = 0; k < n; k++)
                out[k] = byte_of(me, number, k);
            while (i % 2 && (status = shoal_am_try(pe, ID, number, out, n)) == SHOAL_EAGAIN)
                CHECK(shoal_progress() >= 0);
            if (i % 2 == 0)
                status = shoal_am_request(pe, ID, number, out, n);
            CHECK_EQ(status, SHOAL_OK);
            memset(out, 0xEE, n); // copied
        }
    free(out);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t all = 0;
    check_start();
    CHECK(npes <= MOST_PES);
    for (int pe = 0; pe < npes; pe++) {
        all += is_far(pe) ? THREADS * MESSAGES : 0;
        if (is_far(pe))
            CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX_TO, pe, &most), SHOAL_OK);
    }
    CHECK(all > 0);
    CHECK_EQ(shoal_am_register(ID, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, sender, (void *)i), 0);
    while (handled < all) { // this thread's handlers, or others'
        CHECK(shoal_progress() >= 0);
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    CHECK_EQ(handled, all);
    return check_done();
}
