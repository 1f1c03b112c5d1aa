// SPDX-License-Identifier: BSD-3-Clause
// The queues of receives and messages. See match.h.
#include "match.h"

#include "stats.h"

static void list_init(struct match_list *l)
{
    *l = (struct match_list){NULL, &l->first};
}

void match_init(struct matching *m)
{
    for (int i = 0; i < MATCH_BUCKETS; i++) {
        list_init(&m->posted[i]);
        list_init(&m->unexpected[i]);
    }
    list_init(&m->wild);
    list_init(&m->all);
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
    for (struct match_link *k = m->unexpected[match_bucket(key)].first; k; k = k->next)
        if (fits(key, MATCH_ENTRY(struct arrived, k, link)->key))
            return MATCH_ENTRY(struct arrived, k, link);
    return NULL;
}

void match_remove(struct matching *m, struct arrived *a)
{
    match_list_remove(&m->unexpected[match_bucket(a->key)], &a->link);
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
    match_list_add(&m->unexpected[match_bucket(a->key)], &a->link);
    match_list_add(&m->all, &a->in_all);
    stats_unexpected(1);
}

struct arrived *match_sent_by(struct matching *m, int pe, uint64_t sender)
{
    for (struct match_link *k = m->all.first; k; k = k->next) {
        struct arrived *a = MATCH_ENTRY(struct arrived, k, in_all);
        if (match_is_sent_by(a, pe, sender))
            return a;
    }
    return NULL;
}
