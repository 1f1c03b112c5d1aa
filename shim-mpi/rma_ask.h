// SPDX-License-Identifier: BSD-3-Clause
// Short operations on private memory of this node that their target does itself, when it is there (rma_ask.c).
#ifndef SHOAL_MPI_RMA_ASK_H
#define SHOAL_MPI_RMA_ASK_H

#include "op.h"
#include "type.h"
#include "win.h"

enum { RMA_ASK_MOST = 8192, RMA_ASK_PIECES = 24 }; // bytes; parts, or rows of loops

// What happens to each part, which is an array of elements of `basic`, a predefined type: `op`.
struct rma_asked {
    struct target *t;
    const struct place *at; // of t
    const struct op *op;
    const struct type *basic;
    bool is_locked;      // with the target's lock of accumulates held
    const void *compare; // the one element is replaced where it is this; NULL: no such condition
    const shoal_part_t *part;
    size_t parts;
    const struct type_loops
        *loops;       // where those of the only part are, from its place on; NULL: in a row
    const char *in;   // operands in a row; NULL: those of a part are its `local`
    void *const *old; // where old values go to, each may be NULL,
    bool brings;      // or to the `local` of the parts
};

// May t be asked for so much there now?
bool rma_may_ask(struct target *t, const struct place *at, size_t bytes);

// True: the target has done all of it. False: nothing was done, go another way.
bool rma_ask(const struct rma_asked *a);

int rma_ask_up(void); // 0 or SHOAL_E*

#endif
