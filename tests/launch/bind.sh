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
for place in core socket numa hwthread core:overload-allowed; do
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
# Several cores for each: as many as it says, or what there is of them.
if [ "$(nproc)" -ge 2 ] && [ "$(lscpu -p=core | grep -v '#' | sort -u | wc -l)" -ge 2 ]; then
    run oshrun -n 1 --bind core:2 sh -c 'nproc'
    two=$(cat "$tmp/out")
    [ "$two" -ge 2 ] || fail "not two cores but $two"
    for way in '--map-by slot:PE=2' '--map-by :pe=2 --bind-to core' '--cpus-per-proc 2' '--map-by ppr:1:node:PE=2'; do
        run oshrun -n 1 $way nproc
        expect_out "$two"
    done
    run oshrun -n 1 --bind none nproc
    all=$(cat "$tmp/out")
    for way in '--map-by core:PE=1 --bind-to none' '--bind core:1000'; do
        run oshrun -n 1 $way nproc
        expect_out "$all"
    done
fi
run oshrun -n 2 --bind none true
expect_quiet
