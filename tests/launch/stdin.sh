#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard input goes to PE 0; the others read an empty one. Closed descriptors do no harm.
. "$(dirname "$0")/lib.sh"

printf 'hello\nworld\n' >"$tmp/in"
run oshrun -n 3 sh -c 'cat >$0.$SHOAL_PE' "$tmp/got" <"$tmp/in"
expect_rc 0
cmp -s "$tmp/in" "$tmp/got.0" || fail "PE 0 did not get stdin"
[ -e "$tmp/got.1" ] && [ ! -s "$tmp/got.1" ] && [ ! -s "$tmp/got.2" ] || fail "others got stdin"
run sh -c 'oshrun -n 2 sh -c "echo x" <&-'
expect_rc 0
expect_out "$(printf 'x\nx')"
run sh -c 'oshrun -n 2 true >&- 2>&-'
expect_rc 0
