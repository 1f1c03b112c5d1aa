// SPDX-License-Identifier: BSD-3-Clause
// What PEs on other nodes must know of a PE, and check, before they reach it: its card. Every node
// has all of them in its job's file, written once at start-up.
#ifndef SHOAL_CORE_CARD_H
#define SHOAL_CORE_CARD_H

#include "job.h"

#define CARD_SIZE 2048
#define CARD_ADDRESS 1984 // bytes of a transport's address

struct card {
    uint32_t layout;    // JOB_LAYOUT of its library
    uint32_t address_n;
    uint64_t heap_size, data_size, data_hash;
    char transport[32];
    unsigned char address[CARD_ADDRESS];
};
_Static_assert(sizeof(struct card) == CARD_SIZE, "cards are of one size");

static inline struct card *card_of(struct job *job, int pe)
{
    return (struct card *)((char *)job + job->cards) + pe;
}

#endif
