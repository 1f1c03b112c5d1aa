#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout says which call each PE is in; SHOAL_LOG=launch:debug shows starts and ends.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/fault/where
[ -x "$program" ] || skip "$program is not built"
run oshrun -n 3 --timeout 0.5 "$program"
expect_rc 124
expect_err_line "^oshrun: timed out after 0.5 s; PE 0 in shmem_barrier_all, PE 1 in no call that waits, PE 2 in shmem_wait_until\$"
run env SHOAL_LOG=launch:debug oshrun -n 2 true
[ "$(grep -c 'started, pid' "$tmp/err")" -eq 2 ] && [ "$(grep -c 'ended, pid' "$tmp/err")" -eq 2 ] ||
    fail "not two starts and ends"
exit 0
