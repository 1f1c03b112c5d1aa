// SPDX-License-Identifier: BSD-3-Clause
// Where the channels of inboxes are, for those who send (inbox.c) and receive (inbox_poll.c).
#ifndef SHOAL_CORE_INBOX_CHANNEL_H
#define SHOAL_CORE_INBOX_CHANNEL_H

#include "inbox_area.h"
#include "slice.h"

static inline struct channel *shared_channel(int pe)
{
    return (struct channel *)slice_of(pe)->inbox.pool;
}

// Of n bytes.
static inline unsigned char *payload_of(struct channel *c, uint32_t slots, size_t slot, size_t n)
{
    unsigned char *first = (unsigned char *)&c->envelope[slots];
    return n <= LIMIT_AM_SHORT ? first + slot * LIMIT_AM_SHORT
                               : first + (size_t)slots * LIMIT_AM_SHORT + slot * LIMIT_AM_PAYLOAD;
}

#endif
