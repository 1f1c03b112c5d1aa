#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A debugger finds the PEs by the names of MPIR, before main when it has started oshrun, and why a job is ended.
. "$(dirname "$0")/lib.sh"

! is_sanitized t || skip "the thread sanitizer's vfork is a fork: PEs are told of before they run their program"
command -v gdb >/dev/null || skip "no gdb"
oshrun=$(command -v oshrun)
gdb -nx -batch -ex run --args true >"$tmp/out" 2>&1 </dev/null
grep -q 'exited normally' "$tmp/out" || skip "gdb can run nothing here: $(tail -n 1 "$tmp/out")"
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" # which cannot be with a debugger
compile prog <<'EOF'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    fclose(fopen(argv[1], "w"));
    shmem_init();
    if (argc > 2 && shmem_my_pe() == 1)
        exit(3);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
EOF
debug() { # COMMAND...: of gdb's, at MPIR_Breakpoint
    cat >"$tmp/before" <<'EOF'
set pagination off
set width 0
break main
run
set var *(int *)&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
EOF
    printf '%s\n' "$@" >"$tmp/commands"
    run timeout 100 gdb -nx -batch -x "$tmp/before" -x "$tmp/commands" --args "$oshrun" -n 2 "$tmp/prog" "$tmp/began" $more
    ! grep -q 'No symbol table\|ptrace: Operation not permitted' "$tmp/out" || skip "gdb cannot look at oshrun"
}
table='*(char ***)&MPIR_proctable'
tell='printf "told %d %d %d\n", *(int *)&MPIR_debug_state, *(int *)&MPIR_proctable_size, (int)&MPIR_partial_attach_ok != 0'
pe() { # NUMBER: host, program, and the process by its name
    printf '%s\n' "printf \"PE $1: %s %s\\n\", ($table)[3 * $1], ($table)[3 * $1 + 1]" \
        "eval \"shell cat /proc/%d/comm\", (int)(long)($table)[3 * $1 + 2]"
}
more=
debug "$tell" "$(pe 0)" "$(pe 1)" "shell sleep 0.5; test -e $tmp/began || echo held" continue
grep -q '^told 1 2 1$' "$tmp/out" || fail "not a table of two"
for pe in 0 1; do
    grep -Fxq "PE $pe: $(uname -n) $(readlink -f "$tmp/prog")" "$tmp/out" || fail "not where PE $pe is"
done
[ "$(grep -cx prog "$tmp/out")" -eq 2 ] || fail "not two processes"
grep -qx held "$tmp/out" || fail "the PEs were not held"
[ -e "$tmp/began" ] || fail "the PEs did not go on"
grep -q 'exited normally' "$tmp/out" || fail "no good end"
more=fail
debug continue "$tell" 'printf "%s\n", *(char **)&MPIR_debug_abort_string' continue
grep -q '^told 2 2 1$' "$tmp/out" || fail "not told of the end"
grep -q '^PE 1 (pid [0-9]*) exited with status 3' "$tmp/out" || fail "not told why"
grep -q 'exited with code 03' "$tmp/out" || fail "another status"

# One that comes later finds the table as well.
oshrun -n 2 sleep 100 2>/dev/null &
job=$!
wait_for pgrep -P $job sleep
sleep 0.2
run gdb -nx -batch -ex "$tell" -ex "printf \"PE 1: %s\\n\", ($table)[4]" "$oshrun" $job
kill -TERM $job
wait $job
job=
grep -q '^told 1 2 1$' "$tmp/out" && grep -q '^PE 1: /.*\(sleep\|coreutils\|busybox\)' "$tmp/out" || fail "no table"
exit 0
