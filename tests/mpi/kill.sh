#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in each step of each protocol (victim.c) and in collectives and agreements
# (coll_victim.c): the job ends with one line, whatever the others wait for, and no process is left.
# TIMEOUT: 120
. "$(dirname "$0")/../launch/lib.sh"
ulimit -c 0
unset SHOAL_CROSS_MEMORY "${!SHOAL_MPI_@}"

every=1 n=0
! is_sanitized || every=5 # a second each
for name in victim coll_victim; do
    program=$build/tests/mpi/$name
    [ -x "$program" ] || skip "tests/mpi/$name is not built"
    while read -r step settings; do
        n=$((n + 1))
        [ $((n % every)) -eq 0 ] || continue
        # shellcheck disable=SC2086
        run env $settings oshrun -n 3 --timeout 20 "$program" "$step"
        expect_rc 137
        expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) was killed by SIGKILL \(Killed\).*; the other 2 PEs were ended$'
        [ "$(wc -l <"$tmp/out")" -eq 3 ] || fail "not every rank has said which process it is"
        # shellcheck disable=SC2046
        expect_gone $(<"$tmp/out")
    done < <("$program")
done
exit 0
