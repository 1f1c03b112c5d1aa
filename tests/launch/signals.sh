#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signals are passed on; INT and TERM end the job even if the PEs ignore them.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/pe" <<'EOF'
for s in INT TERM HUP QUIT USR1 USR2; do
    trap "echo got $s; [ $s = USR1 ] || exit 0" $s
done
echo $$ >$0.pid.$SHOAL_PE
while :; do sleep 0.05; done
EOF

# A shell's background command starts with INT and QUIT ignored, which oshrun would keep.
signals="HUP USR2 TERM" defaults=
if env --default-signal=INT,QUIT true 2>/dev/null; then
    signals="$signals INT QUIT" defaults="env --default-signal=INT,QUIT"
fi

start_job() { # COMMAND...
    rm -f "$tmp"/pe.pid.*
    $defaults oshrun -n 3 "$@" >"$tmp/out" 2>"$tmp/err" &
    job=$!
    for pe in 0 1 2; do wait_for test -s "$tmp/pe.pid.$pe"; done
}

for s in $signals; do
    what="SIG$s"
    start_job sh "$tmp/pe"
    kill -$s $job
    wait $job
    rc=$?
    expect_rc 0
    [ "$(grep -c "^got $s$" "$tmp/out")" -eq 3 ] || fail "not all PEs got it"
    expect_quiet
done
what=SIGUSR1
start_job sh "$tmp/pe"
kill -USR1 $job
wait_for sh -c "[ \$(grep -c 'got USR1' '$tmp/out') = 3 ]"
kill -TERM $job
wait $job
rc=$?
expect_rc 0

what="SIGTERM, default action"
start_job sh -c 'echo $$ >$0.pid.$SHOAL_PE; exec sleep 100' "$tmp/pe"
kill -TERM $job
wait $job
rc=$?
expect_rc 143
expect_err_line '^oshrun: the job was ended by SIGTERM$'
expect_gone $(cat "$tmp"/pe.pid.*)

cat >"$tmp/deaf" <<'EOF'
trap '' TERM
echo $$ >$(dirname $0)/pe.pid.$SHOAL_PE
exec sleep 100
EOF
what="SIGTERM ignored"
start_job sh "$tmp/deaf"
start=$(now_ms)
kill -TERM $job
wait $job
rc=$?
ms=$(($(now_ms) - start))
expect_rc 143
[ $ms -gt 1500 ] && [ $ms -lt 3000 ] || fail "ended after $ms ms, expected 2000"
expect_err_line 'the job outlived SIGTERM and was killed'
expect_gone $(cat "$tmp"/pe.pid.*)

what="signals ignored from the start"
rm -f "$tmp"/pe.pid.*
(trap "" INT TERM HUP QUIT TSTP; exec oshrun -n 2 sh -c 'grep SigIgn /proc/$$/status; echo $$ >$0.pid.$SHOAL_PE; sleep 1; exit 0' \
    "$tmp/pe" >"$tmp/out" 2>"$tmp/err") &
job=$!
for pe in 0 1; do wait_for test -s "$tmp/pe.pid.$pe"; done
for s in INT TERM HUP QUIT TSTP; do kill -$s $job; done
wait $job
rc=$?
expect_rc 0
expect_quiet
# HUP, INT and QUIT are 1 to 3, TERM is 15, TSTP 20.
[ "$(grep -c '^SigIgn:.*84007$' "$tmp/out")" -eq 2 ] || fail "the PEs do not ignore them"

what="SIGTERM twice within a moment, as from timeout(1)"
cat >"$tmp/slow" <<'EOF'
trap 'sleep 0.3; exit 0' TERM
echo $$ >$(dirname $0)/pe.pid.$SHOAL_PE
while :; do sleep 0.05; done
EOF
start_job sh "$tmp/slow"
kill -TERM $job
sleep 0.01
kill -TERM $job
wait $job
rc=$?
expect_rc 0
expect_quiet

what="SIGTERM twice"
start_job sh "$tmp/deaf"
start=$(now_ms)
kill -TERM $job
sleep 0.1
kill -TERM $job
wait $job
rc=$?
expect_rc 143
[ $(($(now_ms) - start)) -lt 1000 ] || fail "the second one was not the end"
expect_gone $(cat "$tmp"/pe.pid.*)

what="TSTP and CONT"
start_job sh -c 'echo $$ >$0.pid.$SHOAL_PE; exec sleep 100' "$tmp/pe"
pids=$(cat "$tmp"/pe.pid.*)
all_are() { for p in $2; do grep -q "^State:.$1" "/proc/$p/status" || return 1; done; }
kill -TSTP $job
wait_for all_are T "$job $pids"
kill -CONT $job
wait_for all_are S "$job $pids"
kill -TERM $job
wait $job
exit 0
