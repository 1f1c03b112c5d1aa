// SPDX-License-Identifier: BSD-3-Clause
// A PE's messages reach the upcall once each and in its order, however they come: early, late, twice.
#include "unit.h"

#include "compiler.h"
#include "messages.h"

#include <stdlib.h>

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
                        const struct transport_payload *payload)
{
    (void)ep, (void)to, (void)kind, (void)payload;
    return TRANSPORT_DONE;
}

static bool note(void *arg, int from, const void *payload, size_t n, void *memory)
{
    (void)arg, (void)from;
    assert_int_equal(n, sizeof(int));
    assert_non_null(memory); // which may be kept: a payload of any type is aligned there
    assert_int_equal((uintptr_t)payload % _Alignof(max_align_t), 0);
    memcpy(&got[count++], payload, sizeof(int));
    bool keeps = count % 2;
    if (keeps)
        free(memory);
    return keeps;
}

static void come(struct messages *m, uint32_t first, int seq)
{
    struct {
        struct message_header header;
        int value;
    } all = {
        {.from = PEER, .seq = first + (uint32_t)seq, .length = sizeof(int), .kind = MESSAGE_USER},
        seq};
    messages_arrived(m, messages_copy(&all, sizeof all.header + sizeof all.value));
}

// Numbered from first on; how many of them are given to the upcall.
static void check_order(const int order[10], uint32_t first, int whole)
{
    struct transport_job job = {.npes = 2, .on_am = note};
    struct messages m = {
        .name = "test", .job = &job, .lock = &lock, .peer = peer_of, .send = send_nothing};
    peer = (struct messages_peer){.in = first, .taken = first, .told_taken = first};
    count = 0;
    messages_open(&m);
    messages_peer_add(&m, &peer, PEER);
    for (int k = 0; k < 10; k++)
        come(&m, first, order[k]);
    come(&m, first, -1); // of long ago
    pthread_mutex_lock(&lock);
    while (messages_waiting(&m))
        messages_deliver(&m);
    pthread_mutex_unlock(&lock);
    assert_int_equal(count, whole);
    for (int k = 0; k < count; k++)
        assert_int_equal(got[k], k);
    assert_null(peer.held);
    messages_free(&m);
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
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (uint32_t before = 0; before < 11; before++) // the numbers go round after so many
            check_order(order[i], -before, whole[i]);
}

// So does the count of those that may be on their way.
static void test_window(void **state)
{
    (void)state;
    for (uint32_t before = 0; before <= MESSAGE_WINDOW + 1; before++) {
        peer = (struct messages_peer){.out = -before, .out_taken = -before};
        for (int k = 0; k < MESSAGE_WINDOW; k++, peer.out++)
            assert_false(messages_wait_for(&peer));
        assert_true(messages_wait_for(&peer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_window)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
