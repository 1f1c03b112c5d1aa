#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Exit statuses of the job, and the one line about it.
. "$(dirname "$0")/lib.sh"

run oshrun -n 3 true
expect_rc 0
expect_quiet
run oshrun -n 3 sh -c 'exit $((SHOAL_PE == 1 ? 3 : 0))'
expect_rc 3
expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) exited with status 3'
run oshrun -n 3 sh -c '[ $SHOAL_PE != 1 ] || exit 3; exec sleep 100'
expect_rc 3
expect_err_line 'exited with status 3; the other 2 PEs were ended$'
expect_soon 1000
run oshrun -n 2 sh -c '[ $SHOAL_PE != 1 ] || kill -SEGV $$; exec sleep 100'
expect_rc 139
expect_err_line '^oshrun: PE 1 \(pid [0-9]+\) was killed by SIGSEGV \(Segmentation fault\); the other PE was ended$'
expect_soon 1000
run oshrun sh -c 'kill -KILL $$'
expect_rc 137
expect_err_line '^oshrun: PE 0 \(pid [0-9]+\) was killed by SIGKILL \(Killed\)$'
# (libtsan makes vfork a fork, and the launcher then cannot see why exec failed.)
is_sanitized t || {
    run oshrun -n 2 "$tmp/missing"
    expect_rc 127
    expect_err_line "^oshrun: cannot run $tmp/missing: No such file"
    run oshrun -n 2 shoal-no-such-program
    expect_rc 127
    expect_err_line 'No such file'
    run oshrun -n 2 "$tmp"
    expect_rc 126
    expect_err_line 'Permission denied'
    printf '#!/no/such/interpreter\n' >"$tmp/script"
    chmod +x "$tmp/script"
    run oshrun -n 2 "$tmp/script"
    expect_rc 126
    expect_err_line 'its interpreter is missing'
}
# All PEs fail at the same time: still one line, and what each had to say is there.
run oshrun -n 4 sh -c 'echo out; echo err >&2; exit 5'
expect_rc 5
[ "$(grep -c '^err$' "$tmp/err")" -eq 4 ] || fail "lines of the PEs are missing"
[ "$(grep -c '^oshrun:' "$tmp/err")" -eq 1 ] || fail "not one line of oshrun's"
[ "$(tail -n 1 "$tmp/err" | cut -c 1-7)" = oshrun: ] || fail "oshrun's line is not the last"
SHMEM_SYMMETRIC_SIZE=-5 run oshrun -n 2 true
expect_rc 1
expect_err_line 'SHMEM_SYMMETRIC_SIZE'
