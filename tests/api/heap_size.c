// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// heap_size BYTES: 0 when that much symmetric memory is there and works. environment.sh runs it.
#include "../check.h"

int main(int argc, char **argv)
{
    int provided;
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0)
        return 2;
    me = shmem_my_pe();
    npes = shmem_n_pes();
    char *p = shmem_malloc(n);
    if (CHECK(p != NULL)) {
        shmem_char_p(&p[0], (char)me, right_pe());
        shmem_char_p(&p[n - 1], (char)me, right_pe());
        shmem_barrier_all();
        CHECK(p[0] == (char)left_pe() && p[n - 1] == (char)left_pe());
    }
    return check_done();
}
