// SPDX-License-Identifier: BSD-3-Clause
// PEs take short slices of the scheduler's, so that programs that compute beside them do not keep them
// waiting; what else the program chose stays, and threads that it starts have the same.
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_NS = 100000, NICE = 3 };

struct scheduling { // sched_getattr's
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline, period;
};

static struct scheduling mine(void)
{
    struct scheduling s;
    CHECK_EQ(syscall(SYS_sched_getattr, 0, &s, sizeof s, 0), 0);
    return s;
}

static void *look(void *arg)
{
    *(struct scheduling *)arg = mine();
    return NULL;
}

static void check_slice(struct scheduling s)
{
    CHECK_EQ(s.policy, SCHED_OTHER);
    CHECK_EQ(s.nice, NICE);
    CHECK(s.slice_ns > 0 && s.slice_ns <= MOST_NS);
}

int main(void)
{
    struct scheduling others;
    pthread_t thread;
    CHECK_EQ(setpriority(PRIO_PROCESS, 0, NICE), 0);
    if (mine().slice_ns == 0)
        check_skip("before Linux 6.12 a thread cannot choose its slices");
    check_start();
    check_slice(mine());
    CHECK_EQ(pthread_create(&thread, NULL, look, &others), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    check_slice(others);
    return check_done();
}
