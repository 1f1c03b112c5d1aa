// SPDX-License-Identifier: BSD-3-Clause
// test_any and wait_until_any come to every index that fulfils its comparison, also when the thread
// looks at other arrays in between.
#include "../check.h"

static long both[2] = {1, 1}, other[1] = {1};

int main(void)
{
    check_start();
    long seen[2] = {0, 0};
    for (int i = 0; i < 1000; i++) {
        size_t k = i % 2 ? shmem_long_test_any(both, 2, NULL, SHMEM_CMP_EQ, 1)
                         : shmem_long_wait_until_any(both, 2, NULL, SHMEM_CMP_EQ, 1);
        CHECK(k < 2);
        seen[k % 2]++;
        shmem_long_test_any(other, 1, NULL, SHMEM_CMP_EQ, 1);
    }
    CHECK(seen[0] > 100 && seen[1] > 100);
    return check_done();
}
