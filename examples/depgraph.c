// SPDX-License-Identifier: BSD-3-Clause
// Which package does everything else stand on? PageRank and breadth-first search over a real graph:
// the packages of this Debian machine and what they depend on, or some thousand packages shipped
// with the program where the machine has few. depgraph.h says which file does what.
//
//     oshrun -n 4 depgraph                        this machine's packages
//     oshrun -n 4 depgraph --shipped --svg a.svg  the shipped list, with a picture

#include "depgraph.h"


enum { FEW = 300, MOST_TOP = 64 };

static long top = 15, rounds = 500, shipped, ascii;
static const char *list_file, *status_file, *svg_file;

static const struct example_option options[] = {
    {"--shipped", NULL, &shipped, 0, NULL, "use the list that comes with the program"},
    {"--file", "FILE", NULL, 0, &list_file, "use a list of lines \"package: dependency ...\""},
    {"--status", "FILE", NULL, 0, &status_file, "use a list in the form of dpkg's status file"},
    {"--svg", "FILE", NULL, 0, &svg_file, "write a picture of the top packages"},
    {"--top", "N", &top, 1, NULL, "packages to print, 64 at most"},
    {"--rounds", "N", &rounds, 1, NULL, "PageRank rounds to make at most"},
    {"--ascii", NULL, &ascii, 0, NULL, "bars of plain characters"},
    {.name = NULL},
};

static int load_shipped(struct graph *g)
{
    char path[4096];
    if (example_data(path, sizeof path) || graph_read_list(g, path)) {
        fprintf(stderr, "depgraph: cannot find the shipped data/packages.txt; use --file\n");
        return -1;
    }
    snprintf(g->from, sizeof g->from, "the shipped list of Debian packages");
    return 0;
}

// Reads the graph that the options ask for. Returns 0 or -1.
static int load(struct graph *g)
{
    static const char own[] = "/var/lib/dpkg/status";
    const char *path = list_file ? list_file : status_file ? status_file : own;
    if (shipped)
        return load_shipped(g);
    int bad = list_file ? graph_read_list(g, path) : graph_read_status(g, path);
    if (path == own && (bad || g->n < FEW)) {
        graph_free(g);
        return load_shipped(g);
    }
    if (bad)
        fprintf(stderr, "depgraph: %s: cannot be read, or has no packages\n", path);
    snprintf(g->from, sizeof g->from, "%s", path);
    return bad;
}

static const uint64_t *rank_to_compare;

static int by_rank(const void *a, const void *b)
{
    uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    uint64_t x = rank_to_compare[v], y = rank_to_compare[w];
    return x != y ? (x < y) - (x > y) : (v > w) - (v < w);
}

// PE 0: brings the ranks together, orders the packages by them, and picks where to search from.
static void result_open(struct result *s, const struct part *p, const struct graph *g,
                        const struct rank *r, uint32_t *roots)
{
    s->rank = example_local(g->n, sizeof *s->rank);
    s->order = example_local(g->n, sizeof *s->order);
    s->breaks = example_local(s->top, sizeof *s->breaks);
    part_gather(p, r->rank, sizeof *s->rank, s->rank);
    for (uint32_t v = 0; v < g->n; v++) {
        s->order[v] = v;
        if (csr_count(&g->needed, v) > csr_count(&g->needed, s->root))
            s->root = v;
    }
    rank_to_compare = s->rank;
    qsort(s->order, g->n, sizeof *s->order, by_rank);
    for (uint32_t i = 0; i < s->top; i++)
        roots[i] = s->order[i];
    roots[s->top] = s->root;
}

static void result_close(struct result *s)
{
    free(s->breaks);
    free(s->order);
    free(s->rank);
}

// Searches from each of the top packages, and last from the one that most others name. PE 0 checks
// each search. Returns whether all were right.
static bool search(struct bfs *b, const struct part *p, struct result *s, const uint32_t *roots)
{
    bool right = true;
    int32_t *depth = p->me == 0 ? example_local(p->n, sizeof *depth) : NULL;
    for (uint32_t i = 0; i <= s->top; i++) {
        bfs_run(b, p, roots[i]);
        if (p->me == 0) {
            part_gather(p, b->depth, sizeof *depth, depth);
            right = right && serial_same_depths(s->g, roots[i], depth);
            if (i < s->top)
                s->breaks[i] = b->reached - 1;
        }
        shmem_barrier_all(); // depths are not overwritten before they are compared
    }
    free(depth);
    return right;
}

static double per_second(double edges, double seconds)
{
    return seconds > 0 ? edges / seconds * 1e-6 : 0;
}

static void report(const struct result *s, const struct rank *r, const struct bfs *b)
{
    const struct graph *g = s->g;
    printf("depgraph: %u packages, %u dependencies, %d PE%s; %s\n", g->n, g->m, s->npes,
           s->npes > 1 ? "s" : "", g->from);
    if (g->unmet)
        printf("%u dependencies that no package here meets are left out\n", g->unmet);
    print_top(s, (uint32_t)top < s->top ? (uint32_t)top : s->top);
    print_depths(s, b);
    printf("PageRank: %u rounds in %.1f ms, %.1f million edges a second\n", r->rounds,
           r->seconds * 1e3, per_second((double)g->m * r->rounds, r->seconds));
    printf("search:   %u searches in %.1f ms, %.1f million edges a second\n", s->top + 1,
           b->seconds * 1e3, per_second((double)b->all_edges, b->seconds));
    printf("checked:  one PE alone finds the same ranks, to the last bit, and the same depths\n");
    if (svg_file)
        printf("picture:  %s\n", svg_file);
}

static int run(const struct part *p, const struct graph *g)
{
    static uint32_t roots[MOST_TOP + 1], shared[MOST_TOP + 1];
    struct result s = {.g = g, .npes = p->npes, .ascii = ascii};
    struct rank r;
    struct bfs b;
    long want = svg_file && top < SVG_ROWS ? SVG_ROWS : top;
    s.top = want < (long)p->n ? (uint32_t)want : p->n;
    rank_run(&r, p, (uint32_t)rounds);
    bool right = true;
    if (p->me == 0) {
        result_open(&s, p, g, &r, roots);
        right = serial_same_ranks(g, r.rounds, s.rank);
    }
    shmem_broadcastmem(SHMEM_TEAM_WORLD, shared, roots, sizeof shared, 0);
    bfs_open(&b, p);
    right = !example_max(!right); // PE 0's verdict, for all
    if (right)
        right = search(&b, p, &s, shared);
    if (p->me == 0 && right) {
        right = !svg_file || !svg_write(&s, svg_file);
        if (right)
            report(&s, &r, &b);
    }
    bfs_close(&b);
    rank_close(&r);
    result_close(&s);
    return example_max(!right) != 0;
}

static int start(void)
{
    struct graph g = {0};
    struct part p;
    bool reader = shmem_my_pe() == 0;
    if (reader && load(&g))
        graph_free(&g);
    int status = 1;
    if (!part_share(&p, reader ? &g : NULL)) {
        status = run(&p, &g);
        part_free(&p);
    }
    graph_free(&g);
    return status;
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "PageRank and search over package dependencies",
                                 options);
    if (status == EXAMPLE_RUN && (top > MOST_TOP || rounds > 1000000)) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "--top is at most %d, --rounds at most 1000000\n", MOST_TOP);
        status = 1;
    }
    if (status == EXAMPLE_RUN)
        status = start();
    shmem_finalize();
    return status;
}
