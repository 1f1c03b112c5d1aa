#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Graphs are laid out by the machine's tree as well, where processes are bound.
. "$(dirname "$0")/../launch/lib.sh"
reorder=$build/tests/mpi/reorder
[ -x "$reorder" ] || skip "tests/mpi/reorder is not built"
[ "$(nproc)" -eq 2 ] || skip "there are not two cores"
run oshrun --bind core -n 8 --timeout 60 "$reorder" hwloc://Core
[ "$rc" -ne 77 ] || skip "$(sed -n 's/^skipped: *//p;q' "$tmp/out")"
expect_rc 0
exit 0
