// SPDX-License-Identifier: BSD-3-Clause
// Strangers at the door: PE 2 sends PE 0 messages that are wrong in one thing each, from an endpoint
// of its own, and bytes that are nothing of the library's. PE 0 drops them, says so once, and goes
// on to work with the others. The file that includes this one knows the library.
#ifndef TESTS_TRANSPORTS_FORGE_H
#define TESTS_TRANSPORTS_FORGE_H

#define RIG_HAS_STRANGERS 1
#include "rig.h"

#include "messages.h"

#include <sys/socket.h>

static void stranger_open(const unsigned char *victim); // what PE 0's address() wrote
static void stranger_send(const void *bytes, size_t n); // and waits for its end
static void stranger_more(void);                        // what only this library can do
static void stranger_close(void);
static void victim_prepare(void); // at PE 0: what send_noise needs
static void send_noise(const unsigned char *victim);

// Each differs in one field from a message that would be believed.
static void send_forged(void)
{
    struct {
        struct message_header header;
        unsigned char rest[MESSAGE_MAX + 8];
    } m = {{.secret = SECRET, .from = 1, .seq = 0, .length = 8, .kind = MESSAGE_USER}, {0}};
    const struct message_header good = m.header;
    size_t whole = sizeof m.header + 8;
    stranger_send(&m, 3);
    stranger_send(&m, sizeof m.header - 1);
    stranger_send(&m, whole - 1);
    stranger_send(&m, whole + 1);
    m.header.length = 8000;
    stranger_send(&m, whole);
    m.header = good;
    m.header.secret ^= UINT64_C(1) << 63;
    stranger_send(&m, whole);
    m.header = good;
    m.header.from = 0; // PE 0 itself, whose own messages never leave
    stranger_send(&m, whole);
    m.header.from = NPES;
    stranger_send(&m, whole);
    m.header.from = UINT32_MAX;
    stranger_send(&m, whole);
    m.header = good;
    m.header.kind = MESSAGE_KINDS;
    stranger_send(&m, whole);
    m.header = good;
    m.header.seq = UINT32_MAX; // one that came before the first: taken long ago
    stranger_send(&m, whole);
    m.header = good;
    m.header.length = MESSAGE_MAX + 8;
    stranger_send(&m, sizeof m.header + MESSAGE_MAX + 8);
}

// Connections that send nothing, a byte, or `most` bytes of junk.
static void connect_and_babble(const struct sockaddr *to, socklen_t length, size_t most)
{
    unsigned char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (unsigned char)(i * 37 + i / 256);
    for (int i = 0; i < 8; i++) {
        int fd = socket(to->sa_family, SOCK_STREAM, 0);
        CHECK(connect(fd, to, length) == 0);
        if (i % 4)
            CHECK(send(fd, junk, i % 4 == 1 ? 1 : most, MSG_NOSIGNAL) > 0);
        step();
        close(fd);
    }
}

static int good_calls;

static void take_good(int from, const void *payload, size_t n)
{
    CHECK(from > 0 && n == 8 && memcmp(payload, "12345678", 8) == 0);
    good_calls++;
}

static void test_forged(void)
{
    uint64_t value = 0;
    handler = take_good;
    memset(heap_of(me), 0, 64);
    if (me == 0)
        victim_prepare();
    barrier();
    if (me == 2) {
        stranger_open(shared->address[0]);
        send_forged();
        stranger_more();
        stranger_close();
        send_noise(shared->address[0]);
        atomic_store(&shared->flag[0], 1);
    }
    wait_flag(0, 1);
    if (me == 0) {
        CHECK(all_are(heap_of(0), 64, 0));
        memcpy(heap_of(0), "abcdefgh", 8);
    } else {
        CHECK(am_wait(0, "12345678", 8) == 0);
    }
    barrier();
    while (me == 0 && good_calls < 2)
        step();
    CHECK(get_wait(&value, at_heap(0, 0), 8) == 0 && memcmp(&value, "abcdefgh", 8) == 0);
    barrier();
    CHECK(good_calls == (me == 0 ? 2 : 0));
    CHECK(log_lines == (me == 0 ? 1 : 0));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {{"forged", test_forged}};
    return rig_run(argc, argv, tests, ARRAY(tests));
}

#endif
