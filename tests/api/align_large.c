// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 1 4
// ENV: SHMEM_SYMMETRIC_SIZE=4t
// Alignments hold where the heaps are too large to lie at their usual place.
#include "../check.h"

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    check_skip("a thread sanitizer leaves no room for terabytes");
#endif
    check_start();
    shmem_malloc(100);
    for (size_t a = 64; a <= 1u << 30; a *= 4) {
        char *p = shmem_align(a, 100);
        CHECK(p != NULL && (uintptr_t)p % a == 0);
    }
    return check_done();
}
