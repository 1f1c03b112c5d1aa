// SPDX-License-Identifier: BSD-3-Clause
// A hook that sends more messages than there is room for waits for room, and is not called within itself.
// PES: 2 4
#include "../check.h"

#include <shoal.h>
#include <time.h>

enum { ID = 1, SENT = 3000 };

static uint64_t taken; // symmetric
static int depth, deepest, sent, came;

static void on_message(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, (uint64_t)came);
    came++;
}

static int hook(void)
{
    if (sent == SENT)
        return 0;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    CHECK_EQ(shoal_am_request(1, ID, (uint64_t)sent++, NULL, 0), SHOAL_OK);
    depth--;
    return 1;
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_am_register(ID, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(shoal_progress_hook(hook), SHOAL_OK);
        shmem_uint64_wait_until(&taken, SHMEM_CMP_EQ, 1);
        CHECK_EQ(shoal_progress_hook(NULL), SHOAL_OK);
        CHECK_EQ(sent, SENT);
        CHECK_EQ(deepest, 1);
    } else if (me == 1) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); // its inbox is full meanwhile
        while (came < SENT)
            CHECK(shoal_progress() >= 0);
        shmem_uint64_p(&taken, 1, 0);
    }
    shmem_barrier_all();
    return check_done();
}
