#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What active messages take of a PE's memory depends on how many it talks with, not on how many there
# are: as much at 64 PEs as at 16, when none has talked, with 2 partners and with 8.
. "$(dirname "$0")/../launch/lib.sh"
flat=$build/tests/shoal/am_flat
[ -x "$flat" ] || skip "tests/shoal/am_flat is not built"
[ -r /proc/self/smaps_rollup ] || skip "this kernel does not tell what a process has of its own"

case $build in *hostile*) skip "tiny channels are not what is to be measured" ;; esac
is_sanitized && skip "a sanitizer has memory of its own"

measure() { # PES: sets silent, two and eight, KB
    run oshrun -n "$1" --timeout 100 "$flat"
    expect_rc 0
    read -r silent two eight <"$tmp/out"
}

compare() { # WHAT AT_16 AT_64: a tenth, and a page table's worth
    [ "$3" -le $(($2 * 11 / 10 + 64)) ] || fail "$1: $2 KB at 16 PEs, $3 KB at 64"
}

measure 16
few_silent=$silent few_two=$two few_eight=$eight
measure 64
[ "${2-}" != show ] || echo "KB of a PE at 16 and 64: silent $few_silent, $silent; 2 partners $few_two, $two; 8 $few_eight, $eight"
compare "before they talk" "$few_silent" "$silent"
compare "with 2 partners" "$few_two" "$two"
compare "with 8 partners" "$few_eight" "$eight"
[ "$eight" -gt "$two" ] || fail "eight partners take no more than two: $eight KB, $two KB"
exit 0
