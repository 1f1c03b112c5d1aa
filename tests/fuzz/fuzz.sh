#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every parser of what others say, for a moment: the inputs that are kept, and what libFuzzer makes of
# them in a few seconds. `make fuzz FUZZ_SECONDS=600` is the long run.
set -u
. "$(dirname "$0")/../launch/lib.sh"
case $(basename "$build") in build) ;; *) skip "done with the plain build" ;; esac
command -v clang >/dev/null || skip "clang is not installed"
echo 'int LLVMFuzzerTestOneInput(const char *p, long n) { return p && n ? 0 : 0; }' >"$tmp/probe.c"
clang -fsanitize=fuzzer "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || skip "this clang has no libFuzzer"
cd "$here/../.." || exit 1
run make -s -j2 fuzzers BUILD="$build"
expect_rc 0
for corpus in tests/fuzz/*/; do
    name=$(basename "$corpus")
    [ -x "$build/tests/fuzz/fuzz_$name" ] || continue
    mkdir "$tmp/$name"
    run timeout -k 5 50 "$build/tests/fuzz/fuzz_$name" -max_total_time=3 -max_len=4096 -seed=1 \
        -artifact_prefix="$tmp/$name-" "$tmp/$name" "$corpus"
    [ $rc -eq 0 ] || { grep -E 'ERROR|runtime error|SUMMARY|#[0-9] ' "$tmp/err" >"$tmp/out"; : >"$tmp/err"; }
    expect_rc 0
done
exit 0
