// SPDX-License-Identifier: BSD-3-Clause
// Programs of which rank 1 is killed in a step of a protocol: PROGRAM STEP. Without a step they list theirs,
// each with the settings that it needs. kill.sh runs them.
#ifndef TESTS_MPI_VICTIM_H
#define TESTS_MPI_VICTIM_H

#include "mpi_check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 1 };

struct step {
    const char *name, *settings;
    void (*run)(int how);
    int how;
    const char *counter; // what tells that it is this step, if there is one
};

static struct counter counter;

// By the kernel: nothing here has to run for it.
static inline void die_soon(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec t = {.it_value = {.tv_nsec = 20000000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &t, NULL))
        exit(2);
}

// The step is not what it is called if this has not been counted.
static inline void must_be(bool is_so)
{
    if (is_so)
        return;
    fprintf(stderr, "rank %d: the step's counter says that it is another one\n", me);
    exit(3);
}

static inline void list_steps(const struct step *steps, int n)
{
    for (int i = 0; i < n; i++)
        printf("%s %s\n", steps[i].name, steps[i].settings);
    exit(0);
}

// The step of this name, with MPI started; all have said which process they are, which nobody may see any
// more when the job has ended.
static inline const struct step *find_step(const struct step *steps, int n, int argc, char **argv)
{
    int i = 0;
    if (argc < 2)
        list_steps(steps, n);
    while (i < n && strcmp(argv[1], steps[i].name))
        i++;
    if (i == n)
        exit(2);
    mpi_start();
    if (steps[i].counter)
        counter = counter_start(steps[i].counter);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (int k = 0; k < 12; k++) // communicators have their teams
        MPI_Barrier(MPI_COMM_WORLD);
    return &steps[i];
}

#endif
