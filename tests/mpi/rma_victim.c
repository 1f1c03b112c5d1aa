// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is killed in some phase of the use of a window (rma_kill.sh), while the others use it, or
// wait for what rank 1 has or owes.
// PES: none
#include "mpi_check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 1 };
static long *p, one = 1, old;
static long double wide = 1;
static MPI_Win win;
static MPI_Group all;

// By the kernel: nothing here has to run for it.
static void die_soon(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec t = {.it_value = {.tv_nsec = 50000000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &t, NULL))
        exit(2);
}

static void sleep_to_death(void)
{
    die_soon();
    for (;;)
        pause();
}

static void make_private(void)
{
    static void *memory;
    MPI_Win_free(&win);
    memory = must_alloc(4096);
    MPI_Win_create(memory, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void use_forever(void)
{
    for (;;) {
        MPI_Put(&one, 1, MPI_LONG, VICTIM, 0, 1, MPI_LONG, win);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, VICTIM, 0, MPI_SUM, win);
        MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, VICTIM, 0, 1, MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(VICTIM, win);
    }
}

// The victim is the target, or (is_user) an origin like the others, perhaps within an accumulate.
static void used(int is_user)
{
    MPI_Win_lock_all(0, win);
    if (me == VICTIM && !is_user)
        sleep_to_death();
    if (me == VICTIM)
        die_soon();
    use_forever();
}

static void locked(int type)
{
    if (me == VICTIM)
        MPI_Win_lock(type, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == VICTIM)
        sleep_to_death();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
}

static void contended(void)
{
    if (me == VICTIM)
        die_soon();
    for (;;) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
}

static void fenced(void)
{
    MPI_Win_fence(0, win);
    if (me == VICTIM)
        sleep_to_death();
    MPI_Win_fence(0, win);
}

static void unposted(void)
{
    if (me == VICTIM)
        sleep_to_death();
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
}

static void uncompleted(void)
{
    MPI_Win_post(all, 0, win);
    if (me == VICTIM)
        sleep_to_death();
    MPI_Win_start(all, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

static void absent(int creating)
{
    MPI_Win other;
    if (me == VICTIM)
        sleep_to_death();
    if (creating)
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &other);
    else
        MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    const char *phase = argc > 1 ? argv[1] : "";
    mpi_start();
    OK(MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    if (!strncmp(phase, "private-", 8)) {
        make_private();
        phase += 8;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(phase, "target"))
        used(0);
    else if (!strcmp(phase, "origin"))
        used(1);
    else if (!strcmp(phase, "lock"))
        locked(MPI_LOCK_EXCLUSIVE);
    else if (!strcmp(phase, "shared-lock"))
        locked(MPI_LOCK_SHARED);
    else if (!strcmp(phase, "contention"))
        contended();
    else if (!strcmp(phase, "fence"))
        fenced();
    else if (!strcmp(phase, "post"))
        unposted();
    else if (!strcmp(phase, "complete"))
        uncompleted();
    else if (!strcmp(phase, "create") || !strcmp(phase, "free"))
        absent(phase[0] == 'c');
    for (;;) // nothing more comes
        MPI_Barrier(MPI_COMM_WORLD);
}
