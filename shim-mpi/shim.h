// SPDX-License-Identifier: BSD-3-Clause
// What every file of the shim needs: how an MPI function is defined, and how an error is raised.
#ifndef SHOAL_MPI_SHIM_H
#define SHOAL_MPI_SHIM_H

#include "object.h"

#include <shoal.h>
#include <string.h>

// PMPI_name is the function, MPI_name a weak name of it that a tool may replace.
//     MPI_DEFINE(int, Comm_size, MPI_Comm comm, int *size) { ... }
#define MPI_DEFINE(type, name, ...)                                       \
    __attribute__((visibility("default"))) type PMPI_##name(__VA_ARGS__); \
    __attribute__((visibility("default"), weak, alias("PMPI_" #name)))    \
    type MPI_##name(__VA_ARGS__);                                         \
    type PMPI_##name(__VA_ARGS__)

struct comm;
struct session;

// Errors (MPI 5.0, "Error Handling"). Whoever finds one raises it once and returns the result: it
// calls the error handler of the object concerned and comes back with the code, or does not come
// back (MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT end the job with one line that has the call, the
// rank and what fmt says). An error that belongs to no communicator is raised with NULL: on
// MPI_COMM_SELF, as the standard says, or MPI_COMM_WORLD where only that has a handler (error.h), or before and
// after MPI_Init on the initial handler.
int raise_on_(struct comm *comm, int code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
int raise_on_session(struct session *session, int code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
// Never 0, which the compiler is told.
static inline int error_raised(int error)
{
    if (!error)
        __builtin_unreachable();
    return error;
}
#define raise_on(...) error_raised(raise_on_(__VA_ARGS__))
// Of a message; its source and tag, where they are known and it was received, else negative.
int raise_on_message(struct comm *comm, int error, const char *call, int source, int tag)
    __attribute__((cold));
int raise_null(const char *call, const char *argument) __attribute__((cold)); // MPI_ERR_ARG
// MPI is not initialized, or finalized already: MPI_ERR_OTHER.
int raise_not_up(const char *call) __attribute__((cold));
// What this library does not do: MPI_ERR_UNSUPPORTED_OPERATION.
int raise_unsupported(const char *call) __attribute__((cold));

// A negative SHOAL_E* as an MPI error class.
int error_of(int shoal_error);

// Ends the program for a mistake of the library's or for lack of memory; one line.
_Noreturn void shim_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));

// memcpy, but for long ones that the C library is slow at.
enum { SHIM_COPY_LONG = 2048 };

static inline void shim_copy(void *to, const void *from, size_t n)
{
    if (n < SHIM_COPY_LONG)
        memcpy(to, from, n);
    else
        shoal_copy(to, from, n);
}

// Where the lines that are written are in this core's caches already: the processor's own copy of some KB, which the
// C library takes for more than SHIM_COPY_LONG, starts late, for it spares their way here.
static inline void shim_copy_here(void *to, const void *from, size_t n)
{
    char *out = to;
    const char *in = from;
    for (; n > SHIM_COPY_LONG; n -= SHIM_COPY_LONG, out += SHIM_COPY_LONG, in += SHIM_COPY_LONG)
        memcpy(out, in, SHIM_COPY_LONG);
    memcpy(out, in, n);
}

// ---- State of the library (core.c)
enum shim_state { SHIM_BEFORE, SHIM_UP, SHIM_AFTER };
extern _Atomic int shim_state;
int shim_pe(void);        // this process's number in the world
int shim_npes(void);
int shim_app(int *npes); // which of the launcher's programs this is, and how many processes

static inline bool shim_is_up(void)
{
    return atomic_load_explicit(&shim_state, memory_order_acquire) == SHIM_UP;
}

// What every thread would write is there in parts, lines of their own: a thread has one for itself until
// it ends, and writes there without atomic operations. Threads beyond so many share SHIM_SHARED.
enum { SHIM_PARTS = 64, SHIM_SHARED = SHIM_PARTS - 1 };
#define SHIM_OWN _Thread_local __attribute__((tls_model("initial-exec"))) // a thread's own, without a call
extern SHIM_OWN int shim_own_part; // -1: none yet
int shim_take_part(void);
HIDDEN extern _Atomic uint64_t shim_parts_ever; // bits of those that threads have had

static inline int shim_parts_used(void) // no others have been
{
    if (likely(!shim_threads))
        return 1;
    return SHIM_PARTS - __builtin_clzll(atomic_load_explicit(&shim_parts_ever, memory_order_seq_cst) | 1);
}

static inline int shim_part(void)
{
    if (likely(!shim_threads))
        return 0;
    return likely(shim_own_part >= 0) ? shim_own_part : shim_take_part();
}

// A lock that is held for a few instructions; costs nothing but a test without threads.
typedef struct shim_lock {
    _Atomic unsigned char taken;
} shim_lock;
void shim_lock_wait(shim_lock *lock);

static inline void shim_lock_take(shim_lock *lock)
{
    if (shim_threads && atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        shim_lock_wait(lock);
}

static inline void shim_lock_give(shim_lock *lock)
{
    if (shim_threads)
        atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif
