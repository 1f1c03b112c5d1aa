// SPDX-License-Identifier: BSD-3-Clause
// Two-level segregated fit. See tlsf.h.
//
//     first level: the power of two of a block's size in grains; second: 16 steps between two.
//     first_map bit f: some list of level f has blocks; second_map[f] bit s: list [f][s] has.
//
//     range:  | block 0, in use | block 7, free | block 3, in use | ...   linked by before / after
//
// Records live in one array that grows; links are indices, 0 means none. Records of blocks in use
// are found by their offset through a hash table with chains.
#include "tlsf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SECOND_BITS = 4, SECOND = 1 << SECOND_BITS, FIRST = 48 - SECOND_BITS, CLASS_SCAN = 32 };

struct block {
    size_t start, size;       // in grains
    uint32_t before, after;   // neighbours in the range
    uint32_t prev, next;      // same list (free), or same hash chain (in use: next only)
    bool in_use;
};

struct tlsf {
    uint64_t first_map;
    uint32_t second_map[FIRST];
    uint32_t list[FIRST][SECOND];
    struct block *block; // [0] is not used
    uint32_t used, room; // records ever used, records there is room for
    uint32_t spare;      // records given back, linked by next
    uint32_t *chain;     // hash table
    uint32_t chains, in_use;
    size_t available;
};

static void class_of(size_t size, int *first, int *second)
{
    int log = 63 - __builtin_clzll(size);
    if (log < SECOND_BITS) {
        *first = 0;
        *second = (int)size;
    } else {
        *first = log - SECOND_BITS + 1;
        *second = (int)(size >> (log - SECOND_BITS)) & (SECOND - 1);
    }
}

static uint32_t hash(const struct tlsf *t, size_t start)
{
    return (uint32_t)((start * 0x9e3779b97f4a7c15u) >> 32) & (t->chains - 1);
}

static void list_insert(struct tlsf *t, uint32_t b)
{
    int f, s;
    class_of(t->block[b].size, &f, &s);
    uint32_t head = t->list[f][s];
    t->block[b].prev = 0;
    t->block[b].next = head;
    t->block[b].in_use = false;
    if (head)
        t->block[head].prev = b;
    t->list[f][s] = b;
    t->first_map |= 1ULL << f;
    t->second_map[f] |= 1U << s;
    t->available += t->block[b].size;
}

static void list_remove(struct tlsf *t, uint32_t b)
{
    int f, s;
    struct block *it = &t->block[b];
    class_of(it->size, &f, &s);
    if (it->next)
        t->block[it->next].prev = it->prev;
    if (it->prev)
        t->block[it->prev].next = it->next;
    else if (!(t->list[f][s] = it->next) && !(t->second_map[f] &= ~(1U << s)))
        t->first_map &= ~(1ULL << f);
    t->available -= it->size;
}

static void table_insert(struct tlsf *t, uint32_t b)
{
    uint32_t *head = &t->chain[hash(t, t->block[b].start)];
    t->block[b].next = *head;
    t->block[b].in_use = true;
    *head = b;
    t->in_use++;
}

static void table_remove(struct tlsf *t, uint32_t b)
{
    uint32_t *link = &t->chain[hash(t, t->block[b].start)];
    while (*link != b)
        link = &t->block[*link].next;
    *link = t->block[b].next;
    t->in_use--;
}

static uint32_t table_find(const struct tlsf *t, size_t offset)
{
    if (offset % TLSF_GRAIN)
        return 0;
    uint32_t b = t->chain[hash(t, offset / TLSF_GRAIN)];
    while (b && t->block[b].start != offset / TLSF_GRAIN)
        b = t->block[b].next;
    return b;
}

// Room for three more records (an aligned allocation splits twice) and a table that is not too
// full: afterwards nothing can fail half-way.
static bool reserve(struct tlsf *t)
{
    if (t->used + 3 > t->room) {
        struct block *more = realloc(t->block, 2 * (size_t)t->room * sizeof *more);
        if (!more)
            return false;
        t->block = more;
        t->room *= 2;
    }
    if (t->in_use < t->chains)
        return true;
    uint32_t *old = t->chain, n = t->chains, *more = calloc(2 * (size_t)n, sizeof *more);
    if (!more)
        return false;
    t->chain = more;
    t->chains = 2 * n;
    t->in_use = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t b = old[i], next; b; b = next) {
            next = t->block[b].next;
            table_insert(t, b);
        }
    free(old);
    return true;
}

static uint32_t record_new(struct tlsf *t)
{
    uint32_t b = t->spare;
    if (b)
        t->spare = t->block[b].next;
    else
        b = t->used++;
    return b;
}

static void record_drop(struct tlsf *t, uint32_t b)
{
    t->block[b].next = t->spare;
    t->block[b].size = 0;
    t->spare = b;
}

// Cuts block b after `size` grains; the rest becomes a block of its own, in no list yet.
static uint32_t split(struct tlsf *t, uint32_t b, size_t size)
{
    uint32_t rest = record_new(t), after = t->block[b].after;
    t->block[rest] = (struct block){.start = t->block[b].start + size,
                                    .size = t->block[b].size - size,
                                    .before = b, .after = after};
    t->block[b].size = size;
    t->block[b].after = rest;
    if (after)
        t->block[after].before = rest;
    return rest;
}

// Joins b with the block behind it, whose record is dropped. Neither is in a list.
static void join(struct tlsf *t, uint32_t b)
{
    uint32_t gone = t->block[b].after, after = t->block[gone].after;
    t->block[b].size += t->block[gone].size;
    t->block[b].after = after;
    if (after)
        t->block[after].before = b;
    record_drop(t, gone);
}

static bool is_free(const struct tlsf *t, uint32_t b)
{
    return b && !t->block[b].in_use;
}

// Gives b (in no list) back, joined with free neighbours.
static void give_back(struct tlsf *t, uint32_t b)
{
    if (is_free(t, t->block[b].after)) {
        list_remove(t, t->block[b].after);
        join(t, b);
    }
    uint32_t before = t->block[b].before;
    if (is_free(t, before)) {
        list_remove(t, before);
        join(t, before);
        b = before;
    }
    list_insert(t, b);
}

// A free block of at least size grains: the first of the smallest class all of whose blocks
// suffice, else one of the first few of size's own class.
static uint32_t find(const struct tlsf *t, size_t size)
{
    int f, s;
    class_of(size, &f, &s);
    uint32_t own = t->list[f][s];
    size_t up = size + (f ? ((size_t)1 << (f - 1)) - 1 : 0);
    class_of(up, &f, &s);
    uint32_t seconds = f < FIRST ? t->second_map[f] & (~0U << s) : 0;
    if (!seconds) {
        uint64_t firsts = f + 1 < FIRST ? t->first_map & (~0ULL << (f + 1)) : 0;
        if (firsts) {
            f = __builtin_ctzll(firsts);
            seconds = t->second_map[f];
        }
    }
    if (seconds)
        return t->list[f][__builtin_ctz(seconds)];
    for (int i = 0; own && i < CLASS_SCAN; i++, own = t->block[own].next)
        if (t->block[own].size >= size)
            return own;
    return 0;
}

struct tlsf *tlsf_create(size_t bytes)
{
    struct tlsf *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->room = 64;
    t->chains = 64;
    t->used = 1;
    t->block = calloc(t->room, sizeof *t->block);
    t->chain = calloc(t->chains, sizeof *t->chain);
    if (!t->block || !t->chain) {
        tlsf_destroy(t);
        return NULL;
    }
    uint32_t b = record_new(t);
    t->block[b] = (struct block){.size = bytes / TLSF_GRAIN};
    list_insert(t, b);
    return t;
}

void tlsf_destroy(struct tlsf *t)
{
    if (!t)
        return;
    free(t->block);
    free(t->chain);
    free(t);
}

size_t tlsf_alloc(struct tlsf *t, size_t size, size_t align)
{
    if (size > (size_t)1 << 46 || align > (size_t)1 << 46 || !reserve(t))
        return TLSF_NONE;
    size_t grains = (size + TLSF_GRAIN - 1) / TLSF_GRAIN;
    size_t step = align > TLSF_GRAIN ? align / TLSF_GRAIN : 1;
    uint32_t b = find(t, grains + step - 1);
    if (!b)
        return TLSF_NONE;
    list_remove(t, b);
    size_t skip = (step - t->block[b].start % step) % step;
    if (skip) {
        uint32_t rest = split(t, b, skip);
        list_insert(t, b); // its neighbour before is in use, or it would have been joined
        b = rest;
    }
    if (t->block[b].size > grains)
        list_insert(t, split(t, b, grains));
    table_insert(t, b);
    return t->block[b].start * TLSF_GRAIN;
}

size_t tlsf_size(const struct tlsf *t, size_t offset)
{
    uint32_t b = table_find(t, offset);
    return b ? t->block[b].size * TLSF_GRAIN : 0;
}

void tlsf_free(struct tlsf *t, size_t offset)
{
    uint32_t b = table_find(t, offset);
    table_remove(t, b);
    give_back(t, b);
}

int tlsf_resize(struct tlsf *t, size_t offset, size_t size)
{
    uint32_t b = table_find(t, offset);
    size_t grains = (size + TLSF_GRAIN - 1) / TLSF_GRAIN;
    uint32_t after = t->block[b].after;
    size_t whole = t->block[b].size + (is_free(t, after) ? t->block[after].size : 0);
    if (size > (size_t)1 << 46 || grains > whole || !reserve(t))
        return -1;
    if (grains > t->block[b].size) {
        list_remove(t, after);
        join(t, b);
    }
    if (grains < t->block[b].size)
        give_back(t, split(t, b, grains));
    return 0;
}

size_t tlsf_available(const struct tlsf *t)
{
    return t->available * TLSF_GRAIN;
}

size_t tlsf_largest(const struct tlsf *t)
{
    if (!t->first_map)
        return 0;
    int f = 63 - __builtin_clzll(t->first_map), s = 31 - __builtin_clz(t->second_map[f]);
    size_t largest = 0;
    for (uint32_t b = t->list[f][s]; b; b = t->block[b].next)
        if (t->block[b].size > largest)
            largest = t->block[b].size;
    return largest * TLSF_GRAIN;
}

// 1: neighbours do not meet; 2: two free neighbours; 3: a block in use is not in the table;
// 4: the free blocks do not add up.
int tlsf_verify(const struct tlsf *t)
{
    uint32_t b = 1;
    while (t->block[b].before)
        b = t->block[b].before;
    size_t at = t->block[b].start, available = 0;
    bool last_free = false;
    for (; b; b = t->block[b].after) {
        if (t->block[b].start != at || !t->block[b].size)
            return 1;
        if (last_free && !t->block[b].in_use)
            return 2;
        if (t->block[b].in_use && table_find(t, at * TLSF_GRAIN) != b)
            return 3;
        last_free = !t->block[b].in_use;
        available += last_free ? t->block[b].size : 0;
        at += t->block[b].size;
    }
    return available == t->available ? 0 : 4;
}
