#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where /dev/shm is small, or can hold nothing at all, and as a user without rights: Shoal's memory
# is in no directory, so nothing changes.
. "$(dirname "$0")/../launch/lib.sh"

tests='statics rma malloc_random coll_random'
for test in $tests; do
    [ -x "$build/tests/api/$test" ] || skip "$build/tests/api/$test is not built"
done

# Inside a mount namespace: MOUNT-OPTIONS COMMAND...
# shellcheck disable=SC2016
inside='mount -t tmpfs -o "$1" none /dev/shm && shift && exec "$@"'
mounted() {
    options=$1
    shift
    "${space[@]}" sh -c "$inside" sh "$options" "$@"
}

left_out=
space=(unshare -m)
mounted size=64k true 2>/dev/null || space=(unshare -Urm)
if mounted size=64k true 2>/dev/null; then
    # shellcheck disable=SC2016
    mounted size=64k sh -c 'head -c 200000 /dev/zero >/dev/shm/x' 2>/dev/null &&
        fail "200000 bytes fit into a /dev/shm of 64 KB: the test shows nothing"
    mounted ro,size=4k touch /dev/shm/x 2>/dev/null && fail "/dev/shm can be written to"
    for options in size=64k ro,size=4k; do
        for test in $tests; do
            run mounted $options oshrun -n 4 --timeout 30 "$build/tests/api/$test"
            expect_rc 0
            expect_quiet
        done
        run mounted $options sh -c 'oshrun -n 2 "$1" && ls -A /dev/shm' sh "$build/tests/api/rma"
        expect_rc 0
        expect_out ''
    done
else
    left_out="$left_out, no mount namespaces here"
fi

# As nobody, from a copy that nobody can reach.
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"; }
if [ "$(id -u)" = 0 ] && as_nobody true 2>/dev/null; then
    chmod 755 "$tmp"
    mkdir -m 755 "$tmp/bin" "$tmp/lib" "$tmp/api"
    cp "$build/bin/oshrun" "$tmp/bin"
    cp "$build/lib/libshoal.so.0" "$tmp/lib"
    chmod 755 "$tmp"/*/*
    for test in $tests; do
        cp "$build/tests/api/$test" "$tmp/api"
        run as_nobody env LD_LIBRARY_PATH="$tmp/lib" "$tmp/bin/oshrun" -n 4 --timeout 30 "$tmp/api/$test"
        expect_rc 0
        expect_quiet
    done
    run as_nobody env LD_LIBRARY_PATH="$tmp/lib" sh -c 'id -u; exec "$@"' sh "$tmp/api/rma" # alone
    expect_rc 0
    expect_out 65534
else
    left_out="$left_out, no change of user (not root, or no setpriv)"
fi
[ -z "$left_out" ] || skip "in part${left_out}"
exit 0
