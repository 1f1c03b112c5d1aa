#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A PE that waits for room for an answer to one that is stopped sees shmem_global_exit, as who waits for anything
# else does: it ends by its own exit handlers.
set -u
. "$(dirname "$0")/../launch/lib.sh"
case $build in *hostile*) skip "who asks has no room for as many questions as there have to be" ;; esac
[ -e "$build/lib/libshoal-ofi.so" ] || [ -e "$build/lib/libshoal-ucx.so" ] ||
    skip "neither libfabric nor UCX is there"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_bugs=0" # not ours to judge
cat >"$tmp/room.c" <<'PROGRAM'
// PE 0 stops, PE 2 asks it for more than it can answer at once and stops, PE 1 has PE 0 go on, which waits
// for ever then, and ends the job.
#include <shmem.h>
#include <shoal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 100, SIZE = 32, LENGTH = 20000 };
static long pid[3], go;
static shoal_key_t key;
static char memory[64], message[LENGTH], back[MOST][SIZE];
static shoal_event_t event[MOST];
static size_t length;

static void on_message(const shoal_am_t *am) { (void)am; }

static void leaves(void)
{
    if (shmem_my_pe() == 0)
        write(STDOUT_FILENO, "left\n", 5);
}

static void stop(void) { kill(getpid(), SIGSTOP); }

static void wait_for_stop(long process)
{
    char name[64], line[256] = "", *end;
    snprintf(name, sizeof name, "/proc/%ld/stat", process);
    while (!(end = strrchr(line, ')')) || end[2] != 'T') {
        FILE *f = fopen(name, "r");
        if (!f || !fgets(line, sizeof line, f))
            exit(3);
        fclose(f);
        usleep(1000);
    }
}

static void answer(void)
{
    stop();
    for (;;) // until there is no room left
        shoal_am_request(2, 1, 0, message, length);
}

static void ask(void)
{
    shoal_rptr_t from;
    shmem_wait_until(&go, SHMEM_CMP_EQ, 1L);
    for (int i = 0; i < MOST; i++)
        if (shoal_rptr(&key, 0, &from) || shoal_get(back[i], from, SIZE, NULL, &event[i]))
            exit(4);
    stop();
}

static void end(void)
{
    wait_for_stop(pid[0]);
    shmem_p(&go, 1L, 2);
    shmem_quiet();
    wait_for_stop(pid[2]);
    kill((pid_t)pid[0], SIGCONT);
    usleep(500000); // else it waits for something else when the job ends
    shmem_global_exit(7);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    uint64_t most = 0;
    shoal_region_t region;
    shoal_query(SHOAL_Q_AM_MAX, 2, &most);
    length = most < LENGTH ? (size_t)most : LENGTH;
    atexit(leaves);
    shoal_am_register(1, on_message, NULL);
    if (me == 0) {
        shoal_region_register(memory, sizeof memory, &region);
        shoal_region_key(region, &key);
        shmem_putmem(&key, &key, sizeof key, 2);
    }
    if (me < 3)
        shmem_p(&pid[me], (long)getpid(), 1);
    shmem_barrier_all();
    if (me == 0)
        answer();
    else if (me == 1)
        end();
    else if (me == 2)
        ask();
    shmem_barrier_all();
    return 9;
}
PROGRAM
"$build/bin/oshcc" "$tmp/room.c" -o "$tmp/room" || fail "does not compile"
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || continue
    run env SHOAL_VNODES=2 SHOAL_TRANSPORT=$transport oshrun -n 4 --timeout 50 "$tmp/room"
    expect_rc 7
    expect_quiet
    expect_out left
done
exit 0
