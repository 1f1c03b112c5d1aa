// SPDX-License-Identifier: BSD-3-Clause
// Builds a datatype from its recipe: bounds, size and the normalised layout.
#include "type_recipe.h"

#include <stdlib.h>

enum { FLAT_COUNT = 65536 }; // with more items, small children stay as they are: they take memory

// What the blocks of a type add up to. Sums that do not fit set `overflow`.
struct sum {
    MPI_Count lb, ub, true_lb, true_ub;
    MPI_Count size, elements;
    const struct type *basic;
    bool has_data, is_bounded, is_mixed, overflow;
    uint8_t align;
};

static MPI_Count add(struct sum *s, MPI_Count a, MPI_Count b)
{
    MPI_Count c;
    s->overflow |= __builtin_add_overflow(a, b, &c);
    return c;
}

static MPI_Count mul(struct sum *s, MPI_Count a, MPI_Count b)
{
    MPI_Count c;
    s->overflow |= __builtin_mul_overflow(a, b, &c);
    return c;
}

static void widen(MPI_Count *low, MPI_Count *high, bool is_first, MPI_Count from, MPI_Count to)
{
    if (is_first || from < *low)
        *low = from;
    if (is_first || to > *high)
        *high = to;
}

// n elements of t, one after the other, are among the blocks. Bounds that were set by a resize make
// those of entries irrelevant; else they are where the entries are, and then aligned (sum_align).
static void sum_place(struct sum *s, const struct type *t, MPI_Count disp, MPI_Count n)
{
    if (n == 0)
        return;
    MPI_Count shift = mul(s, n - 1, t->extent), low = add(s, disp, shift < 0 ? shift : 0);
    MPI_Count high = add(s, disp, shift > 0 ? shift : 0);
    if (t->is_bounded) {
        widen(&s->lb, &s->ub, !s->is_bounded, add(s, low, t->lb),
              add(s, high, add(s, t->lb, t->extent)));
        s->is_bounded = true;
    }
    if (t->size == 0)
        return;
    widen(&s->true_lb, &s->true_ub, !s->has_data, add(s, low, t->true_lb),
          add(s, high, add(s, t->true_lb, t->true_extent)));
    s->has_data = true;
    if (t->align > s->align)
        s->align = t->align;
}

static void sum_data(struct sum *s, const struct type *t, MPI_Count n)
{
    s->size = add(s, s->size, mul(s, n, t->size));
    s->elements = add(s, s->elements, mul(s, n, t->elements));
    if (n == 0 || t->size == 0)
        return;
    if (!t->basic || (s->basic && s->basic != t->basic))
        s->is_mixed = true;
    s->basic = t->basic;
}

// ---- Layouts of the constructors
struct making {
    struct builder builder;
    struct sum sum;
    const struct type_recipe *recipe;
    // The last block that was not dense: neighbours are often alike.
    const struct type *block_type;
    MPI_Count block_count;
    struct layout block;
};

static void add_block(struct making *m, const struct type *t, MPI_Count disp, MPI_Count n,
                      bool flatten)
{
    sum_place(&m->sum, t, disp, n);
    sum_data(&m->sum, t, n);
    if (n == 0 || m->sum.overflow)
        return;
    if (t->is_dense) {
        struct node node = {.kind = NODE_BLOCK, .bytes = n * t->size};
        if (node.bytes > 0)
            layout_add(&m->builder, (struct layout){.node = &node, .at = t->true_lb}, disp, true);
        return;
    }
    if (m->block_type != t || m->block_count != n) {
        m->block_type = t;
        m->block_count = n;
        m->block = layout_repeat(&m->builder, t->body->layout, n, t->extent);
    }
    layout_add(&m->builder, m->block, disp, flatten);
}

// count blocks of n elements, stride units of bytes apart.
static struct layout make_vector(struct making *m, MPI_Count count, MPI_Count n, MPI_Count stride,
                                 MPI_Count unit)
{
    stride = count > 1 && n > 0 ? mul(&m->sum, stride, unit) : 0;
    const struct type *t = m->recipe->types[0];
    if (count > 0 && n > 0) {
        sum_place(&m->sum, t, 0, n);
        sum_place(&m->sum, t, mul(&m->sum, count - 1, stride), n);
    }
    sum_data(&m->sum, t, mul(&m->sum, count, n));
    if (m->sum.overflow)
        return (struct layout){0};
    struct layout block = layout_repeat(&m->builder, t->body->layout, n, t->extent);
    return layout_repeat(&m->builder, block, count, stride);
}

static struct layout make_blocks(struct making *m)
{
    const struct type_recipe *r = m->recipe;
    MPI_Count count = recipe_number(r, 0);
    bool is_even = r->combiner == MPI_COMBINER_INDEXED_BLOCK ||
                   r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool in_bytes = r->combiner != MPI_COMBINER_INDEXED &&
                    r->combiner != MPI_COMBINER_INDEXED_BLOCK;
    MPI_Count lengths = is_even ? 2 : count + 1; // numbers before the displacements
    for (MPI_Count i = 0; i < count; i++) {
        const struct type *t = r->types[r->combiner == MPI_COMBINER_STRUCT ? i : 0];
        MPI_Count n = recipe_number(r, is_even ? 1 : 1 + i);
        MPI_Count disp = in_bytes ? recipe_address(r, lengths, i) : recipe_number(r, lengths + i);
        if (!in_bytes)
            disp = n > 0 ? mul(&m->sum, disp, t->extent) : 0;
        add_block(m, t, disp, n, count <= FLAT_COUNT);
    }
    return layout_join(&m->builder);
}

static struct layout make_dimension(struct making *m, struct layout inner, struct dimension d,
                                    MPI_Count unit)
{
    struct layout block = layout_repeat(&m->builder, inner, d.block, unit);
    struct layout all = layout_repeat(&m->builder, block, d.blocks, d.step * unit);
    if (d.rest > 0) {
        struct layout rest = layout_repeat(&m->builder, inner, d.rest, unit);
        layout_add(&m->builder, all, 0, true);
        layout_add(&m->builder, rest, d.blocks * d.step * unit, true);
        all = layout_join(&m->builder);
    }
    all.at += d.start * unit;
    return all;
}

static struct layout make_array(struct making *m)
{
    const struct type *t = m->recipe->types[0];
    struct sum *s = &m->sum;
    int n = recipe_dimensions(m->recipe);
    bool fortran = recipe_is_fortran(m->recipe);
    struct layout layout = t->body->layout;
    MPI_Count unit = t->extent, elements = 1, first = 0, last = 0;
    for (int i = 0; i < n && !s->overflow; i++) {
        struct dimension d = recipe_dimension(m->recipe, fortran ? i : n - 1 - i);
        MPI_Count end = d.rest > 0 ? d.blocks * d.step + d.rest : (d.blocks - 1) * d.step + d.block;
        elements = mul(s, elements, d.blocks * d.block + d.rest);
        first = add(s, first, mul(s, d.start, unit));
        last = add(s, last, mul(s, d.start + end - 1, unit));
        mul(s, d.size, unit);
        if (!s->overflow)
            layout = make_dimension(m, layout, d, unit);
        unit = mul(s, unit, d.size);
    }
    if (elements > 0) {
        sum_place(s, t, first, 1);
        sum_place(s, t, last, 1);
    }
    sum_data(s, t, elements);
    s->lb = 0;
    s->ub = unit;
    s->is_bounded = true;
    return elements > 0 ? layout : (struct layout){0};
}

// The layout of an old type, with other bounds (resized) or the same (dup).
static struct layout make_same(struct making *m)
{
    const struct type_recipe *r = m->recipe;
    const struct type *t = r->types[0];
    sum_place(&m->sum, t, 0, 1);
    sum_data(&m->sum, t, 1);
    if (r->combiner == MPI_COMBINER_RESIZED) {
        m->sum.lb = recipe_address(r, 0, 0);
        m->sum.ub = add(&m->sum, m->sum.lb, recipe_address(r, 0, 1));
        m->sum.is_bounded = true;
    }
    return t->body->layout;
}

static struct layout make_layout(struct making *m)
{
    const struct type_recipe *r = m->recipe;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return make_vector(m, 1, recipe_number(r, 0), 0, 1);
    case MPI_COMBINER_VECTOR:
        return make_vector(m, recipe_number(r, 0), recipe_number(r, 1), recipe_number(r, 2),
                           r->types[0]->extent);
    case MPI_COMBINER_HVECTOR:
        return make_vector(m, recipe_number(r, 0), recipe_number(r, 1), recipe_address(r, 2, 0), 1);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: return make_array(m);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return make_same(m);
    default: return make_blocks(m);
    }
}

// Without a resize the bounds are those of the entries, and the upper one is moved on so that
// elements in a row are aligned.
static void sum_align(struct sum *s)
{
    MPI_Count extent;
    s->overflow |= __builtin_sub_overflow(s->true_ub, s->true_lb, &extent);
    if (!s->is_bounded && !s->overflow) {
        MPI_Count over = s->align > 0 ? extent % s->align : 0;
        s->lb = s->true_lb;
        s->ub = add(s, s->true_ub, over > 0 ? s->align - over : 0);
    }
    s->overflow |= __builtin_sub_overflow(s->ub, s->lb, &extent);
}

static void type_set(struct type *t, const struct sum *s, struct type_recipe *r,
                     struct layout layout)
{
    t->size = s->size;
    t->lb = s->lb;
    t->extent = s->ub - s->lb;
    t->true_lb = s->true_lb;
    t->true_extent = s->true_ub - s->true_lb;
    t->elements = s->elements;
    t->basic = s->is_mixed ? NULL : s->basic;
    t->is_bounded = s->is_bounded;
    t->is_committed = r->combiner == MPI_COMBINER_DUP && r->types[0]->is_committed;
    t->align = s->align;
    t->is_dense = s->size == t->extent && s->true_lb == s->lb &&
                  (!layout.node || layout.node->kind == NODE_BLOCK);
    t->recipe = r;
    atomic_init(&t->handles, 1);
}

int type_build(struct type_recipe *r, struct type **type, const char **why)
{
    struct type *t = object_new(sizeof *t, OBJECT_TYPE);
    struct type_body *body = calloc(1, sizeof *body);
    struct making m = {.recipe = r};
    if (t && body)
        body->layout = make_layout(&m);
    else
        m.builder.no_memory = true;
    sum_align(&m.sum);
    bool is_deep = t && body && body->layout.node && body->layout.node->depth > DEPTH_MOST;
    if (m.builder.no_memory || m.sum.overflow || is_deep) {
        *why = m.builder.no_memory ? "no memory for a datatype"
               : m.sum.overflow    ? "size or extent of the type do not fit an MPI_Count"
                                   : "more than 2000 types that cannot be joined are nested";
        nodes_free(m.builder.owned);
        free(m.builder.parts);
        free(body);
        if (t)
            object_end(t);
        recipe_free(r);
        return m.builder.no_memory ? MPI_ERR_NO_MEM
               : is_deep           ? MPI_ERR_TYPE
                                   : MPI_ERR_VALUE_TOO_LARGE;
    }
    body->owned = m.builder.owned;
    t->body = body;
    type_set(t, &m.sum, r, body->layout);
    *type = t;
    return MPI_SUCCESS;
}

// A reference; who had the last one puts t in the list.
static void drop_to(struct type **list, struct type *t)
{
    if (!object_drop(t))
        return;
    t->body->next = *list;
    *list = t;
}

// One after the other, not one within the other: types may be nested deeper than the stack is.
void type_drop(struct type *t)
{
    struct type *list = NULL;
    drop_to(&list, t);
    while ((t = list)) {
        list = t->body->next;
        nodes_free(t->body->owned);
        free(t->body);
        for (MPI_Count i = 0; i < t->recipe->n_types; i++)
            drop_to(&list, t->recipe->types[i]);
        free(t->recipe);
        object_end(t);
    }
}
