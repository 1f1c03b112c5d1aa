#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A host that is cut off in the middle ends the job everywhere within 10 s, its own PEs included,
# with a line that names it; whether the PEs compute, communicate or wait, and whichever host it is.
# A host whose PEs are all stopped is not lost, nor is one that is back in time.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
compile busy <<'PROGRAM'
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static long word, never;
    const char *way = argv[1];
    char path[512];
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    snprintf(path, sizeof path, "%s/ready.%d", argv[2], me);
    fclose(fopen(path, "w"));
    snprintf(path, sizeof path, "%s/go", argv[2]);
    while (strcmp(way, "compute") == 0 && argc) // nothing of the library
        usleep(1000);
    for (int i = 1; strcmp(way, "talk") == 0; i++)
        shmem_long_atomic_add(&word, 1, (me + i) % n);
    if (strcmp(way, "wait") == 0 || (strcmp(way, "barrier") == 0 && me == 0))
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    while (strcmp(way, "go") == 0 && me == 0 && access(path, F_OK))
        usleep(1000);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
PROGRAM
three=shoal1:2,shoal2:1,shoal3:3
all_ready() { [ "$(ls "$tmp" | grep -c '^ready')" -eq 6 ]; }

begin() { # WAY: a job in the background
    hosts 3
    rm -f "$tmp"/ready.* "$tmp/go"
    timeout -k 1 40 oshrun --hosts $three "$tmp/busy" "$1" "$tmp" >"$tmp/out" 2>"$tmp/err" </dev/null &
    job=$!
    wait_long all_ready
}

go_on() { # to the end
    touch "$tmp/go"
    wait $job
    rc=$? job=
    expect_rc 0
}

cut_off() { # HOST WAY
    what="$2, $1 is cut off, ${SHOAL_LAUNCHER-} ${SHOAL_HOST_TIMEOUT-} ${SHOAL_TRANSPORT-}"
    begin "$2"
    start=$(now_ms)
    "$hosts" cut "$1"
    while pgrep -x busy >/dev/null; do
        [ $(($(now_ms) - start)) -lt 10000 ] || fail "PEs are there after 10 s: $(pgrep -x busy)"
        sleep 0.1
    done
    wait $job
    rc=$? job=
    ms=$(($(now_ms) - start))
    grep -Eq "shoal: PE [0-9]+: host $1 \(PEs? .*\) is lost: no answer" "$tmp/err" || fail "no line names the host"
    [ $rc -eq 9 ] || expect_rc 1 # hydra kills a host's PEs when another host's have ended, and tells of either
    [ $ms -lt 10000 ] || fail "the launcher took $ms ms"
}

export SHOAL_TRANSPORT=ofi
cut_off shoal3 compute
export SHOAL_HOST_TIMEOUT=2
cut_off shoal1 talk
cut_off shoal2 wait
cut_off shoal3 barrier
[ ! -e "$build/lib/libshoal-ucx.so" ] || SHOAL_TRANSPORT=ucx cut_off shoal2 compute
if command -v mpirun.openmpi >/dev/null && [ -e "$build/lib/libshoal-pmix.so" ]; then
    SHOAL_LAUNCHER=mpirun cut_off shoal3 talk
fi

on_host() { # HOST NAME: the processes there
    pgrep "$2" | while read -r pid; do
        [ "$(nsenter --uts -t "$pid" hostname)" != "$1" ] || echo "$pid"
    done
}

# The first host to end must not be one that was only told: hydra then drops what others have said.
what="the daemon that passes the line on is slow"
begin compute
"$hosts" cut shoal2
told=$(on_host shoal3 busy | head -n 1) daemon=$(on_host shoal1 hydra_pmi_proxy)
[ -n "$told" ] && [ -n "$daemon" ] || fail "no such processes: $told, $daemon"
kill -STOP "$told" && sleep 2 && kill -STOP "$daemon" && sleep 2.5
kill -CONT "$told" && sleep 0.4
kill -CONT "$daemon"
wait $job
job=
grep -Eq "shoal: PE [03]: host shoal2 \(PE 2\) is lost: no answer" "$tmp/err" || fail "no line names the host"

what="all PEs of a host are stopped"
begin go
pids=$(pgrep -x busy | while read -r pid; do
    [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink "/proc/$(pgrep -x busy | head -n 1)/ns/net")" ] || echo "$pid"
done)
# shellcheck disable=SC2086
kill -STOP $pids && sleep 4 && kill -CONT $pids
go_on

what="a host is cut off for less than the limit"
begin go
sleep 0.3
"$hosts" cut shoal1 && sleep 1.5 && "$hosts" mend shoal1 || fail "the cable stays as it is"
sleep 2
go_on
exit 0
