#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout says what each rank waits for: messages, collectives, counters.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/mpi/where
[ -x "$program" ] || skip "$program is not built"
seconds=1
! is_sanitized || seconds=3
run oshrun -n 8 --timeout $seconds "$program"
expect_rc 124
places="PE 0 in MPI receive from PE 1 (tag 7), PE 1 in MPI send to PE 2 (tag 9), PE 2 in MPI receive from any"
places="$places, PE 3 in MPI receive from PE 0 (tag 1), PE 4 in MPI_Waitany, PE 5 in MPI_Probe"
places="$places, PE 6 in MPI collective with PE 0, PE 7 in shoal_ct_wait"
[ "$(cat "$tmp/err")" = "oshrun: timed out after $seconds s; $places" ] || fail "not what each waits for"
exit 0
