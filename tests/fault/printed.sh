#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a PE has printed before a mistake ends it is not lost where its output is no terminal.
. "$(dirname "$0")/../launch/lib.sh"
cat >"$tmp/prog.c" <<'EOF'
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    static long v;
    shmem_init();
    printf("before the mistake");
    shmem_long_p(&v, 1, 99);
}
EOF
oshcc -o "$tmp/prog" "$tmp/prog.c" 2>"$tmp/err" || skip "no compiler for this build: $(head -n 1 "$tmp/err")"
for n in 1 2; do
    run oshrun -n $n "$tmp/prog"
    expect_rc 1
    [ "$(grep -o 'before the mistake' "$tmp/out" | wc -l)" -ge 1 ] || fail "nothing of what was printed"
    grep -q 'argument pe is 99' "$tmp/err" || fail "no line about the mistake"
done
