// SPDX-License-Identifier: BSD-3-Clause
// The leaders' rounds that combine elements. Nodes that are combined are always neighbours, or groups
// of them, the lower ones to the left: operators need not commute. See coll_rounds.h.
#include "coll_rounds.h"

#include "coll_choose.h"

// The nodes that take part in rounds for a power of two of them: each of the first `pairs` pairs of
// nodes is one, whose upper node gives what it has to the lower one before and gets the result after.
struct butterfly {
    struct coll_run *run;
    int count, pairs;
    int mine; // among those, -1: the upper of a pair
    char *acc, *tmp;
    size_t n;
};

static int butterfly_node(const struct butterfly *b, int i)
{
    return i < b->pairs ? 2 * i : i + b->pairs;
}

static struct butterfly butterfly_begin(struct coll_run *run, void *acc, void *tmp, size_t n)
{
    struct butterfly b = {.run = run, .count = 1, .acc = acc, .tmp = tmp, .n = n};
    int mine = run->nodes->mine;
    while (2 * b.count <= run->nodes->count)
        b.count *= 2;
    b.pairs = run->nodes->count - b.count;
    b.mine = mine >= 2 * b.pairs ? mine - b.pairs : mine % 2 ? -1 : mine / 2;
    if (mine >= 2 * b.pairs)
        return b;
    if (b.mine < 0)
        coll_run_send(run, mine - 1, b.acc, n);
    else
        coll_run_recv(run, mine + 1, b.tmp, n);
    coll_run_wait(run);
    if (b.mine >= 0 && coll_run_combine(run, b.acc, b.tmp, n) == b.tmp) {
        b.tmp = acc;
        b.acc = tmp;
    }
    return b;
}

static void *butterfly_end(struct butterfly *b)
{
    int mine = b->run->nodes->mine;
    if (b->mine < 0)
        coll_run_recv(b->run, mine - 1, b->acc, b->n);
    else if (b->mine < b->pairs)
        coll_run_send(b->run, mine + 1, b->acc, b->n);
    coll_run_wait(b->run);
    return b->acc;
}

static void doubling(struct butterfly *b)
{
    for (int d = 1; d < b->count; d *= 2) {
        int partner = b->mine ^ d, node = butterfly_node(b, partner);
        char *acc = b->acc, *tmp = b->tmp;
        coll_run_send(b->run, node, acc, b->n);
        coll_run_recv(b->run, node, tmp, b->n);
        coll_run_wait(b->run);
        b->acc = partner > b->mine ? coll_run_combine(b->run, acc, tmp, b->n)
                                   : coll_run_combine(b->run, tmp, acc, b->n);
        b->tmp = b->acc == acc ? tmp : acc;
    }
}

// Halves are combined, then halves of halves, until each has one piece; then the pieces are put
// together the same way back. The first partner is the neighbour, so that the order is kept.
static void swap(struct butterfly *b)
{
    enum { ROUNDS = 32 };
    size_t size = b->run->fold.size, first[ROUNDS + 1] = {0}, end[ROUNDS + 1] = {b->n / size};
    int round = 0;
    for (int d = 1; d < b->count; d *= 2, round++) {
        int partner = b->mine ^ d, node = butterfly_node(b, partner);
        size_t low = first[round], high = end[round], middle = low + (high - low) / 2;
        bool takes_low = partner > b->mine;
        size_t keep = takes_low ? low : middle, kept = (takes_low ? middle : high) - keep;
        size_t give = takes_low ? middle : low, given = high - low - kept;
        char *acc = b->acc + keep * size, *tmp = b->tmp + keep * size;
        coll_run_send(b->run, node, b->acc + give * size, given * size);
        coll_run_recv(b->run, node, tmp, kept * size);
        coll_run_wait(b->run);
        coll_run_copy(b->run, acc,
                      takes_low ? coll_run_combine(b->run, acc, tmp, kept * size)
                                : coll_run_combine(b->run, tmp, acc, kept * size),
                      kept * size);
        first[round + 1] = keep;
        end[round + 1] = keep + kept;
    }
    for (int d = b->count / 2; d >= 1; d /= 2, round--) {
        int node = butterfly_node(b, b->mine ^ d);
        size_t low = first[round - 1], high = end[round - 1], mine = first[round],
               my_end = end[round];
        size_t theirs = mine == low ? my_end : low, n = high - low - (my_end - mine);
        coll_run_send(b->run, node, b->acc + mine * size, (my_end - mine) * size);
        coll_run_recv(b->run, node, b->acc + theirs * size, n * size);
        coll_run_wait(b->run);
    }
}

void *coll_rounds_allreduce(struct coll_run *run, void *acc, void *tmp, size_t n)
{
    struct butterfly b = butterfly_begin(run, acc, tmp, n);
    if (b.mine >= 0) {
        if (coll_choose(ROUNDS_ALLREDUCE, n, run->nodes->count) == BY_SWAP)
            swap(&b);
        else
            doubling(&b);
    }
    return butterfly_end(&b);
}

// Up a binomial tree to node 0, so that the order is kept, and from there to the root.
static void *reduce_binomial(struct coll_run *run, int root, void *acc, void *tmp, size_t n)
{
    int nodes = run->nodes->count, mine = run->nodes->mine, d = 1;
    for (; d < nodes && !(mine & d); d *= 2) {
        if (mine + d >= nodes)
            continue;
        coll_run_recv(run, mine + d, tmp, n);
        coll_run_wait(run);
        if (coll_run_combine(run, acc, tmp, n) == tmp) {
            void *other = acc;
            acc = tmp;
            tmp = other;
        }
    }
    if (mine > 0)
        coll_run_send(run, mine - d, acc, n);
    else if (root > 0)
        coll_run_send(run, root, acc, n);
    coll_run_wait(run);
    if (root == 0 || mine != root)
        return acc;
    coll_run_recv(run, 0, tmp, n);
    coll_run_wait(run);
    return tmp;
}

void *coll_rounds_reduce(struct coll_run *run, int root, void *acc, void *tmp, size_t n)
{
    if (coll_choose(ROUNDS_REDUCE, n, run->nodes->count) == BY_SWAP)
        return coll_rounds_allreduce(run, acc, tmp, n);
    return reduce_binomial(run, root, acc, tmp, n);
}

// After the round of distance d acc holds this node and the 2d - 1 before it.
void *coll_rounds_exscan(struct coll_run *run, void *acc, void *tmp, size_t n)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    for (int d = 1; d < nodes; d *= 2) {
        if (mine + d < nodes)
            coll_run_send(run, mine + d, acc, n);
        if (mine >= d)
            coll_run_recv(run, mine - d, tmp, n);
        coll_run_wait(run);
        if (mine >= d && coll_run_combine(run, tmp, acc, n) == tmp) {
            void *other = acc;
            acc = tmp;
            tmp = other;
        }
    }
    if (mine + 1 < nodes)
        coll_run_send(run, mine + 1, acc, n);
    if (mine > 0)
        coll_run_recv(run, mine - 1, tmp, n);
    coll_run_wait(run);
    return mine > 0 ? tmp : NULL;
}
