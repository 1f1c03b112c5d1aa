// SPDX-License-Identifier: BSD-3-Clause
// A hook is called by calls that wait, of either interface: a PE waits for an answer that only its
// own hook gives.
#include "../check.h"

#include <shoal.h>

static uint64_t asked, answered; // symmetric
static int calls;

static int hook(void)
{
    calls++;
    uint64_t want = shmem_uint64_atomic_fetch(&asked, me);
    if (want == shmem_uint64_atomic_fetch(&answered, me))
        return 0;
    shmem_uint64_atomic_set(&answered, want, me);
    return 1;
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_progress_hook(hook), SHOAL_OK);
    for (uint64_t round = 1; round <= 20; round++) {
        shoal_event_t event = {.word = &answered, .least = round}, *events[1] = {&event};
        shmem_uint64_atomic_set(&asked, round, (me + 1) % npes);
        if (round % 2)
            shmem_uint64_wait_until(&answered, SHMEM_CMP_GE, round);
        else
            CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
        CHECK(calls > 0);
        shmem_barrier_all();
    }
    CHECK_EQ(shoal_progress_hook(NULL), SHOAL_OK);
    int before = calls;
    for (int i = 0; i < 10; i++)
        shmem_barrier_all();
    CHECK_EQ(calls, before);
    return check_done();
}
