// SPDX-License-Identifier: BSD-3-Clause
// Transfers to and from private memory that the kernel does not let this PE reach: its owner does
// them, piece by piece through memory that both reach, the next piece filled while the last one
// is taken.
#ifndef SHOAL_CORE_HELP_H
#define SHOAL_CORE_HELP_H

#include "operation.h"
#include "trigger_area.h"

bool help_is_gone(int pe); // it has ended, and helps nobody

// Waits until PE `helper` has run the operation; handles messages meanwhile. Its
// status; SHOAL_EFAULT when that PE is gone.
int help_run(const struct operation *op, int helper);

// Has that PE put the first of the parts to its private memory, or get them, where this is faster than by the
// kernel, which takes half a microsecond for each: how many. Where the PE does not look soon it is 0, and
// the kernel is the faster one; but the PE is the only way where that does not reach its memory.
// kind: SHOAL_WORK_PUT or SHOAL_WORK_GET.
size_t help_move_parts(int kind, int helper, const shoal_part_t part[], size_t parts);
struct rows;
size_t help_move_rows(int kind, int helper, const struct rows *rows);

void help_answer(struct work *w, int status); // at the helper

#endif
