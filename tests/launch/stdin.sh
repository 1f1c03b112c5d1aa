#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard input goes to PE 0, or where --stdin says; the others read an empty one. Closed descriptors do no harm.
. "$(dirname "$0")/lib.sh"

printf 'hello\nworld\n' >"$tmp/in"
run oshrun -n 3 sh -c 'cat >$0.$SHOAL_PE' "$tmp/got" <"$tmp/in"
expect_rc 0
cmp -s "$tmp/in" "$tmp/got.0" || fail "PE 0 did not get stdin"
[ -e "$tmp/got.1" ] && [ ! -s "$tmp/got.1" ] && [ ! -s "$tmp/got.2" ] || fail "others got stdin"
run oshrun -n 3 --stdin 2 sh -c 'cat >$0.$SHOAL_PE' "$tmp/other" <"$tmp/in"
expect_rc 0
cmp -s "$tmp/in" "$tmp/other.2" || fail "PE 2 did not get stdin"
[ -e "$tmp/other.0" ] && [ ! -s "$tmp/other.0" ] && [ ! -s "$tmp/other.1" ] || fail "others got stdin"
seq 100000 >"$tmp/long"
for from in "$tmp/long" pipe; do # each at its own pace
    [ $from = pipe ] || run oshrun -n 3 --stdin all sh -c 'sleep 0.$SHOAL_PE; cat >$0.$SHOAL_PE' "$tmp/all" <$from
    [ $from != pipe ] || cat "$tmp/long" | run oshrun -n 3 --stdin=all sh -c 'sleep 0.$SHOAL_PE; cat >$0.$SHOAL_PE' "$tmp/all"
    for pe in 0 1 2; do
        cmp -s "$tmp/long" "$tmp/all.$pe" || fail "PE $pe did not get all of stdin"
    done
    rm "$tmp"/all.*
done
for n in 1 2; do
    run oshrun -n $n --stdin none cat <"$tmp/in"
    expect_rc 0
    expect_out ''
done
run sh -c 'oshrun -n 2 --stdin all cat <&-'
expect_rc 0
expect_out ''
for which in 2 -1 x '' 0x1; do
    run oshrun -n 2 --stdin "$which" true
    expect_rc 2
done
run sh -c 'oshrun -n 2 sh -c "echo x" <&-'
expect_rc 0
expect_out "$(printf 'x\nx')"
run sh -c 'oshrun -n 2 true >&- 2>&-'
expect_rc 0
