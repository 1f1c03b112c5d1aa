// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// PE 1 sleeps past a barrier that the others are in: where.sh lets the time run out.
#include <shmem.h>

#include <unistd.h>

static long word;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1)
        sleep(100);
    if (shmem_my_pe() == 2)
        shmem_wait_until(&word, SHMEM_CMP_NE, 0L);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
