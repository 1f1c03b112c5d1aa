// SPDX-License-Identifier: BSD-3-Clause
// Standard input: one PE has the launcher's own, or all PEs read a copy of it. See launch.h.
#include "launch.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Where there is no /dev, a file of our own.
static int open_nothing(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? memfd_create("nothing", MFD_CLOEXEC) : fd;
}

void input_close(void)
{
    int fd = open_nothing();
    dup2(fd, STDIN_FILENO);
    close(fd);
}

static int write_all(int fd, const char *data, ssize_t n)
{
    for (ssize_t put; n > 0; data += put, n -= put)
        if ((put = write(fd, data, (size_t)n)) < 0)
            return -1;
    return 0;
}

// To its end, so that PEs can read it at their own pace.
static int copy_input(int to)
{
    static char buffer[64 << 10];
    ssize_t n;
    while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (write_all(to, buffer, n))
            return -1;
    return n < 0 && errno != EBADF ? -1 : 0;
}

int input_open(struct launch *l)
{
    bool is_copied = l->opt->input == INPUT_ALL;
    l->input_fd = is_copied ? memfd_create("stdin", MFD_CLOEXEC) : open_nothing();
    if (l->input_fd >= 0 && (!is_copied || copy_input(l->input_fd) == 0))
        return 0;
    log_line(LOG_ERROR, LOG_LAUNCH, "oshrun: the PEs' stdin: %s", strerror(errno));
    return -1;
}

int input_of(const struct launch *l, int pe)
{
    char path[64];
    if (l->opt->input != INPUT_ALL)
        return l->opt->input == pe ? STDIN_FILENO : fcntl(l->input_fd, F_DUPFD_CLOEXEC, 3);
    // Opened once more: a place of its own in it.
    snprintf(path, sizeof path, "/proc/self/fd/%d", l->input_fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}
