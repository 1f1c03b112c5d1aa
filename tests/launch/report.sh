#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What oshrun tells when it is asked: where the PEs are, and how each of them has ended.
. "$(dirname "$0")/lib.sh"

run oshrun -n 3 -print-rank-map --print-all-exitcodes true
expect_rc 0
expect_out "($(uname -n):0,1,2)"
expect_err_line '^oshrun: exit codes: PEs 0 to 2: 0$'
run oshrun --display-map true
expect_out "($(uname -n):0)"
expect_quiet
run oshrun -n 3 -print-all-exitcodes sh -c 'case $SHOAL_PE in 0) sleep 3 ;; 1) kill -SEGV $$ ;; 2) exit 0 ;; esac'
expect_rc 139
is_sanitized t || grep -Eq '^oshrun: exit codes: PE 0: 137, PE 1: 139, PE 2: (0|137)$' "$tmp/err" || fail "other codes"
tail -n 1 "$tmp/err" | grep -q '^oshrun: PE 1 (pid [0-9]*) was killed by SIGSEGV' || fail "not why"
run oshrun -n 3 -print-all-exitcodes "$tmp/absent" # the others were not started
expect_rc 127
is_sanitized t || [ "$(head -n 1 "$tmp/err")" = 'oshrun: exit codes: PE 0: 127' ] || fail "other codes"
exit 0
