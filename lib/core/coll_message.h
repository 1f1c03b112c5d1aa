// SPDX-License-Identifier: BSD-3-Clause
// What the leaders of a team's nodes (coll_nodes.h) send each other in collectives: active messages.
// Short data travels in the message; of long data the message says where it is, and the receiver
// gets it and answers that it was taken. Two leaders' messages are matched by team and collective,
// in the order they were sent.
#ifndef SHOAL_CORE_COLL_MESSAGE_H
#define SHOAL_CORE_COLL_MESSAGE_H

#include "place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// COLL_SYNC: of a barrier, which has a numbering of its own.
enum coll_message_kind { COLL_SYNC, COLL_DATA, COLL_TAKEN, COLL_MESSAGE_KINDS };

struct coll_head {
    int32_t area; // of the team
    int32_t kind; // enum coll_message_kind
    uint64_t seq; // which collective of the team
    int32_t status;
    uint32_t is_long;
    uint64_t n;      // bytes of data
    struct place at; // of long data
};

// In seq: of the numbering of blocking collectives, not of those of shoal.h.
#define COLL_SEQ_CALL (UINT64_C(1) << 63)

struct coll_message {
    struct coll_message *next;
    int from;
    struct coll_head head;
    unsigned char data[];
};

// data: head->n bytes, at most net_coll_room(), unless it is long.
void coll_message_send(int pe, const struct coll_head *head, const void *data);
// The oldest message of that kind from pe about that collective, which the caller frees; NULL: none.
struct coll_message *coll_message_take(int pe, const struct coll_head *like);
// Waits for one without data.
void coll_message_wait(int pe, const struct coll_head *like);

// From the network; n bytes, of which nothing is known. False: malformed.
bool coll_message_arrived(int from, const void *bytes, size_t n);
void coll_message_down(void);

#endif
