// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whoever knocks where the PEs of a node meet (lib/core/meeting.c). This is the leader of
// ranks 0, 2 and 5; an input is a row of visitors:
//
//     flags, length (1 byte), what it says; flag 1: it knows the secret
//
// Only who says all that is right gets the descriptor.
#include "job.h"
#include "meeting.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VISITORS = 6, LIMIT_MS = 2 };
static const int ranks[] = {0, 2, 5};

struct hello { // as in meeting.c
    uint64_t secret;
    uint32_t magic, layout;
    int32_t rank, pid;
    cpu_set_t cores;
};

static void require(int holds)
{
    if (!holds)
        __builtin_trap();
}

static int visit(const struct meeting *m, int flags, const uint8_t *bytes, size_t n)
{
    unsigned char said[256];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "shoal-%016lx",
                          (unsigned long)m->name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    require(fd >= 0 && connect(fd, (struct sockaddr *)&address, size) == 0);
    memcpy(said, bytes, n);
    if (flags & 1 && n >= sizeof m->secret)
        memcpy(said, &m->secret, sizeof m->secret);
    if (n)
        send(fd, said, n, MSG_NOSIGNAL);
    return fd;
}

static int may_enter(int flags, const uint8_t *bytes, size_t n)
{
    struct hello h;
    if (!(flags & 1) || n != sizeof h)
        return 0;
    memcpy(&h, bytes, sizeof h);
    return h.magic == (uint32_t)JOB_MAGIC && h.layout == JOB_LAYOUT && (h.rank == 2 || h.rank == 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meeting m;
    int fd[VISITORS], may[VISITORS], count = 0, got = 0;
    int listener = meeting_listen(&m), file = memfd_create("fuzz", MFD_CLOEXEC);
    bool same;
    require(listener >= 0 && file >= 0 && ftruncate(file, 4096) == 0);
    for (size_t at = 0, n; at + 2 <= size && count < VISITORS; at += 2 + n, count++) {
        n = data[at + 1];
        if (n > size - at - 2)
            n = size - at - 2;
        may[count] = may_enter(data[at], data + at + 2, n);
        fd[count] = visit(&m, data[at], data + at + 2, n);
    }
    int status = meeting_serve(listener, &m, ranks, 3, file, LIMIT_MS, &same);
    for (int i = 0; i < count; i++) {
        char byte;
        int has = recv(fd[i], &byte, 1, MSG_DONTWAIT) ==
                  1; // closes the descriptor that came with it
        require(!has || may[i]);
        got += has;
        close(fd[i]);
    }
    require(status == 0 ? got == 2 : got == 0);
    close(file);
    return 0;
}
