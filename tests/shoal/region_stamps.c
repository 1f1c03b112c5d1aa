// SPDX-License-Identifier: BSD-3-Clause
// Where the kernel has no random bytes ready, and no time passes, an old key is refused all the same: none
// is ever the same as one before, though it is of the same entry and the same memory.
// NODES: 1
#include "../check.h"

#include <errno.h>
#include <shoal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TIMES = 40 };

// In the place of the C library's, also for the runtime.
ssize_t getrandom(void *to, size_t n, unsigned flags)
{
    if (!(flags & GRND_NONBLOCK))
        return syscall(SYS_getrandom, to, n, flags);
    errno = EAGAIN;
    return -1;
}

clock_t clock(void)
{
    return 0;
}

int main(void)
{
    static uint64_t word, back;
    static shoal_rptr_t old[TIMES];
    shoal_region_t region;
    shoal_key_t key;
    check_start();
    for (int i = 0; i < TIMES; i++) {
        word = (uint64_t)i;
        CHECK_EQ(shoal_region_register(&word, sizeof word, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
        CHECK_EQ(shoal_rptr(&key, 0, &old[i]), SHOAL_OK);
        CHECK_EQ(shoal_get(&back, old[i], sizeof back, NULL, NULL), SHOAL_OK);
        CHECK_EQ(back, word);
        for (int k = 0; k < i; k++)
            CHECK_EQ(shoal_get(&back, old[k], sizeof back, NULL, NULL), SHOAL_EKEY);
        CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    }
    return check_done();
}
