// SPDX-License-Identifier: BSD-3-Clause
// See libc.h.
#include "libc.h"

#include "compiler.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

void libc_backtrace(void)
{
#if __has_include(<execinfo.h>)
    void *frame[64];
    backtrace_symbols_fd(frame, backtrace(frame, ARRAY_LEN(frame)), STDERR_FILENO);
#endif
}

#ifdef __GLIBC__
void libc_on_exit(void (*fn)(int status, void *unused))
{
    on_exit(fn, NULL);
}
#else
enum { MOST = 4 };
static void (*at_end[MOST])(int status, void *unused);
static size_t ends;

static void run_last(void)
{
    at_end[--ends](EXIT_SUCCESS, NULL);
}

void libc_on_exit(void (*fn)(int status, void *unused))
{
    if (ends < MOST && atexit(run_last) == 0)
        at_end[ends++] = fn;
}
#endif

#define SIGNALS(X) \
    X(HUP)         \
    X(INT)         \
    X(QUIT)        \
    X(ILL)         \
    X(TRAP)        \
    X(ABRT)        \
    X(BUS)         \
    X(FPE)         \
    X(KILL)        \
    X(USR1)        \
    X(SEGV)        \
    X(USR2)        \
    X(PIPE)        \
    X(ALRM)        \
    X(TERM)        \
    X(STKFLT)      \
    X(CHLD)        \
    X(CONT)        \
    X(STOP)        \
    X(TSTP)        \
    X(TTIN)        \
    X(TTOU)        \
    X(URG)         \
    X(XCPU)        \
    X(XFSZ)        \
    X(VTALRM)      \
    X(PROF)        \
    X(WINCH)       \
    X(POLL)        \
    X(PWR)         \
    X(SYS)

const char *libc_signal_name(int sig)
{
#define X(name) [SIG##name] = #name,
    static const char *const names[] = { SIGNALS(X) };
#undef X
    return sig > 0 && (size_t)sig < ARRAY_LEN(names) ? names[sig] : NULL;
}
