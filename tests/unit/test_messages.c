// SPDX-License-Identifier: BSD-3-Clause
// A PE's messages reach the upcall once each and in its order, however they come: early, late, twice.
#include "unit.h"

#include "compiler.h"
#include "messages.h"

enum { PEER = 1, MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct messages_peer peer;
static int got[MOST], count;

static struct messages_peer *peer_of(void *ep, int pe)
{
    (void)ep;
    assert_int_equal(pe, PEER);
    return &peer;
}

static int send_nothing(void *ep, struct messages_peer *to, enum message_kind kind,
                        const void *payload, size_t n)
{
    (void)ep, (void)to, (void)kind, (void)payload, (void)n;
    return TRANSPORT_DONE;
}

static void note(void *arg, int from, const void *payload, size_t n)
{
    (void)arg, (void)from;
    assert_int_equal(n, sizeof(int));
    memcpy(&got[count++], payload, sizeof(int));
}

static void come(struct messages *m, int seq)
{
    struct {
        struct message_header header;
        int value;
    } all = {{.from = PEER, .seq = (uint32_t)seq, .length = sizeof(int), .kind = MESSAGE_USER},
             seq};
    messages_arrived(m, messages_copy(&all, sizeof all.header + sizeof all.value));
}

static void test_order(void **state)
{
    static const int order[][10] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
        {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
        {2, 2, 1, 2, 0, 0, 1, 3, 4, 5},
        {3, 1, 3, 1, 2, 0, 2, 5, 5, 4},
    };
    static const int whole[] = {10, 10, 6, 6};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct transport_job job = {.npes = 2, .on_am = note};
        struct messages m = {
            .name = "test", .job = &job, .lock = &lock, .peer = peer_of, .send = send_nothing};
        peer = (struct messages_peer){0};
        count = 0;
        messages_open(&m);
        messages_peer_add(&m, &peer, PEER);
        for (size_t k = 0; k < ARRAY_LEN(order[i]); k++)
            come(&m, order[i][k]);
        come(&m, -1); // of long ago
        pthread_mutex_lock(&lock);
        while (messages_waiting(&m))
            messages_deliver(&m);
        pthread_mutex_unlock(&lock);
        assert_int_equal(count, whole[i]);
        for (int k = 0; k < count; k++)
            assert_int_equal(got[k], k);
        assert_null(peer.held);
        messages_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
