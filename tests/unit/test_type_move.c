// SPDX-License-Identifier: BSD-3-Clause
// Layouts of datatypes: random ones are put together from blocks, loops and lists, and any part of
// their stream is moved and compared with a walk over single bytes; equal layouts get equal forms.
#include "unit.h"

#include "type_body.h"

#include <check.h>

enum { MOST = 40000, SPACE = 1 << 20, MIDDLE = SPACE / 2 };
#if defined(__SANITIZE_THREAD__)
enum { LAYOUTS = 20 }; // ten times as slow, and one thread
#else
enum { LAYOUTS = 200 };
#endif

// Where each byte of the stream lies.
struct model {
    int64_t *at;
    int n;
};
static uint64_t seed = 7;

static int below(int n)
{
    return (int)rnd_below(&seed, (size_t)n);
}

static void model_add(struct model *m, const struct model *from, int64_t disp)
{
    for (int i = 0; i < from->n; i++)
        m->at[m->n++] = from->at[i] + disp;
}

static struct layout make(struct builder *b, int depth, struct model *m);

static struct layout make_list(struct builder *b, int depth, struct model *m)
{
    struct model part[2] = {{must_alloc(MOST * sizeof *m->at), 0},
                            {must_alloc(MOST * sizeof *m->at), 0}};
    struct layout child[2];
    for (int k = 0; k < 2; k++)
        child[k] = make(b, depth - 1, &part[k]);
    int kind = below(3), n = kind == 0 ? 60 : below(12), step = 8 * (1 + below(4));
    for (int i = 0; i < n && m->n < 2000; i++) { // long runs, regular, irregular
        int which = kind == 2 ? below(2) : 0;
        int64_t disp = kind == 1             ? 1000 * (i / 3) + step * (i % 3)
                       : kind == 0 && i < 40 ? i * step
                                             : below(5000);
        layout_add(b, child[which], disp, below(4) > 0);
        model_add(m, &part[which], disp);
    }
    free(part[0].at);
    free(part[1].at);
    return layout_join(b);
}

static struct layout make(struct builder *b, int depth, struct model *m)
{
    static const int lengths[] = {1, 2, 3, 4, 8, 12, 16, 20, 24, 32, 40, 64, 100};
    if (depth == 0 || below(6) == 0) {
        int n = lengths[below(ARRAY_LEN(lengths))], at = below(30);
        for (int i = 0; i < n; i++)
            m->at[m->n++] = at + i;
        return layout_block(b, at, n);
    }
    if (below(2))
        return make_list(b, depth, m);
    struct model part = {must_alloc(MOST * sizeof *m->at), 0};
    struct layout child = make(b, depth - 1, &part);
    int n = part.n > 300 ? 2 : 1 + below(20), stride = below(3) ? below(4000) - 1000 : part.n;
    for (int i = 0; i < n; i++)
        model_add(m, &part, (int64_t)i * stride);
    free(part.at);
    return layout_repeat(b, child, n, stride);
}

static char memory[SPACE], stream[MOST + 64], again[SPACE];

static void check_part(struct layout l, const struct model *m, int from, int n)
{
    memset(stream, 0x55, sizeof stream);
    node_move(l.node, memory + MIDDLE + l.at, from, stream, n, true);
    for (int i = 0; i < n; i++)
        assert_int_equal(stream[i], memory[MIDDLE + m->at[from + i]]);
    assert_int_equal(stream[n], 0x55);
    memset(again, 0, sizeof again);
    node_move(l.node, again + MIDDLE + l.at, from, stream, n, false);
    for (int i = 0; i < n; i++) { // what is written is right, also where entries overlap
        assert_int_equal(again[MIDDLE + m->at[from + i]], memory[MIDDLE + m->at[from + i]]);
        stream[i] = 0;
    }
    for (int i = 0; i < n; i++)
        again[MIDDLE + m->at[from + i]] = 0;
    for (int i = 0; i < SPACE; i++)
        if (again[i])
            fail_msg("byte %d was written", i - MIDDLE);
}

static void test_random_parts(void **state)
{
    (void)state;
    for (int i = 0; i < SPACE; i++)
        memory[i] = (char)(1 + fill_byte(3, (size_t)i) % 250);
    for (int k = 0; k < LAYOUTS; k++) {
        struct model m = {must_alloc(MOST * sizeof *m.at), 0};
        struct builder b = {0};
        struct layout l = make(&b, 3, &m);
        assert_false(b.no_memory);
        if (m.n > 0) {
            bool fits = true;
            for (int i = 0; i < m.n; i++)
                fits &= m.at[i] > -MIDDLE && m.at[i] < MIDDLE;
            assert_int_equal(l.node->bytes, m.n);
            for (int i = 0; fits && i < 6; i++) {
                int from = i == 0 ? 0 : below(m.n);
                check_part(l, &m, from, i == 0 ? m.n : below(m.n - from + 1));
            }
        } else {
            assert_null(l.node);
        }
        nodes_free(b.owned);
        free(m.at);
    }
}

static void add_block(struct builder *b, int64_t at, int64_t n)
{
    layout_add(b, layout_block(b, 0, n), at, true);
}

static void test_equal_forms(void **state)
{
    (void)state;
    struct builder b = {0};
    for (int i = 0; i < 64; i++) // neighbours: one block
        add_block(&b, 8 * i, 8);
    struct layout l = layout_join(&b);
    assert_int_equal(l.node->kind, NODE_BLOCK);
    assert_int_equal(l.node->bytes, 512);
    for (int i = 0; i < 60; i++) // planes of rows of elements, written down one by one
        add_block(&b, 5000 * (i / 20) + 200 * (i / 5 % 4) + 16 * (i % 5), 8);
    l = layout_join(&b);
    const struct node *n = l.node;
    assert_true(n->kind == NODE_LOOP && n->count == 3 && n->stride == 5000);
    n = n->child;
    assert_true(n->kind == NODE_LOOP && n->count == 4 && n->stride == 200);
    n = n->child;
    assert_true(n->kind == NODE_LOOP && n->count == 5 && n->stride == 16 && n->child->bytes == 8);
    for (int i = 0; i < 100; i++) // an array of {int, double}
        add_block(&b, 16 * (i / 2) + 8 * (i % 2), i % 2 ? 8 : 4);
    n = layout_join(&b).node;
    // The double and the next int are neighbours: 4, then 49 times 12, then 8.
    assert_int_equal(n->bytes, 600);
    for (int i = 0; i < 100; i++) // irregular, of one length
        add_block(&b, 100 * i + i * i % 7 * 8, 8);
    n = layout_join(&b).node;
    assert_true(n->kind == NODE_LIST || n->kind == NODE_LOOP);
    nodes_free(b.owned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_parts),
        cmocka_unit_test(test_equal_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
