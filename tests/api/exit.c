// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Ways to end, one for each first argument; exit.sh runs them and looks at the status of the job.
#include <shoal.h>
#include <unistd.h>
#include "../check.h"

static long never;

// One PE's call fails for a wrong setting.
static void init_refused(void)
{
    CHECK(setenv("SHMEM_SYMMETRIC_SIZE", "much", 1) == 0);
    CHECK(shoal_init() == SHOAL_EINIT);
    CHECK(unsetenv("SHMEM_SYMMETRIC_SIZE") == 0);
}

// Ways to begin, of the first PE, where the others just call shoal_init, twice.
static void begin(const char *way)
{
    bool is_first = strcmp(getenv("SHOAL_PE"), "0") == 0;
    if (is_first && strcmp(way, "absent") == 0)
        return;
    if (is_first && (strcmp(way, "refused") == 0 || strcmp(way, "tries") == 0))
        init_refused();
    if (is_first && strcmp(way, "refused") == 0)
        return;
    CHECK(shoal_init() == SHOAL_OK);
    CHECK(shoal_finalize() == SHOAL_OK);
    if (is_first && strcmp(way, "refused_later") == 0) {
        init_refused();
        return;
    }
    CHECK(shoal_init() == SHOAL_OK);
    CHECK(shoal_finalize() == SHOAL_OK);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (argc > 2) {
        begin(argv[2]);
        return check_done();
    }
    check_start();
    if (strcmp(way, "one") == 0) { // one PE ends the job while the others sleep
        if (me == npes - 1)
            shmem_global_exit(7);
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    } else if (strcmp(way, "barrier") == 0) {
        if (me == 0)
            shmem_global_exit(9);
        shmem_barrier_all();
    } else if (strcmp(way, "all") == 0) {
        shmem_global_exit(5);
    } else if (strcmp(way, "zero") == 0) {
        if (me == 0)
            shmem_global_exit(0);
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    } else if (strcmp(way, "flush") == 0) { // no newline: it is in the buffer of the C library
        if (me == 0) {
            printf("buffered text");
            shmem_global_exit(0);
        }
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    } else if (strcmp(way, "main") == 0) { // a status from main
        shmem_finalize();
        return me == npes - 1 ? 3 : 0;
    } else if (strcmp(way, "exit") == 0) { // no finalize: the library finds out
        exit(me == 0 ? 4 : 0);
    } else if (strcmp(way, "die") == 0) {
        if (me == npes - 1)
            abort();
        shmem_barrier_all();
    } else if (strcmp(way, "vanish") == 0) { // no exit handler runs
        if (me == npes - 1)
            _exit(6);
        shmem_barrier_all();
    } else if (strcmp(way, "again") == 0) { // initialized again, but not by all
        shmem_finalize();
        if (me == 0)
            return 0;
        shmem_init();
    }
    return check_done();
}
