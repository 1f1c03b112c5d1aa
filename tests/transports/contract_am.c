// SPDX-License-Identifier: BSD-3-Clause
// EACH: shm tcp;ofi_rxm net;ofi_rxm sockets ucx 1:tcp;ofi_rxm 2:sockets 3:ucx
// TIMEOUT: 170
// What transports/transport.h promises beyond contract.c: active messages, waking, threads, and
// what happens to the others when PE 2 dies, which is the last row of the table.
#include "rig.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// ---- active messages
struct message {
    uint32_t number, length;
    unsigned char rest[1 << 17];
};
static uint32_t taken[NPES];

static size_t message_length(uint32_t number)
{
    return number % 97 == 0 ? facts.am_max : 8 + number % 50 * (number % 3);
}

static void take(int from, const void *payload, size_t n)
{
    const struct message *m = payload;
    CHECK(m->number == taken[from]++);
    CHECK(n == m->length && n == message_length(m->number));
    if (n > 8)
        CHECK(holds(m->rest, n - 8, m->number));
}

static void send_numbered(int pe, uint32_t number)
{
    static struct message m;
    m.number = number;
    m.length = (uint32_t)message_length(number);
    fill(m.rest, m.length - 8, number);
    CHECK(am_wait(pe, &m, m.length) == TRANSPORT_DONE);
    memset(&m, 0xEE, 16);
}

// Both directions between PE 0 and PE 1, PE 2 sends some to all, everybody some to himself. Nobody
// waits for anything: whoever sends is flooded.
static void test_am_flood(void)
{
    const uint32_t many = seed ? 10000 : 100000, few = 2000;
    if (!facts.am_max)
        return;
    handler = take;
    memset(taken, 0, sizeof taken);
    barrier();
    for (uint32_t i = 0; i < many; i++) {
        if (me != 2)
            send_numbered(1 - me, i);
        else if (i < few)
            for (int pe = 0; pe < 2; pe++)
                send_numbered(pe, i);
        if (i < few)
            send_numbered(me, i);
    }
    for (int from = 0; from < NPES; from++) {
        uint32_t want = from == me || from == 2 ? few : me == 2 ? 0 : many;
        while (taken[from] < want)
            step();
    }
    barrier();
    for (int from = 0; from < NPES; from++)
        CHECK(taken[from] == (from == me || from == 2 ? few : me == 2 ? 0 : many));
}

static void test_am_limits(void)
{
    static unsigned char bytes[1 << 17];
    if (!facts.am_max)
        return;
    CHECK(facts.am_max >= 4096 + 64 && facts.am_max < sizeof bytes);
    struct transport_payload long_one = {bytes, bytes, 1, facts.am_max};
    CHECK(t->am(ep, NULL, right(), &long_one) == TRANSPORT_UNSUPPORTED);
    CHECK(t->am(ep, NULL, me, &long_one) == TRANSPORT_UNSUPPORTED);
}

// Upcalls that send, put and progress. Each message makes its receiver put its number at the
// sender and send it on, until it has travelled far enough; many travel at once.
enum { TRAVELLERS = 100, HOPS = 30 };
static uint32_t depth, ended;

static void pass_on(int from, const void *payload, size_t n)
{
    uint32_t m[2];
    CHECK(n == sizeof m);
    memcpy(m, payload, sizeof m);
    depth++;
    int status;
    UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(from, 8 * (uint64_t)(m[0] % 64)), m, 8, NULL));
    CHECK(status == TRANSPORT_DONE);
    if (m[1]++ < HOPS)
        CHECK(am_wait((me + (int)m[0]) % NPES, m, sizeof m) == 0);
    else if (++ended, am_wait(m[0] % NPES, &m[1], 0) != 0)
        CHECK(!"an empty message");
    depth--;
}

static void pass_or_count(int from, const void *payload, size_t n)
{
    if (n == 0)
        atomic_fetch_add(&shared->flag[0], 1);
    else
        pass_on(from, payload, n);
}

static void test_am_upcalls(void)
{
    if (!facts.am_max)
        return;
    handler = pass_or_count;
    barrier();
    for (uint32_t i = 0; i < TRAVELLERS; i++) {
        uint32_t m[2] = {i, 0};
        CHECK(am_wait(right(), m, sizeof m) == 0);
    }
    wait_flag(0, NPES * TRAVELLERS);
    CHECK(flush_wait(-1) == 0 && depth == 0);
    barrier();
    CHECK(atomic_load(&shared->flag[0]) == NPES * TRAVELLERS);
}

// ---- strangers: an endpoint with another secret, which knows a true address
static int strange_calls;

static void take_real(int from, const void *payload, size_t n)
{
    CHECK(from == 2 && n == 5 && memcmp(payload, "real", 5) == 0);
    strange_calls++;
}

static void test_stranger(void)
{
    if (!facts.am_max)
        return;
    int lines = log_lines;
    handler = me == 0 ? take_real : NULL;
    barrier();
    if (me == 2) {
        struct transport_job other = job;
        struct transport_facts other_facts;
        void *stranger;
        other.secret ^= 1;
        CHECK(t->open(&other, &other_facts, &stranger) == 0);
        CHECK(t->connect(stranger, 0, shared->address[0]) == 0);
        for (int i = 0; i < 3;) { // no more: it is not told that they were taken
            int status = t->am(stranger, NULL, 0,
                               &(struct transport_payload){.data = "forged", .n = 7});
            i += status == TRANSPORT_DONE;
            t->progress(stranger);
            step();
        }
        CHECK(t->flush(stranger, NULL, -1) == 0);
        t->close(stranger);
        CHECK(am_wait(0, "real", 5) == 0);
        atomic_store(&shared->flag[0], 1);
    }
    wait_flag(0, 1);
    while (me == 0 && (strange_calls == 0 || log_lines == lines))
        step();
    barrier();
    CHECK(strange_calls == (me == 0) && log_lines == lines + (me == 0));
}

// ---- sleeping until something comes
static void take_wake(int from, const void *payload, size_t n)
{
    (void)payload;
    CHECK(from == 0 && n == 4);
    atomic_store(&shared->flag[1], atomic_load(&shared->flag[1]) + 1);
}

// Is there something in a stream socket of this process?
static bool is_unread(void)
{
    for (int fd = 0, type, bytes; fd < 256; fd++) {
        socklen_t n = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
            ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0)
            return true;
    }
    return false;
}

// Until the flag is at value, asleep whenever there is nothing to do; false: nothing woke us, or what was
// there before.
static bool sleep_until(int flag, int value)
{
    struct pollfd pfd = {.fd = t->wait_fd(ep), .events = POLLIN};
    int ms = facts.silent_progress ? 20 : 10000;
    while (atomic_load(&shared->flag[flag]) < value) {
        t->progress(ep);
        if (atomic_load(&shared->flag[flag]) < value && t->arm(ep) == TRANSPORT_DONE &&
            poll(&pfd, 1, is_unread() ? 100 : ms) != 1 && !facts.silent_progress)
            return false;
    }
    return true;
}

static void test_wait_fd(void)
{
    enum { WAKES = 200 };
    if (!facts.has_wait_fd)
        return;
    CHECK(t->wait_fd(ep) >= 0);
    handler = take_wake;
    barrier();
    if (me == 1)
        CHECK(sleep_until(1, WAKES));
    for (int i = 0; me == 0 && i < WAKES; i++) {
        CHECK(am_wait(1, "wake", 4) == 0);
        wait_flag(1, i + 1);
        uint64_t old; // ends only because the sleeper is woken for it
        if (i + 1 < WAKES)
            CHECK(ask(at_heap(1, 0), 1, &old) == 0);
    }
    barrier();
}

// Many puts are on their way when the sleeper is woken, and nothing tells it how many it has served.
static void test_wait_fd_puts(void)
{
    enum { ROUNDS = 10, PUTS = 32, SIZE = 8192 };
    static unsigned char source[SIZE];
    int status;
    if (!facts.has_wait_fd)
        return;
    handler = take_wake;
    atomic_store(&shared->flag[1], 0);
    barrier();
    if (me == 1)
        CHECK(sleep_until(1, ROUNDS));
    for (int i = 0; me == 0 && i < ROUNDS; i++) {
        for (int k = 0; k < PUTS; k++) {
            UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(1, k * SIZE), source, SIZE, NULL));
            CHECK(status >= 0);
        }
        CHECK(flush_wait(1) == 0);
        CHECK(am_wait(1, "wake", 4) == 0);
        wait_flag(1, i + 1);
    }
    barrier();
}

// ---- two threads of each PE at once
enum { THREAD_ROUNDS = 300 };
static _Atomic int thread_messages;
static pthread_t inside_thread;
static int inside;

static void take_threaded(int from, const void *payload, size_t n)
{
    static int next[NPES][2];
    int m[2];
    CHECK(from == (me + 2) % NPES && n == sizeof m);
    CHECK(inside == 0 || pthread_equal(inside_thread, pthread_self()));
    inside++;
    inside_thread = pthread_self();
    memcpy(m, payload, sizeof m);
    sched_yield(); // the other thread has a chance to be wrong
    CHECK(m[1] == next[from][m[0]]++);
    atomic_fetch_add(&thread_messages, 1);
    inside--;
}

static void *thread_work(void *arg)
{
    int id = *(int *)arg, status;
    void *ctx = NULL;
    if (t->ctx_create)
        CHECK(t->ctx_create(ep, true, &ctx) == 0);
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        uint64_t old, value = (uint64_t)i * 2 + (uint64_t)id, back = ~value;
        struct transport_remote word = at_heap(right(), 64 + 8 * (uint64_t)id);
        CHECK(ask(at_heap(right(), 0), 1, &old) == 0);
        UNTIL_TAKEN(status, t->put(ep, ctx, word, &value, 8, NULL));
        UNTIL_TAKEN(status, t->flush(ep, ctx, -1));
        CHECK(get_wait(&back, word, 8) == 0 && back == value);
        if (facts.am_max)
            CHECK(am_wait(right(), (int[]){id, i}, 2 * sizeof(int)) == 0);
    }
    if (t->ctx_destroy)
        t->ctx_destroy(ep, ctx);
    return NULL;
}

static void test_threads(void)
{
    pthread_t helper;
    int ids[2] = {0, 1};
    memset(heap_of(me), 0, 128);
    handler = take_threaded;
    barrier();
    CHECK(pthread_create(&helper, NULL, thread_work, &ids[1]) == 0);
    thread_work(&ids[0]);
    pthread_join(helper, NULL);
    while (facts.am_max && atomic_load(&thread_messages) < 2 * THREAD_ROUNDS)
        step();
    barrier();
    CHECK(*(uint64_t *)heap_of(me) == (has_amo() ? 2 * THREAD_ROUNDS : 0));
}

// ---- a PE dies while it owes something
static int lost_calls;

static void count_lost(int pe)
{
    CHECK(pe == 2);
    lost_calls++;
}

// PE 2 has been in contact with both, stops to progress, and dies once they have something under
// way. PE 0 waits for an atomic, in a context that may have an endpoint of its own, PE 1 for a put and
// a get: all must end in errors, in seconds.
static void test_death(void)
{
    static unsigned char source[1 << 20];
    uint64_t old;
    int status = 0;
    void *ctx = NULL;
    if (t == &transport_shm)
        return;
    if (me == 0)
        CHECK(t->ctx_create(ep, true, &ctx) == 0);
    lost_handler = count_lost;
    handler = NULL;
    CHECK(get_wait(source, at_heap(right(), 0), 8) == 0);
    CHECK(get_wait(source, at_heap((me + 2) % NPES, 0), 8) == 0);
    UNTIL_TAKEN(status, t->get(ep, ctx, source, at_heap(2, 0), 8, NULL));
    UNTIL_TAKEN(status, t->flush(ep, ctx, -1));
    CHECK(status == 0);
    barrier();
    if (me == 2) {
        atomic_store(&shared->flag[1], 1); // from here on it serves nobody
        while (atomic_load(&shared->flag[0]) < 2)
            sched_yield();
        kill(getpid(), SIGKILL);
    }
    wait_flag(1, 1);
    struct transport_request request = {.left = me == 0 ? 1 : 2};
    double start = now();
    if (me == 0 && has_amo())
        UNTIL_TAKEN(status, t->amo(ep, ctx, at_heap(2, 0), TRANSPORT_ADD, TRANSPORT_64, 1, 0, &old,
                                   &request));
    else if (me == 0)
        UNTIL_TAKEN(status, t->get(ep, ctx, &old, at_heap(2, 0), sizeof old, &request));
    else
        UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(2, 0), source, sizeof source, &request));
    CHECK(status == TRANSPORT_PENDING);
    if (me == 1)
        UNTIL_TAKEN(status, t->get(ep, NULL, source, at_heap(2, 0), 8, &request));
    CHECK(status == TRANSPORT_PENDING);
    atomic_fetch_add(&shared->flag[0], 1);
    CHECK(finish(TRANSPORT_PENDING, &request) < 0);
    while (lost_calls == 0)
        step();
    CHECK(now() - start < 10);
    UNTIL_TAKEN(status, t->put(ep, ctx, at_heap(2, 0), source, 8, NULL));
    CHECK(status < 0);
    UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(2, 0), source, 8, NULL));
    CHECK(status < 0 && am_wait(2, source, 8) < 0);
    barrier_of(2);
    int other = 1 - me; // which still works
    CHECK(get_wait(source, at_heap(other, 0), 8) == 0);
    barrier_of(2);
    CHECK(lost_calls == 1 && flush_wait(-1) == 0);
    if (ctx)
        t->ctx_destroy(ep, ctx);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"limits", test_am_limits},   {"flood", test_am_flood},
        {"upcalls", test_am_upcalls}, {"stranger", test_stranger},
        {"wait fd", test_wait_fd},    {"wait fd, puts", test_wait_fd_puts},
        {"threads", test_threads},    {"death", test_death},
    };
    return rig_run(argc, argv, tests, ARRAY(tests));
}
