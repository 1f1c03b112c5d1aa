// SPDX-License-Identifier: BSD-3-Clause
// The parts of the depgraph example. One file each:
//
//     depgraph.c          options, and the order of things
//     depgraph_read.c     package lists into a graph        (PE 0)
//     depgraph_names.c    names, what provides them, and dependencies such as "a (>= 1) | b"
//     depgraph_version.c  which of two Debian versions is newer
//     depgraph_part.c     the graph cut over the PEs
//     depgraph_bfs.c      breadth-first search with remote compare-and-swap
//     depgraph_rank.c     PageRank with put-with-signal
//     depgraph_serial.c   the same two on one PE, to compare with
//     depgraph_print.c    tables and bars
//     depgraph_svg.c      the picture

#ifndef DEPGRAPH_H
#define DEPGRAPH_H

#include "example.h"

// A piece of a text, not ended by a zero.
struct slice {
    char *p;
    size_t n;
};

// Rows of vertices: those of row v are to[first[v]] .. to[first[v + 1] - 1], ascending.
struct csr {
    uint32_t *first, *to;
};

// The whole graph, on PE 0.
struct graph {
    uint32_t n, m;     // packages, dependencies
    const char **name; // of each package, in text
    char *text;        // the file that was read
    char from[256];    // what was read, for people
    struct csr needs;  // v depends on these
    struct csr needed; // these depend on v
    uint32_t unmet;    // dependencies that no package of the graph meets
};

// One PE's part of it: vertex v is on PE v % npes, where it is row v / npes.
struct part {
    int me, npes;
    uint32_t n, m;            // of the whole graph
    uint32_t rows, room;      // rows on this PE, and on the PE that has most
    struct csr needs, needed; // symmetric: my rows, naming vertices of the whole graph
};

// depgraph_names.c
enum { NO_PACKAGE = -1 };
struct names;
struct names *names_new(void);
void names_free(struct names *t);
int32_t names_package(const struct names *t, struct slice name);
bool names_add_package(struct names *t, struct slice name, struct slice version, int32_t package);
void names_add_provides(struct names *t, struct slice field, int32_t package);
int32_t names_resolve(const struct names *t, struct slice alternatives);
bool slice_cut(struct slice *rest, char at, struct slice *piece);

// depgraph_version.c
int version_compare(struct slice a, struct slice b);
bool version_satisfies(struct slice have, struct slice op, struct slice want);

// depgraph_read.c: 0, or -1 when the file cannot be read or holds no package
int graph_read_status(struct graph *g, const char *path);
int graph_read_list(struct graph *g, const char *path);
void graph_free(struct graph *g);

// depgraph_part.c
int part_share(struct part *p, const struct graph *g); // collective; g is NULL except on PE 0
void part_free(struct part *p);
void part_gather(const struct part *p, const void *rows, size_t size, void *all);

static inline uint32_t csr_count(const struct csr *c, uint32_t row)
{
    return c->first[row + 1] - c->first[row];
}

// depgraph_bfs.c
enum { BFS_LEVELS = 64 };
struct bfs {
    int32_t *depth;             // symmetric: of my rows, -1 when not reached
    uint32_t *queue[2];         // symmetric: my rows to visit in this level and the next
    uint32_t *tail;             // symmetric: how many there are in each
    uint64_t *seen;             // one bit a vertex: this PE need not ask about it again
    uint64_t level[BFS_LEVELS]; // vertices at each depth; the last counts all deeper ones
    uint32_t levels;
    uint64_t reached, edges; // by the last search
    double seconds;          // of all searches
    uint64_t all_edges;
};
void bfs_open(struct bfs *b, const struct part *p);
void bfs_run(struct bfs *b, const struct part *p, uint32_t root); // collective
void bfs_close(struct bfs *b);

// depgraph_rank.c: ranks are whole numbers of 2^-60, so that their sums do not depend on the order
// of the additions, and any number of PEs finds the same ranks to the last bit.
#define RANK_ONE (UINT64_C(1) << 60)
struct rank {
    uint64_t *rank;                 // symmetric: of my rows
    uint64_t *sum;                  // what my rows are given in this round
    uint64_t *out;                  // what my rows give, by owner
    uint32_t *place;                // in out, of each of my edges
    uint32_t *from, *count, *there; // PE p's stretch in out, its length, and where in p's inbox
    uint64_t *inbox[2], *arrived;   // symmetric: in turn; the round of each PE's stretch, plus 1
    uint32_t *begin, *row;          // PE p's stretch in my inbox, and the row each place is for
    uint32_t rounds;
    double seconds;
};
void rank_run(struct rank *r, const struct part *p, uint32_t most); // collective
void rank_close(struct rank *r);

// The 15 of 100 that all packages get anyway, and the 85 of 100 that come from dependents.
static inline uint64_t rank_next(uint64_t sum, uint64_t dangling, uint32_t n)
{
    return RANK_ONE / 20 * 3 / n + (sum + dangling / n) / 20 * 17;
}

// depgraph_serial.c
bool serial_same_depths(const struct graph *g, uint32_t root, const int32_t *depth);
bool serial_same_ranks(const struct graph *g, uint32_t rounds, const uint64_t *rank);

// What is found, on PE 0.
struct result {
    const struct graph *g;
    uint64_t *rank;   // of each package
    uint32_t *order;  // packages by rank, highest first
    uint64_t *breaks; // of the first ones in order: how many packages need it, directly or not
    uint32_t top;     // how many of those there are
    uint32_t root;    // the package most others name as a dependency
    int npes;
    bool ascii;
};

// depgraph_print.c
void print_top(const struct result *r, uint32_t count);
void print_depths(const struct result *r, const struct bfs *b);

// depgraph_svg.c
enum { SVG_ROWS = 40 };
int svg_write(const struct result *r, const char *path);

#endif
