#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --bind: each PE to one core, going round; one warning where it cannot be. --report-bindings says where they are.
. "$(dirname "$0")/lib.sh"

command -v taskset >/dev/null || skip "no taskset"
# Who says where it may run, with or without hwloc.
run taskset -c 0 oshrun -n 2 --report-bindings "$build/examples/hello"
expect_rc 0
[ "$(sort "$tmp/err")" = "$(printf 'shoal: PE %d is on %s, CPUs 0\n' 0 "$(uname -n)" 1 "$(uname -n)")" ] ||
    fail "other places"
for place in core socket numa; do
    run oshrun -n 4 --bind $place sh -c 'taskset -cp $$ | sed "s/.*: //"'
    expect_rc 0
    if grep -q 'without hwloc' "$tmp/err"; then
        [ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "more than one warning"
        skip "built without hwloc"
    fi
    [ $place != core ] || [ "$(sort -u "$tmp/out" | wc -l)" -ge 2 ] || [ "$(nproc)" -lt 2 ] ||
        fail "all PEs are on the same core"
done
run taskset -c 0 oshrun -n 3 --bind core sh -c 'taskset -cp $$ | sed "s/.*: //"'
expect_out "$(printf '0\n0\n0')" # a place outside our own affinity is not used
run oshrun -n 2 --bind none true
expect_quiet
