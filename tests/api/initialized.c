// SPDX-License-Identifier: BSD-3-Clause
// A large initialized array that nothing touches before shmem_init keeps its values when it becomes
// symmetric; what is stored before shmem_init is not stored over a peer's put.
#include "../check.h"

#include <time.h>

#define R8(x) x, x, x, x, x, x, x, x
#define R64(x) R8(x), R8(x), R8(x), R8(x), R8(x), R8(x), R8(x), R8(x)
#define R512(x) R64(x), R64(x), R64(x), R64(x), R64(x), R64(x), R64(x), R64(x)
#define R4K(x) R512(x), R512(x), R512(x), R512(x), R512(x), R512(x), R512(x), R512(x)
static long table[] = {R4K(7), R4K(7), R4K(7), R4K(7), R4K(7), R4K(7), R4K(7), R4K(7)};
enum { WORDS = sizeof table / sizeof *table };
static long early;

// The last PE comes late: whoever puts into it before it has joined would lose the put.
static void come_late(void)
{
    const char *pe = getenv("SHOAL_PE");
    struct timespec t = {.tv_nsec = 50000000};
    if (pe && atoi(pe) == 1)
        nanosleep(&t, NULL);
    early = 5;
}

int main(void)
{
    come_late();
    check_start();
    CHECK_EACH(i, WORDS, table[i], 7);
    if (me == 0)
        shmem_long_p(&early, 9, npes > 1 ? 1 : 0);
    shmem_barrier_all();
    CHECK_EQ(early, me == (npes > 1 ? 1 : 0) ? 9 : 5);
    shmem_long_p(&table[WORDS - 1], me, right_pe());
    shmem_barrier_all();
    CHECK_EQ(table[WORDS - 1], left_pe());
    return check_done();
}
