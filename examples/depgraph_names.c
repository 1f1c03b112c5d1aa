// SPDX-License-Identifier: BSD-3-Clause
// The names in a package list: which package has a name, which packages provide it, and which
// package therefore meets a dependency.
//
//     hash table -> name { package, first provider } -> provider { package, version } -> ...

#include "depgraph.h"

struct name {
    struct slice text, version; // version of the package that has this name
    int32_t package;            // NO_PACKAGE when it is only provided
    int32_t provider;           // index of the first, or -1
};

struct provider {
    int32_t package, next;
    struct slice version; // empty when the field gives none
};

struct names {
    struct name *name;
    struct provider *provider;
    int32_t *bucket; // index into name, or -1
    uint32_t names, name_room, providers, provider_room, buckets;
};

// One alternative of a dependency, or one item of a Provides field.
struct relation {
    struct slice name, op, version;
};

static struct slice slice_trim(struct slice s)
{
    while (s.n && strchr(" \t\r\n", *s.p))
        s.p++, s.n--;
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
        s.n--;
    return s;
}

// Cuts rest at the next such character into a piece and what follows. False when rest is empty.
bool slice_cut(struct slice *rest, char at, struct slice *piece)
{
    if (!rest->n)
        return false;
    char *end = memchr(rest->p, at, rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *piece = slice_trim((struct slice){rest->p, n});
    n += end != NULL;
    rest->p += n;
    rest->n -= n;
    return true;
}

static size_t slice_span(struct slice s, const char *set, bool within)
{
    size_t i = 0;
    while (i < s.n && (strchr(set, s.p[i]) != NULL) == within)
        i++;
    return i;
}

// Reads "name:arch (op version) [archs] <profiles>"; all but the name may be missing.
static struct relation relation_read(struct slice s)
{
    struct relation r = {.name = {s.p, slice_span(s, " \t\r\n:([<", false)}};
    char *open = s.n ? memchr(s.p, '(', s.n) : NULL;
    char *close = open ? memchr(open, ')', s.n - (size_t)(open - s.p)) : NULL;
    if (!close)
        return r;
    struct slice inner = slice_trim((struct slice){open + 1, (size_t)(close - open - 1)});
    size_t n = slice_span(inner, "<>=", true);
    r.op = (struct slice){inner.p, n};
    r.version = slice_trim((struct slice){inner.p + n, inner.n - n});
    return r;
}

static void *names_grow(void *array, uint32_t used, uint32_t *room, size_t size)
{
    if (used < *room)
        return array;
    *room = *room ? *room * 2 : 1024;
    array = realloc(array, *room * size);
    if (!array) {
        fprintf(stderr, "depgraph: no memory for the names\n");
        shmem_global_exit(1);
    }
    return array;
}

static uint32_t slice_hash(struct slice s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

// The bucket where this name is, or would be.
static int32_t *names_bucket(const struct names *t, struct slice text)
{
    uint32_t at = slice_hash(text) % t->buckets;
    while (t->bucket[at] >= 0) {
        struct slice have = t->name[t->bucket[at]].text;
        if (have.n == text.n && !memcmp(have.p, text.p, text.n))
            break;
        at = (at + 1) % t->buckets;
    }
    return &t->bucket[at];
}

static void names_rehash(struct names *t, uint32_t buckets)
{
    free(t->bucket);
    t->buckets = buckets;
    t->bucket = example_local(buckets, sizeof *t->bucket);
    memset(t->bucket, 0xff, buckets * sizeof *t->bucket);
    for (uint32_t i = 0; i < t->names; i++)
        *names_bucket(t, t->name[i].text) = (int32_t)i;
}

struct names *names_new(void)
{
    struct names *t = example_local(1, sizeof *t);
    names_rehash(t, 4096);
    return t;
}

void names_free(struct names *t)
{
    free(t->bucket);
    free(t->provider);
    free(t->name);
    free(t);
}

static struct name *names_enter(struct names *t, struct slice text)
{
    int32_t *bucket = names_bucket(t, text);
    if (*bucket >= 0)
        return &t->name[*bucket];
    t->name = names_grow(t->name, t->names, &t->name_room, sizeof *t->name);
    t->name[t->names] = (struct name){.text = text, .package = NO_PACKAGE, .provider = -1};
    *bucket = (int32_t)t->names++;
    if (t->names > t->buckets / 2)
        names_rehash(t, t->buckets * 4);
    return &t->name[t->names - 1];
}

// The package of this name, or NO_PACKAGE.
int32_t names_package(const struct names *t, struct slice name)
{
    int32_t i = *names_bucket(t, name);
    return i < 0 ? NO_PACKAGE : t->name[i].package;
}

// False when there is a package of this name already, as with one installed for two architectures.
bool names_add_package(struct names *t, struct slice name, struct slice version, int32_t package)
{
    struct name *entry = names_enter(t, name);
    if (entry->package != NO_PACKAGE)
        return false;
    entry->package = package;
    entry->version = version;
    return true;
}

// Notes what a package's Provides field lists; among several providers of a name the first counts.
void names_add_provides(struct names *t, struct slice field, int32_t package)
{
    struct slice item;
    while (slice_cut(&field, ',', &item)) {
        struct relation r = relation_read(item);
        struct name *entry = names_enter(t, r.name);
        t->provider = names_grow(t->provider, t->providers, &t->provider_room, sizeof *t->provider);
        int32_t *link = &entry->provider;
        while (*link >= 0)
            link = &t->provider[*link].next;
        *link = (int32_t)t->providers;
        t->provider[t->providers++] = (struct provider){package, -1, r.version};
    }
}

static int32_t names_resolve_one(const struct names *t, struct relation want)
{
    int32_t i = *names_bucket(t, want.name);
    if (i < 0)
        return NO_PACKAGE;
    const struct name *entry = &t->name[i];
    if (entry->package != NO_PACKAGE && version_satisfies(entry->version, want.op, want.version))
        return entry->package;
    for (i = entry->provider; i >= 0; i = t->provider[i].next) {
        const struct provider *p = &t->provider[i];
        if (!want.op.n || (p->version.n && version_satisfies(p->version, want.op, want.version)))
            return p->package;
    }
    return NO_PACKAGE;
}

// The package that meets a dependency: the first alternative that is there in a version that will
// do, under its own name or provided by another package. NO_PACKAGE when there is none.
int32_t names_resolve(const struct names *t, struct slice alternatives)
{
    struct slice one;
    while (slice_cut(&alternatives, '|', &one)) {
        int32_t package = names_resolve_one(t, relation_read(one));
        if (package != NO_PACKAGE)
            return package;
    }
    return NO_PACKAGE;
}
