// SPDX-License-Identifier: BSD-3-Clause
// Reading and asking a node map. See node_map.h.
#include "node_map.h"

#include "tunables.h"

#include <stdlib.h>
#include <string.h>

// A number of one to seven digits, then `end`. Returns what follows, or NULL.
static const char *read_number(const char *at, char end, int *n)
{
    size_t digits = strspn(at, "0123456789");
    if (digits < 1 || digits > 7 || at[digits] != end)
        return NULL;
    *n = atoi(at);
    return at + digits + 1;
}

static const char *read_block(const char *at, struct node_block *b)
{
    at = *at == '(' ? read_number(at + 1, ',', &b->first) : NULL;
    at = at ? read_number(at, ',', &b->nodes) : NULL;
    return at ? read_number(at, ')', &b->each) : NULL;
}

static int read_blocks(struct node_map *map, const char *text)
{
    static const char head[] = "(vector";
    int most = 0;
    for (const char *c = text; *c; c++)
        most += *c == '(';
    if (strncmp(text, head, sizeof head - 1) || most < 2 ||
        !(map->blocks = calloc((size_t)most, sizeof *map->blocks)))
        return -1;
    const char *at = text + sizeof head - 1;
    long period = 0;
    while (at && *at == ',' && period <= LIMIT_PES) {
        struct node_block *b = &map->blocks[map->nblocks];
        at = read_block(at + 1, b);
        if (!at || b->nodes < 1 || b->nodes > LIMIT_PES || b->each < 1 || b->first > LIMIT_PES)
            return -1;
        period += (long)b->nodes * b->each;
        map->nblocks++;
    }
    map->period = (int)period;
    return !at || strcmp(at, ")") || period < 1 || period > LIMIT_PES ? -1 : 0;
}

// Nodes at the end that the ranks do not reach do not count; one between others would.
static int count_nodes(struct node_map *map)
{
    int most = 0, left = map->size, used = 0;
    for (int i = 0; i < map->nblocks; i++)
        if (most < map->blocks[i].first + map->blocks[i].nodes)
            most = map->blocks[i].first + map->blocks[i].nodes;
    char *has = calloc((size_t)most, 1);
    if (!has)
        return -1;
    for (int i = 0; i < map->nblocks && left > 0; i++)
        for (int n = 0; n < map->blocks[i].nodes && left > 0; n++, left -= map->blocks[i].each)
            has[map->blocks[i].first + n] = 1;
    map->nodes = 0;
    for (int n = 0; n < most; n++)
        if (has[n]) {
            map->nodes = n + 1;
            used++;
        }
    free(has);
    return used == map->nodes ? 0 : -1;
}

int node_map_parse(struct node_map *map, const char *text, int size)
{
    *map = (struct node_map){.size = size};
    if (size >= 1 && read_blocks(map, text) == 0 && count_nodes(map) == 0)
        return 0;
    free(map->blocks);
    *map = (struct node_map){0};
    return -1;
}

int node_of(const struct node_map *map, int rank)
{
    int at = rank % map->period;
    const struct node_block *b = map->blocks;
    while (at >= b->nodes * b->each) {
        at -= b->nodes * b->each;
        b++;
    }
    return b->first + at / b->each;
}

int node_rank(const struct node_map *map, int node, int from)
{
    for (long base = from / map->period * map->period; base < map->size; base += map->period) {
        long start = base;
        for (int i = 0; i < map->nblocks; i++) {
            const struct node_block *b = &map->blocks[i];
            long low = start + (long)(node - b->first) * b->each, high = low + b->each;
            start += (long)b->nodes * b->each;
            if (node < b->first || node >= b->first + b->nodes || high <= from)
                continue;
            if (low < from)
                low = from;
            return low < map->size ? (int)low : -1;
        }
    }
    return -1;
}
