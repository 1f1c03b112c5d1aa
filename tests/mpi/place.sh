#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A grid on three nodes, where blocks are worse than the order that the processes have.
. "$(dirname "$0")/../launch/lib.sh"
place=$build/tests/mpi/place
[ -x "$place" ] || skip "tests/mpi/place is not built"
[ -e "$build/lib/libshoal-ofi.so" ] || [ -e "$build/lib/libshoal-ucx.so" ] || skip "no module of a network was built"
SHOAL_VNODES=3
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # libraries of networks are not ours to judge
export SHOAL_VNODES ASAN_OPTIONS
run oshrun -n 24 "$place"
[ "$rc" -ne 77 ] || skip "$(sed -n 's/^skipped: *//p;q' "$tmp/out")"
expect_rc 0
exit 0
