// SPDX-License-Identifier: BSD-3-Clause
// Moves data between memory and the stream (type_body.h). Whole nodes go through loops whose inner
// copy has a fixed size where it can; only the two ends of a range take part of a node.
#include "shim.h"
#include "type_body.h"

#include <string.h>

// Lengths that get loops of their own.
#define FIXED_LENGTHS(X) \
    X(1)                 \
    X(2)                 \
    X(4)                 \
    X(8)                 \
    X(12)                \
    X(16)                \
    X(24)                \
    X(32)                \
    X(64)
enum {
    SMALL = 64, // bytes that are not worth a call of memcpy
    ROW = 4,
    TRANSPOSE_PIECES = 16,
    TRANSPOSE_ROWS = 4,
    TRANSPOSE_BYTES = 8192, // of the stream at a time: stay in the nearest cache
};

// n <= SMALL bytes; ends that overlap spare a loop over single bytes.
static inline void copy_small(char *to, const char *from, size_t n)
{
    if (n >= 16) {
        size_t i = 0;
        for (; i + 16 <= n; i += 16)
            memcpy(to + i, from + i, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

static inline void copy_block(char *restrict mem, char *restrict stream, MPI_Count n, bool pack)
{
    char *to = pack ? stream : mem;
    const char *from = pack ? mem : stream;
    if (n <= SMALL)
        copy_small(to, from, (size_t)n);
    else
        shim_copy(to, from, (size_t)n);
}

// count blocks of n bytes. Inlined with a constant n, and a constant step on the dense side. The least ones
// are loaded some at a time: a processor that takes a load for one of what was just stored has it wait.
static inline __attribute__((always_inline)) void copy_steps(char *restrict to, MPI_Count to_step,
                                                             const char *restrict from,
                                                             MPI_Count from_step, MPI_Count count,
                                                             size_t n)
{
    MPI_Count i = 0;
    for (; n <= 8 && i + ROW <= count; i += ROW) {
        char row[ROW][8];
        for (int k = 0; k < ROW; k++)
            memcpy(row[k], from + (i + k) * from_step, n);
        for (int k = 0; k < ROW; k++)
            memcpy(to + (i + k) * to_step, row[k], n);
    }
    for (; i < count; i++)
        memcpy(to + i * to_step, from + i * from_step, n);
}

static void copy_any(char *restrict to, MPI_Count to_step, const char *restrict from,
                     MPI_Count from_step, MPI_Count count, size_t n)
{
    if (n <= SMALL)
        for (MPI_Count i = 0; i < count; i++)
            copy_small(to + i * to_step, from + i * from_step, n);
    else
        copy_steps(to, to_step, from, from_step, count, n);
}

void type_copy_steps(char *to, MPI_Count to_step, const char *from, MPI_Count from_step,
                     MPI_Count count, MPI_Count n)
{
#define X(N)                                                    \
    case N:                                                     \
        if (to_step == N)                                       \
            copy_steps(to, N, from, from_step, count, N);       \
        else                                                    \
            copy_steps(to, to_step, from, from_step, count, N); \
        break;
    switch (n) {
        FIXED_LENGTHS(X)
    default: copy_any(to, to_step, from, from_step, count, (size_t)n);
    }
#undef X
}

static inline void move_strided(char *mem, MPI_Count stride, char *stream, MPI_Count step,
                                MPI_Count count, MPI_Count n, bool pack)
{
    if (pack)
        type_copy_steps(stream, step, mem, stride, count, n);
    else
        type_copy_steps(mem, stride, stream, step, count, n);
}

// Blocks of n bytes at mem + disp[i].
static inline __attribute__((always_inline)) void copy_listed(char *restrict mem,
                                                              const MPI_Count *disp,
                                                              MPI_Count count,
                                                              char *restrict stream, MPI_Count n,
                                                              bool pack)
{
    if (pack)
        for (MPI_Count i = 0; i < count; i++)
            shim_copy(stream + i * n, mem + disp[i], (size_t)n);
    else
        for (MPI_Count i = 0; i < count; i++)
            shim_copy(mem + disp[i], stream + i * n, (size_t)n);
}

static void move_listed(char *mem, const MPI_Count *disp, MPI_Count count, char *stream,
                        MPI_Count n, bool pack)
{
#define X(N) \
    case N: copy_listed(mem, disp, count, stream, N, pack); break;
    switch (n) {
        FIXED_LENGTHS(X)
    default:
        for (MPI_Count i = 0; i < count; i++)
            copy_block(mem + disp[i], stream + i * n, n, pack);
    }
#undef X
}

// ---- Items of a LOOP, LIST or MIX
static inline MPI_Count item_disp(const struct node *node, MPI_Count i)
{
    return node->kind == NODE_LOOP   ? i * node->stride
           : node->kind == NODE_LIST ? node->disp[i]
                                     : node->parts[i].disp;
}

static inline MPI_Count item_pos(const struct node *node, MPI_Count i)
{
    return node->kind == NODE_MIX ? node->parts[i].pos : i * node->child->bytes;
}

static inline MPI_Count item_bytes(const struct node *node, MPI_Count i)
{
    return node->kind == NODE_MIX ? node->parts[i].bytes : node->child->bytes;
}

// The item that has byte `from`.
static MPI_Count item_at(const struct node *node, MPI_Count from)
{
    if (node->kind != NODE_MIX)
        return from / node->child->bytes;
    MPI_Count low = 0, high = node->count; // parts[low].pos <= from < parts[high].pos
    while (high - low > 1) {
        MPI_Count middle = low + (high - low) / 2;
        if (node->parts[middle].pos <= from)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool item_is_block(const struct node *node, MPI_Count i)
{
    return node->kind == NODE_MIX ? !node->parts[i].node : node->child->kind == NODE_BLOCK;
}

static bool node_is_flat(const struct node *node) // all items are blocks
{
    if (node->kind != NODE_MIX)
        return node->child->kind == NODE_BLOCK;
    for (MPI_Count i = 0; i < node->count; i++)
        if (node->parts[i].node)
            return false;
    return true;
}

static void move_items(const struct node *node, MPI_Count first, MPI_Count end, char *mem,
                       char *stream, bool pack);

static inline void move_whole(const struct node *node, char *mem, char *stream, bool pack)
{
    if (node->kind == NODE_BLOCK)
        copy_block(mem, stream, node->bytes, pack);
    else
        move_items(node, 0, node->count, mem, stream, pack);
}

static inline void move_column(const struct node *row, MPI_Count i, MPI_Count n, MPI_Count rows,
                               MPI_Count stride, char *mem, char *stream, bool pack)
{
    move_strided(mem + item_disp(row, i), stride, stream + item_pos(row, i), row->bytes, rows, n,
                 pack);
}

// A row's last block and the first of the next row are moved as one where they touch.
static void move_columns(const struct node *row, MPI_Count rows, MPI_Count stride, char *mem,
                         char *stream, bool pack)
{
    MPI_Count last = row->count - 1, first_bytes = item_bytes(row, 0);
    MPI_Count last_bytes = item_bytes(row, last);
    bool touch = item_disp(row, last) + last_bytes == stride + item_disp(row, 0);
    move_column(row, 0, first_bytes, touch ? 1 : rows, stride, mem, stream, pack);
    for (MPI_Count i = 1; i < last; i++)
        move_column(row, i, item_bytes(row, i), rows, stride, mem, stream, pack);
    if (touch) {
        move_column(row, last, last_bytes + first_bytes, rows - 1, stride, mem, stream, pack);
        mem += (rows - 1) * stride;
        stream += (rows - 1) * row->bytes;
        rows = 1;
    }
    move_column(row, last, last_bytes, rows, stride, mem, stream, pack);
}

// Many short rows: each column of some of them in one strided loop.
static void move_rows(const struct node *row, MPI_Count rows, MPI_Count stride, char *mem,
                      char *stream, bool pack)
{
    MPI_Count group = TRANSPOSE_BYTES / row->bytes;
    while (rows > 0) {
        MPI_Count n = rows < group ? rows : group;
        move_columns(row, n, stride, mem, stream, pack);
        mem += n * stride;
        stream += n * row->bytes;
        rows -= n;
    }
}

static void move_loop(const struct node *child, MPI_Count count, MPI_Count stride, char *mem,
                      char *stream, bool pack)
{
    if (child->kind == NODE_BLOCK) {
        move_strided(mem, stride, stream, child->bytes, count, child->bytes, pack);
    } else if (count >= TRANSPOSE_ROWS && child->count <= TRANSPOSE_PIECES &&
               child->bytes * TRANSPOSE_ROWS <= TRANSPOSE_BYTES &&
               child->bytes <= child->count * SMALL && node_is_flat(child)) {
        move_rows(child, count, stride, mem, stream, pack);
    } else {
        for (MPI_Count i = 0; i < count; i++)
            move_items(child, 0, child->count, mem + i * stride, stream + i * child->bytes, pack);
    }
}

static void move_parts(const struct part *parts, MPI_Count count, char *mem, char *stream,
                       bool pack)
{
    MPI_Count start = parts->pos;
    for (MPI_Count i = 0; i < count; i++) {
        char *place = mem + parts[i].disp, *data = stream + (parts[i].pos - start);
        if (parts[i].node)
            move_items(parts[i].node, 0, parts[i].node->count, place, data, pack);
        else
            copy_block(place, data, parts[i].bytes, pack);
    }
}

// Items [first, end), whose data starts at stream.
static void move_items(const struct node *node, MPI_Count first, MPI_Count end, char *mem,
                       char *stream, bool pack)
{
    const struct node *child = node->child;
    if (node->kind == NODE_LOOP)
        move_loop(child, end - first, node->stride, mem + first * node->stride, stream, pack);
    else if (node->kind == NODE_MIX)
        move_parts(node->parts + first, end - first, mem, stream, pack);
    else if (child->kind == NODE_BLOCK)
        move_listed(mem, node->disp + first, end - first, stream, child->bytes, pack);
    else
        for (MPI_Count i = first; i < end; i++)
            move_items(child, 0, child->count, mem + node->disp[i],
                       stream + (i - first) * child->bytes, pack);
}

// Bytes [from, from + n) of item i.
static void move_in_item(const struct node *node, MPI_Count i, char *mem, MPI_Count from,
                         char *stream, MPI_Count n, bool pack)
{
    char *place = mem + item_disp(node, i);
    if (item_is_block(node, i))
        copy_block(place + from, stream, n, pack);
    else
        node_move(node->kind == NODE_MIX ? node->parts[i].node : node->child, place, from, stream,
                  n, pack);
}

void node_move(const struct node *node, char *mem, MPI_Count from, char *stream, MPI_Count n,
               bool pack)
{
    if (n == 0)
        return;
    if (node->kind == NODE_BLOCK) {
        copy_block(mem + from, stream, n, pack);
        return;
    }
    if (n == node->bytes) {
        move_whole(node, mem, stream, pack);
        return;
    }
    MPI_Count end = from + n, first = item_at(node, from), inside = from - item_pos(node, first);
    if (inside > 0) { // the end of an item
        MPI_Count rest = item_bytes(node, first) - inside, part = rest < n ? rest : n;
        move_in_item(node, first, mem, inside, stream, part, pack);
        stream += part;
        from += part;
        first++;
    }
    if (from == end)
        return;
    MPI_Count last = end == node->bytes ? node->count : item_at(node, end);
    if (last > first)
        move_items(node, first, last, mem, stream, pack);
    if (last < node->count) {
        MPI_Count done = item_pos(node, last);
        if (end > done) // the start of an item
            move_in_item(node, last, mem, 0, stream + (done - from), end - done, pack);
    }
}

// ---- Elements of a type
// count elements as one node, placed at *mem.
static const struct node *elements_node(struct node *root, const struct type *t, const void *buf,
                                        MPI_Count count, char **mem)
{
    const struct layout *layout = &t->body->layout;
    *mem = (char *)((uintptr_t)buf + (uintptr_t)layout->at); // MPI_BOTTOM is no object: no pointer
    return node_repeat(root, layout->node, count, t->extent);
}

void type_pack(const struct type *t, const void *buf, MPI_Count count, MPI_Count from, void *out,
               size_t n)
{
    if (n == 0)
        return;
    if (likely(t->is_dense)) {
        shim_copy(out, (char *)((uintptr_t)buf + (uintptr_t)(t->true_lb + from)), n);
        return;
    }
    struct node root;
    char *mem;
    const struct node *node = elements_node(&root, t, buf, count, &mem);
    node_move(node, mem, from, out, (MPI_Count)n, true);
}

void type_unpack(const struct type *t, void *buf, MPI_Count count, MPI_Count from, const void *in,
                 size_t n)
{
    if (n == 0)
        return;
    if (likely(t->is_dense)) {
        shim_copy((char *)((uintptr_t)buf + (uintptr_t)(t->true_lb + from)), in, n);
        return;
    }
    struct node root;
    char *mem;
    const struct node *node = elements_node(&root, t, buf, count, &mem);
    node_move(node, mem, from, (char *)(uintptr_t)in, (MPI_Count)n, false);
}

size_t type_copy(const struct type *to_type, void *to, MPI_Count to_count,
                 const struct type *from_type, const void *from, MPI_Count from_count)
{
    MPI_Count to_bytes = to_count * to_type->size, from_bytes = from_count * from_type->size;
    MPI_Count n = to_bytes < from_bytes ? to_bytes : from_bytes;
    if (from_type->is_dense && n > 0) {
        type_unpack(to_type, to, to_count, 0, type_at(from_type, from), (size_t)n);
    } else if (to_type->is_dense && n > 0) {
        type_pack(from_type, from, from_count, 0, type_at(to_type, to), (size_t)n);
    } else {
        char piece[16384];
        for (MPI_Count done = 0; done < n;) {
            size_t part = n - done < (MPI_Count)sizeof piece ? (size_t)(n - done) : sizeof piece;
            type_pack(from_type, from, from_count, done, piece, part);
            type_unpack(to_type, to, to_count, done, piece, part);
            done += (MPI_Count)part;
        }
    }
    return (size_t)n;
}

void type_span(const struct type *t, MPI_Count count, MPI_Count *lb, MPI_Count *length)
{
    bool has_data = count > 0 && t->size > 0;
    MPI_Count shift = has_data ? (count - 1) * t->extent : 0;
    *lb = t->true_lb + (shift < 0 ? shift : 0);
    *length = has_data ? t->true_extent + (shift < 0 ? -shift : shift) : 0;
}
