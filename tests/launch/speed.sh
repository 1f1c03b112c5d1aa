#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Starting is fast: 32 PEs within 80 ms, 2 PEs within 10 ms, best of many (the machine is shared).
. "$(dirname "$0")/lib.sh"

is_sanitized && skip "oshrun is instrumented by a sanitizer"
program=/bin/true
best() { # PEs TRIES
    least=99999999
    for i in $(seq "$2"); do
        start=$(date +%s%N)
        oshrun -n "$1" $program >/dev/null || fail "$1 PEs: status $?"
        took=$((($(date +%s%N) - start) / 1000))
        [ $took -ge $least ] || least=$took
    done
}
best 2 40
[ $least -le 10000 ] || fail "2 PEs take $least us"
best 32 10
[ $least -le 80000 ] || fail "32 PEs take $least us"
best 200 1
exit 0
