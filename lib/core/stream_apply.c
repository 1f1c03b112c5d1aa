// SPDX-License-Identifier: BSD-3-Clause
// Streams at the target: the records of a batch are applied in order. See stream.h.
#include "stream.h"

#include "copy.h"
#include "cpu_amo.h"
#include "net_message.h"
#include "stream_record.h"
#include "wait.h"
#include "world.h"

#include <string.h>

static unsigned char *own_memory(const struct record *r, size_t n)
{
    bool in_data = r->region == TRANSPORT_DATA;
    size_t size = in_data ? world.data_size : (size_t)world.slice_size;
    if (r->region >= TRANSPORT_REGIONS_FIXED || r->offset > size || n > size - r->offset)
        return NULL;
    return (in_data ? (unsigned char *)world.data : (unsigned char *)world.ctl) + r->offset;
}

// One word is stored by one instruction, so that nobody waiting for it sees half of it.
static bool apply_put(const struct record *r, const unsigned char *from)
{
    unsigned char *to = own_memory(r, r->n);
    if (!to)
        return false;
    uint64_t word;
    uint32_t half;
    uint16_t quarter;
    if (r->n == sizeof word && (uintptr_t)to % sizeof word == 0) {
        memcpy(&word, from, sizeof word);
        atomic_store_explicit((_Atomic uint64_t *)to, word, memory_order_release);
    } else if (r->n == sizeof half && (uintptr_t)to % sizeof half == 0) {
        memcpy(&half, from, sizeof half);
        atomic_store_explicit((_Atomic uint32_t *)to, half, memory_order_release);
    } else if (r->n == sizeof quarter && (uintptr_t)to % sizeof quarter == 0) {
        memcpy(&quarter, from, sizeof quarter);
        atomic_store_explicit((_Atomic uint16_t *)to, quarter, memory_order_release);
    } else {
        atomic_thread_fence(memory_order_release);
        copy_bytes(to, from, r->n);
    }
    return true;
}

static bool apply_amo(const struct record *r, const unsigned char *from, uint64_t *old)
{
    size_t size = r->width == TRANSPORT_32 ? sizeof(uint32_t) : sizeof(uint64_t);
    unsigned char *word = own_memory(r, size);
    uint64_t operand, compare = 0;
    if (!word || (uintptr_t)word % size)
        return false;
    memcpy(&operand, from, sizeof operand);
    if (r->op == TRANSPORT_CSWAP)
        memcpy(&compare, from + sizeof operand, sizeof compare);
    *old = cpu_amo(word, (enum transport_op)r->op, (enum transport_width)r->width, operand,
                   compare);
    return true;
}

static bool apply_message(int from, const struct record *r, const unsigned char *data)
{
    return net_message_gathered(
        from, &(struct inbox_message){
                  .arg = r->arg, .payload = data, .n = r->n, .id = r->id, .flags = r->flags});
}

static bool apply(int from, const struct record *r, const unsigned char *data, uint64_t *old)
{
    switch (r->op) {
    case RECORD_PUT: return apply_put(r, data);
    case RECORD_MESSAGE: return apply_message(from, r, data);
    default: return apply_amo(r, data, old);
    }
}

static size_t bytes_of(const struct record *r)
{
    if (r->op >= RECORD_PUT)
        return record_padded(r->n);
    return r->op == TRANSPORT_CSWAP ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

bool stream_apply(int from, const void *records, size_t n, uint64_t *old)
{
    const unsigned char *at = records;
    struct record r;
    *old = 0;
    while (n) {
        if (n < sizeof r)
            return false;
        memcpy(&r, at, sizeof r);
        if (r.op > RECORD_MESSAGE || r.width >= TRANSPORT_WIDTH_COUNT ||
            bytes_of(&r) > n - sizeof r)
            return false;
        if (!apply(from, &r, at + sizeof r, old))
            return false;
        at += sizeof r + bytes_of(&r);
        n -= sizeof r + bytes_of(&r);
    }
    bell_check(&world_ctl(world.me)->bell);
    return true;
}
