// SPDX-License-Identifier: BSD-3-Clause
// Operations under way at PEs of other nodes. A flight is what one call has begun: any number of
// operations, each by the transport's RMA or as messages that are answered. It ends when all have
// ended: whoever began it waits, or an event does.
#ifndef SHOAL_CORE_NET_FLIGHT_H
#define SHOAL_CORE_NET_FLIGHT_H

#include "operation.h"

struct flight;

// NULL, unless it is needed: too many are under way. One that is needed has no event, since it may be
// one of the last.
struct flight *flight_new(bool is_needed);
uint64_t flight_token(const struct flight *f);
// One answer more is expected, with up to n bytes for `to`: which one it is.
uint64_t flight_expect(struct flight *f, void *to, size_t n);
// Begins the operation at PE pe, without its completion, unless it is nothing else. Waits when much is
// under way. Sources may be reused when the flight has ended.
void flight_add(struct flight *f, const struct operation *op, int pe);
// The same of puts, gets or accumulates, as `like` is; all parts are at one PE. Old values go to
// like->local2, one part's after the other's.
void flight_add_parts(struct flight *f, const struct operation *like, const shoal_part_t part[],
                      size_t parts);

// The same of rows, puts or gets: how many, all or none, as there are few of them, they are long, or what is got
// does not go to one piece of memory.
struct rows;
size_t flight_add_rows(struct flight *f, int kind, const struct rows *rows);

// Either ends the building of a flight, which is given back at its end.
int flight_wait(struct flight *f); // the first error of its operations
void flight_leave(struct flight *f, shoal_event_t *event);

// An answer came. False: to nothing that is under way.
bool flight_answered(uint64_t token, uint64_t which, int status, const void *data, size_t n);

#endif
