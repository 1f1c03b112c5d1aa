// SPDX-License-Identifier: BSD-3-Clause
// The queues of receives and messages. See match.h.
#include "match.h"

#include "stats.h"

#define ENTRY(type, link_, member) ((type *)(void *)((char *)(link_)-offsetof(type, member)))

static void list_init(struct match_list *l)
{
    *l = (struct match_list){NULL, &l->first};
}

static void list_add(struct match_list *l, struct match_link *k)
{
    k->next = NULL;
    k->at = l->last;
    *l->last = k;
    l->last = &k->next;
}

static void list_remove(struct match_list *l, struct match_link *k)
{
    *k->at = k->next;
    if (k->next)
        k->next->at = k->at;
    else
        l->last = k->at;
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

static unsigned bucket_of(struct match_key key)
{
    return ((unsigned)key.pe * 0x9e3779b1u + (unsigned)key.tag * 0x85ebca6bu) >> 27;
}
_Static_assert(MATCH_BUCKETS == 1 << (32 - 27), "bucket_of gives as many");

static bool is_wild(struct match_key key)
{
    return key.pe == MPI_ANY_SOURCE || key.tag == MPI_ANY_TAG;
}

static bool fits(struct match_key receive, struct match_key message)
{
    return (receive.pe == message.pe || receive.pe == MPI_ANY_SOURCE) &&
           (receive.tag == message.tag || receive.tag == MPI_ANY_TAG);
}

static struct match_list *list_of(struct matching *m, const struct posted *p)
{
    return is_wild(p->key) ? &m->wild : &m->posted[bucket_of(p->key)];
}

struct arrived *match_find(struct matching *m, struct match_key key)
{
    if (is_wild(key)) {
        for (struct match_link *k = m->all.first; k; k = k->next)
            if (fits(key, ENTRY(struct arrived, k, in_all)->key))
                return ENTRY(struct arrived, k, in_all);
        return NULL;
    }
    for (struct match_link *k = m->unexpected[bucket_of(key)].first; k; k = k->next)
        if (fits(key, ENTRY(struct arrived, k, link)->key))
            return ENTRY(struct arrived, k, link);
    return NULL;
}

void match_remove(struct matching *m, struct arrived *a)
{
    list_remove(&m->unexpected[bucket_of(a->key)], &a->link);
    list_remove(&m->all, &a->in_all);
    stats_unexpected(-1);
}

struct arrived *match_post(struct matching *m, struct posted *p)
{
    struct arrived *a = m->all.first ? match_find(m, p->key) : NULL;
    if (a) {
        match_remove(m, a);
        return a;
    }
    p->order = m->order++;
    p->is_queued = true;
    m->posted_now++;
    list_add(list_of(m, p), &p->link);
    return NULL;
}

static struct posted *first_fitting(const struct match_list *l, struct match_key key)
{
    for (struct match_link *k = l->first; k; k = k->next)
        if (fits(ENTRY(struct posted, k, link)->key, key))
            return ENTRY(struct posted, k, link);
    return NULL;
}

struct posted *match_arrived(struct matching *m, struct match_key key)
{
    struct posted *exact = first_fitting(&m->posted[bucket_of(key)], key);
    struct posted *wild = first_fitting(&m->wild, key);
    struct posted *p = !exact || (wild && wild->order < exact->order) ? wild : exact;
    if (p)
        match_withdraw(m, p);
    return p;
}

bool match_is_next(const struct matching *m, const struct posted *p)
{
    return first_fitting(&m->posted[bucket_of(p->key)], p->key) == p &&
           !first_fitting(&m->wild, p->key);
}

void match_queue(struct matching *m, struct arrived *a)
{
    list_add(&m->unexpected[bucket_of(a->key)], &a->link);
    list_add(&m->all, &a->in_all);
    stats_unexpected(1);
}

void match_withdraw(struct matching *m, struct posted *p)
{
    list_remove(list_of(m, p), &p->link);
    p->is_queued = false;
    m->posted_now--;
}

struct arrived *match_sent_by(struct matching *m, int pe, uint64_t sender)
{
    for (struct match_link *k = m->all.first; k; k = k->next) {
        struct arrived *a = ENTRY(struct arrived, k, in_all);
        if (match_is_sent_by(a, pe, sender))
            return a;
    }
    return NULL;
}
