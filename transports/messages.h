// SPDX-License-Identifier: BSD-3-Clause
// Active messages over a network, whichever library carries them: order, proof of membership, how
// far a PE may run ahead of another, and upcalls. The transport moves bytes and calls
// messages_arrived; everything else about a message is here.
//
//     am ---> messages_send ---> send() of the transport - - - - > messages_arrived
//                                                                   |        |
//                                          too early: peer->held <--+        v
//                                                         on_am <---- arrived, in order
//
// The transport's lock is held in every call; it is let go during upcalls alone.
#ifndef SHOAL_TRANSPORTS_MESSAGES_H
#define SHOAL_TRANSPORTS_MESSAGES_H

#include "transport.h"
#include "tunables.h"

#include <pthread.h>

enum {
    MESSAGE_MAX = (LIMIT_AM_PART < 4096 ? 4096 : LIMIT_AM_PART) + 128, // bytes of a payload
    MESSAGE_SOON = MESSAGE_MAX < 32896 ? MESSAGE_MAX : 32896, // of one that most libraries send at once
    PUT_COPIED_MAX = 4096,              // bytes of a put whose source is free at once
    MESSAGE_WINDOW = HOSTILE ? 4 : 128, // messages to one PE that it has not yet taken
    MESSAGE_DEPTH = HOSTILE ? 2 : 16,   // upcalls inside each other
    MESSAGE_BATCH = HOSTILE ? 8 : 256,  // upcalls of one call
};

// In front of every message. seq counts the messages of one PE to another; `taken` says how many of
// those that came the other way were delivered: at most MESSAGE_WINDOW are on their way, because
// the libraries buffer whatever arrives, without end.
struct message_header {
    uint64_t secret;
    uint32_t from;
    uint32_t seq;
    uint32_t taken;
    uint32_t length : 24; // of the payload
    uint32_t kind : 8;    // enum message_kind
};
_Static_assert(sizeof(struct message_header) == 24, "the same everywhere");
_Static_assert(MESSAGE_MAX < 1 << 24, "a payload's length fits");
enum {
    MESSAGE_BYTES = sizeof(struct message_header) + MESSAGE_MAX,
    MESSAGE_BYTES_SOON = sizeof(struct message_header) + MESSAGE_SOON,
};

// A notice carries `taken` alone; it also shows that the way is open.
enum message_kind { MESSAGE_USER, MESSAGE_NOTICE, MESSAGE_KINDS };

// One that came: in the transport's memory, to be given back, or a copy of malloc.
struct message {
    struct message *next;
    bool is_copy;
    bool counted;  // its sender may send another already
    size_t length; // of header and payload, as it came
    const unsigned char *bytes;
};

// What is known of a PE; the first part of the transport's own record of it.
struct messages_peer {
    int pe;
    bool lost, told;
    bool noticing; // a notice is under way: the transport says when it no longer is
    const char *why;
    uint32_t out, in;           // the next message's number
    uint32_t out_taken;         // how many of ours it took
    uint32_t taken, told_taken; // how many of its were taken here, and it knows of
    struct message *held;       // those that came too early, by number
    struct messages_peer *next;
};

struct messages {
    // Set by the transport at open.
    const char *name; // in what is logged
    const struct transport_job *job;
    pthread_mutex_t *lock;
    void *ep;
    // The record of PE pe, made when it is first asked for; NULL: no memory.
    struct messages_peer *(*peer)(void *ep, int pe);
    // Sends what messages_write makes of kind and payload: DONE, AGAIN, or FAILED, logged.
    int (*send)(void *ep, struct messages_peer *peer, enum message_kind kind,
                const struct transport_payload *payload);
    // The transport has its memory back; never called with a copy.
    void (*give_back)(void *ep, struct message *m);
    // Everything that peer owes ends in an error.
    void (*abandon)(void *ep, struct messages_peer *peer);

    struct messages_peer *peers;
    struct message *arrived, **arrived_end;
    struct message *aside; // HOSTILE: one that is made late
    unsigned came;         // HOSTILE: since the last delivery
    unsigned hostile_calls;
    pthread_t upcaller; // valid while depth > 0
    unsigned depth;     // upcalls inside each other
    bool told_forged, has_lost, owes_notices;
};

void messages_open(struct messages *m);
void messages_free(struct messages *m); // peers excepted: they are the transport's

// A record that the transport has just made.
void messages_peer_add(struct messages *m, struct messages_peer *peer, int pe);
// Logs it once and abandons the peer; on_peer_lost follows from messages_deliver.
void messages_peer_lose(struct messages *m, struct messages_peer *peer, const char *why);

// As the slot `am`.
int messages_send(struct messages *m, int pe, const struct transport_payload *payload);
// DONE also while one is under way.
int messages_notice(struct messages *m, struct messages_peer *peer);
// For send(): MESSAGE_BYTES at most. Returns how many.
size_t messages_write(struct messages *m, const struct messages_peer *peer, enum message_kind kind,
                      const struct transport_payload *payload, unsigned char *bytes);
// No more may be sent to it until it takes some.
static inline bool messages_wait_for(const struct messages_peer *peer)
{
    return peer->out - peer->out_taken >= MESSAGE_WINDOW;
}

// A copy of what came, for messages_arrived; NULL: no memory.
struct message *messages_copy(const void *bytes, size_t n);
// Takes m over: checks it and queues it in the order of its sender, or drops it.
void messages_arrived(struct messages *m, struct message *message);
void messages_forged(struct messages *m, size_t length); // what came was dropped by the transport
// Sends what is owed and runs upcalls: the lock is let go meanwhile. Returns how many ran.
int messages_deliver(struct messages *m);
// Deliver would find something new; notices that could not go yet are tried again at each step.
bool messages_waiting(const struct messages *m);

#endif
