#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Few file descriptors: the soft limit is raised; where the hard one does not do, PEs write
# themselves, with one warning.
. "$(dirname "$0")/lib.sh"

run sh -c 'ulimit -Sn 32; exec oshrun -n 16 --tag sh -c "echo x; ulimit -Sn >&2"'
expect_rc 0
[ "$(sort -u "$tmp/out" | wc -l)" -eq 16 ] || fail "not 16 tagged lines"
[ "$(grep -c '\] 32$' "$tmp/err")" -eq 16 ] || fail "the PEs did not get their limit back"
run sh -c 'ulimit -n 32; exec oshrun -n 16 echo x'
expect_rc 0
[ "$(wc -l <"$tmp/out")" -eq 16 ] || fail "not 16 lines"
expect_err_line 'warning: ulimit -n is 32'

# Between nodes PEs raise the soft limit themselves, to what connections may need, and no further.
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || continue
    is_sanitized && continue # a build that needs more
    run sh -c "ulimit -Sn 16; SHOAL_VNODES=4 SHOAL_TRANSPORT=$transport exec oshrun --timeout 50 -n 8 $build/tests/api/signal"
    expect_rc 0
    expect_quiet
done
run sh -c "ulimit -Sn 16; exec oshrun -n 2 $build/tests/api/signal"
expect_rc 0
expect_quiet
