// SPDX-License-Identifier: BSD-3-Clause
// PE 1 ends, without shmem_finalize, and takes nothing out of its inbox any more: who sends it more than
// there is room for does not wait for ever. What does not fit is dropped.
// PES: 2
// NODES: 1
// TIMEOUT: 30
#include "../check.h"

#include <shoal.h>
#include <time.h>

enum { HELLO = 41, MANY = 2000, LEFT_MS = 10000 };

static void on_hello(const shoal_am_t *am)
{
    (void)am;
}

static void wait_until_gone(void)
{
    uint64_t status = SHOAL_PE_RUNNING;
    for (int ms = 0; ms < LEFT_MS && status != SHOAL_PE_GONE; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CHECK_EQ(shoal_query(SHOAL_Q_STATUS, 1, &status), SHOAL_OK);
    }
    CHECK_EQ(status, SHOAL_PE_GONE);
}

int main(void)
{
    static const char payload[100];
    shoal_am_room_t room = {0};
    check_start();
    CHECK_EQ(shoal_am_register(HELLO, on_hello, NULL), SHOAL_OK);
    shmem_barrier_all();
    if (me == 1)
        exit(check_failures > 0);
    wait_until_gone();
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(shoal_am_request(1, HELLO, 0, payload, i % 2 ? sizeof payload : 0), SHOAL_OK);
        if (i % 2)
            continue;
        CHECK_EQ(shoal_am_reserve(1, sizeof payload, &room), SHOAL_OK);
        memset(room.payload, 1, sizeof payload);
        CHECK_EQ(shoal_am_commit(&room, HELLO, 0, sizeof payload), SHOAL_OK);
    }
    exit(check_failures > 0);
}
