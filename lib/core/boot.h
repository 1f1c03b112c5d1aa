// SPDX-License-Identifier: BSD-3-Clause
// How this process comes to be a PE: by oshrun's environment, or alone.
#ifndef SHOAL_CORE_BOOT_H
#define SHOAL_CORE_BOOT_H

// Finds the job, maps all slices and waits until every PE has come this far; fills the memory part
// of `world`. Returns 0, or -1 after one line.
int boot_join(void);

// Heaps start on multiples of this: the largest alignment that shmem_align can give on every PE.
#define HEAP_ALIGN (1UL << 30)

#endif
