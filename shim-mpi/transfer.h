// SPDX-License-Identifier: BSD-3-Clause
// One message on its way, at either end. How it goes:
//
//   eager       the data in one active message; the receiver copies it to where it belongs, or
//               keeps a copy until it is received
//   synchronous the same, and an answer once it is matched
//   rendezvous  sender                         receiver
//               RTS {where the data is} ------>  matches, and gets the data itself
//               done  <--------------- DONE
//   stream      when the sender cannot say where its data is (no room to register it):
//               RTS {nowhere}   -------------->  matches
//               sends it in pieces  <-- STREAM
//               DATA DATA DATA  -------------->  copies each to its place
//
// One get moves the data once: by load from memory both can reach, by process_vm_readv from private
// memory, through a pipelined copy where the kernel forbids that, over the network between nodes;
// which one is the runtime's business. Nothing is asked of a sender that computes.
//
// What may be eager and untaken at one receiver is bounded per pair (SHOAL_MPI_WINDOW): beyond it the
// sender keeps its data and goes by rendezvous until the receiver has told what it took (CREDIT).
#ifndef SHOAL_MPI_TRANSFER_H
#define SHOAL_MPI_TRANSFER_H

#include "match.h"
#include "p2p.h"

// Numbers of the shim's active messages; those below are the program's.
enum {
    AM_EAGER = 240,
    AM_SYNC,
    AM_RTS,
    AM_DONE,
    AM_STREAM,
    AM_DATA,
    AM_CREDIT,
    AM_CANCEL,
    AM_CANCELLED,
    AM_PARTITIONED,
};

enum { TRANSFER_OVERHEAD = 64 };

struct transfer {
    struct request request; // first
    enum space space;
    int pe;        // of the peer; MPI_ANY_SOURCE
    int peer, tag; // as the user gave them
    enum send_mode mode;
    void *buf;
    MPI_Count count;
    struct type *type; // with a reference where the request outlives the call
    MPI_Count bytes;   // of data here: what is sent, or what there is room for
    struct posted posted;
    // rendezvous and stream
    uint64_t other; // the peer's transfer
    void *copy;     // packed data, or what will be unpacked
    MPI_Count moved;
    _Atomic bool is_out; // the peer knows of it: its answer may come in another thread
    shoal_region_t region;
    shoal_event_t event;
    struct progress_hook hook;
};

void transfer_send(struct transfer *t); // completes it, now or later
void transfer_recv(struct transfer *t);
// A message that was taken from the queues; frees it.
void transfer_accept(struct transfer *t, struct arrived *a);
int transfer_cancel(struct request *r);

// May n bytes go to pe eagerly? Counts them when they may.
bool transfer_is_eager(int pe, MPI_Count n);
int transfer_send_eager(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                        const struct type *type, int pe, int tag);

int transfer_up(void);
void transfer_down(void);
void transfer_drop_all(struct matching *m); // messages nobody will receive

#endif
