#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on two hosts (see tests/net/hosts), started by hydra and by Open MPI's mpirun: consecutive
# numbers, by turns, uneven; exit codes; a PE that dies; what differs between hosts is told.
set -u
. "$(dirname "$0")/../launch/lib.sh"
hosts=$here/../net/hosts
case $build in *hostile*) skip "tiny pieces over a network take minutes" ;; esac
[ -e "$build/lib/libshoal-ofi.so" ] || skip "libshoal-ofi is not built: libfabric is missing"
if nm -D "$build/lib/libshoal.so" | grep -q '__[at]san_'; then
    skip "a sanitizer's build: libfabric and the launchers' libraries are not ours to judge"
fi
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
"$hosts" up >"$tmp/up" 2>&1 || { "$hosts" down; skip "no network namespaces here: $(head -n 1 "$tmp/up")"; }
trap '"$hosts" down; rm -rf "$tmp"' EXIT

hydra() { # PLACES N COMMAND...
    local places=$1 n=$2
    shift 2
    run timeout -k 5 60 mpiexec.hydra -launcher ssh -launcher-exec "$hosts" \
        -localhost 10.77.0.254 -hosts "$places" -n "$n" "$@" </dev/null
}

for test in rma coll start_pes; do
    hydra shoal1:2,shoal2:2 4 "$build/tests/api/$test"
    expect_rc 0
done
for test in am counter; do
    hydra shoal1:2,shoal2:2 4 "$build/tests/shoal/$test"
    expect_rc 0
done
hydra shoal1:1,shoal2:1 5 "$build/tests/api/amo" # by turns
expect_rc 0
hydra shoal1:3,shoal2:1 4 "$build/tests/api/signal"
expect_rc 0
hydra shoal1:1,shoal2:1 2 "$build/examples/hello"
expect_rc 0
[ "$(sort "$tmp/out")" = "hello from PE 0 of 2 on shoal1
hello from PE 1 of 2 on shoal2" ] || fail "not one PE on each host"

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
# shellcheck disable=SC2016
hydra shoal1:1,shoal2:1 2 bash -c '[ "$PMI_RANK" = 1 ] && export SHMEM_SYMMETRIC_SIZE=64m SHOAL_STATIC=0; exec "$0"' "$tmp/end"
[ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although the hosts differ"
grep -q 'shoal: .*runs with another executable' "$tmp/err" "$tmp/out" || fail "not told what differs"

if command -v mpirun.openmpi >/dev/null && [ -e "$build/lib/libshoal-pmix.so" ]; then
    run timeout -k 5 60 mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$hosts" \
        --mca oob_tcp_if_include 10.77.0.0/24 --host shoal1:2,shoal2:2 -n 4 "$build/tests/api/amo" </dev/null
    expect_rc 0
else
    echo "left out: Open MPI's mpirun or the PMIx module is not there"
fi
exit 0
