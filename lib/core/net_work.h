// SPDX-License-Identifier: BSD-3-Clause
// What PEs of other nodes want done here: operations, which wait until somebody has time for them, and
// batches (stream.h), of which that is true for the answer alone.
//
// An accumulate under a lock (shoal_accv_locked) takes the lock's word, and gives it back when it is done. Who
// finds it taken waits here, with those that come behind for the same word; other operations go on, which may be
// those that the holder waits for.
#ifndef SHOAL_CORE_NET_WORK_H
#define SHOAL_CORE_NET_WORK_H

#include "net_queue.h"

void net_work_keep(struct came *c); // for net_work
// Of records that have come, in the upcall: done in the order of their sender.
void net_work_batch(int from, struct net_head *head, const void *records);
size_t net_work_result(const struct operation *op); // bytes that the answer carries
int net_work(void);                                 // does what waits; how much was done
bool net_work_is_locked_out(void);                  // something waits for a lock, which rings no bell
void net_work_down(void);

#endif
