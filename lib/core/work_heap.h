// SPDX-License-Identifier: BSD-3-Clause
// Works by (threshold, order): a pairing heap in shared memory, linked by references. Insertion is
// O(1), the others O(log n) amortized. After Fredman, Sedgewick, Sleator, Tarjan: "The pairing
// heap", Algorithmica 1986. The caller holds the counter's lock.
#ifndef SHOAL_CORE_WORK_HEAP_H
#define SHOAL_CORE_WORK_HEAP_H

#include "trigger_area.h"

struct work *work_heap_least(const struct counter *c); // NULL: empty
void work_heap_insert(struct counter *c, struct work *w); // gives it its order
void work_heap_remove(struct counter *c, struct work *w); // which is in it

#endif
