# SPDX-License-Identifier: BSD-3-Clause
# Read by the scripts of tests/launch and tests/fault: `. lib.sh BUILD_DIR`.
#   run COMMAND...     runs it: stdout in $tmp/out, stderr in $tmp/err, status in $rc, time in $ms
#   expect_rc N, expect_out TEXT, expect_err_line PATTERN (the only line), expect_quiet, expect_soon MS
#   fail REASON, skip REASON, is_sanitized [t] (is the build instrumented by the address or the
#   thread sanitizer; t: by the latter)
build=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
PATH=$build/bin:$PATH
unset SHOAL_JOB SHOAL_PE SHOAL_LOG SLURM_JOB_NUM_NODES
tmp=$(mktemp -d) || exit 1
job= # a launcher in the background
trap '[ -z "$job" ] || kill -KILL "$job" 2>/dev/null; rm -rf "$tmp"' EXIT
command -v oshrun >"$tmp/which" && grep -q "^$build/" "$tmp/which" || {
    echo "skipped: $build/bin/oshrun is not built"
    exit 77
}
what=

fail() {
    echo "failed: ${what:+$what: }$*"
    for file in out err; do
        [ -s "$tmp/$file" ] && { echo "--- std$file"; head -n 10 "$tmp/$file"; }
    done
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

is_sanitized() { nm -D "$build/lib/libshoal.so" | grep -q "__[${1:-at}]san_"; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

run() {
    what="$*"
    start=$(now_ms)
    "$@" >"$tmp/out" 2>"$tmp/err"
    rc=$?
    ms=$(($(now_ms) - start))
}

expect_rc() { [ "$rc" -eq "$1" ] || fail "exit status $rc, expected $1"; }
expect_out() { [ "$(cat "$tmp/out")" = "$1" ] || fail "stdout is not \"$1\""; }
expect_quiet() { [ ! -s "$tmp/err" ] || fail "something on stderr"; }
# A sanitizer's build may take four times as long.
expect_soon() {
    [ "$ms" -lt "$1" ] || { is_sanitized && [ "$ms" -lt $((4 * $1)) ]; } || fail "took $ms ms"
}

expect_err_line() {
    [ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "$(wc -l <"$tmp/err") lines on stderr, expected one"
    grep -Eq -- "$1" "$tmp/err" || fail "stderr has no line like: $1"
}

# No process of these is left; a zombie that waits for init counts as gone.
expect_gone() {
    for pid; do
        tries=0
        while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
            tries=$((tries + 1))
            [ $tries -lt 50 ] || fail "process $pid is still there"
            sleep 0.02
        done
    done
}

# Waits up to 5 s for a command to succeed.
wait_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 250 ] || fail "waited in vain for: $*"
        sleep 0.02
    done
}

# A small OpenSHMEM program, compiled with oshcc from stdin: compile NAME
compile() {
    [ -e "$build/lib/libshoal.so" ] || skip "$build/lib/libshoal.so is not built"
    cat >"$tmp/$1.c"
    oshcc -o "$tmp/$1" "$tmp/$1.c" -lrt || fail "oshcc does not compile $1.c"
}
