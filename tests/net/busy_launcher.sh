#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A launcher that ends a job by itself takes its time on a busy machine: here five seconds, in which it stands still.
# Until then nobody else says that a host is lost where a PE has died, or has exited with a status.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpirun.openmpi >/dev/null && [ -e "$build/lib/libshoal-pmix.so" ] ||
    skip "Open MPI's mpirun or the PMIx module is not there"
hosts 3

"$build/bin/oshcc" -x c - -o "$tmp/end" <<'PROGRAM' || fail "does not compile"
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char name[512];
    snprintf(name, sizeof name, "%s/ready", argv[1]);
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 2) {
        fclose(fopen(name, "w"));
        while (access(name, F_OK) == 0)
            usleep(1000);
        if (argc > 2)
            exit(atoi(argv[2]));
        raise(SIGKILL);
    }
    shmem_barrier_all();
    return 0;
}
PROGRAM
ends() { # STATUS ARGUMENT...: PE 2, the first of its host
    what="mpirun, $*"
    status=$1
    shift
    "${mpirun[@]}" --host shoal1:2,shoal2:1,shoal3:1 -n 4 "$tmp/end" "$tmp" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
    job=$!
    wait_long test -e "$tmp/ready"
    kill -STOP $job
    rm "$tmp/ready"
    sleep 5
    kill -CONT $job
    wait $job
    rc=$?
    job=
    expect_rc "$status"
    ! grep -q 'is lost' "$tmp/err" || fail "a host is said to be lost"
}
ends 3 3
ends 137
exit 0
