#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PEs' environment: inherited, -x, and a job inside a PE of another job.
. "$(dirname "$0")/lib.sh"

run env A=1 oshrun sh -c 'echo $A $SHOAL_PE'
expect_out '1 0'
run env A=1 oshrun -x A=2 -x B=x=y -xC=3 -x HOME sh -c 'echo $A $B $C'
expect_out '2 x=y 3'
run oshrun -x SHMEM_SYMMETRIC_SIZE=lots true
expect_rc 1
expect_err_line SHMEM_SYMMETRIC_SIZE
run oshrun -n 2 sh -c 'oshrun -n 3 sh -c "echo \$SHOAL_PE" | sort | tr -d "\n"; echo'
expect_rc 0
expect_out "$(printf '012\n012')"
run oshrun -n 2 sh -c 'oshrun -n 2 sh -c "readlink /proc/self/fd/\$SHOAL_JOB >/dev/null || exit 9"'
expect_rc 0
run oshrun -n 4 sh -c 'oshrun sh -c "exit 7" 2>/dev/null'
expect_rc 7
# A name and its value in two words, or in one.
for way in '-genv WORD a=b' '-genv WORD=a=b' '-genv=WORD=a=b' '-env WORD=a=b' '-env=WORD a=b'; do
    run oshrun $way -x C=1 sh -c 'echo $WORD $C'
    expect_rc 0
    expect_out 'a=b 1'
done
# None but those that are named, and Shoal's own.
names() { cut -d= -f1 "$tmp/out" | grep -v '^SHOAL_' | sort | tr '\n' ' '; }
export WORD_A=1 WORD_B=2 WORD_C=3
unset LD_LIBRARY_PATH
for way in -genvnone -envnone; do
    run oshrun $way -x WORD_A -genvlist WORD_B,WORD_ABSENT -env WORD_D 4 -genv WORD_E 5 /usr/bin/env
    expect_rc 0
    [ "$(names)" = "WORD_A WORD_B WORD_D WORD_E " ] || fail "other variables: $(names)"
    grep -qx WORD_A=1 "$tmp/out" && grep -qx WORD_D=4 "$tmp/out" || fail "other values"
done
run oshrun -envnone -env WORD_D 4 /usr/bin/env : sh -c 'echo WORD_$WORD_C >&2'
expect_rc 0
[ "$(names)" = "WORD_D " ] || fail "other variables: $(names)"
[ "$(cat "$tmp/err")" = WORD_3 ] || fail "the other program has none"
run oshrun -n 2 -genvnone "$build/examples/hello" # it is a job all the same
expect_rc 0
grep -q '2' "$tmp/out" || fail "not a job of two"
