// SPDX-License-Identifier: BSD-3-Clause
// What PEs of different nodes say to each other beside puts, gets and atomics: active messages, and
// operations to be run where their memory is. Nothing in a message is trusted: kinds, lengths, PEs
// and tokens are checked, keys and offsets by the operation itself when it runs.
#ifndef SHOAL_CORE_NET_MESSAGE_H
#define SHOAL_CORE_NET_MESSAGE_H

#include "handlers.h"
#include "inbox.h"
#include "operation.h"

struct coll_head;

int net_message_up(void);
void net_message_down(void);

// From PE `from` of this node to pe of another. False, only if !waits: there is no room now.
bool net_message_send(int from, int pe, const struct inbox_message *m, bool waits);
// To pe, after what was gathered before; it leaves with others (stream.h), or at once. False: there is no
// room now.
bool net_message_gather(int pe, const struct inbox_message *m);
// One of those has come; false: it is none that a PE sends.
bool net_message_gathered(int from, const struct inbox_message *m);
uint64_t net_messages_sent(void); // with net_message_send, or gathered

// To pe of another node, of a collective (coll_message.h), with at most net_coll_room() bytes of data.
void net_message_coll(int pe, const struct coll_head *coll, const void *data, size_t n);
size_t net_coll_room(void);

// The next message that came, in the order of its sender, and what it is in, for came_free; NULL: none.
struct came *net_message_take(struct message *m);
// One of PE `from` to this PE that the heartbeat has made, as if it had come from another node.
void net_message_keep(int from, const struct inbox_message *m);
bool net_message_waiting(void);

// Has pe run the operation, and waits: its status. The completion is the caller's.
int net_run(const struct operation *op, int pe);
// A piece of one, which is answered to a flight (net_flight.h); data: its op->n bytes, or NULL. There is
// room for so much.
size_t net_run_room(void);
size_t net_run_room_soon(void); // and goes without a question to the receiver first
void net_send_run(const struct operation *op, int pe, uint64_t token, uint64_t which,
                  const void *data);
void net_push_first(int pe); // what was gathered for pe comes before what is begun now
// The same for an operation without data, which net_message_flush waits for.
void net_tell(const struct operation *op, int pe);
void net_message_flush(void);

// Batches of stream.h: bytes of records that fit in one; tried to be sent, with the transport's
// status; sent with an answer that is waited for, the last atomic's old value.
#define NET_BATCH_UNANSWERED UINT64_MAX
size_t net_batch_room(void);
int net_batch_send(int pe, uint64_t mark, const void *records, size_t n);
uint64_t net_batch_ask(int pe, const void *records, size_t n);

// The transport's upcall. What is to be done outside it waits for net_work (net_work.h).
bool net_message_arrived(void *arg, int from, const void *bytes, size_t n, void *memory);

#endif
