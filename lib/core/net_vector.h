// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets of many short parts at a PE of another node, as many by one message as there is room for:
//
//     OPERATION_PUTV   b records, and the data of all     --->  each goes where its record says
//     OPERATION_GETV   b records                          --->
//                      <--- the data of all, a bytes
#ifndef SHOAL_CORE_NET_VECTOR_H
#define SHOAL_CORE_NET_VECTOR_H

#include "operation.h"

// How many of the parts, from the first on, go by one message with so much room; fewer than 2: it is not
// worth it. kind: SHOAL_WORK_PUT or GET.
size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t room);
// That message: the operation, and op->n bytes of data, to be freed.
void *vector_make(int kind, const shoal_part_t part[], size_t parts, struct operation *op);

// At the PE that has the memory. The result of gets is at op->local2.
int vector_run(const struct operation *op, int *needs);
bool vector_is_sound(const struct operation *op, size_t n);

#endif
