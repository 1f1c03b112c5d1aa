#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Nothing is left behind: the launcher killed, PEs with children, memory.
. "$(dirname "$0")/lib.sh"

export NOTE_TEST="$tmp" # marks the processes of this test
ls /dev/shm >"$tmp/shm.before" 2>/dev/null
what="launcher killed"
oshrun -n 4 sh -c 'echo $$ >$0.$SHOAL_PE; exec sleep 100' "$tmp/pid" &
job=$!
for pe in 0 1 2 3; do wait_for test -s "$tmp/pid.$pe"; done
kill -KILL $job
wait $job 2>/dev/null
expect_gone $(cat "$tmp"/pid.*)

# A failed job: grandchildren go too, also those in a session of their own.
rm -f "$tmp"/pid.*
run oshrun -n 2 sh -c 'setsid sleep 100 & echo $! >$0.$SHOAL_PE
    [ $SHOAL_PE = 0 ] && { sleep 0.3; exit 3; }; sleep 100' "$tmp/pid"
expect_rc 3
expect_soon 1500
expect_gone $(cat "$tmp"/pid.*)
run oshrun -n 2 --timeout 0.3 sh -c 'sleep 100 & echo $! >$0.$SHOAL_PE; sleep 100' "$tmp/pid"
expect_rc 124
expect_gone $(cat "$tmp"/pid.*)

# What a shell had started before it became the launcher is not of the job.
rm -f "$tmp"/pid.*
run sh -c 'sleep 100 & echo $! >$0.shell; exec oshrun -n 2 sh -c "sleep 100 & echo \$! >\$0.\$SHOAL_PE; exit 3" $0' "$tmp/pid"
expect_rc 3
kill "$(cat "$tmp/pid.shell")" || fail "the shell's own child was killed"
expect_gone $(cat "$tmp"/pid.[01])

# A good job may leave a daemon behind; it holds no memory of the job once it closes the file.
run oshrun -n 2 sh -c 'ls -l /proc/self/fd >&2'
expect_rc 0
[ "$(grep -c memfd:shoal "$tmp/err")" -eq 2 ] || fail "a PE has not exactly one job file"
[ "$(grep -c anon_inode "$tmp/err")" -eq 0 ] || fail "a PE has the launcher's descriptors"
ls /dev/shm >"$tmp/shm.after" 2>/dev/null
what="/dev/shm"
cmp -s "$tmp/shm.before" "$tmp/shm.after" || fail "files were left"
what="memory"
for fd in /proc/[0-9]*/fd/*; do
    case $(readlink "$fd") in
        *memfd:shoal*) pid=${fd#/proc/} pid=${pid%%/*}
            grep -aq "NOTE_TEST=$tmp" "/proc/$pid/environ" 2>/dev/null &&
                fail "process $pid still holds a job's memory" ;;
    esac
done
exit 0
