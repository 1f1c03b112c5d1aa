// SPDX-License-Identifier: BSD-3-Clause
// The network between nodes: one transport for the job, loaded only when there is more than one
// node, with its endpoint, the exchange of addresses, and what drives it.
#ifndef SHOAL_CORE_NET_H
#define SHOAL_CORE_NET_H

#include "transport.h"
#include "tunables.h"
#include "world.h"

// A transport in use.
struct port {
    const struct transport *transport;
    struct transport_facts facts;
    void *ep;
};
extern struct port net; // transport NULL: one node

int net_up(void);
void net_down(void);
void net_leave(void); // this PE sends no more of the program's: who is lost now has but left earlier
bool net_is_leaving(void);

// Makes pe reachable; the first call for a PE hands its address to the transport.
void net_connect(int pe);

// A call of the transport has failed: ends the process with a line that says why, pe -1: to nobody in
// particular. _locked: from where nothing can be moved, as upcalls want what is locked.
_Noreturn void net_failed(const char *call, int pe, int status);
_Noreturn void net_failed_locked(const char *call, int pe, int status);

// Moves what can be moved; how much.
int net_progress(void);
int net_move(void); // the same, for the heartbeat
// In a loop until there is room to send, from looks = 0; runs nothing that might itself wait for it.
void net_let_leave(unsigned *looks);

// May this atomic be the transport's? Where it would not be coherent with those of the processors, all
// atomics on a PE's memory are done by its node's processors.
static inline bool net_does_amo(unsigned op, unsigned width)
{
    bool is_missing = HOSTILE && op == TRANSPORT_XOR;
    return net.facts.amo_coherent_with_cpu && net.facts.amo[op][width] && !is_missing;
}

// What a transport is told of this PE's memory: its slice, and its static data.
void net_describe(struct transport_job *job);

// A thread that progresses the network while this PE does not, and wakes those who wait here when
// something has come. It sleeps as long as the PE looks after the network itself.
int heartbeat_up(void);
void heartbeat_down(void);
void heartbeat_leave(void); // as the process ends, before the network's libraries do
extern _Atomic uint32_t heartbeat_seen; // counted up by the PE's own progress
extern _Atomic bool heartbeat_inside;   // in which it is just now, as far as is known of several threads
void heartbeat_kick(void);              // there is a batch (stream.h) to look after
void heartbeat_sleeps(void);            // the PE will: nobody else looks at the network then

// In a loop around a test, which must let things move too.
static inline void net_poke(void)
{
    if (unlikely(net.transport != NULL))
        net_progress();
}

#endif
