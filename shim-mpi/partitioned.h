// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: its requests, and how a receive finds its sender. See partitioned.c.
#ifndef SHOAL_MPI_PARTITIONED_H
#define SHOAL_MPI_PARTITIONED_H

#include "request.h"
#include "type.h"

struct partitioned;

struct part {
    struct partitioned *whole;
    _Atomic bool is_ready; // MPI_Pready was called
    _Atomic bool is_done;
};

struct partitioned {
    struct request request; // first
    bool is_send;
    void *buf;
    int partitions;
    MPI_Count count; // of elements in one
    struct type *type;
    int peer, tag;
    MPI_Count bytes; // of one partition on this side
    // The parts, which are the sender's partitions
    int parts, first_tag;
    struct partitioned *live_next, **live_at; // sends with tags of their own
    MPI_Count part_bytes;
    struct part *part; // NULL: the receiver has not been told yet
    _Atomic int left, error;
    _Atomic MPI_Count received;
    char *copy; // of what is received, unless the type is dense
    // A receive that no sender has told of
    struct partitioned *next;
    int pe;
    bool is_started;
};

// A call of MPI_Psend_init tells its receiver; what a call of MPI_Precv_init is told of, now or later, fills in
// its parts (partitioned_pair.c).
void partitioned_announce(const struct partitioned *p);
void partitioned_expect(struct partitioned *p);
bool partitioned_is_paired(const struct partitioned *p);
// A run begins; true: the receive is paired, and its parts may be posted.
bool partitioned_begin(struct partitioned *p);

struct part *partitioned_new_parts(struct partitioned *p); // p->parts of them
void partitioned_post(struct partitioned *p);              // the receives of all parts

int partitioned_up(void); // 0 or SHOAL_E*

#endif
