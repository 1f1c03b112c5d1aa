// SPDX-License-Identifier: BSD-3-Clause
// What a PE holds: printed by PE 0 as the most of all PEs, in KB, when none has talked, when each has
// sent active messages to its two neighbours, and when each has to eight. am_flat.sh compares jobs of
// several sizes.
// PES: none
#include "../check.h"
#include "../proc.h"

#include <shoal.h>
#include <sys/stat.h>

enum { MESSAGE = 1, EACH = 200, BYTES = 512, LOOKS = 3 };

static const int partners[LOOKS] = {0, 2, 8};
static long held[LOOKS], got;

static void on_message(const shoal_am_t *am)
{
    (void)am;
    got++;
}

// Memory of its own, its page tables, and its share of what all have.
static long held_kb(void)
{
    struct stat at = {0};
    const char *fd = getenv("SHOAL_JOB");
    CHECK(fd && fstat(atoi(fd), &at) == 0);
    return proc_kb("/proc/self/smaps_rollup", "Private_Dirty:") +
           proc_kb("/proc/self/status", "VmPTE:") + at.st_blocks / 2 / npes;
}

// Short ones and some with a payload, enough of them for a ring.
static void talk(int others)
{
    static char bytes[BYTES];
    long all = got + (long)others * EACH;
    uint64_t most;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &most), SHOAL_OK);
    most = most < BYTES ? most : BYTES;
    for (int i = 0; i < EACH; i++)
        for (int k = 1; k <= others; k++) {
            int pe = (me + (k % 2 ? (k + 1) / 2 : npes - k / 2)) % npes;
            CHECK_EQ(shoal_am_request(pe, MESSAGE, 0, bytes, i % 8 ? 8 : (size_t)most), SHOAL_OK);
        }
    while (got < all)
        shoal_progress();
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_am_register(MESSAGE, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int i = 0; i < LOOKS; i++) {
        talk(partners[i]);
        shmem_barrier_all();
        held[i] = held_kb();
        shmem_barrier_all();
    }
    shmem_barrier_all();
    for (int pe = 0; me == 0 && pe < npes; pe++) {
        long its[LOOKS];
        shmem_long_get(its, held, LOOKS, pe);
        for (int i = 0; i < LOOKS; i++)
            held[i] = its[i] > held[i] ? its[i] : held[i];
    }
    if (me == 0)
        printf("%ld %ld %ld\n", held[0], held[1], held[2]);
    return check_done();
}
