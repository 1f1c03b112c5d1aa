// SPDX-License-Identifier: BSD-3-Clause
// The queues of receives and messages. See match.h.
#include "match.h"

#include "stats.h"

#include <stdlib.h>

static void list_init(struct match_list *l)
{
    *l = (struct match_list){NULL, &l->first};
}

static void table_init(struct match_table *t)
{
    t->list = t->few;
    t->shift = 27;
    for (int i = 0; i < MATCH_BUCKETS; i++)
        list_init(&t->few[i]);
}
_Static_assert(MATCH_BUCKETS == 1 << (32 - 27), "match_bucket gives as many");

void match_init(struct matching *m)
{
    table_init(&m->posted);
    table_init(&m->unexpected);
    list_init(&m->wild);
    list_init(&m->all);
}

static void free_lists(const struct match_table *t, struct match_list *list)
{
    if (list != t->few)
        free(list);
}

void match_end(struct matching *m)
{
    free_lists(&m->posted, m->posted.list);
    free_lists(&m->unexpected, m->unexpected.list);
}

// What has the same key stays in its order. Without memory the lists get longer.
void match_grow(struct match_table *t)
{
    enum { STEP = 2, LEAST_SHIFT = 12 };
    struct match_list *old = t->list;
    size_t lists = (size_t)1 << (32 - t->shift + STEP);
    struct match_list *list = t->shift > LEAST_SHIFT ? malloc(lists * sizeof *list) : NULL;
    if (!list)
        return;
    for (size_t i = 0; i < lists; i++)
        list_init(&list[i]);
    t->list = list;
    t->shift -= STEP;
    for (size_t i = 0; i < lists >> STEP; i++)
        for (struct match_link *k = old[i].first, *next; k; k = next) {
            next = k->next;
            match_list_add(match_bucket(t, *(struct match_key *)(k + 1)), k);
        }
    free_lists(t, old);
}

static bool fits(struct match_key receive, struct match_key message)
{
    return (receive.pe == message.pe || receive.pe == MPI_ANY_SOURCE) &&
           (receive.tag == message.tag || receive.tag == MPI_ANY_TAG);
}

struct arrived *match_find(struct matching *m, struct match_key key)
{
    if (match_is_wild(key)) {
        for (struct match_link *k = m->all.first; k; k = k->next)
            if (fits(key, MATCH_ENTRY(struct arrived, k, in_all)->key))
                return MATCH_ENTRY(struct arrived, k, in_all);
        return NULL;
    }
    for (struct match_link *k = match_bucket(&m->unexpected, key)->first; k; k = k->next)
        if (fits(key, MATCH_ENTRY(struct arrived, k, link)->key))
            return MATCH_ENTRY(struct arrived, k, link);
    return NULL;
}

void match_remove(struct matching *m, struct arrived *a)
{
    match_table_remove(&m->unexpected, a->key, &a->link);
    match_list_remove(&m->all, &a->in_all);
    stats_unexpected(-1);
}

struct posted *match_older(const struct matching *m, struct posted *exact, struct match_key key)
{
    for (struct match_link *k = m->wild.first; k; k = k->next) {
        struct posted *wild = MATCH_ENTRY(struct posted, k, link);
        if (fits(wild->key, key))
            return !exact || wild->order < exact->order ? wild : exact;
    }
    return exact;
}

void match_queue(struct matching *m, struct arrived *a)
{
    match_table_add(&m->unexpected, a->key, &a->link);
    match_list_add(&m->all, &a->in_all);
    stats_unexpected(1);
}

struct arrived *match_sent_by(struct matching *m, struct match_key key, uint64_t sender)
{
    for (struct match_link *k = match_bucket(&m->unexpected, key)->first; k; k = k->next) {
        struct arrived *a = MATCH_ENTRY(struct arrived, k, link);
        if (match_is_sent_by(a, key.pe, sender))
            return a;
    }
    return NULL;
}
