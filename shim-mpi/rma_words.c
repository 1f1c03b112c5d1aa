// SPDX-License-Identifier: BSD-3-Clause
// Changing elements. See rma_words.h.
#include "rma_words.h"

#include <string.h>

enum { FILLED = 8 }; // elements that are worth looking for whole words among

// ---- The processor's atomics
#define WORDS(X) \
    X(8)         \
    X(16)        \
    X(32)        \
    X(64)
#define X(bits)                                                                                  \
    static inline void words_##bits(const struct change *c, void *at, const char *in, char *old, \
                                    MPI_Count n)                                                 \
    {                                                                                            \
        _Atomic uint##bits##_t *word = at;                                                       \
        const size_t size = sizeof(uint##bits##_t);                                              \
        for (MPI_Count i = 0; i < n; i++) {                                                      \
            uint##bits##_t operand = 0, was;                                                     \
            if (c->kind != OP_DOES_NOTHING)                                                      \
                memcpy(&operand, in + (size_t)i * size, size);                                   \
            if (c->is_sum) {                                                                     \
                was = atomic_fetch_add_explicit(&word[i], operand, memory_order_acq_rel);        \
            } else if (c->kind == OP_REPLACES) {                                                 \
                was = atomic_exchange_explicit(&word[i], operand, memory_order_acq_rel);         \
            } else {                                                                             \
                was = atomic_load_explicit(&word[i], memory_order_acquire);                      \
                uint##bits##_t new;                                                              \
                while (c->loop) {                                                                \
                    new = was;                                                                   \
                    c->loop(&operand, &new, 1);                                                  \
                    if (atomic_compare_exchange_weak_explicit(                                   \
                            &word[i], &was, new, memory_order_acq_rel, memory_order_acquire))    \
                        break;                                                                   \
                }                                                                                \
            }                                                                                    \
            if (old)                                                                             \
                memcpy(old + (size_t)i * size, &was, size);                                      \
        }                                                                                        \
    }
WORDS(X)
#undef X

static void words_one_size(const struct change *c, size_t size, void *at, const char *in, char *old,
                           MPI_Count n)
{
    switch (size) {
#define X(bits) \
    case bits / 8: words_##bits(c, at, in, old, n); break;
        WORDS(X)
#undef X
    }
}

// Many small elements: as many as fit 8 bytes at a time. What is atomic for all of them is so for
// each, also against atomics on single ones: the processor owns the whole line.
static void words_filled(const struct change *c, size_t size, char *at, const char *in, char *old,
                         size_t words)
{
    for (size_t i = 0; i < words; i++, at += sizeof(uint64_t)) {
        _Atomic uint64_t *word = (void *)at;
        uint64_t operand = 0, was, new;
        if (c->kind != OP_DOES_NOTHING)
            memcpy(&operand, in + i * sizeof operand, sizeof operand);
        if (c->kind == OP_REPLACES)
            was = atomic_exchange_explicit(word, operand, memory_order_acq_rel);
        else
            was = atomic_load_explicit(word, memory_order_acquire);
        while (c->loop) {
            new = was;
            c->loop(&operand, &new, (MPI_Count)(sizeof new / size));
            if (atomic_compare_exchange_weak_explicit(word, &was, new, memory_order_acq_rel,
                                                      memory_order_acquire))
                break;
        }
        if (old)
            memcpy(old + i * sizeof was, &was, sizeof was);
    }
}

void words_here(const struct change *c, size_t size, void *at, const char *in, char *old,
                MPI_Count n)
{
    if (n < FILLED || size == sizeof(uint64_t)) {
        words_one_size(c, size, at, in, old, n);
        return;
    }
    size_t bytes = (size_t)n * size, head = -(uintptr_t)at % sizeof(uint64_t);
    size_t words = (bytes - head) / sizeof(uint64_t), done = head + words * sizeof(uint64_t);
    char *to = at;
    words_one_size(c, size, to, in, old, (MPI_Count)(head / size));
    words_filled(c, size, to + head, in ? in + head : NULL, old ? old + head : NULL, words);
    words_one_size(c, size, to + done, in ? in + done : NULL, old ? old + done : NULL,
                   (MPI_Count)((bytes - done) / size));
}

// ---- The runtime's atomics
shoal_type_t word_type(size_t size)
{
    return size == 1   ? SHOAL_UINT8
           : size == 2 ? SHOAL_UINT16
           : size == 4 ? SHOAL_UINT32
                       : SHOAL_UINT64;
}

// An operator that the runtime does not have: by comparing and swapping.
static int word_loop(const struct change *c, size_t size, shoal_rptr_t at, const void *in,
                     void *old)
{
    uint64_t was = 0, seen = 0, new, operand = 0;
    shoal_type_t type = word_type(size);
    memcpy(&operand, in, size);
    int status = shoal_atomic(at, SHOAL_NOOP, type, NULL, NULL, &seen, NULL, NULL);
    do {
        new = was = seen;
        c->loop(&operand, &new, 1);
        if (status == SHOAL_OK)
            status = shoal_atomic(at, SHOAL_CSWAP, type, &new, &was, &seen, NULL, NULL);
    } while (status == SHOAL_OK && memcmp(&seen, &was, size) != 0);
    memcpy(old, &was, size);
    return status;
}

// The runtime's operator, on the type or, where the values do not matter, on words.
bool words_far_op(const struct op *op, const struct type *basic, shoal_op_t *shoal_op,
                  shoal_type_t *type)
{
    if (op_in_runtime(op, basic, shoal_op, type))
        return true;
    *shoal_op = op->kind == OP_REPLACES ? SHOAL_SET : SHOAL_NOOP;
    *type = word_type((size_t)basic->size);
    return !change_of(op, basic).loop;
}

int words_far_accv(struct target *t, const shoal_part_t run[], size_t runs, char *old,
                   shoal_op_t op, shoal_type_t type, shoal_event_t *event)
{
    if (!t || t->memory == MEMORY_SHARED)
        return shoal_accv(run, runs, old, op, type, NULL, event);
    return shoal_accv_locked(shoal_rptr_add(t->control_at, CONTROL(accumulate)), run, runs, old, op,
                             type, event);
}

int words_far_begin(struct target *t, const struct op *op, const struct type *basic,
                    const shoal_part_t run[], size_t runs, char *old, shoal_event_t *event)
{
    shoal_op_t shoal_op;
    shoal_type_t type;
    words_far_op(op, basic, &shoal_op, &type);
    return words_far_accv(t, run, runs, old, shoal_op, type, event);
}

int words_far(const struct op *op, const struct type *basic, shoal_rptr_t at, const char *in,
              char *old, MPI_Count n)
{
    struct change c = change_of(op, basic);
    size_t size = (size_t)basic->size;
    uint64_t dropped;
    int status = SHOAL_OK;
    if (words_far_begins(op, basic)) {
        shoal_part_t all = {at, (void *)(uintptr_t)in, (size_t)n * size};
        return words_far_begin(NULL, op, basic, &all, 1, old, NULL);
    }
    for (size_t i = 0; i < (size_t)n && status == SHOAL_OK; i++)
        status = word_loop(&c, size, shoal_rptr_add(at, (ptrdiff_t)(i * size)),
                           in ? in + i * size : NULL, old ? old + i * size : (char *)&dropped);
    return status;
}

// ---- Plain loops
static bool is_aligned(const void *p, const struct type *basic)
{
    return (uintptr_t)p % basic->align == 0;
}

// One element after the other through memory that is aligned. Here and below, the gaps of pairs are not
// written: others may use these bytes.
static void change_crooked(const struct change *c, const struct type *basic, char *at,
                           const char *in, MPI_Count n)
{
    _Alignas(max_align_t) char operand[64], element[64];
    size_t size = (size_t)basic->true_extent;
    for (MPI_Count i = 0; i < n; i++) {
        memcpy(operand, in + i * basic->extent, size);
        memcpy(element, at + i * basic->extent, size);
        c->loop(operand, element, 1);
        type_copy(basic, at + i * basic->extent, 1, basic, element, 1);
    }
}

size_t array_bytes(const struct type *basic, MPI_Count n)
{
    return (size_t)((n - 1) * basic->extent + basic->true_extent);
}

MPI_Count array_count(const struct type *basic, size_t bytes)
{
    return ((MPI_Count)bytes + basic->extent - basic->true_extent) / basic->extent;
}

void change_here(const struct op *op, const struct type *basic, char *at, const char *in, char *old,
                 MPI_Count n)
{
    struct change c = change_of(op, basic);
    if (old && basic->is_dense)
        shim_copy(old, at, array_bytes(basic, n));
    else if (old)
        type_copy(basic, old, n, basic, at, n);
    if (c.kind == OP_REPLACES)
        type_copy(basic, at, n, basic, in, n);
    else if (c.loop && is_aligned(at, basic) && is_aligned(in, basic))
        c.loop(in, at, n);
    else if (c.loop)
        change_crooked(&c, basic, at, in, n);
}
