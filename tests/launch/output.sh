#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No output is lost or torn: many lines, long lines, a killed PE, a slow reader, prompts.
. "$(dirname "$0")/lib.sh"

run oshrun -n 6 sh -c 'seq -f "$SHOAL_PE line %.0f" 20000'
expect_rc 0
[ "$(wc -l <"$tmp/out")" -eq 120000 ] || fail "$(wc -l <"$tmp/out") lines of 120000"
for pe in 0 1 2 3 4 5; do
    seq -f "$pe line %.0f" 20000 >"$tmp/want"
    grep "^$pe " "$tmp/out" | cmp -s - "$tmp/want" || fail "PE $pe's lines are not in order"
done
oshrun -n 3 sh -c 'seq -f "$SHOAL_PE line %.0f" 20000' | (sleep 0.5; cat) >"$tmp/slow"
[ "$(sort "$tmp/slow" | uniq | wc -l)" -eq 60000 ] || fail "a slow reader misses lines"

# A PE that does not run for a while in the middle of a line tears nothing.
run oshrun -n 2 sh -c '[ $SHOAL_PE = 0 ] && { printf half; sleep 0.1; echo " and half"; exit; }
    for i in 1 2 3 4 5 6 7 8 9; do echo line; sleep 0.02; done'
[ "$(grep -c '^half and half$' "$tmp/out")" -eq 1 ] || fail "a line is torn"

run oshrun -n 2 sh -c 'seq 20000; kill -KILL $$'
expect_rc 137
[ "$(wc -l <"$tmp/out")" -ge 20000 ] || fail "lines of a killed PE are missing"
run oshrun -n 2 sh -c 'head -c 1000000 /dev/zero | tr "\0" x; echo; printf end'
[ "$(wc -c <"$tmp/out")" -eq 2000008 ] || fail "bytes of long lines are missing"

mkfifo "$tmp/fifo"
oshrun -n 2 sh -c '[ $SHOAL_PE = 0 ] && printf "name? " && exec sleep 100; exec sleep 100' >"$tmp/fifo" 2>"$tmp/err" &
job=$!
exec 3<"$tmp/fifo"
what=prompt
[ "$(head -c 6 <&3)" = "name? " ] || fail "the prompt is not shown"
kill -TERM $job
wait $job

# The reader goes: so does the job.
what="reader gone"
start=$(now_ms)
oshrun -n 3 yes | head -n 1 >/dev/null
[ $(($(now_ms) - start)) -lt 2000 ] || fail "the job outlived its reader"
# A reader that stands still does not keep the launcher from ending the job.
what="reader stands still"
{ oshrun -n 2 --timeout 0.5 yes 2>"$tmp/err"; echo $? >"$tmp/rc"; } | { sleep 1.5; cat >/dev/null; }
[ "$(cat "$tmp/rc")" = 124 ] || fail "status $(cat "$tmp/rc")"
# A reader that does not read is not waited for when the user wants the end.
mkfifo "$tmp/stuck"
sleep 60 <"$tmp/stuck" &
reader=$!
for signal in TERM ''; do
    seconds=50
    [ -n "$signal" ] || seconds=0.5
    oshrun -n 2 --timeout $seconds yes >"$tmp/stuck" 2>"$tmp/err" &
    job=$! since=$(now_ms) what="${signal:-timeout} with a stuck reader"
    [ -z "$signal" ] || { sleep 0.5; kill -$signal $job; }
    wait $job
    rc=$? job=
    : >"$tmp/out"
    if [ -n "$signal" ]; then expect_rc 143; else expect_rc 124; fi
    [ $(($(now_ms) - since)) -lt 20000 ] || fail "it waited for the reader"
    grep -q '^oshrun: ' "$tmp/err" || fail "no line"
done
kill $reader
# Who writes to nobody says nothing, as with more PEs.
{ oshrun -n 1 yes 2>"$tmp/err"; echo $? >"$tmp/rc"; } | head -1 >/dev/null
[ "$(cat "$tmp/rc")" = 141 ] || fail "status $(cat "$tmp/rc")"
expect_quiet
# But that is said of one that writes to another place that nobody reads.
run oshrun -n 1 sh -c 'kill -PIPE $$'
expect_rc 141
grep -q SIGPIPE "$tmp/err" || fail "no line"
# After a good end the output of what PEs have started is passed on, too.
run oshrun -n 2 sh -c '(sleep 1; echo late; sleep 0.2; printf last) & echo early'
expect_rc 0
[ "$(grep -c '^early$' "$tmp/out")" -eq 2 ] || fail "not two early lines"
[ "$(grep -c '^late$' "$tmp/out")" -eq 2 ] || fail "not two late lines"
[ "$(tail -n 1 "$tmp/out")" = lastlast ] || fail "the last words are not there"
# It is waited for until the time is over, or a signal comes. Those that do not hold it are let alone.
run oshrun -n 2 --timeout 0.5 sh -c 'sleep 100 & echo $! >$0.$SHOAL_PE' "$tmp/pid"
expect_rc 124
expect_err_line '^oshrun: timed out after 0.5 s; processes that PEs have started still hold the output$'
expect_gone $(cat "$tmp/pid.0" "$tmp/pid.1")
rm "$tmp"/pid.*
oshrun -n 2 sh -c 'sleep 100 & echo $! >$0.$SHOAL_PE' "$tmp/pid" 2>"$tmp/err" &
job=$!
wait_for test -s "$tmp/pid.0" -a -s "$tmp/pid.1"
sleep 0.3
kill -TERM $job
wait $job
rc=$? job=
what="TERM after the PEs"
expect_rc 143
expect_err_line '^oshrun: the job was ended by SIGTERM$'
expect_gone $(cat "$tmp/pid.0" "$tmp/pid.1")
run oshrun -n 2 sh -c 'sleep 3 >/dev/null 2>&1 & echo x'
expect_rc 0
expect_soon 1500
expect_out "$(printf 'x\nx')"
# Not after a bad end of a PE that is alone with it.
run oshrun -n 2 sh -c 'sleep 3 & exit 4'
expect_rc 4
expect_soon 1500
if [ -c /dev/full ]; then
    what="full disk"
    # Also when it is the last that is left, after the PE.
    oshrun --tag sh -c 'exec 2>&-; printf x; sleep 0.1 &' >/dev/full 2>"$tmp/err"
    [ $? -eq 1 ] || fail "the end of the output is lost without a word"
    expect_err_line 'cannot write to stdout: No space'
    oshrun -n 2 yes >/dev/full 2>"$tmp/err"
    [ $? -eq 1 ] || fail "status is not 1"
    expect_err_line 'cannot write to stdout: No space'
fi
exit 0
