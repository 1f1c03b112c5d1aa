#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout says which call each PE is in; SHOAL_LOG=launch:debug shows starts and ends.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/fault/where
[ -x "$program" ] || skip "$program is not built"
for seconds in 0.5 2 8; do # until there is time enough to come there
    run oshrun -n 3 --timeout $seconds "$program"
    expect_rc 124
    grep -q 'PE 0 in shmem_barrier_all.*PE 2 in shmem_wait_until' "$tmp/err" && break
done
expect_err_line "^oshrun: timed out after $seconds s; PE 0 in shmem_barrier_all, PE 1 in no call that waits, PE 2 in shmem_wait_until\$"
run env SHOAL_LOG=launch:debug oshrun -n 2 true
[ "$(grep -c 'started, pid' "$tmp/err")" -eq 2 ] && [ "$(grep -c 'ended, pid' "$tmp/err")" -eq 2 ] ||
    fail "not two starts and ends"
exit 0
