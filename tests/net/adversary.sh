#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# SHOAL_ADVERSARY finds what a network that keeps order lets pass: programs with one synchronization
# missing fail under one of the first seeds, and with it pass under all of
# them. Some of the test programs pass as well; `make check NODES=2 SEEDS=200` is for all.
set -u
. "$(dirname "$0")/../launch/lib.sh"
[ -e "$build/lib/libshoal-ofi.so" ] || skip "libshoal-ofi is not built: libfabric is missing"
is_sanitized t && skip "the thread sanitizer itself sees that a fence is missing"
case $build in *hostile*) skip "puts are cut to pieces that other programs do not make" ;; esac
seeds="1 2 3"
export SHOAL_VNODES=2 SHOAL_OFI_PROVIDER='tcp;ofi_rxm'
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # libfabric is not ours to judge

bug() { # SEED NAME wrong|right
    local n=2
    [ "$2" = quiet ] && n=4
    export SHOAL_ADVERSARY=$1
    run oshrun -n $n --timeout 30 "$build/tests/net/adversary_bugs" "$2" "$3"
    what="seed $1: $what"
    case $rc in 0 | 1) ;; *) fail "exit status $rc" ;; esac
}

for name in fence quiet signal reuse; do
    found=
    for seed in $(seq 20); do # on a busy machine who looks may come too late for the first ones
        bug "$seed" $name wrong
        [ $rc -eq 1 ] || continue
        grep -q '^late: ' "$tmp/err" || fail "failed, but not of what is wrong with it"
        found=$seed
        break
    done
    [ -n "$found" ] || fail "no seed of 20 finds it"
    for seed in $seeds; do
        bug "$seed" $name right
        expect_rc 0
    done
    [ $name = quiet ] && continue # over two connections nothing keeps the order anyway
    bug 0 $name wrong
    expect_rc 0
done

for seed in 7 9 11 13; do
    bug "$seed" count right
    expect_rc 0
done

run "$here/../run" "$build" -N 2 -n 2 -S 2 -j 1 api/pg api/strided shoal/am_order
expect_rc 0

SHOAL_ADVERSARY=1 SHOAL_VNODES=1 run oshrun -n 2 "$build/tests/api/initialized"
expect_rc 0
expect_err_line 'shoal: PE 0: warning: SHOAL_ADVERSARY .* one node'
exit 0
