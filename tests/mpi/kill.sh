#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in the steps of each protocol: while messages of every mover go to it and from it,
# after its envelope and before its data, after a receiver has matched, in collectives by messages
# and by the runtime's. Each time the job ends with one line, and no process is left.
# TIMEOUT: 170
. "$(dirname "$0")/../launch/lib.sh"
ulimit -c 0
[ -x "$build/bin/mpicc" ] || skip "there is no mpicc"
cat >"$tmp/mpi_kill.c" <<'PROGRAM'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 1, LONGEST = 1 << 20 };
static char out[LONGEST], in[LONGEST];

static void die_soon(void) // by the kernel: nothing here has to run for it
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec t = {.it_value = {.tv_nsec = 100000000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &t, NULL))
        exit(2);
}

int main(int argc, char **argv)
{
    int me, size, n = argc > 2 ? atoi(argv[2]) : 0;
    char path[512];
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/pid.%d", argv[3], me);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
        return 2;
    for (int i = 0; i < 12; i++) // communicators have their teams
        MPI_Barrier(MPI_COMM_WORLD);
    if (me == VICTIM && argv[1][0] != 'q')
        die_soon();
    int other = me == 0 ? VICTIM : 0;
    for (;;)
        switch (argv[1][0]) {
        case 'p': // pairs that exchange: at any step
            if (me < 2)
                MPI_Sendrecv(out, n, MPI_BYTE, other, 0, in, n, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
            else
                MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 's': // synchronous, to one that never receives
            if (me == VICTIM)
                pause();
            MPI_Ssend(out, n, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD);
            break;
        case 'q': // its envelope is there, its data is not got any more
            if (me == VICTIM) {
                MPI_Isend(out, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
                raise(SIGKILL);
            }
            if (me == 0)
                sleep(1);
            MPI_Recv(in, n, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 'r': // who waits for its message
            if (me == VICTIM)
                pause();
            MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 'c':
            MPI_Allreduce(out, in, n / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            break;
        }
}
PROGRAM
"$build/bin/mpicc" -std=c11 -D_GNU_SOURCE -O1 "$tmp/mpi_kill.c" -o "$tmp/mpi_kill" || fail "cannot compile"

# HOW BYTES: eager, staged, got, split; in pieces by the setting.
while read -r how bytes setting; do
    rm -f "$tmp"/pid.*
    run env "${setting:-A=}" oshrun -n 3 --timeout 20 "$tmp/mpi_kill" "$how" "$bytes" "$tmp"
    expect_rc 137
    expect_err_line "^oshrun: PE 1 \\(pid $(cat "$tmp/pid.1")\\) was killed by SIGKILL \\(Killed\\).*; the other 2 PEs were ended\$"
    for pid in "$tmp"/pid.*; do
        [ ! -d "/proc/$(cat "$pid")" ] || fail "process $(cat "$pid") is left"
    done
done <<'END'
pair 8
pair 6000
pair 40000
pair 1000000
pair 100000 SHOAL_MPI_STREAM=1
pair 100000 SHOAL_MPI_STAGE=1m
ssend 8
ssend 1000000
queued 40000
queued 1000000
recv 8
collective 8
collective 4096
collective 1000000
END
exit 0
