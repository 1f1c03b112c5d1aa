// SPDX-License-Identifier: BSD-3-Clause
// Distributed locks (OpenSHMEM 1.6, "Distributed Locking Routines"): first come, first served.
#ifndef SHOAL_CORE_LOCK_H
#define SHOAL_CORE_LOCK_H

void lock_set(long *lock);
void lock_clear(long *lock);
int lock_test(long *lock); // 0: taken, 1: somebody has it

#endif
