// SPDX-License-Identifier: BSD-3-Clause
// Debian versions, epoch:upstream-revision, and the relations between them. Runs of digits compare
// as numbers; elsewhere letters come before other characters, and a tilde before everything, even
// before the end.

#include "depgraph.h"

#include <ctype.h>

static int version_weight(int c)
{
    if (c == 0 || isdigit(c))
        return 0;
    if (isalpha(c))
        return c;
    return c == '~' ? -1 : c + 256;
}

static int slice_at(struct slice s)
{
    return s.n ? (unsigned char)*s.p : 0;
}

static void slice_next(struct slice *s)
{
    if (s->n) {
        s->p++;
        s->n--;
    }
}

// Compares the numbers that both begin with, and steps over them.
static int version_compare_number(struct slice *a, struct slice *b)
{
    int first = 0;
    while (slice_at(*a) == '0')
        slice_next(a);
    while (slice_at(*b) == '0')
        slice_next(b);
    while (isdigit(slice_at(*a)) && isdigit(slice_at(*b))) {
        if (!first)
            first = slice_at(*a) - slice_at(*b);
        slice_next(a);
        slice_next(b);
    }
    if (isdigit(slice_at(*a)))
        return 1;
    return isdigit(slice_at(*b)) ? -1 : first;
}

static int version_compare_part(struct slice a, struct slice b)
{
    while (a.n || b.n) {
        while ((a.n && !isdigit(slice_at(a))) || (b.n && !isdigit(slice_at(b)))) {
            int difference = version_weight(slice_at(a)) - version_weight(slice_at(b));
            if (difference)
                return difference;
            slice_next(&a);
            slice_next(&b);
        }
        int difference = version_compare_number(&a, &b);
        if (difference)
            return difference;
    }
    return 0;
}

// Takes the epoch off the front; without one it is zero.
static unsigned long version_epoch(struct slice *v)
{
    char *colon = v->n ? memchr(v->p, ':', v->n) : NULL;
    if (!colon)
        return 0;
    unsigned long epoch = 0;
    for (const char *c = v->p; c < colon && isdigit((unsigned char)*c); c++)
        epoch = epoch * 10 + (unsigned long)(*c - '0');
    v->n -= (size_t)(colon + 1 - v->p);
    v->p = colon + 1;
    return epoch;
}

// Takes the revision, what follows the last dash, off the end.
static struct slice version_revision(struct slice *v)
{
    for (size_t i = v->n; i-- > 0;)
        if (v->p[i] == '-') {
            struct slice revision = {v->p + i + 1, v->n - i - 1};
            v->n = i;
            return revision;
        }
    return (struct slice){v->p, 0};
}

// Below, equal to or above 0 as a is older than, as new as or newer than b.
int version_compare(struct slice a, struct slice b)
{
    unsigned long epoch_a = version_epoch(&a), epoch_b = version_epoch(&b);
    if (epoch_a != epoch_b)
        return epoch_a < epoch_b ? -1 : 1;
    struct slice revision_a = version_revision(&a), revision_b = version_revision(&b);
    int difference = version_compare_part(a, b);
    return difference ? difference : version_compare_part(revision_a, revision_b);
}

// Whether version have meets, say, ">= 2.34". No operator asks for nothing. The old forms < and >
// mean <= and >=.
bool version_satisfies(struct slice have, struct slice op, struct slice want)
{
    if (!op.n)
        return true;
    int difference = version_compare(have, want);
    bool strict = op.n == 2 && op.p[1] == op.p[0];
    if (op.p[0] == '<')
        return strict ? difference < 0 : difference <= 0;
    if (op.p[0] == '>')
        return strict ? difference > 0 : difference >= 0;
    return difference == 0;
}
