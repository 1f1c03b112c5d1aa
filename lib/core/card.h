// SPDX-License-Identifier: BSD-3-Clause
// What PEs on other nodes must know of a PE, and check, before they reach it: its card, which is of one
// size whatever the transport, and that transport's address. Every node has all of them in its job's
// file, written once at start-up.
#ifndef SHOAL_CORE_CARD_H
#define SHOAL_CORE_CARD_H

#include "job.h"

#define CARD_ADDRESS 1984 // bytes of a transport's address

struct card {
    uint64_t data_size, data_hash;
    uint32_t address_n;
    char transport[12], provider[32]; // ofi and its provider; empty: it has none
};
_Static_assert(sizeof(struct card) == CACHE_LINE, "cards are of one size");
#define CARD_SIZE (sizeof(struct card) + CARD_ADDRESS)

// From one address to the next, behind the cards, set by card_write: the file has room for the longest,
// and only what the transport's takes is ever touched.
extern size_t card_stride;

static inline struct card *card_of(struct job *job, int pe)
{
    return (struct card *)((char *)job + job->cards) + pe;
}

static inline void *card_address(struct job *job, int pe)
{
    return (char *)card_of(job, job->npes) + (size_t)pe * card_stride;
}

// This PE's card, for the transport in use. 0, or -1 after one line.
int card_write(void);

// Until all cards are in this node's file, and are found to be of one program and one transport: PEs
// that cannot understand each other end the job with a line that names them. 0, or -1 after one line.
// Between hosts, each node adds `extra_n` bytes of its own, which come to the leaders of all nodes in
// `extras`; the others may pass NULL for both.
int card_gather(const void *extra, size_t extra_n, void *extras);

#endif
