// SPDX-License-Identifier: BSD-3-Clause
// Regions that come and go use the same few entries again: no page of the table is touched that was not
// before, by their owner or by those who use their keys. An old key stays refused.
#include "../check.h"

#include <shoal.h>

enum { TIMES = 8000, MOST_FAULTS = 64 };

static shoal_rptr_t place_by_key(void *data, size_t n, shoal_region_t *region)
{
    shoal_key_t key;
    shoal_rptr_t place;
    CHECK_EQ(shoal_region_register(data, n, region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(*region, &key), SHOAL_OK);
    CHECK_EQ(shoal_rptr(&key, 0, &place), SHOAL_OK);
    return place;
}

int main(void)
{
    static uint64_t word, back;
#if defined(__SANITIZE_THREAD__)
    check_skip("the thread sanitizer keeps its history in pages of its own");
#endif
    check_start();
    shoal_region_t region, old;
    shoal_rptr_t first = place_by_key(&word, sizeof word, &old);
    CHECK_EQ(shoal_region_deregister(old), SHOAL_OK);
    long before = 0;
    for (int i = -100; i < TIMES; i++) { // the first ones may need memory
        if (i == 0)
            before = check_faults();
        word = (uint64_t)i;
        shoal_rptr_t place = place_by_key(&word, sizeof word, &region);
        CHECK_EQ(shoal_get(&back, place, sizeof back, NULL, NULL), SHOAL_OK);
        CHECK_EQ(back, word);
        CHECK_EQ(shoal_get(&back, first, sizeof back, NULL, NULL), SHOAL_EKEY);
        CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    }
    CHECK(check_faults() - before < MOST_FAULTS);
    return check_done();
}
