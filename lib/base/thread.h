// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library's own.
#ifndef SHOAL_BASE_THREAD_H
#define SHOAL_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

// It takes no signals: they are for the program's own threads. 0, or an error number.
int thread_start(pthread_t *thread, void *(*fn)(void *));

// Nor do those that other libraries start in between.
void thread_block_signals(sigset_t *before);
void thread_restore_signals(const sigset_t *before);

// As the process ends, after the thread was told to: waits for it, but a second at most, because the
// process may end in the middle of a call, whose locks the thread then waits for; or by the thread
// itself.
void thread_leave(pthread_t thread);

#endif
