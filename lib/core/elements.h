// SPDX-License-Identifier: BSD-3-Clause
// Operators on elements of a type known at run time: atomics, accumulate, reduction.
#ifndef SHOAL_CORE_ELEMENTS_H
#define SHOAL_CORE_ELEMENTS_H

#include "shoal.h"

#include <stdbool.h>
#include <stddef.h>

size_t element_size(shoal_type_t type);
bool element_can(shoal_op_t op, shoal_type_t type); // in an accumulate or atomic

// *at = *at op *a, atomically; types of up to 8 bytes, aligned. old may be NULL.
void element_atomic(void *at, shoal_op_t op, shoal_type_t type, const void *a, const void *b,
                    void *old);

// to[i] = to[i] op (scale * from[i]), each atomic; wider types than 8 bytes under the lock of the
// PE whose memory `to` is. scale NULL: none.
void element_accumulate(void *to, const void *from, size_t n, shoal_op_t op, shoal_type_t type,
                        const void *scale, int pe);

// acc[i] = in[i] op acc[i]; of built-in operators, which commute, the other way round. SHOAL_EINVAL: no such
// operator; a user's may not be known here yet.
int element_reduce(void *acc, const void *in, size_t n, int op, int type);
bool element_can_reduce(int op, int type);
int element_register(int number, shoal_op_fn *fn, void *user, size_t size);
size_t element_user_size(int op); // 0: not registered here

#endif
