// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// NODES: 1
// Many short parts in memory that its owner, which waits and would move them, may not write or read: who asks is
// told, and nobody dies of it.
#include "../check.h"
#include "cross_memory.h"

#include <shoal.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16, PARTS = 512, APART = SIZE / PARTS, ROUNDS = 20 };

static shoal_key_t key, theirs; // symmetric

static void move(shoal_rptr_t r, int put_status, int get_status)
{
    static uint64_t data[PARTS];
    static shoal_part_t part[PARTS];
    const ptrdiff_t there = APART, here = sizeof data[0];
    const size_t count[] = {sizeof data[0], PARTS};
    for (int i = 0; i < PARTS; i++)
        part[i] = (shoal_part_t){shoal_rptr_add(r, i * APART), &data[i], sizeof data[i]};
    CHECK_EQ(shoal_putv(part, PARTS, NULL, NULL), put_status);
    CHECK_EQ(shoal_getv(part, PARTS, NULL, NULL), get_status);
    CHECK_EQ(shoal_puts(r, &there, data, &here, count, 1, NULL, NULL), put_status);
    CHECK_EQ(shoal_gets(data, &here, r, &there, count, 1, NULL, NULL), get_status);
}

int main(void)
{
    static const struct {
        int protection, put_status, get_status;
    } cases[] = {{PROT_READ | PROT_WRITE, SHOAL_OK, SHOAL_OK},
                 {PROT_READ, SHOAL_EFAULT, SHOAL_OK},
                 {PROT_NONE, SHOAL_EFAULT, SHOAL_EFAULT}};
    shoal_region_t region;
    shoal_rptr_t r = {0};
    unsigned char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    need_cross_memory();
    check_start();
    CHECK_EQ(shoal_region_register(memory, SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &key, sizeof theirs, 1);
    CHECK_EQ(shoal_rptr(&theirs, 0, &r), SHOAL_OK);
    for (int i = 0; i < ROUNDS * 3; i++) {
        CHECK_EQ(mprotect(memory + SIZE / 2, SIZE / 2, cases[i % 3].protection), 0);
        shmem_barrier_all();
        if (me == 0)
            move(r, cases[i % 3].put_status, cases[i % 3].get_status);
        shmem_barrier_all();
    }
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    return check_done();
}
