#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whoever leaves the library last, each rank prints its counters once (SHOAL_STATS); what a program
# that has sessions only is told about MPI_COMM_WORLD.
. "$(dirname "$0")/../launch/lib.sh"
users=$build/tests/mpi/users
[ -x "$users" ] || skip "tests/mpi/users is not built"

for who in world within session outlives; do
    run env SHOAL_STATS=1 oshrun -n 2 --timeout 40 "$users" $who
    expect_rc 0
    for rank in 0 1; do
        [ "$(grep -c "^shoal: rank $rank: " "$tmp/err")" -eq 1 ] || fail "not one line of rank $rank"
    done
    run oshrun -n 2 --timeout 40 "$users" $who
    expect_rc 0
    expect_quiet
done

run oshrun -n 1 --timeout 40 "$users" stranger
expect_rc 5
expect_err_line 'MPI_COMM_WORLD .* call MPI_Init'
exit 0
