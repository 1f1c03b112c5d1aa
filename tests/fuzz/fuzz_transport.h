// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzers of the transports share. This endpoint is PE 0 of four; an input is a row of steps:
//
//     kind, flags, length (2 bytes), bytes
#ifndef SHOAL_TESTS_FUZZ_TRANSPORT_H
#define SHOAL_TESTS_FUZZ_TRANSPORT_H

#include "job.h"
#include "messages.h"
#include "transport.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NPES = 4, HEAP = 4096 };
#define SECRET UINT64_C(0x5365637265744b65)

static unsigned char heap[HEAP];
static unsigned char *blobs[NPES];     // addresses that were accepted
static uint32_t expected[NPES];        // number of its next message
static unsigned seen;                  // whatever is handed on is read

// Libraries that the transports load handle signals in their own way.
static inline void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static bool on_am(void *arg, int from, const void *payload, size_t n, void *memory)
{
    (void)arg;
    require(from > 0 && from < NPES && n <= MESSAGE_MAX);
    for (size_t i = 0; i < n; i++)
        seen += ((const unsigned char *)payload)[i];
    bool keeps = memory && n % 2;
    if (keeps)
        free(memory);
    return keeps;
}

static inline struct transport_job fuzz_job(void)
{
    struct transport_job job = {.npes = NPES, .secret = SECRET, .on_am = on_am};
    job.region[TRANSPORT_HEAP].base = heap;
    job.region[TRANSPORT_HEAP].size = HEAP;
    memset(expected, 0, sizeof expected);
    return job;
}

static inline void blobs_free(void)
{
    for (int pe = 0; pe < NPES; pe++) {
        free(blobs[pe]);
        blobs[pe] = NULL;
    }
}

// Flag 1: the message is given the job's secret, flag 2: the number that is expected.
static inline void make_right(unsigned char *data, size_t n, int flags)
{
    struct message_header header;
    if (n < sizeof header)
        return;
    memcpy(&header, data, sizeof header);
    if (flags & 1)
        header.secret = SECRET;
    if (flags & 2 && header.from < NPES)
        header.seq = expected[header.from]++;
    memcpy(data, &header, sizeof header);
}

// The bytes in memory of their own size, sealed when that is asked for.
static inline unsigned char *sealed(bool right, const uint8_t *bytes, size_t n, size_t size)
{
    unsigned char *copy = calloc(1, size);
    memcpy(copy, bytes, n < size ? n : size);
    uint64_t seal = job_seal(copy, size);
    if (right)
        memcpy(copy + size - sizeof seal, &seal, sizeof seal);
    return copy;
}

struct fuzz_step {
    int kind, flags, pe;
    const uint8_t *bytes;
    size_t n;
};

// The next one; false at the end of the input.
static inline bool next_step(const uint8_t **data, const uint8_t *end, struct fuzz_step *step)
{
    const uint8_t *at = *data;
    if (end - at < 4)
        return false;
    size_t n = at[2] | (size_t)(at[3] & 31) << 8, left = (size_t)(end - at) - 4;
    n = n < left ? n : left;
    *step = (struct fuzz_step){.kind = at[0],
                               .flags = at[1],
                               .pe = 1 + (at[1] & 3) % 3,
                               .bytes = at + 4,
                               .n = n};
    *data = at + 4 + n;
    return true;
}

#endif
