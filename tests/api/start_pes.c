// SPDX-License-Identifier: BSD-3-Clause
// The oldest way to begin: start_pes, more than once, _my_pe and _num_pes, shmalloc and its
// relatives, and no finalize: the library ends with the program, after a barrier.
#include "../check.h"

static long last_word, last_words[64];

int main(void)
{
    start_pes(0);
    start_pes(17); // has no further effect
    me = _my_pe();
    npes = _num_pes();
    CHECK(me == shmem_my_pe() && npes == shmem_n_pes());
    int on = 0;
    shmem_query_initialized(&on);
    CHECK(on != 0);
    long *a = shmalloc(100 * sizeof(long));
    CHECK(a != NULL);
    for (int i = 0; i < 100; i++)
        a[i] = me * 100 + i;
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&a[5], right_pe()), right_pe() * 100 + 5);
    a = shrealloc(a, 1000 * sizeof(long));
    CHECK(a != NULL);
    CHECK_EACH(i, 100, a[i], me * 100 + (long)i);
    void *aligned = shmemalign(512, 100);
    CHECK(aligned != NULL && (uintptr_t)aligned % 512 == 0);
    shfree(aligned);
    shfree(a);
    CHECK(shmalloc(0) == NULL);
    last_word = me;
    for (int pe = 0; pe < npes && me < 64; pe++)
        shmem_long_put_nbi(&last_words[me], &last_word, 1, pe);
    return check_failures > 0;
}
