#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Containers forbid system calls. Whatever Shoal may like to have, it must do without: only the
# job's file itself is needed, and when it cannot be made one line says so.
. "$(dirname "$0")/../launch/lib.sh"

forbid=$build/tests/fault/forbid
tests='barrier signal wait coll_random lock'
[ -x "$forbid" ] || skip "$forbid is not built"
for test in $tests; do
    [ -x "$build/tests/api/$test" ] || skip "$build/tests/api/$test is not built"
done
run "$forbid" EPERM membarrier true
[ "$rc" -ne 77 ] || skip "seccomp filters cannot be installed here"
expect_rc 0

passes() { # ERROR CALLS TEST...
    error=$1 calls=$2
    shift 2
    for test; do
        run "$forbid" "$error" "$calls" oshrun -n 4 --timeout 30 "$build/tests/api/$test"
        expect_rc 0
        expect_quiet
    done
}
all=membarrier,process_vm_readv,process_vm_writev
# shellcheck disable=SC2086
for error in EPERM ENOSYS; do
    passes $error $all $tests
    passes $error membarrier barrier wait
    passes $error process_vm_readv coll_random
    passes $error process_vm_writev coll_random
    passes $error sched_setaffinity barrier signal
done

# Binding is not to be had: one warning, and the job runs. (Where vfork is made a fork, as by a thread
# sanitizer, the launcher does not hear of it.)
run "$forbid" EPERM sched_setaffinity oshrun --bind core -n 4 --timeout 30 "$build/tests/api/barrier"
expect_rc 0
is_sanitized t ||
    expect_err_line '^shoal: warning: (PE 0 is not bound: Operation not permitted|--bind: .* not bound)$'

for error in EPERM ENOSYS; do
    run "$forbid" $error memfd_create oshrun -n 4 --timeout 30 "$build/tests/api/barrier"
    [ "$rc" -ne 0 ] && [ "$rc" -lt 128 ] || fail "exit status $rc, expected a failure"
    expect_err_line '^shoal: .*memfd_create: (Operation not permitted|Function not implemented)'
    run "$forbid" $error memfd_create "$build/tests/api/barrier" # a PE that starts alone
    expect_rc 1
    sed -i '/^shoal: shmem_init: the library cannot start; the line above says why$/d' "$tmp/err"
    expect_err_line '^shoal: .*memfd_create: (Operation not permitted|Function not implemented)'
done
exit 0
