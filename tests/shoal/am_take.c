// SPDX-License-Identifier: BSD-3-Clause
// shoal_am_take: a message that the program waits for comes without its handler, whole and in its
// order; one that is not wanted, too long or behind another goes to its handler. Where there is another
// thread nothing is taken, and nothing is lost.
// PES: 2 4 7
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <shoal.h>
#include <string.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define IS_SINGLE __libc_single_threaded
#else
#define IS_SINGLE 0
#endif

enum { DATA = 1, OTHER = 2, EACH = 3000, ANSWERS = 300, MOST = 2048, KINDS = 6 };
static size_t lengths[KINDS] = {0, 1, 32, 33, 96, MOST}; // the last is what a message may have

// arg: which of its sender's, and its kind of length
#define ARG(k, kind) ((uint64_t)(k) << 8 | (uint64_t)(kind))
#define KIND_MASK UINT64_C(0xff)

static uint64_t next[64], handled, taken, others;
static unsigned char buffer[MOST];
static uint64_t asked; // symmetric

static unsigned char byte_of(int pe, uint64_t k, size_t i)
{
    return (unsigned char)((uint64_t)pe * 31 + k * 7 + i);
}

static void check_message(int from, uint64_t arg, const unsigned char *data, size_t n)
{
    uint64_t k = arg >> 8;
    CHECK_EQ(k, next[from]);
    CHECK_EQ(n, lengths[arg & KIND_MASK]);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(data[i], byte_of(from, k, i));
    next[from] = k + 1;
}

static void on_data(const shoal_am_t *am)
{
    check_message(am->from, am->arg, am->payload, am->n);
    handled++;
}

static void on_other(const shoal_am_t *am)
{
    (void)am;
    others++;
}

static void send_all(void)
{
    unsigned char data[MOST];
    for (uint64_t k = 0; k < EACH; k++) {
        int kind = (int)(k % KINDS);
        for (size_t i = 0; i < lengths[kind]; i++)
            data[i] = byte_of(me, k, i);
        CHECK_EQ(shoal_am_request(0, DATA, ARG(k, kind), data, lengths[kind]), SHOAL_OK);
        if (k % 100 == 0)
            CHECK_EQ(shoal_am_request(0, OTHER, 0, NULL, 0), SHOAL_OK);
    }
}

// Wants one after the other of what senders send; what cannot be taken is handled.
static void take_all(uint64_t all, size_t room)
{
    shoal_am_wanted_t any = {.from = -1, .id = DATA, .buf = buffer, .room = room}, wanted;
    for (uint64_t k = 0; handled + taken < all; k++) {
        wanted = any;
        if (k % 2 && npes > 1)
            wanted.from = 1 + (int)(k % (uint64_t)(npes - 1));
        if (k % 3 == 0) {
            wanted.mask = KIND_MASK;
            wanted.arg = k % KINDS;
        }
        shoal_am_wanted_t before = wanted;
        int status = shoal_am_take(&wanted, 10);
        if (status == SHOAL_EAGAIN) {
            CHECK(memcmp(&before, &wanted, sizeof before) == 0);
            CHECK(shoal_progress() >= 0);
            continue;
        }
        CHECK_EQ(status, SHOAL_OK);
        CHECK(wanted.from > 0 && wanted.from < npes && wanted.n <= room);
        CHECK(before.from < 0 || before.from == wanted.from);
        CHECK_EQ(wanted.arg & before.mask, before.arg);
        check_message(wanted.from, wanted.arg, buffer, wanted.n);
        taken++;
    }
}

static void check_arguments(void)
{
    shoal_am_wanted_t w = {.from = -1, .id = DATA, .buf = buffer, .room = MOST}, bad = w;
    CHECK_EQ(shoal_am_take(&w, 3), SHOAL_EAGAIN);
    CHECK_EQ(shoal_am_take(NULL, 3), SHOAL_EINVAL);
    bad.from = npes;
    CHECK_EQ(shoal_am_take(&bad, 0), SHOAL_EINVAL);
    bad = w, bad.id = 0;
    CHECK_EQ(shoal_am_take(&bad, 0), SHOAL_EINVAL);
    bad = w, bad.id = 256;
    CHECK_EQ(shoal_am_take(&bad, 0), SHOAL_EINVAL);
    bad = w, bad.buf = NULL;
    CHECK_EQ(shoal_am_take(&bad, 0), SHOAL_EINVAL);
    bad.room = 0; // nothing to be copied
    CHECK_EQ(shoal_am_take(&bad, 0), SHOAL_EAGAIN);
}

static void round_of(size_t room)
{
    uint64_t all = (uint64_t)EACH * (uint64_t)(npes - 1);
    memset(next, 0, sizeof next);
    handled = taken = others = 0;
    shmem_barrier_all();
    if (me)
        send_all();
    else
        take_all(all, room);
    while (!me && others < (uint64_t)(npes - 1) * (EACH / 100))
        CHECK(shoal_progress() >= 0);
    shmem_barrier_all();
    if (!me)
        CHECK_EQ(handled + taken, all);
}

// One that waits for answers, and takes nearly all looks for the only message that can come. (Rings that
// have long been empty are looked at by shoal_progress alone.)
static void check_answers(void)
{
    bool is_near = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;
    handled = taken = 0;
    memset(next, 0, sizeof next);
    shmem_barrier_all();
    for (uint64_t k = 0; k < ANSWERS; k++) {
        shoal_am_wanted_t w = {.from = 1, .id = DATA, .mask = UINT64_MAX, .arg = ARG(k, 0)};
        if (me == 1) {
            shmem_uint64_wait_until(&asked, SHMEM_CMP_GE, k + 1);
            CHECK_EQ(shoal_am_request(0, DATA, ARG(k, 0), NULL, 0), SHOAL_OK);
        }
        if (me)
            continue;
        shmem_uint64_p(&asked, k + 1, 1);
        for (int looks = 1; handled + taken == k; looks++)
            if (shoal_am_take(&w, 0) == SHOAL_OK)
                taken++, next[1]++;
            else if (looks % 100)
                sched_yield();
            else
                CHECK(shoal_progress() >= 0);
    }
    shmem_barrier_all();
    CHECK(me || taken || !is_near || !IS_SINGLE);
}

static void *sleep_until(void *arg)
{
    pthread_mutex_lock(arg);
    pthread_mutex_unlock(arg);
    return NULL;
}

int main(void)
{
    shoal_am_wanted_t w = {.from = -1, .id = DATA};
    CHECK_EQ(shoal_am_take(&w, 0), SHOAL_EINIT);
    check_start();
    uint64_t most_bytes = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &most_bytes), SHOAL_OK);
    lengths[KINDS - 1] = most_bytes < MOST ? most_bytes : MOST;
    CHECK_EQ(shoal_am_register(DATA, on_data, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(OTHER, on_other, NULL), SHOAL_OK);
    shmem_barrier_all();
    check_arguments();
    round_of(MOST);
    round_of(MOST); // now in rings
    round_of(32);   // longer ones are handled
    check_answers();

    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    CHECK_EQ(pthread_create(&thread, NULL, sleep_until, &mutex), 0);
    round_of(MOST);
    CHECK(me || taken == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return check_done();
}
