// SPDX-License-Identifier: BSD-3-Clause
// Messages from other nodes that are longer than one of the network's that goes without a question:
// they come in parts, which those of other threads may come between.
//
//     NET_MESSAGE {token, long_n} ---> NET_PART {token} ---> ... ---> NET_PART: it is whole
#ifndef SHOAL_CORE_NET_PART_H
#define SHOAL_CORE_NET_PART_H

#include "net_queue.h"

#include <stdbool.h>

// The first part, or one that follows, with head->n bytes of data. False: it is none that a PE sends.
// *whole: the message, when this was its last part, else NULL.
bool part_arrived(int from, const struct net_head *head, const void *data, struct came **whole);

void part_down(void);

#endif
