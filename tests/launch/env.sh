#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PEs' environment: inherited, -x, and a job inside a PE of another job.
. "$(dirname "$0")/lib.sh"

run env A=1 oshrun sh -c 'echo $A $SHOAL_PE'
expect_out '1 0'
run env A=1 oshrun -x A=2 -x B=x=y -xC=3 -x HOME sh -c 'echo $A $B $C'
expect_out '2 x=y 3'
run oshrun -x SHMEM_SYMMETRIC_SIZE=lots true
expect_rc 1
expect_err_line SHMEM_SYMMETRIC_SIZE
run oshrun -n 2 sh -c 'oshrun -n 3 sh -c "echo \$SHOAL_PE" | sort | tr -d "\n"; echo'
expect_rc 0
expect_out "$(printf '012\n012')"
run oshrun -n 2 sh -c 'oshrun -n 2 sh -c "readlink /proc/self/fd/\$SHOAL_JOB >/dev/null || exit 9"'
expect_rc 0
run oshrun -n 4 sh -c 'oshrun sh -c "exit 7" 2>/dev/null'
expect_rc 7
