#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in each step of each protocol (victim.c) and in collectives and agreements
# (coll_victim.c): the job ends with one line, whatever the others wait for, and no process is left.
. "$(dirname "$0")/../launch/lib.sh"
ulimit -c 0
unset SHOAL_CROSS_MEMORY "${!SHOAL_MPI_@}"

[ -x "$build/tests/mpi/victim" ] && [ -x "$build/tests/mpi/coll_victim" ] || skip "the victims are not built"

# The rank dies in this step; the launcher says it, and no process is left.
kill_in() { # PROGRAM STEP SETTING...
    local command=(oshrun -n 3 --timeout 20 "$build/tests/mpi/$1" "$2")
    shift 2
    run env "$@" "${command[@]}"
    if grep -q 'Fatal: unexpected error: Endpoint timeout' "$tmp/err"; then # UCX's own end, for the same reason
        ended_by_ucx=$((ended_by_ucx + 1))
        [ $rc -eq 137 ] || expect_rc 134
        return
    fi
    expect_rc 137
    expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) was killed by SIGKILL \(Killed\).*; the other 2 PEs were ended$'
    [ "$(wc -l <"$tmp/out")" -eq 3 ] || fail "not every rank has said which process it is"
    # shellcheck disable=SC2046
    expect_gone $(<"$tmp/out")
}

every=1 n=0 ended_by_ucx=0
! is_sanitized || every=5 # a second each
for program in victim coll_victim; do
    while read -r step settings; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        [ $((n % every)) -ne 0 ] || kill_in $program "$step" $settings
    done < <("$build/tests/mpi/$program")
done

# Between nodes, where the victim has one for itself. What is left out needs a node, or a full channel. With
# tiny pieces an envelope waits for room, and follows no hint. UCX, when it loses a peer in the middle of a
# long transfer, may say so and end the process itself. libfabric takes half a second to start: some steps,
# others each time.
! is_sanitized || exit 0
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || { echo "left out: libshoal-$transport is not built"; continue; }
    left_out='^(full-.*|eager-in-ring|stage.*|split-.*|helped-.*)$'
    case $build in *hostile*) left_out+='|^hint-(from|to)$' ;; esac
    every=1 n=${SEED:=$((RANDOM % 4))}
    [ $transport = ucx ] || every=4
    for program in victim coll_victim; do
        while read -r step settings; do
            [[ ! $step =~ $left_out ]] || continue
            n=$((n + 1))
            # shellcheck disable=SC2086
            [ $((n % every)) -ne 0 ] || kill_in $program "$step" $settings \
                SHOAL_VNODES=2 SHOAL_VNODES_CYCLIC=1 SHOAL_TRANSPORT=$transport
        done < <("$build/tests/mpi/$program")
    done
    [ $n -gt 50 ] || fail "there were few steps: $n"
    [ $ended_by_ucx -lt 10 ] || fail "UCX has ended $ended_by_ucx jobs itself"
done
exit 0
