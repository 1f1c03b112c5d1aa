// SPDX-License-Identifier: BSD-3-Clause
// What the tests of counting events and of triggered operations do over and over, with the checks.
#ifndef TESTS_SHOAL_COUNTERS_H
#define TESTS_SHOAL_COUNTERS_H

#include "../check.h"

#include <shoal.h>

static inline shoal_ct_t must_ct(shmem_team_t team)
{
    shoal_ct_t ct = SHOAL_CT_NONE;
    CHECK_EQ(shoal_ct_alloc(team, &ct), SHOAL_OK);
    CHECK(ct != SHOAL_CT_NONE);
    return ct;
}

static inline shoal_ct_value_t value_of(shoal_ct_t ct)
{
    shoal_ct_value_t v = {77, 77};
    CHECK_EQ(shoal_ct_get(ct, &v), SHOAL_OK);
    return v;
}

static inline bool check_value_at(int line, shoal_ct_t ct, uint64_t success, uint64_t failure)
{
    shoal_ct_value_t v = {77, 77};
    bool ok = CHECK_EQ(shoal_ct_get(ct, &v), SHOAL_OK);
    ok &= CHECK_EQ(v.success, success);
    ok &= CHECK_EQ(v.failure, failure);
    if (!ok)
        fprintf(stderr, "    in line %d\n", line);
    return ok;
}
#define VALUE_IS(ct, success, failure) check_value_at(__LINE__, ct, success, failure)

static inline void count(int pe, shoal_ct_t ct, uint64_t success, uint64_t failure)
{
    CHECK_EQ(shoal_ct_inc(pe, ct, (shoal_ct_value_t){success, failure}), SHOAL_OK);
}

static inline void wait_sum(shoal_ct_t ct, uint64_t threshold)
{
    CHECK_EQ(shoal_ct_wait(1, &ct, &threshold, NULL), SHOAL_OK);
}

static inline shoal_rptr_t symmetric(const void *at, int pe)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr_symmetric(at, pe, &r), SHOAL_OK);
    return r;
}

#endif
