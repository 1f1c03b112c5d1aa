// SPDX-License-Identifier: BSD-3-Clause
// The normalised form of a datatype: a tree of few kinds of nodes, the same for every constructor
// that describes the same layout. The data of a node is a stream of bytes, in the order of the type
// map; places in memory are relative to where the node is put.
//
//     BLOCK  bytes that lie together
//     LOOP   count times the child, stride apart
//     LIST   count times the child, at disp[i]
//     MIX    count different parts, each a block or a node; pos[i] bytes of the stream lie before it
//
// A LOOP's child is never a block of stride bytes, a LIST is never regular, and neither has one
// item: these would be simpler nodes. Nodes point to those of the types they were made from, which
// live as long as their recipe has them.
#ifndef SHOAL_MPI_TYPE_BODY_H
#define SHOAL_MPI_TYPE_BODY_H

#include "type.h"

enum node_kind { NODE_BLOCK, NODE_LOOP, NODE_LIST, NODE_MIX };

struct part {
    MPI_Count disp, pos;
    MPI_Count bytes;
    const struct node *node; // NULL: a block
};

struct node {
    enum node_kind kind;
    int pieces;      // blocks in all, at most PIECES_MANY
    int depth;       // of nodes one within the other, below this one: at most DEPTH_MOST
    MPI_Count bytes; // of the stream
    MPI_Count count;
    MPI_Count stride;          // LOOP
    const struct node *child;  // LOOP, LIST
    const MPI_Count *disp;     // LIST
    const struct part *parts;  // MIX
    struct node *owned;        // the next one that the same type has to free
};
enum { PIECES_MANY = 1 << 20, DEPTH_MOST = 2000 }; // who goes through nodes calls itself

struct layout {
    const struct node *node; // NULL: no data
    MPI_Count at;            // where the node is put in the element
};

struct type_body {
    struct layout layout;
    struct node *owned;
    struct type *next; // of those that are being freed
};

// ---- Building (type_body.c). New nodes go to `owned`, which has them also after a failure.
struct builder {
    struct node *owned;
    bool no_memory;
    struct part *parts; // of the layout that is being put together
    MPI_Count count, room;
};

struct layout layout_block(struct builder *b, MPI_Count at, MPI_Count bytes);
struct layout layout_repeat(struct builder *b, struct layout child, MPI_Count count,
                            MPI_Count stride);
// One after the other in the stream: add any number of layouts, each moved by disp, then take what
// they are together. Only one at a time.
void layout_add(struct builder *b, struct layout child, MPI_Count disp, bool flatten);
struct layout layout_join(struct builder *b);
void nodes_free(struct node *owned);

// count nodes, stride apart, as one: *root is filled in when there is no such node yet.
const struct node *node_repeat(struct node *root, const struct node *child, MPI_Count count,
                               MPI_Count stride);

// ---- Moving (type_move.c): bytes [from, from + n) of the node's stream between memory and stream.
void node_move(const struct node *node, char *mem, MPI_Count from, char *stream, MPI_Count n,
               bool pack);

#endif
