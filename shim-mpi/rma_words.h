// SPDX-License-Identifier: BSD-3-Clause
// What an accumulate does to elements of a predefined type: to words by atomics of the processor or
// of the runtime, to anything by plain loops. Operands and old values are arrays of the type.
#ifndef SHOAL_MPI_RMA_WORDS_H
#define SHOAL_MPI_RMA_WORDS_H

#include "op.h"
#include "op_loops.h"
#include "win.h"

#include <shoal.h>

// What happens to one word.
struct change {
    op_loop *loop; // NULL: see kind
    uint8_t kind;  // enum op_kind
    bool is_sum;   // of integers
};

static inline struct change change_of(const struct op *op, const struct type *basic)
{
    bool computes = op->kind == OP_COMPUTES;
    return (struct change){.loop = computes ? op_loops[op->which][basic->what->element] : NULL,
                           .kind = op->kind,
                           .is_sum = computes && op->which == OP_SUM &&
                                     basic->what->class == CLASS_INTEGER};
}

// Has it the size of what a processor's atomic changes?
static inline bool is_word(size_t size)
{
    return size <= sizeof(uint64_t) && (size & (size - 1)) == 0;
}
// Are elements changed by such an atomic? Not MPI_BYTE: see rma_change.c.
static inline bool is_word_type(const struct type *basic)
{
    return basic->is_dense && is_word((size_t)basic->size) &&
           basic->what->class != CLASS_BYTE;
}
// No processor has an atomic for these: a lock and a plain loop are as fast for one, and faster for many.
static inline bool is_computed_type(const struct type *basic)
{
    return basic->what->class == CLASS_REAL || basic->what->class == CLASS_COMPLEX;
}
shoal_type_t word_type(size_t size);

// n elements at `at`, `in` and `old`, which may be NULL where there are no operands, or nobody wants
// the old values. Words: atomically. Of the runtime's: 0 or SHOAL_E*.
void words_here(const struct change *c, size_t size, void *at, const char *in, char *old,
                MPI_Count n);
int words_far(const struct op *op, const struct type *basic, shoal_rptr_t at, const char *in,
              char *old, MPI_Count n);
// The same of runs of them, begun (event NULL: and ended). Only what the runtime has an atomic for, which
// words_far_op says.
bool words_far_op(const struct op *op, const struct type *basic, shoal_op_t *shoal_op,
                  shoal_type_t *type);
static inline bool words_far_begins(const struct op *op, const struct type *basic)
{
    shoal_op_t shoal_op;
    shoal_type_t type;
    return words_far_op(op, basic, &shoal_op, &type);
}
int words_far_begin(struct target *t, const struct op *op, const struct type *basic,
                    const shoal_part_t run[], size_t runs, char *old, shoal_event_t *event);
// t: a target of another node whose memory may be of any kind: it holds its lock where that is not changed by
// atomics. NULL: memory that is.
int words_far_accv(struct target *t, const shoal_part_t run[], size_t runs, char *old, shoal_op_t op,
                   shoal_type_t type, shoal_event_t *event);
void change_here(const struct op *op, const struct type *basic, char *at, const char *in, char *old,
                 MPI_Count n);
size_t array_bytes(const struct type *basic, MPI_Count n); // from the first to the last element
MPI_Count array_count(const struct type *basic, size_t bytes);

#endif
