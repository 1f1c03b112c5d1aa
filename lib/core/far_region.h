// SPDX-License-Identifier: BSD-3-Clause
// Regions of PEs of other nodes: long puts and gets go by the transport's RMA, not by messages, as do
// all of memory that every PE reaches, but for short parts of vectors and strided ones (net_vector.h). The owner registers private memory with its transport and
// leaves the key in its table of regions; the others get that entry, which also tells whether the
// region is still the one they have a key of.
#ifndef SHOAL_CORE_FAR_REGION_H
#define SHOAL_CORE_FAR_REGION_H

#include "operation.h"
#include "transport.h"

// The owner's part, when entry `index` of its table is filled and before it is emptied.
void far_region_offer(uint32_t index, void *base, size_t size);
void far_region_withdraw(uint32_t index);

// Where a put or get goes at a PE of another node; *import is then in use until it is given back,
// NULL: none is. False: not this way.
struct import;
bool far_region_find(const struct operation *op, struct transport_remote *at,
                     struct import **import);
void far_region_give(struct import *import);

void far_region_down(void);

#endif
