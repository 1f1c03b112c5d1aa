// SPDX-License-Identifier: BSD-3-Clause
// What the unit tests share: cmocka, numbers that look random and are the same in every run, and
// what the library writes to stderr.
#ifndef SHOAL_TESTS_UNIT_H
#define SHOAL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

// xorshift64*
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

// ---- What is written to stderr between capture_start and capture_end. One packet a write(2), so
// the number of writes is known too.
struct capture {
    int saved, sockets[2];
    int writes;
    char text[8192];
};

static inline void capture_start(struct capture *c)
{
    c->writes = 0;
    c->text[0] = '\0';
    fflush(stderr);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, c->sockets) || (c->saved = dup(2)) < 0)
        abort();
    dup2(c->sockets[1], 2);
    close(c->sockets[1]);
}

static inline const char *capture_end(struct capture *c)
{
    size_t used = 0;
    ssize_t n;
    dup2(c->saved, 2);
    close(c->saved);
    while ((n = recv(c->sockets[0], c->text + used, sizeof c->text - 1 - used, MSG_DONTWAIT)) > 0) {
        used += (size_t)n;
        c->writes++;
    }
    close(c->sockets[0]);
    c->text[used] = '\0';
    return c->text;
}

// ---- The tester's own settings must not count.
static inline int clear_settings(void **state)
{
    (void)state;
    for (char **entry = environ; *entry;) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        int ours = !strncmp(*entry, "SHOAL_", 6) || !strncmp(*entry, "SHMEM_", 6) ||
                   !strncmp(*entry, "SMA_", 4);
        if (!ours || length >= sizeof name) {
            entry++;
            continue;
        }
        memcpy(name, *entry, length);
        name[length] = '\0';
        unsetenv(name);
        entry = environ;
    }
    return 0;
}

#endif
