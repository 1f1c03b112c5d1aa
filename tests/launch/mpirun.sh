#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs started by Open MPI's mpirun: PMIx.
. "$(dirname "$0")/lib.sh"

mpirun=
for name in mpirun.openmpi mpirun; do
    command -v $name >/dev/null && $name --version 2>/dev/null | grep -qE 'Open ?(MPI|RTE)' && mpirun=$name && break
done
[ -n "$mpirun" ] || skip "Open MPI's mpirun is not installed (package openmpi-bin)"
[ -e "$build/lib/libshoal-pmix.so" ] || skip "libshoal-pmix.so is not built (package libpmix-dev)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch=("$mpirun" --oversubscribe -n)
. "$here/foreign.sh"
check_programs
check_ends 7

# What a PE starts is no PE, and hangs in no meeting that the PEs have left; it may be one of its own.
compile parent <<'EOF'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int before = argc > 2 ? system(argv[2]) : 0;
    shmem_init();
    int status = shmem_my_pe() == 0 ? system(argv[1]) : 0;
    shmem_barrier_all();
    printf("PE %d: %d %d\n", shmem_my_pe(), before, status);
    shmem_finalize();
    return 0;
}
EOF
starts() { # COMMAND...: of PE 0, and of both before they initialize
    run timeout -k 5 50 "$mpirun" --oversubscribe -n 2 "$tmp/parent" "$@" </dev/null
    expect_rc 0
}
for command in "$tmp/job no_init" "env -u PMIX_NAMESPACE -u OMPI_COMM_WORLD_SIZE $tmp/job"; do
    starts "$command" "$command"
    [ "$(grep -c '^PE [01]: 0 0$' "$tmp/out")" -eq 2 ] || fail "not two PEs that work"
done
starts "$tmp/job"
grep -q '^shoal: .*needs PMIX_NAMESPACE and OMPI_COMM_WORLD_SIZE unset' "$tmp/err" || fail "no line about the child"
run timeout -k 5 50 "$mpirun" --oversubscribe -n 2 sh -c "$tmp/job no_init; $tmp/job" </dev/null
expect_rc 0

# Many jobs at once, in each of which one cannot join while the others wait for it: mpirun itself ends
# well, whoever is slow.
cat >"$tmp/one_wrong" <<EOF
[ "\$PMIX_RANK" = "\$1" ] && export SHMEM_SYMMETRIC_SIZE=word
$tmp/job
exit \$?
EOF
for tries in 1 2 3; do
    crowd=()
    for i in 0 1 2 3 0 1 2 3; do
        timeout -k 5 50 "$mpirun" --oversubscribe -n 4 sh "$tmp/one_wrong" $i </dev/null >/dev/null 2>&1 &
        crowd+=($!)
    done
    for pid in "${crowd[@]}"; do
        wait "$pid"
        rc=$?
        what="one of 8 jobs"
        expect_rc 1
    done
done

# It is killed: nobody stays.
kill_launcher
for tries in 1 2 3 4 5; do # it takes libpmix a while to notice
    # shellcheck disable=SC2046
    kill -0 $(pids) 2>/dev/null || break
    sleep 0.5
done
# shellcheck disable=SC2046
expect_gone $(pids)

# What cannot be joined is refused: a launcher that is gone, a module that is not there.
refused 'cannot be reached' env PMIX_NAMESPACE=1 PMIX_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$tmp/job"
refused 'mpirun of Open MPI 4' env OMPI_COMM_WORLD_SIZE=2 "$tmp/job"
mkdir "$tmp/alone"
cp "$build/lib/libshoal.so.0" "$tmp/alone"
refused libpmix "$mpirun" --oversubscribe -n 2 env LD_LIBRARY_PATH="$tmp/alone" \
    LD_PRELOAD="$tmp/alone/libshoal.so.0" "$tmp/job"
exit 0
