// SPDX-License-Identifier: BSD-3-Clause
// shoal_threads: threads that promise to come one at a time, each after the one before, send and take
// messages as a program with one thread does, also where the library has a thread of its own (on several
// nodes): all come, once, in their order, and some are taken without their handler. The promise ends
// with the next user of the library.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { DATA = 1, MET, THREADS = 3, EACH = 2000, PIECE = 8, MOST_PES = 64, TRIES = 50 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
// What follows is written by the thread whose turn it is.
static uint64_t sent[MOST_PES], come[MOST_PES], taken, limit;
static size_t lengths[] = {0, 8, 32, 33, 100};
static bool near_only, has_near, is_near[MOST_PES]; // another PE of this node

static size_t length_of(uint64_t k)
{
    return lengths[k % (sizeof lengths / sizeof lengths[0])];
}

static void check_message(int from, uint64_t k, const unsigned char *data, size_t n)
{
    CHECK_EQ(k, come[from]++);
    CHECK_EQ(n, length_of(k));
    for (size_t i = 0; i < n; i++)
        if (!CHECK_EQ(data[i], (unsigned char)(k + (uint64_t)from + i)))
            break;
}

static void on_data(const shoal_am_t *am)
{
    check_message(am->from, am->arg, am->payload, am->n);
    if (is_near[am->from])
        shoal_am_enough(); // the others are for shoal_am_take
}

static uint64_t met;

static void on_met(const shoal_am_t *am)
{
    (void)am;
    met++;
}

static void meet(void) // all PEs
{
    static uint64_t times;
    times++;
    for (int i = 1; i < npes; i++)
        CHECK_EQ(shoal_am_request((me + i) % npes, MET, 0, NULL, 0), SHOAL_OK);
    while (met < times * (uint64_t)(npes - 1))
        CHECK(shoal_progress() >= 0);
}

static void send_some(int pe)
{
    unsigned char data[128];
    for (int i = 0; i < PIECE && sent[pe] < limit; i++) {
        uint64_t k = sent[pe];
        for (size_t b = 0; b < sizeof data; b++)
            data[b] = (unsigned char)(k + (uint64_t)me + b);
        int status = shoal_am_try(pe, DATA, k, data, length_of(k));
        if (status == SHOAL_EAGAIN)
            break;
        CHECK_EQ(status, SHOAL_OK);
        sent[pe]++;
    }
}

static void take_some(void)
{
    unsigned char data[128];
    for (int i = 0; i < TRIES; i++) {
        shoal_am_wanted_t w = {.from = -1, .id = DATA, .buf = data, .room = sizeof data};
        if (shoal_am_take(&w, 1) != SHOAL_OK)
            continue;
        check_message(w.from, w.arg, data, w.n);
        taken++;
    }
    CHECK(shoal_progress() >= 0);
}

static void *run(void *unused)
{
    for (bool is_done = false; !is_done;) {
        pthread_mutex_lock(&turn);
        is_done = true;
        for (int i = 1; i < npes; i++) {
            int pe = (me + i) % npes;
            if (near_only && !is_near[pe])
                continue;
            send_some(pe);
            is_done = is_done && sent[pe] == limit && come[pe] >= limit;
        }
        take_some();
        pthread_mutex_unlock(&turn);
        sched_yield();
    }
    return unused;
}

// Until so many messages have gone to each, and come, in all.
static void run_all(uint64_t until)
{
    pthread_t thread[THREADS];
    taken = 0;
    limit = until;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, run, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

int main(void)
{
    uint64_t v = 0;
    CHECK_EQ(shoal_threads(SHOAL_THREADS_ONE), SHOAL_EINIT);
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_query(SHOAL_Q_PE, 0, &v), SHOAL_OK);
    me = (int)v;
    CHECK_EQ(shoal_query(SHOAL_Q_NPES, 0, &v), SHOAL_OK);
    npes = (int)v;
    if (npes > MOST_PES)
        check_skip("more PEs than it has tables for");
    for (int k = 0; k < npes; k++) {
        CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, k, &v), SHOAL_OK);
        is_near[k] = v && k != me;
        has_near = has_near || is_near[k];
    }
    CHECK_EQ(shoal_threads(7), SHOAL_EINVAL);
    CHECK_EQ(shoal_threads(SHOAL_THREADS_ONE), SHOAL_OK);
    CHECK_EQ(shoal_am_register(DATA, on_data, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(MET, on_met, NULL), SHOAL_OK);
    near_only = true;
    run_all(EACH);
    CHECK(taken > 0 || !has_near);
    meet();
    near_only = false;
    run_all(2 * EACH);
    meet();
    CHECK_EQ(shoal_init(), SHOAL_OK); // another user, whose threads promise nothing
    CHECK_EQ(shoal_threads(SHOAL_THREADS_ONE), SHOAL_OK);
    run_all(3 * EACH);
    CHECK_EQ(taken, 0);
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    CHECK_EQ(shoal_threads(SHOAL_THREADS_ONE), SHOAL_EINIT);
    return check_done();
}
