// SPDX-License-Identifier: BSD-3-Clause
// How many bytes of messages a PE may send to one of another node before that has looked at them: what
// the transport has delivered waits in a queue there, which a flood would fill without end. The receiver
// tells now and then how much it has taken in all.
#ifndef SHOAL_CORE_NET_CREDIT_H
#define SHOAL_CORE_NET_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int credit_up(void);
void credit_down(void);

// The sender, of a message with n bytes: may it leave? False, only if !waits: not now.
bool credit_use(int pe, size_t n, bool waits);
void credit_return(int pe, size_t n); // it has not left
void credit_told(int pe, uint64_t taken);

// The receiver has taken one out of the queue: what is to be sent to `from`, NULL: nothing yet.
struct came;
struct came *credit_taken(int from, size_t n);

#endif
