// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and accumulates of many short parts at a PE of another node, as many by one message as there
// is room for; puts and gets also at one of this node, which is asked for them (help.h). An OPERATION_VECTOR
// has b records and the data of all of them, but for gets; each record is one or more operations of kind
// op->each there, and what those bring back, a bytes in all, is the answer.
//
//     records | data     --->   each goes where its record says, or is added there
//                        <---   gets, and accumulates that fetch: data
#ifndef SHOAL_CORE_NET_VECTOR_H
#define SHOAL_CORE_NET_VECTOR_H

#include "operation.h"

// Bytes of a part; longer ones go by themselves.
enum { VECTOR_LONGEST = 1024, VECTOR_LONGEST_OF_ALL = 4096 };

// How many of the parts, from the first on, go by one message with so much room; fewer than 2: it is not
// worth it. kind: SHOAL_WORK_PUT or GET, OPERATION_ACC or FETCH_ACC.
size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t longest, size_t room);
// That message: the operation, as `like` is, and its op->n bytes.
void vector_make(const struct operation *like, const shoal_part_t part[], size_t parts,
                 struct operation *op);
void vector_fill(const struct operation *op, const shoal_part_t part[], size_t parts, void *room);

// Parts at one distance, there and here.
struct rows {
    shoal_rptr_t remote;
    char *local;
    ptrdiff_t remote_step, local_step;
    size_t parts, n; // bytes of each
};
// The same for these: how many, and the message of so many; puts and gets alone. vector_take_rows: what
// gets have brought, `step` apart, goes where it belongs.
size_t vector_fit_rows(const struct rows *rows, size_t longest, size_t room);
void vector_make_rows(int kind, const struct rows *rows, struct operation *op);
void vector_fill_rows(int kind, const struct rows *rows, void *room);
void vector_take_rows(const struct rows *rows, const void *from, ptrdiff_t step);

// Do the parts, whose message is filled in, lie in about as many pages as they are? Else others are faster than
// who looks first whether they are there.
bool vector_is_close(const struct operation *op, const void *room, size_t parts);

// At the PE that has the memory. The answer is at op->local2. SHOAL_EFAULT for a PE of this node that could do
// it by the kernel: then nothing was moved, and some of the memory is not there, or not to be written.
int vector_run(const struct operation *op, int *needs);
bool vector_is_sound(const struct operation *op, size_t n);

#endif
