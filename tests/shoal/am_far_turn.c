// SPDX-License-Identifier: BSD-3-Clause
// A PE whose neighbour sends more than it can handle gets to a message from another node all the same,
// soon after it has come.
// PES: 3
// NODES: 1
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>

enum { NEAR = 1, FAR, HANDLER_NS = 20000, MOST_BEFORE = 1000, FIRST = 2000 };

// Symmetric: NEAR goes on and on, at PE 2; FAR is at PE 0, though not handled; and has been, at PE 1.
static uint64_t is_begun, has_come, is_over;
static uint64_t before; // messages handled since
static bool is_handled;

static void on_near(const shoal_am_t *am) // slower than they are sent
{
    (void)am;
    before += *(volatile uint64_t *)&has_come;
    for (double until = check_now() + HANDLER_NS / 1e9; check_now() < until;)
        continue;
}

static void on_far(const shoal_am_t *am)
{
    (void)am;
    is_handled = true;
}

int main(void)
{
    uint64_t v = 0, sent = 0;
    check_skip_under_tsan();
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_threads(SHOAL_THREADS_ONE), SHOAL_OK);
    CHECK_EQ(shoal_query(SHOAL_Q_PE, 0, &v), SHOAL_OK);
    me = (int)v;
    CHECK_EQ(shoal_am_register(NEAR, on_near, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(FAR, on_far, NULL), SHOAL_OK);
    shmem_barrier_all();
    if (me == 0) {
        while (!is_handled)
            CHECK(shoal_progress() >= 0);
        CHECK(before < MOST_BEFORE);
        shmem_uint64_p(&is_over, 1, 1);
    } else if (me == 1) {
        for (; !*(volatile uint64_t *)&is_over; sent++) {
            CHECK_EQ(shoal_am_request(0, NEAR, 0, NULL, 0), SHOAL_OK);
            if (sent == FIRST)
                shmem_uint64_p(&is_begun, 1, 2);
        }
    } else if (me == 2) {
        shmem_uint64_wait_until(&is_begun, SHMEM_CMP_EQ, 1);
        CHECK_EQ(shoal_am_request(0, FAR, 0, NULL, 0), SHOAL_OK);
        shmem_uint64_p(&has_come, 1, 0);
    }
    shmem_barrier_all();
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
    return check_done();
}
