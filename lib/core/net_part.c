// SPDX-License-Identifier: BSD-3-Clause
// See net_part.h.
#include "net_part.h"

#include "copy.h"
#include "tunables.h"

// Their head.n is the length of all, head.long_n of what is there. Few at a time: one for each thread
// that sends a long message here now.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct came *begun;

static struct came **find(int from, uint64_t token)
{
    struct came **at = &begun;
    while (*at && ((*at)->from != from || (*at)->head.token != token))
        at = &(*at)->next;
    return at;
}

static bool begin(struct came **at, int from, const struct net_head *head)
{
    uint64_t n = head->long_n;
    if (*at || n > LIMIT_AM_FAR || !head->n || head->n > n)
        return false;
    struct came *c = came_new(from, head, (size_t)n);
    c->head.n = (uint32_t)n;
    c->head.long_n = 0;
    c->next = NULL;
    *at = c;
    return true;
}

static bool add(struct came **at, const struct net_head *head, const void *data,
                struct came **whole)
{
    struct came *c = *at;
    if (!c || head->n == 0 || head->n > c->head.n - c->head.long_n)
        return false;
    copy_bytes(c->data + c->head.long_n, data, head->n);
    c->head.long_n += head->n;
    if (c->head.long_n == c->head.n) {
        *at = c->next;
        *whole = c;
    }
    return true;
}

bool part_arrived(int from, const struct net_head *head, const void *data, struct came **whole)
{
    *whole = NULL;
    pthread_mutex_lock(&lock);
    struct came **at = find(from, head->token);
    bool is_sound = (head->kind == NET_PART || begin(at, from, head)) && add(at, head, data, whole);
    pthread_mutex_unlock(&lock);
    return is_sound;
}

void part_down(void)
{
    while (begun) {
        struct came *next = begun->next;
        came_free(begun);
        begun = next;
    }
}
