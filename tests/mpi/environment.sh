#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Command lines of many arguments, and of long ones, in MPI_INFO_ENV: all of them, or none.
. "$(dirname "$0")/../launch/lib.sh"
environment=$build/tests/mpi/environment
[ -x "$environment" ] || skip "tests/mpi/environment is not built"
word=0123456789abcdef
for i in 1 2 3 4 5 6; do word=$word$word; done # 1024 characters
run oshrun -n 1 "$environment" one two
expect_rc 0
run oshrun -n 1 "$environment" $(seq 300 | sed 's/.*/x/')
expect_rc 0
run oshrun -n 1 "$environment" "" "" three ""
expect_rc 0
run oshrun -n 1 "$environment" "${word%?}"
expect_rc 0
run oshrun -n 1 "$environment" "$word"
expect_rc 0
run oshrun -n 1 "$environment" $(seq 2000)
expect_rc 0
run oshrun -n 1 "$environment" "$word$word$word$word" more
expect_rc 0
exit 0
