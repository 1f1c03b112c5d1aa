// SPDX-License-Identifier: BSD-3-Clause
// How the PEs of a node come to share the job's file: each PE is a thread here.
#include "unit.h"

#include "job.h"
#include "meeting.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct capture seen;

static const int ranks[] = {3, 5, 8};
static struct meeting meeting;

static void *ask(void *argument)
{
    bool same;
    int fd = meeting_ask(&meeting, (int)(intptr_t)argument, 10000, &same);
    return (void *)(intptr_t)(same ? fd : -2);
}

static void test_meeting(void **state)
{
    pthread_t thread[2];
    (void)state;
    int fd = job_create(3, 1, 1, 0), listener = meeting_listen(&meeting);
    bool same = false;
    assert_true(fd >= 0 && listener >= 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, ask, (void *)(intptr_t)ranks[i + 1]);
    assert_int_equal(meeting_serve(listener, &meeting, ranks, 3, fd, 10000, &same), 0);
    assert_true(same);
    for (int i = 0; i < 2; i++) {
        void *got;
        struct stat a, b;
        pthread_join(thread[i], &got);
        int copy = (int)(intptr_t)got;
        assert_true(copy >= 0);
        assert_int_equal(fcntl(copy, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        assert_true(fstat(fd, &a) == 0 && fstat(copy, &b) == 0 && a.st_ino == b.st_ino);
        close(copy);
    }
    close(fd);
}

// Who does not know the secret, is not expected, or says something else gets nothing; who is
// expected and stays away is named.
static void *knock(void *argument)
{
    (void)argument;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "shoal-%016lx",
                     (unsigned long)meeting.name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    char byte;
    intptr_t got = connect(fd, (struct sockaddr *)&address,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
    send(fd, "hello", 5, MSG_NOSIGNAL);
    got += recv(fd, &byte, 1, 0) > 0;
    close(fd);
    struct meeting other = {meeting.name, meeting.secret + 1};
    bool same;
    got += meeting_ask(&other, ranks[1], 10000, &same) >= 0;
    got += meeting_ask(&meeting, ranks[1] + 1, 10000, &same) >= 0;
    got += meeting_ask(&meeting, ranks[0], 10000, &same) >= 0;
    return (void *)got;
}

static void test_strangers(void **state)
{
    pthread_t thread;
    void *got;
    bool same;
    (void)state;
    int fd = job_create(3, 1, 1, 0), listener = meeting_listen(&meeting);
    capture_start(&seen);
    pthread_create(&thread, NULL, knock, NULL);
    int served = meeting_serve(listener, &meeting, ranks, 2, fd, 1000, &same);
    pthread_join(thread, &got);
    int late = meeting_ask(&meeting, ranks[1], 1000, &same); // the listener is closed
    capture_end(&seen);
    assert_int_equal(served, -1);
    assert_int_equal(late, -1);
    assert_null(got);
    assert_non_null(strstr(seen.text, "PE 5 has not joined the 2 PEs of this node within 1 s"));
    assert_non_null(strstr(seen.text, "Connection refused"));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
