#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout says what each rank waits for: messages, collectives, counters, windows.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/mpi/where
[ -x "$program" ] || skip "$program is not built"

expect_places() { # RANKS PLACES [ARGUMENT]: once there was time enough to come there
    for seconds in 1 3 9; do
        run oshrun -n "$1" --timeout $seconds "$program" ${3:+"$3"}
        expect_rc 124
        [ "$(cat "$tmp/err")" != "oshrun: timed out after $seconds s; $2" ] || return 0
    done
    fail "not what each waits for"
}

places="PE 0 in MPI receive from PE 1 (tag 7), PE 1 in MPI send to PE 2 (tag 9), PE 2 in MPI receive from any"
places="$places, PE 3 in MPI receive from PE 0 (tag 1), PE 4 in MPI_Waitany, PE 5 in MPI_Probe"
expect_places 8 "$places, PE 6 in MPI collective with PE 0, PE 7 in shoal_ct_wait"
places="PE 0 in no call that waits, PE 1 in a collective, PE 2 in a collective, PE 3 in MPI window"
expect_places 6 "$places, PE 4 in MPI window, for a lock, PE 5 in MPI collective" others
expect_places 2 "PE 0 in no call that waits, PE 1 in a send to PE 0" room

# Sends that wait for their receivers, by the settings that docs/mpi.md names, and only by these.
run oshrun -n 2 --timeout 20 "$program" unsafe
expect_rc 0
export SHOAL_MPI_EAGER=0 SHOAL_MPI_STAGE=0
expect_places 2 "PE 0 in MPI send to PE 1 (tag 1), PE 1 in MPI send to PE 0 (tag 1)" unsafe
exit 0
