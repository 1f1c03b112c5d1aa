#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ends that are allowed make no noise; those that leave others waiting end the job.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/fault/leave
[ -x "$program" ] || skip "$program is not built"
ulimit -c 0
for what_left in no_init finalized no_finalize; do
    run oshrun -n 4 --timeout 20 "$program" $what_left
    expect_rc 0
    expect_quiet
done
run oshrun -n 4 --timeout 20 "$program" one_no_finalize # waits for the others in exit
expect_rc 0
expect_quiet
run oshrun -n 4 --timeout 20 "$program" one_without_init
expect_rc 1
expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) exited with status 0 without shmem_init'
expect_soon 1200
run oshrun -n 4 --timeout 20 "$program" late_status # the first failure counts, the others go on
expect_rc 4
expect_quiet
[ "$(grep -c done "$tmp/out")" -eq 3 ] || fail "the others were ended"
# The others are ended, maybe while a sanitizer looks for what they have leaked.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export ASAN_OPTIONS
run oshrun -n 4 --timeout 20 "$program" late_crash
expect_rc 134
expect_err_line 'PE 1 .* was killed by SIGABRT \(Aborted\) after shmem_finalize'
exit 0
