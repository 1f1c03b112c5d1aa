// SPDX-License-Identifier: BSD-3-Clause
// See thread.h.
#include "thread.h"

#include <signal.h>
#include <time.h>

int thread_start(pthread_t *thread, void *(*fn)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, fn, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
