// SPDX-License-Identifier: BSD-3-Clause
// Receives that their source is told of before the message comes. See hint.c.
#ifndef SHOAL_MPI_HINT_H
#define SHOAL_MPI_HINT_H

#include "settings.h"
#include "transfer.h"

// ---- The receiver
bool hint_is_useful(const struct transfer *t); // of one that is long enough
static inline bool hint_is_wanted(const struct transfer *t)
{
    return unlikely((uint64_t)t->bytes >= shim_settings.hint) && hint_is_useful(t);
}
void hint_tell(struct transfer *t); // of one that would take the next message with its key
// Has to be done before anything else is received there. False: the sender is copying.
bool hint_withdraw(struct transfer *t);
void hint_accept(struct transfer *t, const struct rts *rts); // of one that was not withdrawn

// While a call posts something and has not sent its envelope yet: messages from so many bytes on that it matches are
// copied by the next call that makes progress. SIZE_MAX: nothing is posted. Their senders are offered to copy long
// ones meanwhile; a shorter one stays behind only where this process is about to send itself.
enum { HINT_LEAST_OFFERED = 64 << 10, HINT_LEAST_DEFERRED = 8 << 10 };
HIDDEN extern SHIM_OWN size_t hint_defers_from;
bool hint_defer(struct transfer *t, const struct rts *rts); // false: now
void hint_catch_up(void); // receives all that has been left for later

// ---- The sender
bool hint_is_there(int pe, uint64_t address); // one that a message to there may follow
// Before the envelope of t is sent, which can follow a hint that has come.
void hint_look(const struct transfer *t);
void hint_follow(struct transfer *t); // its envelope has been sent
void hint_end(struct transfer *t);    // it follows none any more

int hint_up(void);

#endif
