#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A host that is cut off in the middle ends the job everywhere within 10 s, its own processes
# included, with a line that names it; whether the PEs compute, communicate or wait. A PE that is
# stopped is no lost host.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
hosts 3
compile busy <<'PROGRAM'
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static long word, never;
    (void)argc;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    char path[512];
    snprintf(path, sizeof path, "%s/ready.%d", argv[2], me);
    shmem_barrier_all();
    fclose(fopen(path, "w"));
    if (strcmp(argv[1], "compute") == 0)
        for (volatile long i = 0; argc; i++) // nothing of the library
            if (i % 1000000 == 0)
                usleep(1000);
    for (int i = 1; strcmp(argv[1], "talk") == 0; i++)
        shmem_long_atomic_add(&word, 1, (me + i) % n);
    if (strcmp(argv[1], "wait") == 0)
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (me == 0)
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    shmem_barrier_all();
    return 0;
}
PROGRAM
busy() { pgrep -x busy; }
all_ready() { [ "$(ls "$tmp" | grep -c ready)" -eq 6 ]; }

# WAY HOST LAUNCHER...: the launcher's words before the program
cut_off() {
    local way=$1 host=$2 start pid
    shift 2
    what="$way, $host is cut off: $1"
    rm -f "$tmp"/ready.*
    timeout -k 1 30 "$@" "$tmp/busy" "$way" "$tmp" >"$tmp/out" 2>"$tmp/err" </dev/null &
    pid=$!
    wait_for all_ready
    start=$(now_ms)
    "$hosts" cut "$host"
    while busy >/dev/null && [ $(($(now_ms) - start)) -lt 12000 ]; do sleep 0.1; done
    ms=$(($(now_ms) - start))
    [ $ms -lt 10000 ] || fail "after $ms ms PEs are there: $(busy)"
    echo PEs $ms
    wait $pid
    rc=$?
    ms=$(($(now_ms) - start))
    echo all $ms
    "$hosts" mend "$host"
    grep -Eq "shoal: PE [0-9]+: host $host \(.*\) is lost: " "$tmp/err" || fail "no line names the host"
    [ $rc -ne 0 ] && [ $rc -ne 124 ] || fail "exit status $rc"
    [ $ms -lt 10000 ] || fail "the launcher took $ms ms"
    cat $tmp/err
}
for way in ${2:-compute talk wait barrier}; do
    cut_off $way shoal3 "${hydra[@]}" -hosts shoal1:2,shoal2:1,shoal3:3 -n 6
done
exit 0
