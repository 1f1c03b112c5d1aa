// SPDX-License-Identifier: BSD-3-Clause
// Two PEs each set their own word, fence, and fetch the other's: at least one sees the other's set
// (table of "Memory Ordering Routines": fence orders blocking atomics). And the value that
// signal_wait_until returns fulfils its condition, however quickly the signal changes.
#include "../check.h"

enum { ROUNDS = 3000, SIGNALS = 20000 };

static struct {
    int value;
    char pad[124];
} word[2];
static int seen[2];
static uint64_t signal_word;
static long stop;

static void both_see_nothing(void)
{
    long missed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (me == 0) {
            shmem_int_atomic_set(&word[0].value, 0, 0);
            shmem_int_atomic_set(&word[1].value, 0, 0);
        }
        shmem_sync_all();
        if (me < 2) {
            shmem_int_atomic_set(&word[me].value, 1, 0);
            shmem_fence();
            shmem_int_p(&seen[me], shmem_int_atomic_fetch(&word[1 - me].value, 0), 0);
        }
        shmem_barrier_all();
        missed += me == 0 && !seen[0] && !seen[1];
        shmem_sync_all();
    }
    CHECK_EQ(missed, 0);
}

static void value_fulfils(void)
{
    long wrong = 0;
    for (int i = 0; me == 0 && i < SIGNALS; i++)
        wrong += shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1) != 1;
    if (me == 0)
        shmem_long_atomic_set(&stop, 1, 1);
    while (me == 1 && !shmem_long_atomic_fetch(&stop, 1)) {
        shmem_signal_set(&signal_word, 1, 0);
        shmem_signal_set(&signal_word, 2, 0);
    }
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    check_start();
    if (npes >= 2) {
        both_see_nothing();
        value_fulfils();
    }
    shmem_barrier_all();
    return check_done();
}
