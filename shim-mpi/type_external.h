// SPDX-License-Identifier: BSD-3-Clause
// The data representation "external32" (MPI 5.0, "External Data Representation"): big-endian, of
// fixed sizes, without gaps.
#ifndef SHOAL_MPI_TYPE_EXTERNAL_H
#define SHOAL_MPI_TYPE_EXTERNAL_H

#include "type.h"

// Bytes of an element of t; -1: does not fit.
MPI_Count external_size(const struct type *t);
// count elements; both sides have room.
void external_pack(const struct type *t, const void *buf, MPI_Count count, void *out);
void external_unpack(const struct type *t, void *buf, MPI_Count count, const void *in);

#endif
