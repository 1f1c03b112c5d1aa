// SPDX-License-Identifier: BSD-3-Clause
// Core dumps have of the heaps and arenas what this PE has been given, and not all that is mapped: the kernel
// would make pages of it.
#include "../check.h"

#include <shoal.h>

#include <inttypes.h>

enum { BLOCK = 3 << 20, BLOCKS = 5, MOST = 96 << 20 };

static long statics[1000];

// Is the page at p in core dumps? all: bytes of shared memory that are.
static bool is_dumped(const void *p, size_t *all)
{
    char line[512], mode[8];
    uintptr_t from, to, start = 0, end = 0;
    bool found = false, shared = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    CHECK(f != NULL);
    *all = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, mode) == 3) {
            start = from;
            end = to;
            shared = strchr(mode, 's') != NULL;
        }
        if (strncmp(line, "VmFlags:", 8) || strstr(line, " dd"))
            continue;
        *all += shared ? end - start : 0;
        found |= start <= (uintptr_t)p && (uintptr_t)p < end;
    }
    if (f)
        fclose(f);
    return found;
}

static void check_block(const char *p, size_t n)
{
    size_t all;
    CHECK(is_dumped(p, &all));
    CHECK(is_dumped(p + n - 1, &all));
    if (!CHECK(all <= MOST))
        printf("%zu bytes of shared memory are in core dumps\n", all);
}

static void check_life(void)
{
    char *block[BLOCKS], *own = shoal_alloc(BLOCK);
    size_t all;
    int other = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = shmem_malloc(BLOCK);
        check_block(block[i], BLOCK);
        const char *theirs = shmem_ptr(block[i], other);
        CHECK(other == shmem_my_pe() || !theirs || !is_dumped(theirs, &all));
    }
    block[0] = shmem_realloc(block[0], 4 * BLOCK);
    check_block(block[0], 4 * BLOCK);
    check_block(own, BLOCK);
    check_block((char *)statics, sizeof statics);
    shmem_barrier_all();
    shoal_free(own);
    for (int i = 0; i < BLOCKS; i++)
        shmem_free(block[i]);
}

int main(void)
{
    check_start();
    check_life();
    return check_done();
}
