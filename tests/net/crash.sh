#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over virtual nodes end as on one: a PE that crashes, exits, or is killed ends the job with the
# launcher's one line, whatever handlers the network's libraries would like to install.
set -u
. "$(dirname "$0")/../launch/lib.sh"
[ -e "$build/lib/libshoal-ofi.so" ] || skip "libshoal-ofi is not built: libfabric is missing"
export SHOAL_VNODES=2 SHOAL_TRANSPORT=ofi
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:detect_leaks=0" TSAN_OPTIONS="${TSAN_OPTIONS:-}:handle_segv=0:report_bugs=0" # libfabric is not ours to judge
cat >"$tmp/end.c" <<'PROGRAM'
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static long flag;
    shmem_init();
    shmem_long_p(&flag, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    if (shmem_my_pe() == 1 && argc > 1)
        switch (argv[1][0]) {
        case 's': raise(SIGSEGV); break;
        case 'k': raise(SIGKILL); break;
        case 'e': exit(7);
        case 'g': shmem_global_exit(5);
        }
    if (argc > 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 2);
    shmem_finalize();
    return 0;
}
PROGRAM
"$build/bin/oshcc" "$tmp/end.c" -o "$tmp/end" || fail "does not compile"
cd "$tmp" || exit 1
run oshrun -n 4 --timeout 30 ./end
expect_rc 0
expect_quiet
run oshrun -n 4 --timeout 30 ./end g
expect_rc 5
for how in "s 139 killed by SIGSEGV" "k 137 killed by SIGKILL" "e 7 exited with status 7"; do
    read -r letter rc_wanted words <<<"$how"
    run oshrun -n 4 --timeout 30 ./end "$letter"
    expect_rc "$rc_wanted"
    grep -Eq "^oshrun: PE 1 \(pid [0-9]+\) (was )?$words" "$tmp/err" || fail "no line about PE 1"
    [ -z "$(ls "$tmp" | grep btr)" ] || fail "a file is left behind"
done
exit 0
