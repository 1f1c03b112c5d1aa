// SPDX-License-Identifier: BSD-3-Clause
// Operations on peers that are not reached by load and store: the slow path of every data call.
// Here the arguments are checked one by one, then the transport's table does the work.
#ifndef SHOAL_CORE_REMOTE_H
#define SHOAL_CORE_REMOTE_H

#include "place.h"
#include "transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shoal_ctx;
struct stream;

// In memory that every PE of another node reaches.
static inline struct transport_remote remote_at(struct place p)
{
    return (struct transport_remote){p.pe, p.space == SPACE_DATA ? TRANSPORT_DATA : TRANSPORT_HEAP,
                                     p.offset};
}

int remote_up(void);
void remote_down(void);

// Each checks and ends the program when an argument is wrong: the library not up, pe out of range,
// [addr, addr + n) not symmetric. n == 0 does nothing. When they return the source may be reused and
// the result is there; with nbi only after remote_flush. ctx NULL: the default one.
void remote_put(struct shoal_ctx *ctx, const char *call, void *dest, const void *src, size_t n,
                int pe, bool nbi);
void remote_get(struct shoal_ctx *ctx, const char *call, void *dest, const void *src, size_t n,
                int pe, bool nbi);
// The old value, 0 unless it is `wanted`.
uint64_t remote_amo(struct shoal_ctx *ctx, const char *call, void *dest, enum transport_op op,
                    enum transport_width width, uint64_t operand, uint64_t compare, int pe,
                    bool wanted);
// op SET or ADD of value to the word at sig_addr, once the data is there.
void remote_put_signal(struct shoal_ctx *ctx, const char *call, void *dest, const void *src,
                       size_t n, uint64_t *sig_addr, enum transport_op op, uint64_t value, int pe);
// In the default context: a put, and the signal at `at` after it, NULL: none; both in memory that every PE reaches.
// True: gathered, the source may be reused, and messages come after them. False: nothing has happened.
bool remote_gather(struct place to, const void *from, size_t n, const struct place *at,
                   int signal_op, uint64_t value);
void remote_alone(struct shoal_ctx *ctx); // before what goes by itself: fences have been kept
void remote_flush_ctx(struct shoal_ctx *ctx); // complete at the target: all of this context
void remote_flush(void);                      // of the default one, and what messages asked for
void remote_flush_all(void);
// The next message to pe, of another node, comes after what the default context has put there: that
// is complete, but for what was gathered, which leaves as a message too.
void remote_order_message(int pe);
// Later operations take effect after earlier ones, PE by PE.
void remote_fence(struct shoal_ctx *ctx);
void remote_session(struct shoal_ctx *ctx, bool starts);
void remote_push(void); // what was gathered is on its way

// For the runtime's own: `own` is an address in this PE's slice or symmetric memory, and means the
// same place at pe. Unchecked. A store is complete at the target when it returns.
void remote_store(int pe, void *own, const void *from, size_t n);
void remote_load(int pe, const void *own, void *to, size_t n, bool nbi);
// Begins a put, or a get, anywhere in memory of another node. request->left counts what has been begun
// and has not ended; then it is complete there.
void remote_start(bool put, struct transport_remote at, void *local, size_t n,
                  struct transport_request *request);
void remote_add(int pe, void *own, uint64_t value); // to 64 bits, atomically; flush completes it

// Begins to get some of n bytes from a place at another node, in memory that every PE reaches: how
// many, 0: no room now. request->left counts what has been begun and has not ended.
size_t remote_start_get(struct place from, void *to, size_t n, struct transport_request *request);

// The checks alone, for calls of several parts. addr may be anything when n is 0.
void check_up(const char *call);
void check_pe(const char *call, int pe);
void check_aligned(const char *call, const char *argument, const void *addr, size_t size);
void check_symmetric(const char *call, const char *argument, const void *addr, size_t n);

#endif
