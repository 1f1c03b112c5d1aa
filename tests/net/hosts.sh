#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on two and three hosts (see tests/net/hosts), started by hydra and by Open MPI's mpirun:
# consecutive numbers, by turns, uneven; exit codes; a PE that dies; processes that cannot join.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
hosts 3

hydra() { # PLACES N COMMAND...
    local places=$1 n=$2
    shift 2
    run timeout -k 5 60 "${hydra[@]}" -hosts "$places" -n "$n" "$@" </dev/null
}

for test in api/rma api/start_pes shoal/counter; do
    hydra shoal1:2,shoal2:2 4 "$build/tests/$test"
    expect_rc 0
done
for test in api/coll shoal/am; do
    hydra shoal1:2,shoal2:1,shoal3:3 6 "$build/tests/$test"
    expect_rc 0
done
hydra shoal1:1,shoal2:1 5 "$build/tests/api/amo" # by turns
expect_rc 0
hydra shoal1:1,shoal2:1,shoal3:1 7 "$build/tests/api/teams"
expect_rc 0
hydra shoal1:3,shoal2:1 4 "$build/tests/api/signal"
expect_rc 0

cat >"$tmp/end.c" <<'PROGRAM'
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static long flag;
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1 && argc > 1 && argv[1][0] == 'k')
        raise(SIGKILL);
    if (shmem_my_pe() == 1 && argc > 1 && argv[1][0] == 'g')
        shmem_global_exit(7);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 2);
    return 0;
}
PROGRAM
"$build/bin/oshcc" "$tmp/end.c" -o "$tmp/end" || fail "does not compile"
hydra shoal1:1,shoal2:1 2 "$tmp/end" g
expect_rc 7
hydra shoal1:1,shoal2:1 2 "$tmp/end" k
[ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although a PE was killed"

# Nobody is started as one of several silently.
hydra shoal1:1,shoal2:1 2 env -u PMI_FD "$tmp/end"
[ "$rc" -ne 0 ] || fail "exit status 0"
grep -q 'one of 2 processes.*use mpiexec of hydra' "$tmp/err" "$tmp/out" || fail "nothing says what to use"

if command -v mpirun.openmpi >/dev/null && [ -e "$build/lib/libshoal-pmix.so" ]; then
    run timeout -k 5 60 "${mpirun[@]}" --host shoal1:2,shoal2:2 -n 4 "$build/tests/api/amo" </dev/null
    expect_rc 0
else
    echo "left out: Open MPI's mpirun or the PMIx module is not there"
fi
exit 0
