#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The job's status after MPI_Abort is its code, and 1 where that is no status: never 0 but for 0. The
# line that is printed has the code.
. "$(dirname "$0")/../launch/lib.sh"
abort=$build/tests/mpi/abort
[ -x "$abort" ] || skip "tests/mpi/abort is not built"

while read -r code status; do
    for when in '' before; do
        # shellcheck disable=SC2086
        run oshrun -n 2 --timeout 20 "$abort" "$code" $when
        expect_rc "$status"
        grep -Eq "MPI_Abort: .* with code $code\$" "$tmp/err" || fail "no line with code $code"
    done
done <<'END'
0 0
1 1
255 255
256 1
16384 1
-1 1
END
# An error that nobody handles: the line has the call, the rank, the argument and the class.
run oshrun -n 3 --timeout 20 "$build/tests/mpi/fatal"
expect_rc 6
grep -q 'MPI_Send: rank 1 of MPI_COMM_WORLD: rank 17: there are ranks 0 to 2 \[MPI_ERR_RANK: ' "$tmp/err" || fail "no line about the argument"
[ "$(grep -c MPI_ERR "$tmp/err")" -eq 1 ] || fail "more than one line"
run oshrun -n 3 --timeout 20 "$build/tests/mpi/fatal" keyval
expect_rc 36
grep -q 'MPI_Comm_get_attr: rank 2 of rows: keyval 12345 .*\[MPI_ERR_KEYVAL: ' "$tmp/err" || fail "no line about the key"
run oshrun -n 3 --timeout 20 "$build/tests/mpi/fatal" waitall
expect_rc 19
grep -q 'MPI_Waitall: rank 1 of rows: 1 of the operations failed, the first one with MPI_ERR_TRUNCATE: ' "$tmp/err" ||
    fail "no line about the first one that failed"
for how in recv wait; do
    run oshrun -n 3 --timeout 20 "$build/tests/mpi/fatal" $how
    expect_rc 15
    grep -Eqi "MPI_$how: rank 1 of rows: the message from rank 0 with tag 3 is longer than the receive buffer .MPI_ERR_TRUNCATE" "$tmp/err" ||
        fail "no line about the message"
done
run "$build/tests/mpi/fatal_thread"
expect_rc 6
# Where there is no runtime to say it.
for how in outside type; do
    run oshrun -n 1 "$abort" 0 $how
    expect_rc 16
    grep -Eq '^shoal: MPI_(Comm_rank|Type_contiguous): .*MPI is not initialized, or finalized already' "$tmp/err" ||
        fail "no line of ours"
done
exit 0
