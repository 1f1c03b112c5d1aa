// SPDX-License-Identifier: BSD-3-Clause
// Counters that a program does not free, and works that are armed on them, are given back when the library
// ends: it may begin again as often as it likes.
// PES: 1 2
#include "../check.h"

#include <shoal.h>

enum { LIVES = 80, COUNTERS = 100, WORKS = 1000 };

static void live(void)
{
    shoal_ct_t ct = SHOAL_CT_NONE;
    shoal_ct_value_t v = {1, 1};
    CHECK_EQ(shoal_init(), SHOAL_OK);
    for (int i = 0; i < COUNTERS; i++)
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_get(ct, &v), SHOAL_OK);
    CHECK_EQ(v.success + v.failure, 0);
    shoal_work_t count = {.kind = SHOAL_WORK_CT_INC, .pe = 0, .ct = ct};
    for (int i = 0; i < WORKS; i++)
        CHECK_EQ(shoal_trigger(&count, ct, 5, SHOAL_CT_NONE, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_inc(shmem_my_pe(), ct, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    CHECK_EQ(shoal_finalize(), SHOAL_OK);
}

int main(void)
{
    for (int i = 0; i < LIVES; i++)
        live();
    check_start();
    return check_done();
}
