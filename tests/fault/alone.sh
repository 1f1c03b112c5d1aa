#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were not started by oshrun: one PE, with everything that a PE has.
. "$(dirname "$0")/../launch/lib.sh"

tests='fork statics rma malloc_random threads'
for test in $tests; do
    [ -x "$build/tests/api/$test" ] || skip "$build/tests/api/$test is not built"
done
for test in $tests; do
    run timeout 30 "$build/tests/api/$test"
    expect_rc 0
    expect_quiet
done
exit 0
