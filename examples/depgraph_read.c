// SPDX-License-Identifier: BSD-3-Clause
// Reads a package list into a graph. Two forms:
//
//     dpkg's status file (and what apt-cache dumpavail prints): stanzas of "Field: value" lines.
//     Only installed packages count; Depends and Pre-Depends are resolved by depgraph_names.c.
//
//     A plain list, lines of "package: dependency dependency ...", with # comments.

#include "depgraph.h"

struct stanza {
    struct slice package, status, version, provides, depends, predepends;
};

// Dependencies as they are found: the package in the high half, what it needs in the low half.
struct edges {
    uint64_t *pair;
    size_t count, room;
};

static void edges_add(struct edges *e, int32_t package, int32_t needs)
{
    if (package == needs)
        return;
    if (e->count == e->room) {
        e->room = e->room ? e->room * 2 : 1 << 14;
        e->pair = realloc(e->pair, e->room * sizeof *e->pair);
        if (!e->pair) {
            fprintf(stderr, "depgraph: no memory for the dependencies\n");
            shmem_global_exit(1);
        }
    }
    e->pair[e->count++] = (uint64_t)package << 32 | (uint64_t)needs;
}

static int edges_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Sorts the pairs and drops doubles.
static void edges_sort(struct edges *e)
{
    size_t kept = 0;
    if (e->count)
        qsort(e->pair, e->count, sizeof *e->pair, edges_order);
    for (size_t i = 0; i < e->count; i++)
        if (!i || e->pair[i] != e->pair[i - 1])
            e->pair[kept++] = e->pair[i];
    e->count = kept;
}

static struct csr edges_rows(const struct edges *e, uint32_t n)
{
    struct csr c = {example_local(n + 1, sizeof *c.first), example_local(e->count, sizeof *c.to)};
    for (size_t i = 0; i < e->count; i++) {
        c.first[(e->pair[i] >> 32) + 1]++;
        c.to[i] = (uint32_t)e->pair[i];
    }
    for (uint32_t v = 0; v < n; v++)
        c.first[v + 1] += c.first[v];
    return c;
}

// Makes the rows of both directions.
static void graph_finish(struct graph *g, struct edges *e)
{
    edges_sort(e);
    g->m = (uint32_t)e->count;
    g->needs = edges_rows(e, g->n);
    for (size_t i = 0; i < e->count; i++)
        e->pair[i] = e->pair[i] << 32 | e->pair[i] >> 32;
    edges_sort(e);
    g->needed = edges_rows(e, g->n);
    free(e->pair);
}

void graph_free(struct graph *g)
{
    free(g->needs.first);
    free(g->needs.to);
    free(g->needed.first);
    free(g->needed.to);
    free(g->name);
    free(g->text);
    *g = (struct graph){0};
}

// Reads a whole file, and a zero after it. Returns 0 or -1.
static int file_read(const char *path, struct slice *text)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    size_t room = 1 << 20, n = 0, got;
    char *p = example_local(room, 1);
    while ((got = fread(p + n, 1, room - n - 1, f)) > 0) {
        n += got;
        if (n + 1 < room)
            continue;
        char *more = realloc(p, room *= 2);
        if (!more)
            break;
        p = more;
    }
    int bad = ferror(f) || !feof(f);
    fclose(f);
    if (bad) {
        free(p);
        return -1;
    }
    p[n] = 0;
    *text = (struct slice){p, n};
    return 0;
}

// The next line without its end. False at the end of the text.
static bool line_next(struct slice *rest, struct slice *line)
{
    if (!rest->n)
        return false;
    char *end = memchr(rest->p, '\n', rest->n);
    line->p = rest->p;
    line->n = end ? (size_t)(end - rest->p) : rest->n;
    size_t used = line->n + (end != NULL);
    rest->p += used;
    rest->n -= used;
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

static struct slice *stanza_field(struct stanza *s, struct slice name)
{
    const struct {
        const char *name;
        struct slice *value;
    } fields[] = {
        {"Package", &s->package},   {"Status", &s->status},   {"Version", &s->version},
        {"Provides", &s->provides}, {"Depends", &s->depends}, {"Pre-Depends", &s->predepends},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == name.n && !memcmp(fields[i].name, name.p, name.n))
            return fields[i].value;
    return NULL;
}

// Reads the next stanza; a line that begins with a blank goes on with the field before it. False at
// the end of the text.
static bool stanza_next(struct slice *rest, struct stanza *s)
{
    struct slice line, *field = NULL;
    bool any = false;
    *s = (struct stanza){0};
    while (line_next(rest, &line)) {
        if (!line.n && any)
            return true;
        if (!line.n)
            continue;
        any = true;
        if (*line.p == ' ' || *line.p == '\t') {
            if (field)
                field->n = (size_t)(line.p + line.n - field->p);
            continue;
        }
        struct slice name, value = line;
        slice_cut(&value, ':', &name);
        field = stanza_field(s, name);
        if (!field)
            continue;
        while (value.n && (*value.p == ' ' || *value.p == '\t'))
            value.p++, value.n--;
        *field = value;
    }
    return any;
}

// A list without Status fields is one of packages that could be installed: all count.
static bool stanza_installed(const struct stanza *s)
{
    static const char word[] = " installed";
    size_t n = sizeof word - 1;
    return s->package.n &&
           (!s->status.n || (s->status.n >= n && !memcmp(s->status.p + s->status.n - n, word, n)));
}

static void graph_add_dependencies(struct graph *g, const struct names *t, struct slice field,
                                   int32_t package, struct edges *e)
{
    struct slice one;
    while (slice_cut(&field, ',', &one)) {
        int32_t needs = one.n ? names_resolve(t, one) : package;
        if (needs == NO_PACKAGE)
            g->unmet++;
        else
            edges_add(e, package, needs);
    }
}

// Ends each name with a zero, now that nothing around it has to be read any more.
static void graph_end_names(struct graph *g, const struct slice *name)
{
    g->name = example_local(g->n, sizeof *g->name);
    for (uint32_t v = 0; v < g->n; v++) {
        name[v].p[name[v].n] = 0;
        g->name[v] = name[v].p;
    }
}

static uint32_t stanza_count(struct slice rest)
{
    struct stanza s;
    uint32_t n = 0;
    while (stanza_next(&rest, &s))
        n++;
    return n;
}

int graph_read_status(struct graph *g, const char *path)
{
    struct slice text, rest;
    *g = (struct graph){0};
    if (file_read(path, &text))
        return -1;
    uint32_t room = stanza_count(text);
    struct stanza *all = example_local(room, sizeof *all), s;
    struct slice *name = example_local(room, sizeof *name);
    struct names *t = names_new();
    for (rest = text; stanza_next(&rest, &s);)
        if (stanza_installed(&s) && names_add_package(t, s.package, s.version, (int32_t)g->n)) {
            name[g->n] = s.package;
            all[g->n++] = s;
        }
    struct edges e = {0};
    for (uint32_t v = 0; v < g->n; v++)
        names_add_provides(t, all[v].provides, (int32_t)v);
    for (uint32_t v = 0; v < g->n; v++) {
        graph_add_dependencies(g, t, all[v].predepends, (int32_t)v, &e);
        graph_add_dependencies(g, t, all[v].depends, (int32_t)v, &e);
    }
    names_free(t);
    graph_end_names(g, name);
    graph_finish(g, &e);
    g->text = text.p;
    free(name);
    free(all);
    return g->n ? 0 : -1;
}

// The package of this name, a new one if need be.
static int32_t list_package(struct graph *g, struct names *t, struct slice text, struct slice *name)
{
    int32_t v = names_package(t, text);
    if (v != NO_PACKAGE)
        return v;
    names_add_package(t, text, (struct slice){0}, (int32_t)g->n);
    name[g->n] = text;
    return (int32_t)g->n++;
}

static uint32_t word_count(struct slice s)
{
    uint32_t words = 1;
    for (size_t i = 0; i < s.n; i++)
        words += strchr(" \t\r\n:", s.p[i]) != NULL;
    return words;
}

// Reads one line of a plain list.
static void list_line(struct graph *g, struct names *t, struct slice line, struct slice *name,
                      struct edges *e)
{
    struct slice word;
    if (!slice_cut(&line, ':', &word) || !word.n || *word.p == '#')
        return;
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] == '\t')
            line.p[i] = ' ';
    int32_t package = list_package(g, t, word, name);
    while (slice_cut(&line, ' ', &word))
        if (word.n)
            edges_add(e, package, list_package(g, t, word, name));
}

int graph_read_list(struct graph *g, const char *path)
{
    struct slice text, rest, line;
    *g = (struct graph){0};
    if (file_read(path, &text))
        return -1;
    struct names *t = names_new();
    struct slice *name = example_local(word_count(text), sizeof *name);
    struct edges e = {0};
    for (rest = text; line_next(&rest, &line);)
        list_line(g, t, line, name, &e);
    names_free(t);
    graph_end_names(g, name);
    graph_finish(g, &e);
    g->text = text.p;
    free(name);
    return g->n ? 0 : -1;
}
