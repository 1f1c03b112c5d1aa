#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many PEs start, and all are waited for. (How fast is measured by make bench: hello_N.)
. "$(dirname "$0")/lib.sh"

is_sanitized && skip "oshrun is instrumented by a sanitizer"
for n in 2 32 200; do
    run oshrun -n $n sh -c 'echo $SHOAL_PE'
    expect_rc 0
    [ "$(sort -n "$tmp/out")" = "$(seq 0 $((n - 1)))" ] || fail "not every PE of $n has run"
done
exit 0
