#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An ordinary user, and a small or missing /dev/shm: a job runs all the same.
. "$(dirname "$0")/lib.sh"

compile heap <<'EOF'
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    size_t words = (32 << 20) / sizeof(long); // 4 PEs: 128 MiB
    long *a = shmem_malloc(words * sizeof *a);
    if (!a)
        return 1;
    for (size_t i = 0; i < words; i += 512)
        shmem_p(&a[i], me, (me + 1) % n);
    shmem_barrier_all();
    for (size_t i = 0; i < words; i += 512)
        if (a[i] != (me + n - 1) % n)
            return 2;
    shmem_finalize();
    if (me == 0)
        puts("fine");
    return 0;
}
EOF
chmod 755 "$tmp" "$tmp/heap"
run oshrun -n 4 "$tmp/heap"
expect_rc 0
expect_out fine
done_any=no
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$build/bin/oshrun" &&
        setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$build/lib/libshoal.so"; then
        run setpriv --reuid 65534 --regid 65534 --clear-groups oshrun -n 4 "$tmp/heap"
        expect_rc 0
        expect_out fine
        done_any=yes
    fi
fi
in_namespace='mount -t tmpfs -o size=64m none /dev/shm || exit 99; "$@"'
if unshare -m sh -c "$in_namespace" sh true 2>/dev/null; then
    run unshare -m sh -c "$in_namespace" sh oshrun -n 4 "$tmp/heap"
    expect_rc 0
    expect_out fine
    run unshare -m sh -c 'mount -t tmpfs -o size=64m,mode=000,ro none /dev/shm; "$@"' sh \
        oshrun -n 4 "$tmp/heap"
    expect_rc 0
    run unshare -m sh -c 'mount -t tmpfs none /dev && "$@"' sh oshrun -n 4 "$tmp/heap"
    expect_rc 0
    expect_out fine
    done_any=yes
fi
[ $done_any = yes ] || skip "neither setpriv to another user nor unshare -m is possible here"
