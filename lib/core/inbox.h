// SPDX-License-Identifier: BSD-3-Clause
// Messages between PEs: the layer of active messages. One mechanism, the channel (inbox_area.h):
// every PE has one that all share, whose slots are claimed by ticket, and gives a partner that
// talks a lot a channel of its own, a ring. Order between two PEs holds across that change: the
// sender's last message through the shared channel says that the ring is open, and only then is
// the ring read. Messages are numbered per pair: in the shared channel one out of order would end the
// job, in a ring the turns of the slots are their order.
//
// A full channel makes the sender wait while it empties its own inbox: nothing is lost, and two PEs
// that flood each other both go on. (A thread of the library's own does not empty it: the program does,
// and gets what the thread has for it another way, net_message_keep.) Handlers run in the thread that polls, one at a time. What
// arrives while a handler waits for room is kept and handled later.
#ifndef SHOAL_CORE_INBOX_H
#define SHOAL_CORE_INBOX_H

#include "inbox_area.h"
#include "shoal.h"

#include <stdbool.h>
#include <stddef.h>

int inbox_up(void);
void inbox_down(void);
void inbox_sending_up(void);
uint64_t inbox_sent_shared(void); // messages to the inboxes that all share

// Takes out and handles some of what has arrived; how many.
int inbox_poll(void);

// shoal_am_take: looks, and up to so many times more while nothing has come.
int inbox_take(shoal_am_wanted_t *wanted, unsigned more);

// 0: nothing waits to be taken out; else a number that is another one when some has been.
uint64_t inbox_waiting(void);

// A slot claimed for a message to pe; waits for it, handling messages meanwhile. The payload goes
// to `payload`, or when it is short into the envelope; then commit.
struct inbox_room {
    struct envelope *envelope;
    unsigned char *payload; // of inbox_reserve, as long as asked for
    struct channel *channel;
    uint64_t ticket;
    uint64_t ring_bit; // in the receiver's doorbell; 0: its shared channel
    int pe;
    bool wants_ring;
};
struct inbox_room inbox_reserve(int pe, size_t n);
void inbox_shorten(const struct inbox_room *room, size_t n); // the payload, of more than INLINE_BYTES, has n bytes only
void inbox_commit(const struct inbox_room *room);

struct inbox_message {
    uint64_t arg;
    const void *payload;
    size_t n;
    struct place at; // of a long message's payload, which is there already,
    const shoal_rptr_t *to; // and for another node how the sender names it
    uint8_t id;
    uint8_t flags;   // ENVELOPE_*
};
// What goes into the claimed envelope; copies the payload unless it is NULL (then it is there).
void inbox_fill(const struct inbox_room *room, const struct inbox_message *m);
void inbox_send(int pe, const struct inbox_message *m);
// A message of the program's. flags: ENVELOPE_REPLY, INBOX_TRY (SHOAL_EAGAIN: there is no room now) and
// with it INBOX_GATHER (it may leave with others, to another node).
// Who asks looks at its own inbox now and then: a PE that answers could only keep what goes on coming.
enum { INBOX_TRY = 256, INBOX_GATHER = 512 };
void inbox_look_sometimes(void);
// Of at most INLINE_BYTES, to a direct PE.
int inbox_line(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags);
int inbox_am(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags);
// On behalf of PE `from`, whose triggered message it is. Not ordered with that PE's own.
void inbox_send_for(int from, int pe, const struct inbox_message *m);

// The runtime's own messages, handled also where handlers may not run.
enum inbox_what { INBOX_RING_MADE, INBOX_RING_OPEN };
bool inbox_try_ask(int pe, enum inbox_what what, uint64_t arg); // false: there is no room now

// This thread, one of the library's own, takes nothing out from now on; it may ask, and send for others.
void inbox_leave_alone(void);

#endif
