// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Random datatypes against a model that walks their type maps: bounds, pack and unpack, the same
// from large-count constructors, rebuilt from their contents, elements in a part of the data.
// PES: 1
#include <check.h>
#include <mpi.h>

#include "type_map.h"

enum { TYPES = 1000, DEPTH = 4 };

static uint64_t seed = 20250801;
static int below(int n)
{
    return (int)rnd_below(&seed, (size_t)n);
}

// ---- Constructors, with int or MPI_Count arguments
#define NUMBERS 8
static void shrink(int *to, const MPI_Count *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (int)from[i];
}

static void make_vector(MPI_Datatype old, struct map *m, const struct map *om, bool large,
                        MPI_Datatype *new)
{
    int count = below(5), n = below(4), kind = below(3), stride = below(9) - 3;
    MPI_Count bytes = kind == 2 ? below(64) - 16 : stride * width(om);
    if (kind == 0) {
        large ? MPI_Type_contiguous_c(count, old, new) : MPI_Type_contiguous(count, old, new);
        n = 1;
        bytes = width(om);
    } else if (kind == 1) {
        large ? MPI_Type_vector_c(count, n, stride, old, new)
              : MPI_Type_vector(count, n, stride, old, new);
    } else {
        large ? MPI_Type_create_hvector_c(count, n, bytes, old, new)
              : MPI_Type_create_hvector(count, n, bytes, old, new);
    }
    for (int i = 0; i < count; i++)
        map_add(m, om, i * bytes, n);
}

static void make_blocks(MPI_Datatype old, struct map *m, const struct map *om, bool large,
                        MPI_Datatype *new)
{
    MPI_Count lengths[NUMBERS], disps[NUMBERS];
    int small_lengths[NUMBERS], small_disps[NUMBERS], count = below(NUMBERS), kind = below(4);
    int step = below(6), length = below(3);
    for (int i = 0; i < count; i++) { // regular ones too
        lengths[i] = kind < 2 ? (below(2) ? length : below(3)) : length;
        disps[i] = (below(4) ? i * step : below(20) - 6) * (kind % 2 ? 4 : 1);
    }
    shrink(small_lengths, lengths, count);
    shrink(small_disps, disps, count);
    switch (kind) {
    case 0:
        large ? MPI_Type_indexed_c(count, lengths, disps, old, new)
              : MPI_Type_indexed(count, small_lengths, small_disps, old, new);
        break;
    case 1:
        large ? MPI_Type_create_hindexed_c(count, lengths, disps, old, new)
              : MPI_Type_create_hindexed(count, small_lengths, disps, old, new);
        break;
    case 2:
        large ? MPI_Type_create_indexed_block_c(count, length, disps, old, new)
              : MPI_Type_create_indexed_block(count, length, small_disps, old, new);
        break;
    default:
        large ? MPI_Type_create_hindexed_block_c(count, length, disps, old, new)
              : MPI_Type_create_hindexed_block(count, length, disps, old, new);
    }
    for (int i = 0; i < count; i++)
        map_add(m, om, disps[i] * (kind % 2 ? 1 : width(om)), lengths[i]);
}

static void make_struct(MPI_Datatype old[2], struct map *m, struct map om[2], bool large,
                        MPI_Datatype *new)
{
    MPI_Count lengths[NUMBERS], disps[NUMBERS];
    int small_lengths[NUMBERS], count = below(NUMBERS), which[NUMBERS];
    MPI_Datatype types[NUMBERS];
    MPI_Count at = below(16);
    for (int i = 0; i < count; i++) {
        which[i] = below(2);
        types[i] = old[which[i]];
        lengths[i] = below(3);
        disps[i] = at;
        at += below(3) ? lengths[i] * width(&om[which[i]]) : below(40);
    }
    shrink(small_lengths, lengths, count);
    large ? MPI_Type_create_struct_c(count, lengths, disps, types, new)
          : MPI_Type_create_struct(count, small_lengths, disps, types, new);
    for (int i = 0; i < count; i++)
        map_add(m, &om[which[i]], disps[i], lengths[i]);
}

static void make_resized(MPI_Datatype old, struct map *m, const struct map *om, bool large,
                         MPI_Datatype *new)
{
    MPI_Count lb = below(20) - 10, extent = below(80);
    large ? MPI_Type_create_resized_c(old, lb, extent, new)
          : MPI_Type_create_resized(old, lb, extent, new);
    map_add(m, om, 0, 1);
    m->bounded = true;
    m->lb = lb;
    m->ub = lb + extent;
}

static void make_dup(MPI_Datatype old, struct map *m, const struct map *om, MPI_Datatype *new)
{
    MPI_Type_dup(old, new);
    map_add(m, om, 0, 1);
}

enum { DIMS = 3 };
// Is index i of a dimension among those of the type?
static bool mine(int distrib, MPI_Count size, int darg, int processes, int coordinate, MPI_Count i)
{
    if (distrib == MPI_DISTRIBUTE_NONE)
        return true;
    MPI_Count block = darg != MPI_DISTRIBUTE_DFLT_DARG   ? darg
                      : distrib == MPI_DISTRIBUTE_CYCLIC ? 1
                                                         : (size + processes - 1) / processes;
    return i / block % processes == coordinate;
}

// All elements of a global array in its order; those that `in` has are in the type.
static void map_array(struct map *m, const struct map *om, int n, const MPI_Count *sizes, bool c,
                      bool in[DIMS][NUMBERS])
{
    MPI_Count total = 1;
    for (int d = 0; d < n; d++)
        total *= sizes[d];
    for (MPI_Count e = 0; e < total; e++) {
        bool is_in = true;
        MPI_Count rest = e;
        for (int k = 0; k < n; k++) { // the fastest dimension first
            int d = c ? n - 1 - k : k;
            is_in &= in[d][rest % sizes[d]];
            rest /= sizes[d];
        }
        if (is_in)
            map_add(m, om, e * width(om), 1);
    }
    m->bounded = true;
    m->lb = 0;
    m->ub = total * width(om);
}

static void make_subarray(MPI_Datatype old, struct map *m, const struct map *om, bool large,
                          MPI_Datatype *new)
{
    MPI_Count sizes[DIMS], parts[DIMS], starts[DIMS];
    int small_sizes[DIMS], small_parts[DIMS], small_starts[DIMS], n = 1 + below(DIMS);
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    bool in[DIMS][NUMBERS];
    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + below(4);
        parts[d] = 1 + below((int)sizes[d]);
        starts[d] = below((int)(sizes[d] - parts[d] + 1));
        for (int i = 0; i < sizes[d]; i++)
            in[d][i] = i >= starts[d] && i < starts[d] + parts[d];
    }
    shrink(small_sizes, sizes, n);
    shrink(small_parts, parts, n);
    shrink(small_starts, starts, n);
    large ? MPI_Type_create_subarray_c(n, sizes, parts, starts, order, old, new)
          : MPI_Type_create_subarray(n, small_sizes, small_parts, small_starts, order, old, new);
    map_array(m, om, n, sizes, order == MPI_ORDER_C, in);
}

static void make_darray(MPI_Datatype old, struct map *m, const struct map *om, bool large,
                        MPI_Datatype *new)
{
    static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    MPI_Count sizes[DIMS];
    int small_sizes[DIMS], distribs[DIMS], dargs[DIMS], psizes[DIMS], n = 1 + below(DIMS), size = 1;
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    bool in[DIMS][NUMBERS];
    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + below(6);
        distribs[d] = kinds[below(3)];
        psizes[d] = distribs[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (below(2))
            dargs[d] = distribs[d] == MPI_DISTRIBUTE_CYCLIC
                           ? 1 + below(3)
                           : (int)(sizes[d] + psizes[d] - 1) / psizes[d] + below(2);
        size *= psizes[d];
    }
    int rank = below(size), rest = rank;
    for (int d = n - 1; d >= 0; rest /= psizes[d--])
        for (int i = 0; i < sizes[d]; i++)
            in[d][i] = mine(distribs[d], sizes[d], dargs[d], psizes[d], rest % psizes[d], i);
    shrink(small_sizes, sizes, n);
    large ? MPI_Type_create_darray_c(size, rank, n, sizes, distribs, dargs, psizes, order, old, new)
          : MPI_Type_create_darray(size, rank, n, small_sizes, distribs, dargs, psizes, order, old,
                                   new);
    map_array(m, om, n, sizes, order == MPI_ORDER_C, in);
}

static MPI_Datatype make(int depth, struct map *m);

static MPI_Datatype make_derived(int depth, struct map *m)
{
    struct map om[2] = {map_new(), map_new()};
    MPI_Datatype old[2] = {make(depth - 1, &om[0]), make(depth - 1, &om[1])};
    MPI_Datatype new = MPI_DATATYPE_NULL;
    bool large = below(2);
    switch (om[0].n > 40 || om[1].n > 40 ? 3 : below(7)) {
    case 0: make_vector(old[0], m, &om[0], large, &new); break;
    case 1: make_blocks(old[0], m, &om[0], large, &new); break;
    case 2: make_struct(old, m, om, large, &new); break;
    case 3: make_resized(old[0], m, &om[0], large, &new); break;
    case 4: make_dup(old[0], m, &om[0], &new); break;
    case 5: make_subarray(old[0], m, &om[0], large, &new); break;
    default: make_darray(old[0], m, &om[0], large, &new);
    }
    for (int k = 0; k < 2; k++) {
        int ni, na, nd, combiner;
        MPI_Count i, a, c, d;
        MPI_Type_get_envelope_c(old[k], &i, &a, &c, &d, &combiner);
        if (c == 0)
            MPI_Type_get_envelope(old[k], &ni, &na, &nd, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&old[k]);
        free(om[k].entries);
    }
    return new;
}

// A datatype and its map.
static MPI_Datatype make(int depth, struct map *m)
{
    if (depth > 0 && below(8))
        return make_derived(depth, m);
    int basic = below(BASICS);
    m->entries[m->n++] = (struct entry){0, basic};
    return basics[basic].type;
}

// ---- Checks
static void check_bounds(MPI_Datatype type, const struct map *m)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    MPI_Type_size_c(type, &size);
    MPI_Type_get_extent_c(type, &lb, &extent);
    MPI_Type_get_true_extent_c(type, &true_lb, &true_extent);
    struct map bare = {m->entries, m->n, false, 0, 0};
    CHECK_EQ(size, map_size(m));
    CHECK_EQ(lb, low(m));
    CHECK_EQ(extent, width(m));
    CHECK_EQ(true_lb, low(&bare));
    CHECK_EQ(true_extent, high(&bare, false) - low(&bare));
}

enum { COUNT = 3, SPACE = 1 << 17, MIDDLE = SPACE / 2 };
static unsigned char memory[SPACE], expected[SPACE], packed[SPACE], want[SPACE];

// What packing `count` elements at memory + MIDDLE gives.
static int walk(const struct map *m, int count, bool unpack)
{
    int n = 0;
    for (int c = 0; c < count; c++)
        for (int i = 0; i < m->n; i++)
            for (int b = 0; b < basics[m->entries[i].basic].size; b++, n++) {
                int64_t at = MIDDLE + c * width(m) + m->entries[i].disp + b;
                if (unpack)
                    expected[at] = packed[n];
                else
                    want[n] = memory[at];
            }
    return n;
}

static bool overlaps(const struct map *m, int count)
{
    static unsigned char seen[SPACE];
    memset(seen, 0, sizeof seen);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < m->n; i++)
            for (int b = 0; b < basics[m->entries[i].basic].size; b++)
                if (seen[MIDDLE + c * width(m) + m->entries[i].disp + b]++)
                    return true;
    return false;
}

static void check_moves(MPI_Datatype type, const struct map *m)
{
    int count = below(COUNT + 1), position = 0, size;
    fill(memory, sizeof memory, (unsigned)below(100));
    memset(want, 0, sizeof want);
    int n = walk(m, count, false);
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &size);
    CHECK_EQ(size, n);
    memset(packed, 0, sizeof packed);
    MPI_Pack(memory + MIDDLE, count, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    CHECK_EQ(position, n);
    CHECK_MEM(packed, want, n + 16, "packed");
    if (overlaps(m, count)) // not a type to receive with
        return;
    fill(packed, (size_t)n, 77);
    memset(memory, 0, sizeof memory);
    memset(expected, 0, sizeof expected);
    walk(m, count, true);
    position = 0;
    MPI_Unpack(packed, n, &position, memory + MIDDLE, count, type, MPI_COMM_WORLD);
    CHECK_EQ(position, n);
    CHECK_MEM(memory, expected, sizeof memory, "unpacked");
}

static void check_elements(MPI_Datatype type, const struct map *m)
{
    MPI_Status status;
    MPI_Count n = (MPI_Count)m->n * 3, part = m->n > 0 ? below((int)n + 1) : 0, got;
    memset(&status, 0, sizeof status);
    CHECK_EQ(MPI_Status_set_elements_c(&status, type, part), MPI_SUCCESS);
    MPI_Get_elements_c(&status, type, &got);
    CHECK_EQ(got, part);
    int whole;
    MPI_Get_count(&status, type, &whole);
    CHECK_EQ(whole, m->n == 0 ? 0 : part % m->n ? MPI_UNDEFINED : part / m->n);
}

static void check_all(MPI_Datatype *type, const struct map *m)
{
    check_bounds(*type, m);
    MPI_Type_commit(type);
    if (high(m, false) < MIDDLE / 8 && low(m) > -MIDDLE / 8 && width(m) < MIDDLE / 8)
        check_moves(*type, m);
    check_elements(*type, m);
}

static void rebuild_list(int combiner, bool large, const int *i, const MPI_Aint *a,
                         const MPI_Count *c, const MPI_Datatype *t, MPI_Datatype *new)
{
    int n = i[0];
    switch (combiner) {
    case MPI_COMBINER_INDEXED:
        large ? MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], t[0], new)
              : MPI_Type_indexed(n, i + 1, i + 1 + n, t[0], new);
        break;
    case MPI_COMBINER_HINDEXED:
        large ? MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], t[0], new)
              : MPI_Type_create_hindexed(n, i + 1, a, t[0], new);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        large ? MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, t[0], new)
              : MPI_Type_create_indexed_block(n, i[1], i + 2, t[0], new);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        large ? MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, t[0], new)
              : MPI_Type_create_hindexed_block(n, i[1], a, t[0], new);
        break;
    case MPI_COMBINER_STRUCT:
        large ? MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], t, new)
              : MPI_Type_create_struct(n, i + 1, a, t, new);
        break;
    default: CHECK(!"a known combiner");
    }
}

// The same constructor with the arguments that MPI_Type_get_contents gives.
static MPI_Datatype rebuild(MPI_Datatype type)
{
    enum { ROOM = 64 };
    static int i[ROOM];
    static MPI_Aint a[ROOM];
    static MPI_Count c[ROOM];
    MPI_Datatype t[ROOM], new = MPI_DATATYPE_NULL;
    MPI_Count ni, na, nc, nt;
    int combiner;
    MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nt, &combiner);
    MPI_Type_get_contents_c(type, ni, na, nc, nt, i, a, c, t);
    bool large = nc > 0;
    int n = i[0];
    switch (combiner) {
    case MPI_COMBINER_DUP: MPI_Type_dup(t[0], &new); break;
    case MPI_COMBINER_CONTIGUOUS:
        large ? MPI_Type_contiguous_c(c[0], t[0], &new) : MPI_Type_contiguous(i[0], t[0], &new);
        break;
    case MPI_COMBINER_VECTOR:
        large ? MPI_Type_vector_c(c[0], c[1], c[2], t[0], &new)
              : MPI_Type_vector(i[0], i[1], i[2], t[0], &new);
        break;
    case MPI_COMBINER_HVECTOR:
        large ? MPI_Type_create_hvector_c(c[0], c[1], c[2], t[0], &new)
              : MPI_Type_create_hvector(i[0], i[1], a[0], t[0], &new);
        break;
    case MPI_COMBINER_SUBARRAY:
        large ? MPI_Type_create_subarray_c(n, c, c + n, c + 2 * n, i[1], t[0], &new)
              : MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], t[0],
                                         &new);
        break;
    case MPI_COMBINER_DARRAY: {
        int k = i[2], *after = i + 3 + (large ? 0 : k);
        large ? MPI_Type_create_darray_c(i[0], i[1], k, c, after, after + k, after + 2 * k,
                                         after[3 * k], t[0], &new)
              : MPI_Type_create_darray(i[0], i[1], k, i + 3, after, after + k, after + 2 * k,
                                       after[3 * k], t[0], &new);
        break;
    }
    case MPI_COMBINER_RESIZED:
        large ? MPI_Type_create_resized_c(t[0], c[0], c[1], &new)
              : MPI_Type_create_resized(t[0], a[0], a[1], &new);
        break;
    default: rebuild_list(combiner, large, i, a, c, t, &new);
    }
    for (MPI_Count k = 0; k < nt; k++) {
        MPI_Count x;
        MPI_Type_get_envelope_c(t[k], &x, &x, &x, &x, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&t[k]);
    }
    return new;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < TYPES && check_failures == 0; k++) {
        struct map m = map_new();
        MPI_Datatype type = make_derived(1 + below(DEPTH), &m), again;
        check_all(&type, &m);
        again = rebuild(type);
        MPI_Type_free(&type);
        check_all(&again, &m);
        MPI_Type_free(&again);
        free(m.entries);
        if (check_failures)
            fprintf(stderr, "datatype %d\n", k);
    }
    MPI_Finalize();
    return check_done();
}
