#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in every phase of the use of a window (rma_victim.c), on a node and between nodes:
# the job ends at once with one line that says so, whatever the others were waiting for, and no
# process is left.
. "$(dirname "$0")/../launch/lib.sh"
victim=$build/tests/mpi/rma_victim
[ -x "$victim" ] || skip "tests/mpi/rma_victim is not built"
ulimit -c 0

# Runs a phase; the launcher says it, and no process is left.
kill_in() { # PHASE
    run oshrun -n 3 --timeout 60 "$victim" "$1"
    [ "$(wc -l <"$tmp/out")" -eq 3 ] || fail "not every rank has said which process it is"
    # shellcheck disable=SC2046
    expect_gone $(<"$tmp/out")
    expect_rc 137
    expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) was killed by SIGKILL'
}

for phase in target origin requested requesting lock shared-lock lock-all contention fence fences \
    post complete epochs create create-shared create-dynamic free private-target private-origin \
    private-requested dynamic-target dynamic-origin dynamic-attach; do
    kill_in $phase
done

# Between nodes a peer may find its connection lost before the launcher finds it dead.
export SHOAL_VNODES=2
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_bugs=0" # the networks' libraries are not ours to judge
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || { echo "left out: libshoal-$transport is not built"; continue; }
    export SHOAL_TRANSPORT=$transport
    for phase in target requesting fences dynamic-attach; do
        kill_in $phase
    done
done
exit 0
