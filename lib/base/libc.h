// SPDX-License-Identifier: BSD-3-Clause
// What not every C library has: musl, and glibc before 2.32.
#ifndef SHOAL_BASE_LIBC_H
#define SHOAL_BASE_LIBC_H

// As the process ends fn is called, the last one first, with the status it ends with, or 0 where the C library
// does not tell (musl): exit(3) of a PE that has not finalized is taken for exit(0) there.
void libc_on_exit(void (*fn)(int status, void *unused));

// "INT" of SIGINT; NULL: it has no name.
const char *libc_signal_name(int sig);

// The calls this thread is in, to stderr; nothing where the C library does not know them (musl).
void libc_backtrace(void);

#endif
