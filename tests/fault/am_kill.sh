#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE is killed while others send it active messages, while it sends, while it holds a slot of
# another's inbox that it reserved and never commits, in a handler, and while others wait for its
# help: within a second the job has ended with one line, and no process is left.
. "$(dirname "$0")/../launch/lib.sh"

ulimit -c 0
compile am_kill <<'PROGRAM'
#include <shoal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 2, MESSAGE = 1, DEADLY };
static int me, npes;
static char payload[128];
static shoal_key_t key;
static char *box;

// By the kernel: nothing here has to run for it.
static void die_in_100_ms(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec t = {.it_value = {.tv_nsec = 100000000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &t, NULL))
        exit(2);
}

static void on_message(const shoal_am_t *am)
{
    if (am->arg)
        shoal_am_reply(am, MESSAGE, 0, payload, sizeof payload);
}

static void on_deadly(const shoal_am_t *am)
{
    (void)am;
    raise(SIGKILL);
}

static void send_forever(int pe, uint64_t arg)
{
    for (;;)
        shoal_am_request(pe, MESSAGE, arg, payload, sizeof payload);
}

// The victim looks now and then, or never.
static void flooded(int looks)
{
    if (me != VICTIM)
        send_forever(VICTIM, 1);
    die_in_100_ms();
    for (;;)
        if (looks)
            shoal_progress();
}

static void flooding(void)
{
    if (me == VICTIM)
        die_in_100_ms();
    for (;;)
        for (int pe = 0; pe < npes; pe++)
            shoal_am_request(pe, MESSAGE, 1, payload, sizeof payload);
}

// Everybody waits behind the slot that is never filled; early: one of the shared inbox, else of the
// ring.
static void reserved(int early)
{
    shoal_am_room_t room;
    for (int i = 0; i < 1000 && me == VICTIM && !early; i++)
        shoal_am_request(0, MESSAGE, 0, payload, sizeof payload);
    if (me == VICTIM) {
        shoal_am_reserve(0, sizeof payload, &room);
        shmem_barrier_all();
        die_in_100_ms();
        pause();
    }
    shmem_barrier_all();
    if (me == 0)
        for (;;)
            shoal_progress();
    send_forever(0, 1);
}

static void handler(void)
{
    shoal_am_register(DEADLY, on_deadly, NULL);
    shmem_barrier_all();
    if (me == 0)
        shoal_am_request(VICTIM, DEADLY, 0, NULL, 0);
    while (me == VICTIM)
        shoal_progress();
    shmem_barrier_all();
}

// Private memory of one that is not in the library, and will not come again.
static void help(void)
{
    shoal_rptr_t r;
    shoal_key_t theirs;
    shmem_getmem(&theirs, &key, sizeof theirs, VICTIM);
    shoal_rptr(&theirs, 0, &r);
    shmem_barrier_all();
    if (me == VICTIM) {
        die_in_100_ms();
        pause();
    }
    shoal_put(r, payload, sizeof payload, NULL, NULL);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    shoal_region_t region;
    char path[512];
    if (argc != 3)
        return 2;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    snprintf(path, sizeof path, "%s/pid.%d", argv[2], me);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
        return 2;
    box = malloc(4096);
    if (!box || shoal_region_register(box, 4096, &region) || shoal_region_key(region, &key))
        return 2;
    shoal_am_register(MESSAGE, on_message, NULL);
    shmem_barrier_all();
    switch (argv[1][0]) {
    case 'l': flooded(1); break;
    case 'n': flooded(0); break;
    case 's': flooding(); break;
    case 'e': reserved(1); break;
    case 'r': reserved(0); break;
    case 'h': handler(); break;
    case 'p': help(); break;
    }
    shmem_finalize();
    return 3; // nobody gets here
}
PROGRAM

for how in looks never sends early ring handler private; do
    for cross in 1 0; do
        [ $how = private ] || [ $cross = 1 ] || continue
        rm -f "$tmp"/pid.*
        SHOAL_CROSS_MEMORY=$cross run oshrun -n 4 --timeout 60 "$tmp/am_kill" $how "$tmp"
        expect_rc 137
        expect_err_line "^oshrun: PE 2 \\(pid $(cat "$tmp/pid.2")\\) was killed by SIGKILL \\(Killed\\).*; the other 3 PEs were ended\$"
        expect_soon 1300 # of which 200 at most are the PE's
        # shellcheck disable=SC2046
        expect_gone $(cat "$tmp"/pid.*)
    done
done
exit 0
