#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout ends the job with 124 and says where each PE was.
. "$(dirname "$0")/lib.sh"

run oshrun -n 3 --timeout 0.3 sleep 100
expect_rc 124
expect_err_line '^oshrun: timed out after 0.3 s; PE 0 before shmem_init, PE 1 .*, PE 2 '
expect_soon 1300
run oshrun -n 20 --timeout=1 sleep 100
expect_rc 124
expect_err_line 'PE 7 before shmem_init, and 12 more PEs$'
run oshrun -n 2 --timeout 1 sh -c 'trap "" TERM INT; [ $SHOAL_PE = 0 ] || sleep 100'
expect_rc 124
expect_err_line '; PE 1 before'
run env MPIEXEC_TIMEOUT=0.2 oshrun -n 2 sleep 100
expect_rc 124
expect_err_line '^oshrun: timed out after 0.2 s; '
run env MPIEXEC_TIMEOUT=0.2 oshrun -n 2 --timeout 100 sleep 0.5
expect_rc 0
expect_quiet
run env MPIEXEC_TIMEOUT=soon oshrun -n 2 true
expect_rc 2
grep -q '^oshrun: MPIEXEC_TIMEOUT takes a number of seconds above 0, not "soon"$' "$tmp/err" ||
    fail "no line that says so"
run oshrun -n 2 --timeout 100 true
expect_rc 0
expect_quiet
