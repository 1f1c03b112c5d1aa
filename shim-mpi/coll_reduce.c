// SPDX-License-Identifier: BSD-3-Clause
// Reductions to all, by parts, and scans. Parts are combined in the order of the ranks (see
// coll_tree.c), whether the operator commutes or not; where the brackets are depends on the length
// and on the number of processes alone.
#include "coll.h"

enum { ALLREDUCE_SLICES = 16384 }; // bytes from which an allreduce goes by slices

// acc of the lower of two neighbouring sets of ranks, and in of the higher, or the other way round.
static void combine(struct schedule *s, void *acc, void *in, MPI_Count n, struct type *t,
                    bool in_is_lower)
{
    if (in_is_lower) {
        schedule_reduce(s, in, acc, n, t);
        return;
    }
    schedule_reduce(s, acc, in, n, t);
    schedule_copy(s, acc, n, t, in, n, t);
}

int coll_power_of_two(int n)
{
    int p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

// Recursive doubling. Where there is no power of two, the first pairs of neighbours start as one.
static void allreduce_short(struct schedule *s, const struct coll_call *c)
{
    MPI_Count n = c->recv.count;
    struct type *t = c->recv.type;
    int whole = coll_power_of_two(c->size), extra = c->size - whole, me = c->rank, virtual;
    // All have it, needed or not: where there is no memory, they all find that, and nobody waits.
    void *acc = c->recv.buf, *in = c->size > 1 ? schedule_elements(s, n, t) : NULL;
    coll_add_own(s, c, acc);
    if (me < 2 * extra && me % 2) {
        schedule_send(s, acc, n, t, me - 1);
        schedule_round(s);
        schedule_recv(s, acc, n, t, me - 1);
        return;
    }
    if (me < 2 * extra) {
        schedule_recv(s, in, n, t, me + 1);
        schedule_round(s);
        combine(s, acc, in, n, t, false);
    }
    virtual = me < 2 * extra ? me / 2 : me - extra;
    for (int bit = 1; bit < whole; bit *= 2) {
        int other = virtual ^ bit, peer = other < extra ? other * 2 : other + extra;
        void *theirs = schedule_elements(s, n, t);
        schedule_recv(s, theirs, n, t, peer);
        schedule_send(s, acc, n, t, peer);
        schedule_round(s);
        combine(s, acc, theirs, n, t, other < virtual);
    }
    if (me < 2 * extra) {
        schedule_round(s);
        schedule_send(s, acc, n, t, me + 1);
    }
}

struct slice coll_slice(MPI_Count count, int size, int rank)
{
    MPI_Count each = count / size, rest = count % size;
    return (struct slice){each * rank + (rank < rest ? rank : rest), each + (rank < rest)};
}

// The last rank's part becomes the result, as the others are combined with it from the right.
const char *coll_add_slices(struct schedule *s, const struct coll_call *c, const char *own,
                            char *result)
{
    struct type *t = c->recv.type;
    struct slice own_slice = coll_slice(c->recv.count, c->size, c->rank);
    MPI_Count mine = own_slice.n;
    int last = c->size - 1;
    const char **in = schedule_bytes(s, (size_t)c->size * sizeof *in);
    const char *part = own + own_slice.at * t->extent;
    // Where it may go at once: not over a part that is still to be combined.
    char *all = result && (result != part || c->rank == last) ? result
                                                              : schedule_elements(s, mine, t);
    for (int k = 1; k < c->size; k++) {
        int out = (c->rank + k) % c->size, src = (c->rank - k + c->size) % c->size;
        struct slice theirs = coll_slice(c->recv.count, c->size, out);
        char *to = src == last ? all : schedule_elements(s, mine, t);
        in[src] = to;
        schedule_recv(s, to, mine, t, src);
        schedule_send(s, own + theirs.at * t->extent, theirs.n, t, out);
    }
    schedule_round(s);
    in[c->rank] = part;
    if (c->rank == last && all != part)
        schedule_copy(s, all, mine, t, part, mine, t);
    for (int i = last - 1; i >= 0; i--)
        schedule_reduce(s, in[i], all, mine, t);
    if (result && all != result)
        schedule_copy(s, result, mine, t, all, mine, t);
    return result ? result : all;
}

// Then the slices go round.
void coll_add_allreduce_slices(struct schedule *s, const struct coll_call *c)
{
    struct type *t = c->recv.type;
    struct slice mine = coll_slice(c->recv.count, c->size, c->rank);
    char *acc = c->recv.buf;
    coll_add_slices(s, c, coll_own(c), acc + mine.at * t->extent);
    for (int k = 1; k < c->size; k++) {
        int out = (c->rank + k) % c->size, src = (c->rank - k + c->size) % c->size;
        struct slice theirs = coll_slice(c->recv.count, c->size, src);
        schedule_recv(s, acc + theirs.at * t->extent, theirs.n, t, src);
        schedule_send(s, acc + mine.at * t->extent, mine.n, t, out);
    }
}

bool coll_allreduce_slices(const struct coll_call *c)
{
    return c->recv.count * c->recv.type->size >= ALLREDUCE_SLICES && c->recv.count >= c->size;
}

void coll_allreduce(struct schedule *s, const struct coll_call *c)
{
    if (c->size == 1 || !coll_allreduce_slices(c))
        allreduce_short(s, c);
    else if (coll_is_grid(c))
        coll_allreduce_grid(s, c);
    else if (!coll_reduce_lent(s, c))
        coll_add_allreduce_slices(s, c);
}

// ---- Reduce-scatter
struct slice coll_block_of(const struct coll_call *c, int rank)
{
    if (c->kind == COLL_REDUCE_SCATTER_BLOCK)
        return (struct slice){rank * c->recv.count, c->recv.count};
    MPI_Count at = 0;
    for (int i = 0; i < rank; i++)
        at += number_at(c->recv.counts, i);
    return (struct slice){at, number_at(c->recv.counts, rank)};
}

// Of long ones so many elements at a time that what has come is in the caches when it is combined, and the
// memory for it does not grow with them; but no more than so many times.
static MPI_Count segment_of(MPI_Count count, const struct type *t)
{
    enum { SEGMENT = 1 << 18, TIMES = 256 };
    MPI_Count n = coll_elements_in(SEGMENT, t), least = count / TIMES + 1;
    return n > least ? n : least;
}

// What lies at most elements from `at` on in the block of each process: that of this one from all others.
static void add_blocks(struct schedule *s, const struct coll_call *c, const struct slice *block,
                       void *const in[], MPI_Count at, MPI_Count most)
{
    struct type *t = c->recv.type;
    int last = c->size - 1;
    MPI_Count mine = coll_part_of(block[c->rank].n, at, most);
    for (int i = 0; i < c->size; i++) {
        MPI_Count n = coll_part_of(block[i].n, at, most);
        const void *own = coll_element_at(coll_own(c), block[i].at + at, t);
        if (i == c->rank && n)
            schedule_copy(s, in[i], n, t, own, n, t);
        if (i != c->rank && mine)
            schedule_recv(s, in[i], mine, t, i);
        if (i != c->rank && n)
            schedule_send(s, own, n, t, i);
    }
    schedule_round(s);
    for (int i = last - 1; i >= 0 && mine; i--)
        schedule_reduce(s, in[i], in[last], mine, t);
    if (mine)
        schedule_copy(s, coll_element_at(c->recv.buf, at, t), mine, t, in[last], mine, t);
}

static const struct slice *blocks_of(struct schedule *s, const struct coll_call *c)
{
    struct slice *block = schedule_bytes(s, (size_t)c->size * sizeof *block);
    bool is_counted = c->kind == COLL_REDUCE_SCATTER;
    MPI_Count at = 0;
    for (int i = 0; i < c->size; at += block[i++].n)
        block[i] = (struct slice){at, is_counted ? number_at(c->recv.counts, i) : c->recv.count};
    return block;
}

// Every process is sent its block of all others, and combines them in order. In place the result comes over
// what has left: of no block anything lies before its own `at`.
void coll_add_blocks(struct schedule *s, const struct coll_call *c)
{
    struct type *t = c->recv.type;
    const struct slice *block = blocks_of(s, c);
    MPI_Count longest = 0;
    for (int i = 0; i < c->size; i++)
        longest = block[i].n > longest ? block[i].n : longest;
    MPI_Count most = segment_of(longest, t);
    if (coll_is_grid(c)) {
        coll_reduce_scatter_grid(s, c, block, longest, longest < most ? longest : most);
        return;
    }
    void **in = schedule_bytes(s, (size_t)c->size * sizeof *in);
    for (int i = 0; i < c->size; i++)
        in[i] = schedule_elements(s, coll_part_of(block[c->rank].n, 0, most), t);
    for (MPI_Count at = 0; at < longest; at += most)
        add_blocks(s, c, block, in, at, most);
}

void coll_reduce_scatter(struct schedule *s, const struct coll_call *c)
{
    if (!coll_reduce_lent(s, c))
        coll_add_blocks(s, c);
}

// ---- Scans
enum { DISTANCES = 31 };

// n elements from `at` on. After the round of distance d, `whole` is of the ranks [me - 2d + 1, me].
static void add_scan(struct schedule *s, const struct coll_call *c, void *whole, void *const in[],
                     MPI_Count at, MPI_Count n)
{
    struct type *t = c->recv.type;
    bool exclusive = c->kind == COLL_EXSCAN, has_before = false;
    void *result = coll_element_at(c->recv.buf, at, t);
    schedule_copy(s, whole, n, t, coll_element_at(coll_own(c), at, t), n, t);
    for (int i = 0, d = 1; d < c->size; i++, d *= 2) {
        bool comes = c->rank >= d;
        if (comes)
            schedule_recv(s, in[i], n, t, c->rank - d);
        if (c->rank + d < c->size)
            schedule_send(s, whole, n, t, c->rank + d);
        schedule_round(s);
        if (comes && exclusive && has_before)
            schedule_reduce(s, in[i], result, n, t);
        else if (comes && exclusive)
            schedule_copy(s, result, n, t, in[i], n, t);
        has_before |= comes;
        if (comes)
            schedule_reduce(s, in[i], whole, n, t);
    }
    if (!exclusive)
        schedule_copy(s, result, n, t, whole, n, t);
}

void coll_scan(struct schedule *s, const struct coll_call *c)
{
    MPI_Count count = c->recv.count, most = segment_of(count, c->recv.type);
    most = count < most ? count : most;
    void *whole = schedule_elements(s, most, c->recv.type), *in[DISTANCES];
    for (int i = 0, d = 1; d < c->size; i++, d *= 2)
        in[i] = c->rank >= d ? schedule_elements(s, most, c->recv.type) : NULL;
    for (MPI_Count at = 0; at < count; at += most)
        add_scan(s, c, whole, in, at, coll_part_of(count, at, most));
}

// ---- Blocking and short: the same without a schedule
static int scan_now(const struct coll_call *c, int tag)
{
    _Alignas(max_align_t) char own[COLL_NOW], come[COLL_NOW];
    struct type *t = c->recv.type;
    MPI_Count n = c->recv.count;
    void *whole = type_base(own, t->true_lb), *in = type_base(come, t->true_lb);
    bool exclusive = c->kind == COLL_EXSCAN, has_before = false;
    int error = MPI_SUCCESS;
    type_copy(t, whole, n, t, coll_own(c), n);
    for (int d = 1; d < c->size; d *= 2) {
        bool comes = c->rank >= d;
        int sent = c->rank + d >= c->size ? MPI_SUCCESS
                                          : p2p_send(c->comm, SPACE_COLL, whole, n, t, c->rank + d,
                                                     tag, SEND_STANDARD);
        int got = !comes ? MPI_SUCCESS
                         : p2p_recv(c->comm, SPACE_COLL, in, n, t, c->rank - d, tag,
                                    MPI_STATUS_IGNORE);
        error = error ? error : sent ? sent : got;
        if (comes && exclusive && has_before)
            op_apply(c->op, in, c->recv.buf, n, t);
        else if (comes && exclusive)
            type_copy(t, c->recv.buf, n, t, in, n);
        has_before |= comes;
        if (comes)
            op_apply(c->op, in, whole, n, t);
    }
    if (!exclusive)
        type_copy(t, c->recv.buf, n, t, whole, n);
    return error;
}

bool coll_scan_now(const struct coll_call *c, int *error)
{
    if (!coll_folds_now(c))
        return false;
    *error = scan_now(c, coll_tag(c));
    return true;
}
