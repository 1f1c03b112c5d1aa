#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE dies: within a second the job has ended with one line that names it and what it was doing,
# and no process is left.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/fault/victim
[ -x "$program" ] || skip "$program is not built"
ulimit -c 0
export ASAN_OPTIONS="$ASAN_OPTIONS:handle_segv=0:handle_abort=0"
export TSAN_OPTIONS="$TSAN_OPTIONS:handle_segv=0:handle_abort=0"
ls /dev/shm >"$tmp/shm.before" 2>/dev/null

# HOW WHERE STATUS PATTERN: what follows "PE 2 (pid N) " in the line, before the number of others
dies() {
    rm -f "$tmp"/pid.*
    run oshrun -n 4 --timeout 20 $late "$program" "$1" "$2" "$tmp" 2
    expect_rc "$3"
    pid=$(cat "$tmp/pid.2")
    expect_err_line "^oshrun: PE 2 \\(pid $pid\\) $4; the other 3 PEs were ended\$"
    expect_soon 1300 # of which 200 at most are the PE's
    expect_gone $(cat "$tmp"/pid.*)
}

# Only PE 2 becomes the program, and waits for the others in shmem_init.
cat >"$tmp/late" <<'EOF'
#!/bin/sh
[ "$SHOAL_PE" = 2 ] || exec sleep 100
exec "$@"
EOF
chmod +x "$tmp/late"

for place in in_barrier before_barrier put signal put_signal lock wait compute before_init in_init; do
    late=
    case $place in
        in_barrier) at=' in shmem_barrier_all' ;;
        put) at='; last Shoal call: shmem_put to PE 0' ;;
        signal) at='; last Shoal call: shmem_signal_set to PE 0' ;;
        put_signal) at='; last Shoal call: shmem_put_signal to PE 0' ;;
        before_init) at=' before shmem_init' ;;
        in_init) late=$tmp/late at=' in shmem_init' ;;
        *) at='.*' ;;
    esac
    dies kill $place 137 "was killed by SIGKILL \\(Killed\\)$at"
    dies segv $place 139 "was killed by SIGSEGV \\(Segmentation fault\\)$at"
    dies abort $place 134 "was killed by SIGABRT \\(Aborted\\)$at"
    dies exit3 $place 3 "exited with status 3$at"
    case $place in
        in_init) dies exit0 $place 1 "exited with status 0 in shmem_init" ;;
        before_init) dies exit0 $place 1 "exited with status 0 without shmem_init, which others called" ;;
        *) dies exit0 $place 1 "exited with status 0 before shmem_finalize.*" ;;
    esac
done
ls /dev/shm >"$tmp/shm.after" 2>/dev/null
cmp -s "$tmp/shm.before" "$tmp/shm.after" || fail "files were left in /dev/shm"
exit 0
