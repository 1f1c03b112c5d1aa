// SPDX-License-Identifier: BSD-3-Clause
// The search of explore.h, and the main program of a model.
#ifndef TESTS_MODEL_EXPLORE_RUN_H
#define TESTS_MODEL_EXPLORE_RUN_H

#include "explore.h"

// All states found, in the order they were; those from `next` on have not been looked at.
struct search {
    size_t size; // of a state, whole words
    unsigned char *states;
    uint32_t *parent;
    uint8_t *move; // that led there from the parent
    uint32_t count, room, next;
    uint32_t *table; // of state numbers + 1, by hash
    uint32_t table_size;
    uint32_t *edge; // pairs: from, to
    size_t edges, edge_room;
};

static inline void *grow(void *block, size_t bytes)
{
    block = realloc(block, bytes);
    if (!block) {
        fprintf(stderr, "no memory for %zu bytes of states\n", bytes);
        exit(1);
    }
    return block;
}

static inline unsigned char *state_at(const struct search *s, uint32_t i)
{
    return s->states + (size_t)i * s->size;
}

static inline uint64_t hash_of(const unsigned char *state, size_t size)
{
    uint64_t hash = 0, word;
    for (size_t at = 0; at < size; at += sizeof word) {
        memcpy(&word, state + at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

// Where the state is in the table, or would be.
static inline uint32_t *place_in(const struct search *s, const unsigned char *state)
{
    uint32_t at = (uint32_t)hash_of(state, s->size) & (s->table_size - 1);
    while (s->table[at] && memcmp(state_at(s, s->table[at] - 1), state, s->size))
        at = (at + 1) & (s->table_size - 1);
    return &s->table[at];
}

static inline void make_room(struct search *s)
{
    s->room = s->room ? 2 * s->room : 1 << 12;
    s->states = grow(s->states, s->room * s->size);
    s->parent = grow(s->parent, s->room * sizeof *s->parent);
    s->move = grow(s->move, s->room * sizeof *s->move);
    s->table_size = 2 * s->room;
    s->table = grow(s->table, s->table_size * sizeof *s->table);
    memset(s->table, 0, s->table_size * sizeof *s->table);
    for (uint32_t i = 0; i < s->count; i++)
        *place_in(s, state_at(s, i)) = i + 1;
}

static inline uint32_t add_state(struct search *s, const unsigned char *state, uint32_t parent,
                                 int move)
{
    if (s->count == s->room)
        make_room(s);
    uint32_t *place = place_in(s, state);
    if (!*place) {
        memcpy(state_at(s, s->count), state, s->size);
        s->parent[s->count] = parent;
        s->move[s->count] = (uint8_t)move;
        *place = ++s->count;
    }
    return *place - 1;
}

static inline void add_edge(struct search *s, uint32_t from, uint32_t to)
{
    if (s->edges == s->edge_room) {
        s->edge_room = s->edge_room ? 2 * s->edge_room : 1 << 14;
        s->edge = grow(s->edge, s->edge_room * 2 * sizeof *s->edge);
    }
    s->edge[2 * s->edges] = from;
    s->edge[2 * s->edges++ + 1] = to;
}

// A move is a way of a thread to go on, or a store of its buffer to be seen. False: not now.
static inline bool make_move(void *state, int move)
{
    int ways = model->choices + MAX_STORES, thread = move / ways, way = move % ways;
    struct memory *m = state;
    if (way < model->choices)
        return model->step(state, thread, way);
    if (!may_drain(&m->buffer[thread], way - model->choices))
        return false;
    drain_one(m, thread, way - model->choices);
    return true;
}

// Of the state `next`. False: there is something wrong, in the state added last or in this one.
static inline bool follow_all_moves(struct search *s, unsigned char *scratch, uint32_t *wrong)
{
    int moves = model->threads * (model->choices + MAX_STORES);
    bool moved = false;
    for (int move = 0; move < moves; move++) {
        memcpy(scratch, state_at(s, s->next), s->size);
        if (!make_move(scratch, move))
            continue;
        moved = true;
        *wrong = add_state(s, scratch, s->next, move);
        if (broken)
            return false;
        if (*wrong != s->next)
            add_edge(s, s->next, *wrong);
    }
    if (!moved) {
        *wrong = s->next;
        model->end(state_at(s, s->next));
        add_edge(s, s->next, s->next); // marks an end
    }
    s->next++;
    return !broken;
}

// The edges by their ends: those that lead to state i are from[first[i]] up to from[first[i + 1]].
static inline void turn_edges(const struct search *s, uint32_t *first, uint32_t *from)
{
    memset(first, 0, (s->count + 2) * sizeof *first);
    for (size_t e = 0; e < s->edges; e++)
        first[s->edge[2 * e + 1] + 2]++;
    for (uint32_t i = 2; i <= s->count + 1; i++)
        first[i] += first[i - 1];
    for (size_t e = 0; e < s->edges; e++)
        from[first[s->edge[2 * e + 1] + 1]++] = s->edge[2 * e];
}

static inline bool is_end(const uint32_t *first, const uint32_t *from, uint32_t i)
{
    for (uint32_t e = first[i]; e < first[i + 1]; e++)
        if (from[e] == i)
            return true;
    return false;
}

// The first state from which no end is in reach; the number of states if there is none.
static inline uint32_t first_stuck(const struct search *s)
{
    uint32_t *first = grow(NULL, (s->count + 2) * sizeof *first);
    uint32_t *from = grow(NULL, (s->edges + 1) * sizeof *from);
    uint32_t *reached = grow(NULL, s->count * sizeof *reached), n = 0, stuck = 0;
    bool *is_good = grow(NULL, s->count * sizeof *is_good);
    turn_edges(s, first, from);
    for (uint32_t i = 0; i < s->count; i++)
        if ((is_good[i] = is_end(first, from, i)))
            reached[n++] = i;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t e = first[reached[k]]; e < first[reached[k] + 1]; e++)
            if (!is_good[from[e]]) {
                is_good[from[e]] = true;
                reached[n++] = from[e];
            }
    while (stuck < s->count && is_good[stuck])
        stuck++;
    free(first);
    free(from);
    free(reached);
    free(is_good);
    return stuck;
}

// Makes the moves that lead to state i once more, with the trace on.
static inline void replay(const struct search *s, uint32_t i, unsigned char *scratch)
{
    uint8_t *moves = grow(NULL, s->count);
    size_t n = 0;
    for (; i; i = s->parent[i])
        moves[n++] = s->move[i];
    memcpy(scratch, state_at(s, 0), s->size);
    tracing = true;
    while (n)
        make_move(scratch, moves[--n]);
    tracing = false;
    free(moves);
}

// What is wrong with the variant, NULL: nothing; how many states it has. Shows the trace if asked.
static inline const char *explore(bool show, uint32_t *count)
{
    struct search s = {.size = (model->size + 7) / 8 * 8};
    unsigned char *scratch = grow(NULL, s.size);
    uint32_t wrong = 0;
    broken = NULL;
    memset(scratch, 0, s.size);
    model->start(scratch);
    add_state(&s, scratch, 0, 0);
    while (s.next < s.count && follow_all_moves(&s, scratch, &wrong))
        ;
    if (!broken && (wrong = first_stuck(&s)) < s.count)
        broken = "from here on somebody waits for ever";
    const char *what = broken;
    broken = NULL;
    if (what && show)
        replay(&s, wrong, scratch);
    *count = s.count;
    free(s.states);
    free(s.parent);
    free(s.move);
    free(s.table);
    free(s.edge);
    free(scratch);
    return what;
}

// -v: a line a variant; -t: also the traces of the known mistakes. More words: only variants whose
// names contain one.
static inline int explore_all(const struct model *which, const struct variant *variants, size_t n,
                              int argc, char **argv)
{
    bool verbose = argc > 1 && argv[1][0] == '-', traces = verbose && argv[1][1] == 't';
    static const char *const kinds[] = {"SC", "TSO", "ARM"};
    int status = 0;
    model = which;
    for (size_t i = 0; i < n; i++) {
        uint32_t count;
        variant = variants[i];
        if (argc > 2 && !strstr(variant.name, argv[2]))
            continue;
        const char *what = explore(!variant.mistake || traces, &count);
        bool as_expected = !what == !variant.mistake;
        if (verbose || !as_expected)
            fprintf(as_expected ? stdout : stderr, "%s%-3s %-50s %8u states: %s\n",
                    as_expected ? "" : "WRONG: ", kinds[variant.memory], variant.name, count,
                    what ? what : "holds");
        status |= !as_expected;
    }
    return status;
}

#endif
