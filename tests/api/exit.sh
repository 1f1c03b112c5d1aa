#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# exit.sh BUILD_DIR: how a job ends and what its status is (global_exit, main's value, a death).
set -u
build=$1 failed=0
[ -x "$build/tests/api/exit" ] || { echo "skipped: $build/tests/api/exit is not built"; exit 77; }

# expect WAY STATUS: a number, or "nonzero"; fails too when the job does not end
expect() {
    local n out status
    for n in 1 2 5; do
        out=$(timeout -k 2 20 "$build/bin/oshrun" --timeout 15 -n $n "$build/tests/api/exit" "$1" 2>&1)
        status=$?
        case $2 in
            nonzero) [ $status -ne 0 ] && [ $status -ne 124 ] && [ $status -ne 137 ] && continue ;;
            *) [ $status -eq "$2" ] && continue ;;
        esac
        echo "exit $1 with $n PEs: status $status, expected $2; its output:"
        echo "$out" | head -10
        failed=1
    done
}

expect one 7
expect barrier 9
expect all 5
expect zero 0
expect flush 0
expect main 3
expect die nonzero
expect vanish nonzero
expect exit nonzero
out=$("$build/bin/oshrun" --timeout 15 -n 3 "$build/tests/api/exit" flush 2>/dev/null)
case $out in
    *"buffered text"*) ;;
    *) echo "global_exit did not flush standard output: '$out'"; failed=1 ;;
esac
# expect_line LINE WAY...: nobody waits for a PE that does not come, and somebody says so
expect_line() {
    local line=$1
    shift
    out=$(timeout -k 2 20 "$build/bin/oshrun" -n 3 "$build/tests/api/exit" "$@" 2>&1) && {
        echo "exit $*: the job ended well"
        failed=1
    }
    grep -Eq "$line" <<<"$out" || { echo "exit $*: no line '$line' in '$out'"; failed=1; }
}
gone='shmem_init: PE 0 has ended its program and will never come'
absent='PE 0 .* exited with status 0 without shmem_init, which others called'
expect_line "$gone" again
expect_line "$absent" begin absent
expect_line "$absent" begin refused
expect_line "PE [12]: $gone" begin refused_later
timeout -k 2 20 "$build/bin/oshrun" -n 3 "$build/tests/api/exit" begin tries >/dev/null 2>&1 || {
    echo "exit begin tries: a PE whose first shoal_init fails cannot try again"
    failed=1
}
left=$(pgrep -f "$build/tests/api/exit " | wc -l)
[ "$left" -eq 0 ] || { echo "$left processes are left"; failed=1; }
exit $failed
