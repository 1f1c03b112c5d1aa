#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Memory of a rank does not grow with the number of ranks: without communication and with
# allreduce, at most a tenth more, and a page table's worth, at 64 ranks than at 8. A duplicate of the world
# has no map of ranks: it takes as much at both.
. "$(dirname "$0")/../launch/lib.sh"
flat=$build/tests/mpi/flat
[ -x "$flat" ] || skip "tests/mpi/flat is not built"
[ -r /proc/self/smaps_rollup ] || skip "this kernel does not tell what a process has of its own"

is_sanitized && skip "a sanitizer has memory of its own"

measure() { # RANKS: sets none, reduce and pairs, KB, and duplicate, bytes
    run oshrun -n "$1" --timeout 100 "$flat"
    expect_rc 0
    read -r none reduce pairs duplicate <"$tmp/out"
}

measure 8
few_none=$none few_reduce=$reduce few_pairs=$pairs few_duplicate=$duplicate
measure 64
slack=128
[ "$none" -le $((few_none * 11 / 10 + slack)) ] || fail "without communication $few_none KB at 8 ranks, $none KB at 64"
[ "$reduce" -le $((few_reduce * 11 / 10 + slack)) ] || fail "with allreduce $few_reduce KB at 8 ranks, $reduce KB at 64"
[ "$duplicate" -le $((few_duplicate + 64)) ] || fail "a duplicate takes $few_duplicate bytes at 8 ranks, $duplicate at 64"
[ "${2-}" != show ] || echo "KB of a rank: none $few_none, $none; allreduce $few_reduce, $reduce; all pairs $few_pairs, $pairs; bytes of a duplicate $few_duplicate, $duplicate"
exit 0
