#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The end of a job whose processes have a thread that makes progress (async_abort.c).
. "$(dirname "$0")/../launch/lib.sh"
[ -x "$build/tests/mpi/async_abort" ] || skip "tests/mpi/async_abort is not built"

for turn in 1 2 3 4 5; do
    run env SHOAL_MPI_ASYNC_PROGRESS=1 oshrun -n 3 --timeout 20 "$build/tests/mpi/async_abort"
    expect_rc 9
    ! grep -q "another thread" "$tmp/err" || fail "turn $turn: the library's thread ends the program"
done
exit 0
