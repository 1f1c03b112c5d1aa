// SPDX-License-Identifier: BSD-3-Clause
// What the calls of shoal.h that move data share (shoal_transfer.c).
#ifndef SHOAL_API_SHOAL_TRANSFER_H
#define SHOAL_API_SHOAL_TRANSFER_H

#include "copy.h"
#include "operation.h"

enum { TRANSFER_PARTS = 256 }; // moved by one call of the kernel

// As rma_copy, but the two may overlap.
static inline void transfer_copy(void *to, const void *from, size_t n)
{
    if (!copy_word(to, from, n))
        copy_move(to, from, n);
}

// The whole of a call: `remote` covers all n bytes it touches there.
struct call {
    struct operation comp; // only its completion
    int pe;
    shoal_event_t *event;
    struct flight *flight; // what it has begun at another node, NULL: nothing
    bool returns;          // at once; the event ends the flight
};

// remote: all n bytes that it touches.
int transfer_begin(struct call *c, shoal_rptr_t remote, size_t n, const shoal_comp_t *comp,
                   shoal_event_t *event);
int transfer_move(struct call *c, struct operation *op);
// At another node; see flight_add_parts.
void transfer_move_far(struct call *c, const struct operation *like, const shoal_part_t part[],
                       size_t parts);
int transfer_move_parts(struct call *c, const struct operation *like, const shoal_part_t part[],
                        size_t parts);
int transfer_finish(const struct call *c, int status);
bool transfer_may_help(const shoal_rptr_t *r); // is it private memory of another PE of this node?
struct flight *transfer_flight(struct call *c); // of what it begins at another node

struct strides {
    const ptrdiff_t *remote, *local;
    const size_t *count;
    int levels;
};
bool transfer_strides_ok(const struct strides *s);
// A whole call: the operation for every block.
int transfer_strided(struct operation *op, void *local, const struct strides *s,
                     const shoal_comp_t *comp, shoal_event_t *event);

// All at one PE, in memory that there is; has_local: those that are not empty have local memory.
int transfer_check(const shoal_part_t part[], size_t parts, bool has_local);

#endif
