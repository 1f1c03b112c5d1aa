#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in each step of each protocol (victim.c) and in collectives and agreements
# (coll_victim.c): the job ends with one line, whatever the others wait for, and no process is left.
. "$(dirname "$0")/../launch/lib.sh"
ulimit -c 0
unset SHOAL_CROSS_MEMORY "${!SHOAL_MPI_@}"

[ -x "$build/tests/mpi/victim" ] && [ -x "$build/tests/mpi/coll_victim" ] || skip "the victims are not built"

# The rank dies in this step; the launcher says it, and no process is left. With tiny pieces between nodes on
# busy cores 8 MB have taken more than 20 s. UCX, when it loses a peer in the middle of a long transfer, may say
# so and end the process itself.
kill_in() { # PROGRAM STEP SETTING...
    local command=(oshrun -n 3 --timeout 60 "$build/tests/mpi/$1" "$2")
    shift 2
    run env "$@" "${command[@]}"
    if grep -Eq 'Fatal: unexpected error: Endpoint timeout|stubs\.c:[0-9]+ +Assertion' "$tmp/err"; then
        ended_by_ucx=$((ended_by_ucx + 1))
        [ $rc -eq 137 ] || expect_rc 134
    else
        expect_rc 137
        expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) was killed by SIGKILL \(Killed\).*; the other 2 PEs were ended$'
    fi
    [ "$(wc -l <"$tmp/out")" -eq 3 ] || fail "not every rank has said which process it is"
    # shellcheck disable=SC2046
    expect_gone $(<"$tmp/out")
}

# Each step but those whose name matches, or every so many of them, from the SEED-th on.
kill_in_steps() { # LEFT_OUT EVERY SETTING...
    local left_out=$1 every=$2 steps=0 program step settings
    shift 2
    for program in victim coll_victim; do
        while read -r step settings; do
            [[ ! $step =~ $left_out ]] || continue
            steps=$((steps + 1))
            # shellcheck disable=SC2086
            [ $(((SEED + steps) % every)) -ne 0 ] || kill_in $program "$step" $settings "$@"
        done < <("$build/tests/mpi/$program")
    done
    [ $steps -gt 50 ] || fail "there were few steps: $steps"
}

ended_by_ucx=0
: "${SEED:=$((RANDOM % 20))}"
! is_sanitized || { kill_in_steps '^$' 5; exit 0; } # a second each
kill_in_steps '^$' 1

# Between nodes, where the victim has one for itself. What is left out needs a node, or a full channel. With
# tiny pieces an envelope waits for room, and follows no hint. libfabric takes half a second to start.
left_out='^(full-.*|eager-in-ring|stage.*|split-.*|helped-.*)$'
case $build in *hostile*) left_out+='|^hint-(from|to)$' ;; esac
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || { echo "left out: libshoal-$transport is not built"; continue; }
    case $transport in ofi) every=4 ;; ucx) every=1 ;; esac
    kill_in_steps "$left_out" $every SHOAL_VNODES=2 SHOAL_VNODES_CYCLIC=1 SHOAL_TRANSPORT=$transport
done
[ $ended_by_ucx -lt 10 ] || fail "UCX has ended $ended_by_ucx jobs itself"
exit 0
