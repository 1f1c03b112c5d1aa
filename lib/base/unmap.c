// SPDX-License-Identifier: BSD-3-Clause
// See unmap.h. Ranges are registered for write protection, of which no page is ever made.
#include "unmap.h"

#include "compiler.h"
#include "cpus.h"
#include "log.h"
#include "thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY // of Linux 5.11
#define UFFD_USER_MODE_ONLY 1
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { UNTRIED, OPEN, REFUSED } state;
static int fd = -1, stop_fd = -1;
static pthread_t thread;
static const struct unmap_calls *tell;
static _Atomic bool is_telling;

// The read wakes the one who unmapped, and says only then what it was.
static void read_all(void)
{
    struct uffd_msg m;
    atomic_store(&is_telling, true); // pairs with the load in unmap_settle
    tell->begin();
    while (read(fd, &m, sizeof m) == sizeof m) {
        if (m.event == UFFD_EVENT_UNMAP)
            tell->gone(m.arg.remove.start, m.arg.remove.end);
        else if (m.event == UFFD_EVENT_REMAP)
            tell->gone(m.arg.remap.from, m.arg.remap.from + m.arg.remap.len);
        else if (m.event == UFFD_EVENT_REMOVE)
            tell->emptied(m.arg.remove.start, m.arg.remove.end);
    }
    tell->end();
    atomic_store(&is_telling, false);
}

// Who joins this thread may unmap for it, stacks of threads that have ended: the kernel must not wait
// for us any more then.
static void *watch(void *unused)
{
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    while (!p[1].revents && !(p[0].revents & POLLNVAL)) {
        if (poll(p, ARRAY_LEN(p), -1) > 0 && p[0].revents & POLLIN)
            read_all();
    }
    close(p[0].fd); // which lets go whoever waits to be read
    return unused;
}

static void close_fds(void)
{
    if (fd >= 0)
        close(fd);
    if (stop_fd >= 0)
        close(stop_fd);
    fd = stop_fd = -1;
}

// The kernel would wait for a descriptor that only a child still has.
static void in_child(void)
{
    close_fds();
    state = REFUSED;
}

static int open_fd(const struct unmap_calls *calls)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP |
                                         UFFD_FEATURE_EVENT_REMOVE};
    // Such a descriptor serves no faults within the kernel, so it takes no privilege.
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
        return errno;
    stop_fd = eventfd(0, EFD_CLOEXEC);
    tell = calls;
    return stop_fd < 0 ? errno : thread_start(&thread, watch);
}

static bool is_open(const struct unmap_calls *calls)
{
    static bool is_noted;
    if (state == UNTRIED) {
        int error = open_fd(calls);
        if (error)
            close_fds();
        else if (!is_noted)
            is_noted = pthread_atfork(NULL, NULL, in_child) == 0;
        state = error ? REFUSED : OPEN;
        log_line(LOG_DEBUG, LOG_RMA, "registered memory that is unmapped: %s%s",
                 error ? "nobody tells, userfaultfd: " : "userfaultfd tells",
                 error ? strerror(error) : "");
    }
    return state == OPEN;
}

static struct uffdio_range pages_of(const void *base, size_t n)
{
    uint64_t page = page_size(), from = (uintptr_t)base / page * page;
    return (struct uffdio_range){from, ((uintptr_t)base + n - from + page - 1) / page * page};
}

// Data of programs and libraries stays.
static bool is_static(const void *base)
{
    Dl_info info;
    return dladdr(base, &info) != 0;
}

enum unmap_status unmap_watch(const void *base, size_t n, const struct unmap_calls *calls)
{
    struct uffdio_register range = {.range = pages_of(base, n), .mode = UFFDIO_REGISTER_MODE_WP};
    enum unmap_status status = UNMAP_NEVER;
    pthread_mutex_lock(&lock);
    if (is_open(calls))
        status = ioctl(fd, UFFDIO_REGISTER, &range) == 0 ? UNMAP_WATCHED
                 : is_static(base)                       ? UNMAP_NEVER
                                                         : UNMAP_CANNOT;
    pthread_mutex_unlock(&lock);
    return status;
}

void unmap_forget(const void *base, size_t n)
{
    struct uffdio_range range = pages_of(base, n);
    pthread_mutex_lock(&lock);
    if (state == OPEN) // it fails where nothing is mapped any more
        ioctl(fd, UFFDIO_UNREGISTER, &range);
    pthread_mutex_unlock(&lock);
}

void unmap_settle(void)
{
    while (unlikely(atomic_load(&is_telling)))
        sched_yield();
}

// While anybody has unmapped and not heard that this was read, the kernel refuses to change protection,
// before it looks at the range.
static bool is_under_way(void)
{
    struct uffdio_writeprotect none = {.range = {0, 0}};
    pthread_mutex_lock(&lock);
    bool is = state == OPEN && ioctl(fd, UFFDIO_WRITEPROTECT, &none) && errno == EAGAIN;
    pthread_mutex_unlock(&lock);
    return is;
}

void unmap_settle_all(void)
{
    while (unlikely(is_under_way()))
        sched_yield();
    unmap_settle(); // it was read, and is being told
}

void unmap_down(void)
{
    pthread_mutex_lock(&lock);
    if (state == OPEN) {
        eventfd_write(stop_fd, 1);
        pthread_join(thread, NULL);
        fd = -1;
    }
    close_fds();
    state = UNTRIED;
    pthread_mutex_unlock(&lock);
}
