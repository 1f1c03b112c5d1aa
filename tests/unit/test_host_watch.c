// SPDX-License-Identifier: BSD-3-Clause
// The watch over hosts: the next host is told of the job's end also where the connection to it comes to be only
// after the end was to be told. Nobody accepts it at first, and two that wait before it fill the queue.
#include "unit.h"

#define card_gather gather_addresses
#include "host_watch.c"

enum { FILLERS = 2, PATIENCE_MS = 20000 };

static union address other; // where the next host listens

int gather_addresses(const void *own, size_t n, void *all)
{
    assert_int_equal(n, sizeof other);
    memcpy(all, own, n);
    memcpy((char *)all + n, &other, n);
    return 0;
}

static int listen_as_other(void)
{
    socklen_t size = sizeof other.ip4;
    other.ip4 = (struct sockaddr_in){.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, &other.any, size), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, &other.any, &size), 0);
    return fd;
}

// The first host of two, with one PE.
static struct job *be_first(void)
{
    struct job *job = calloc(1, sizeof *job + 2 * sizeof *job->pe);
    assert_non_null(job);
    job->npes = job->nodes = world.npes = world.nodes = 2;
    job->slots = 1;
    job->secret = 42;
    world.job = job;
    strcpy(net.facts.interface, "127.0.0.1");
    settings.host_timeout = 60;
    return job;
}

// What the other host has accepted: the fillers, which never say anything, and ours.
static int accepted[FILLERS + 1], count;

static void accept_some(int listening)
{
    int fd;
    while (count <= FILLERS && (fd = accept(listening, NULL, NULL)) >= 0)
        accepted[count++] = fd;
}

// The kind of the next record that comes; 0: none in time.
static uint32_t next_kind(int listening)
{
    struct record r;
    for (uint64_t start = wait_now_ms(); wait_now_ms() - start < PATIENCE_MS; usleep(LOOK_MS * 1000)) {
        accept_some(listening);
        for (int i = 0; i < count; i++)
            if (recv(accepted[i], &r, sizeof r, MSG_DONTWAIT) == sizeof r &&
                r.secret == world.job->secret)
                return r.kind;
    }
    return 0;
}

static void test_late_connection(void **state)
{
    (void)state;
    int listening = listen_as_other(), filler[FILLERS];
    for (int i = 0; i < FILLERS; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(filler[i], &other.any, sizeof other.ip4);
    }
    struct job *job = be_first();
    assert_int_equal(host_watch_up(), 0);
    if (next.state != CONNECTING) // a kernel with a longer queue
        skip();
    job->ended = JOB_ENDED_GLOBAL_EXIT;
    host_watch_beat();
    assert_int_equal(next.state, CONNECTING);
    for (uint64_t start = wait_now_ms(); next.state == CONNECTING && wait_now_ms() - start < PATIENCE_MS;
         usleep(LOOK_MS * 1000)) {
        accept_some(listening);
        host_watch_beat();
    }
    assert_int_equal(next_kind(listening), HELLO);
    assert_int_equal(next_kind(listening), ENDED);
    host_watch_down();
    for (int i = 0; i < FILLERS; i++)
        close(filler[i]);
    for (int i = 0; i < count; i++)
        close(accepted[i]);
    close(listening);
    free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_connection)};
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
