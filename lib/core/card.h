// SPDX-License-Identifier: BSD-3-Clause
// What PEs on other nodes must know of a PE, and check, before they reach it: its card. Every node
// has all of them in its job's file, written once at start-up.
#ifndef SHOAL_CORE_CARD_H
#define SHOAL_CORE_CARD_H

#include "job.h"

#define CARD_SIZE 2048
#define CARD_ADDRESS 1984 // bytes of a transport's address

struct card {
    uint32_t layout; // JOB_LAYOUT of its library
    uint32_t address_n;
    uint64_t heap_size, data_size, data_hash;
    char transport[32];
    unsigned char address[CARD_ADDRESS];
};
_Static_assert(sizeof(struct card) == CARD_SIZE, "cards are of one size");

// From one card to the next, set by card_write: the file has room for the longest address, and only
// what the transport's takes is ever touched.
extern size_t card_stride;

static inline struct card *card_of(struct job *job, int pe)
{
    return (struct card *)((char *)job + job->cards + (size_t)pe * card_stride);
}

// This PE's card, for the transport in use. 0, or -1 after one line.
int card_write(void);

// Until all cards are in this node's file. 0, or -1 after one line. Between hosts, each node adds
// `extra_n` bytes of its own, which come to the leaders of all nodes in `extras`; the others may
// pass NULL for both.
int card_gather(const void *extra, size_t extra_n, void *extras);

// All PEs run one program with one library and one transport, or cannot understand each other: the
// job ends with a line that names who does not.
void card_compare(void);

#endif
