// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms between nodes. See coll_choose.h.
#include "coll_choose.h"

#include "compiler.h"
#include "log.h"
#include "settings.h"
#include "tunables.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

// The first row of a collective whose limits hold.
static const struct row {
    enum coll_rounds_kind kind;
    size_t bytes; // up to so many,
    int nodes;    // and nodes
    enum coll_algorithm algorithm;
} table[] = {
    {ROUNDS_BROADCAST, LIMIT_COLL_BROADCAST, INT_MAX, BY_BINOMIAL},
    {ROUNDS_BROADCAST, SIZE_MAX, 8, BY_CHAIN},
    {ROUNDS_BROADCAST, SIZE_MAX, INT_MAX, BY_SCATTER},
    {ROUNDS_REDUCE, LIMIT_COLL_REDUCE, INT_MAX, BY_BINOMIAL},
    {ROUNDS_REDUCE, SIZE_MAX, INT_MAX, BY_SWAP},
    {ROUNDS_ALLREDUCE, LIMIT_COLL_REDUCE, INT_MAX, BY_DOUBLING},
    {ROUNDS_ALLREDUCE, SIZE_MAX, INT_MAX, BY_SWAP},
    {ROUNDS_ALLGATHER, LIMIT_COLL_GATHER, INT_MAX, BY_BRUCK},
    {ROUNDS_ALLGATHER, SIZE_MAX, INT_MAX, BY_RING},
    {ROUNDS_ALLTOALL, SIZE_MAX, 4, BY_PAIRWISE},
    {ROUNDS_ALLTOALL, LIMIT_COLL_ALLTOALL, INT_MAX, BY_BRUCK},
    {ROUNDS_ALLTOALL, SIZE_MAX, INT_MAX, BY_PAIRWISE},
};

static enum coll_algorithm forced[ROUNDS_KINDS];

#define X(name, id) [ROUNDS_##id] = name,
static const char *const kinds[] = {COLL_ROUNDS(X)};
#undef X
#define X(name, id) [BY_##id] = name,
static const char *const algorithms[] = {[BY_NONE] = "", COLL_ALGORITHMS(X)};
#undef X

static int find(const char *const *names, size_t n, const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], text, length))
            return (int)i;
    return -1;
}

static bool has_row(enum coll_rounds_kind kind, enum coll_algorithm algorithm)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].kind == kind && table[i].algorithm == algorithm)
            return true;
    return false;
}

// broadcast:chain,allgather:ring
int coll_choose_up(void)
{
    memset(forced, 0, sizeof forced);
    for (const char *at = settings.coll; *at;) {
        size_t length = strcspn(at, ","), first = strcspn(at, ":,");
        int kind = find(kinds, ARRAY_LEN(kinds), at, first), algorithm = -1;
        if (kind >= 0 && first < length)
            algorithm = find(algorithms, ARRAY_LEN(algorithms), at + first + 1, length - first - 1);
        if (algorithm <= BY_NONE ||
            !has_row((enum coll_rounds_kind)kind, (enum coll_algorithm)algorithm)) {
            log_line(LOG_ERROR, LOG_COLL,
                     "SHOAL_COLL: \"%.*s\" is no collective and algorithm of it "
                     "(broadcast:chain; see `man 7 shoal`)",
                     (int)length, at);
            return -1;
        }
        forced[kind] = (enum coll_algorithm)algorithm;
        at += length + (at[length] == ',');
    }
    return 0;
}

enum coll_algorithm coll_choose(enum coll_rounds_kind kind, size_t bytes, int nodes)
{
    const struct row *row = table;
    enum coll_algorithm algorithm = forced[kind];
    if (algorithm == BY_NONE) {
        while (row->kind != kind || bytes > row->bytes || nodes > row->nodes)
            row++;
        algorithm = row->algorithm;
    }
    log_line(LOG_DEBUG, LOG_COLL, "%s of %zu bytes between %d nodes: %s", kinds[kind], bytes, nodes,
             algorithms[algorithm]);
    return algorithm;
}
