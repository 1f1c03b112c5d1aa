// SPDX-License-Identifier: BSD-3-Clause
// Explores every interleaving of a small model of a protocol, breadth first, so that the trace of a
// violation is a shortest one. A state is plain bytes: the memory that the threads share, then
// whatever the model adds (where each thread is, its variables, notes about what happened).
//
// The model's step() moves one thread by one access to shared memory, through load, store and the
// read-modify-writes below, and says with expect() what must be true. When nobody can move any
// more, end() is called to look at the result; from every state such an end must be in reach,
// else somebody waits for ever.
//
// Every thread has a buffer of stores that the others do not see yet; it loads from it first.
//   SC   stores are seen at once
//   TSO  stores are seen in their order, later than loads that follow; as on x86
//   ARM  in any order, but a release store after all before it; read-modify-writes wait for earlier
//        stores only if they release, or acquire after a seq_cst store; as on aarch64
// Loads are never reordered: a missing acquire is not found.
//
// A variant runs the protocol itself, which must hold, or with one known mistake, which must be
// found: else the model sees nothing.
#ifndef TESTS_MODEL_EXPLORE_H
#define TESTS_MODEL_EXPLORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 32, MAX_THREADS = 4, MAX_STORES = 4 };
enum memory_kind { SC, TSO, ARM };
enum order { RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

struct store {
    uint8_t word, value, order;
};

struct memory {
    uint8_t word[MAX_WORDS];
    struct buffer {
        uint8_t n;
        struct store store[MAX_STORES]; // oldest first; zero behind n
    } buffer[MAX_THREADS];
};

struct model {
    size_t size;                // of a state, which begins with a struct memory and has no padding
    int threads, choices;       // ways to go on that a step may have
    void (*start)(void *state); // which is all zero
    bool (*step)(void *state, int thread, int choice); // false: there is no such way now
    void (*end)(const void *state);
    const char *const *thread_names, *const *word_names;
};

struct variant {
    int mistake; // the model's own numbers; 0: none, the protocol must hold
    enum memory_kind memory;
    int scenario; // likewise
    const char *name;
};

static struct variant variant;
static const struct model *model;
static bool tracing;
static const char *broken; // the first thing that was not as expected

static inline void expect(bool holds, const char *what)
{
    if (!holds && !broken)
        broken = what;
}

// A line of the trace.
static inline void note(int thread, const char *format, ...)
{
    va_list args;
    if (!tracing)
        return;
    va_start(args, format);
    fprintf(stderr, "  %-12s ", model->thread_names[thread]);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

// ---- Shared memory
static inline void drain_one(struct memory *m, int thread, int i)
{
    struct buffer *b = &m->buffer[thread];
    struct store s = b->store[i];
    m->word[s.word] = s.value;
    b->n--;
    memmove(&b->store[i], &b->store[i + 1], (size_t)(b->n - i) * sizeof s);
    memset(&b->store[b->n], 0, sizeof s);
    note(thread, "    seen by all: %s = %d", model->word_names[s.word], s.value);
}

static inline bool may_drain(const struct buffer *b, int i)
{
    if (i >= b->n || (i > 0 && (variant.memory == TSO || b->store[i].order >= RELEASE)))
        return false;
    for (int before = 0; before < i; before++)
        if (b->store[before].word == b->store[i].word)
            return false;
    return true;
}

static inline void drain_oldest(struct memory *m, int thread, int n)
{
    while (n-- > 0)
        drain_one(m, thread, 0);
}

static inline void fence(struct memory *m, int thread)
{
    drain_oldest(m, thread, m->buffer[thread].n);
}

// membarrier
static inline void fence_everywhere(struct memory *m, int thread)
{
    note(thread, "membarrier");
    for (int t = 0; t < MAX_THREADS; t++)
        fence(m, t);
}

// Up to the last seq_cst store, for a load that must not come before it.
static inline void drain_seq_cst(struct memory *m, int thread)
{
    const struct buffer *b = &m->buffer[thread];
    int n = b->n;
    while (n > 0 && b->store[n - 1].order != SEQ_CST)
        n--;
    drain_oldest(m, thread, n);
}

static inline uint8_t peek(const struct memory *m, int thread, int word)
{
    const struct buffer *b = &m->buffer[thread];
    for (int i = b->n; i > 0; i--)
        if (b->store[i - 1].word == word)
            return b->store[i - 1].value;
    return m->word[word];
}

static inline uint8_t load(struct memory *m, int thread, int word, enum order order)
{
    if (order == SEQ_CST)
        drain_seq_cst(m, thread);
    uint8_t value = peek(m, thread, word);
    note(thread, "%s is %d", model->word_names[word], value);
    return value;
}

static inline void store(struct memory *m, int thread, int word, int value, enum order order)
{
    struct buffer *b = &m->buffer[thread];
    note(thread, "%s = %d", model->word_names[word], value);
    if (variant.memory == SC) {
        m->word[word] = (uint8_t)value;
        return;
    }
    if (b->n == MAX_STORES)
        drain_one(m, thread, 0);
    b->store[b->n++] = (struct store){(uint8_t)word, (uint8_t)value, (uint8_t)order};
}

// Before a read-modify-write of the word.
static inline void drain_for(struct memory *m, int thread, int word, enum order order)
{
    const struct buffer *b = &m->buffer[thread];
    if (variant.memory != ARM || order >= RELEASE)
        fence(m, thread);
    else if (order == ACQUIRE)
        drain_seq_cst(m, thread);
    int n = b->n;
    while (n > 0 && b->store[n - 1].word != word)
        n--;
    drain_oldest(m, thread, n);
}

static inline uint8_t exchange(struct memory *m, int thread, int word, int to, enum order order)
{
    drain_for(m, thread, word, order);
    uint8_t was = m->word[word];
    m->word[word] = (uint8_t)to;
    note(thread, "%s: %d exchanged for %d", model->word_names[word], was, to);
    return was;
}

static inline uint8_t fetch_add(struct memory *m, int thread, int word, int n, enum order order)
{
    drain_for(m, thread, word, order);
    uint8_t was = m->word[word];
    m->word[word] = (uint8_t)(was + n);
    note(thread, "%s: %d + %d", model->word_names[word], was, n);
    return was;
}

// False: it is not *expected but something else, which is there now.
static inline bool compare_exchange(struct memory *m, int thread, int word, uint8_t *expected,
                                    int to, enum order order)
{
    if (variant.memory != ARM || peek(m, thread, word) == *expected)
        drain_for(m, thread, word, order);
    uint8_t was = peek(m, thread, word);
    bool equal = was == *expected;
    note(thread, "%s: %d %s %d", model->word_names[word], was,
         equal ? "exchanged for" : "is not exchanged for", to);
    if (equal)
        m->word[word] = (uint8_t)to;
    *expected = was;
    return equal;
}

#include "explore_run.h"

#endif
