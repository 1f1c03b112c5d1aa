#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Limits of files' sizes and of the address space: what can be lifted is, the rest has a line that says
# what helps.
. "$(dirname "$0")/lib.sh"

compile prog <<'END'
#include <shmem.h>
#include <stdio.h>
static long there[100000];
int main(void)
{
    shmem_init();
    shmem_long_p(&there[99999], 3, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("%ld\n", there[99999]);
    shmem_finalize();
    return 0;
}
END
# In blocks of 512 bytes or, in some shells, of 1024.
run sh -c 'ulimit -f 100; exec oshrun -n 2 "$0"' "$tmp/prog"
expect_rc 1
expect_err_line '^shoal: .*: File too large; .*`ulimit -f`'
run sh -c 'ulimit -f 100; exec "$0"' "$tmp/prog"
expect_rc 1
grep -q '^shoal: .*: File too large; .*`ulimit -f`' "$tmp/err" || fail "no line about ulimit -f"
run sh -c 'ulimit -S -f 100; exec "$0"' "$tmp/prog"
expect_rc 0
run sh -c 'ulimit -S -f 100; exec oshrun -n 2 sh -c "ulimit -f; exec \$0" "$0"' "$tmp/prog"
expect_rc 0
expect_quiet
[ "$(grep -c '^100$' "$tmp/out")" -eq 2 ] || fail "the PEs have another limit"
# The launcher's is higher than the PEs'.
run oshrun -n 2 sh -c 'ulimit -f 100; exec "$0"' "$tmp/prog"
expect_rc 1
grep -q 'static data symmetric: File too large; .*`ulimit -f`' "$tmp/err" || fail "no line about ulimit -f"

is_sanitized && exit 0 # which takes address space for itself
run sh -c 'ulimit -v 60000; SHMEM_SYMMETRIC_SIZE=1m exec "$0"' "$tmp/prog"
expect_rc 1
grep -q 'Cannot allocate memory; raise `ulimit -v`$' "$tmp/err" || fail "no line about ulimit -v alone"
run sh -c 'ulimit -v 1000000; SHMEM_SYMMETRIC_SIZE=2g exec "$0"' "$tmp/prog"
expect_rc 1
grep -q 'Cannot allocate memory; lower SHMEM_SYMMETRIC_SIZE or raise `ulimit -v`$' "$tmp/err" || fail "no line about both"
exit 0
