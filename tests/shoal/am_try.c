// SPDX-License-Identifier: BSD-3-Clause
// shoal_am_try and shoal_am_gather return where shoal_am_request would wait: PE 1 is stopped, and PE 0
// sends until it is told that there is no room. What was taken arrives, once and in order; what was not does not. The
// alarm ends a PE 0 that waits.
// PES: 2 4
#include "../check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { COUNT = 1, VICTIM = 1, ENOUGH = 100000 };

static uint64_t counted;
static uint64_t process, sent; // symmetric

static void on_count(const shoal_am_t *am)
{
    uint64_t inner;
    CHECK_EQ(am->n, sizeof inner);
    memcpy(&inner, am->payload, sizeof inner);
    CHECK_EQ(am->arg, counted);
    CHECK_EQ(inner, counted);
    counted++;
}

static bool try_one(int pe)
{
    bool is_gathered = sent / 10 % 2;
    int status = (is_gathered ? shoal_am_gather : shoal_am_try)(pe, COUNT, sent, &sent,
                                                                sizeof sent);
    CHECK(status == SHOAL_OK || status == SHOAL_EAGAIN);
    sent += status == SHOAL_OK;
    return status == SHOAL_OK;
}

static void to_a_stopped_one(bool is_near)
{
    int pid = (int)shmem_uint64_g(&process, VICTIM);
    alarm(30);
    CHECK_EQ(kill(pid, SIGSTOP), 0);
    while (check_process_state((uint64_t)pid) != 'T')
        sched_yield();
    bool is_room = true;
    while (is_room && sent < ENOUGH)
        is_room = try_one(VICTIM);
    CHECK(!is_room || !is_near);
    CHECK_EQ(check_process_state((uint64_t)pid), 'T');
    CHECK_EQ(kill(pid, SIGCONT), 0);
    alarm(0);
}

// It comes to life again, and there is room.
static void to_one_that_works(void)
{
    for (uint64_t end = sent + 1000; sent < end;)
        if (!try_one(VICTIM))
            CHECK(shoal_progress() >= 0);
    shmem_uint64_p(&sent, sent, VICTIM);
}

static void errors(void)
{
    CHECK_EQ(shoal_am_try(npes, COUNT, 0, NULL, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_try(0, 0, 0, NULL, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_try(0, COUNT, 0, NULL, 1), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_try(0, COUNT, 0, &process, SIZE_MAX), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_gather(npes, COUNT, 0, NULL, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_gather(0, COUNT, 0, NULL, 1), SHOAL_EINVAL);
}

int main(void)
{
    check_start();
    process = (uint64_t)getpid();
    CHECK_EQ(shoal_am_register(COUNT, on_count, NULL), SHOAL_OK);
    errors();
    shmem_barrier_all();
    if (me == 0) {
        to_a_stopped_one(shmem_ptr(&process, VICTIM) != NULL);
        to_one_that_works();
    }
    if (me == VICTIM) {
        shmem_uint64_wait_until(&sent, SHMEM_CMP_NE, 0);
        while (counted < sent)
            if (shoal_progress() == 0)
                sched_yield();
        CHECK_EQ(counted, sent);
    }
    shmem_barrier_all();
    CHECK_EQ(counted, me == VICTIM ? sent : 0);
    return check_done();
}
