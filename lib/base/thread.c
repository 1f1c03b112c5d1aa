// SPDX-License-Identifier: BSD-3-Clause
// See thread.h.
#include "thread.h"

#include <time.h>

void thread_block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void thread_restore_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int thread_start(pthread_t *thread, void *(*fn)(void *))
{
    sigset_t before;
    thread_block_signals(&before);
    int error = pthread_create(thread, NULL, fn, NULL);
    thread_restore_signals(&before);
    return error;
}

void thread_leave(pthread_t thread)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (!pthread_equal(pthread_self(), thread))
        pthread_timedjoin_np(thread, NULL, &until);
}
