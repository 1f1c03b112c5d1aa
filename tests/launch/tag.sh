#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --tag: every line of both streams, also an unfinished last one, and none torn apart.
. "$(dirname "$0")/lib.sh"

run oshrun -n 3 --tag sh -c 'echo a $SHOAL_PE; echo; echo e $SHOAL_PE >&2; printf last'
expect_rc 0
sort "$tmp/out" >"$tmp/sorted"
for pe in 0 1 2; do
    for line in "[$pe] a $pe" "[$pe] " "[$pe] last"; do
        grep -Fxq -- "$line" "$tmp/sorted" || fail "no line \"$line\""
    done
    grep -Fxq -- "[$pe] e $pe" "$tmp/err" || fail "PE $pe's stderr has no tag"
done
run oshrun -t sh -c 'echo one'
expect_out '[0] one'
# A line in two parts with a silence between: its tag comes once, others start lines of their own.
run oshrun -n 2 -t sh -c '[ $SHOAL_PE = 0 ] || { sleep 0.3; echo other; exit; }; printf "ab "; sleep 0.6; echo cd'
grep -Fxq '[1] other' "$tmp/out" || fail "PE 1's line is torn"
run oshrun -t sh -c 'printf "ab "; sleep 0.2; echo cd'
expect_out '[0] ab cd'
