#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Nothing of a job is reachable but at the address it was given: in a network of its own with several
# addresses every socket of every PE is bound to the chosen one, on one node there is none, and an
# interface that does not exist is refused.
set -u
. "$(dirname "$0")/../launch/lib.sh"
case $build in *hostile*) skip "nothing here depends on sizes" ;; esac
is_sanitized t && skip "done with the other builds: where sockets are bound is no matter of threads"
[ -e "$build/lib/libshoal-ofi.so" ] || skip "libshoal-ofi is not built: libfabric is missing"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # libfabric is not ours to judge
unshare -n true 2>/dev/null || skip "no network namespaces here"
cat >"$tmp/in_network" <<'SCRIPT'
mount -t sysfs none /sys # UCX looks there
ip link set lo up && ip link add d0 type veth peer name d1 && ip link set d1 up &&
    ip addr add 10.1.0.1/24 dev d0 && ip addr add 10.1.0.2/24 dev d0 && ip addr add 10.2.0.1/24 dev d1 &&
    ip link set d0 up || exit 77
exec "$@"
SCRIPT
unshare -n -m bash "$tmp/in_network" true 2>/dev/null || skip "no virtual interfaces here"

job_on() { # PROVIDER INTERFACE
    run env SHOAL_VNODES=2 SHOAL_OFI_PROVIDER="$1" SHOAL_INTERFACE="$2" timeout -k 5 50 \
        unshare -n -m bash "$tmp/in_network" oshrun -n 4 --timeout 30 "$build/tests/net/sockets"
    what="$1 on $2"
}

has() { # PROVIDER: later versions of libfabric have no net;ofi_rxm
    SHOAL_VNODES=2 SHOAL_OFI_PROVIDER="$1" oshrun -n 2 "$build/tests/net/sockets" >"$tmp/out" 2>&1 ||
        ! grep -q "SHOAL_OFI_PROVIDER=$1 cannot be used" "$tmp/out" || { echo "left out: libfabric has no $1"; return 1; }
}
providers='tcp;ofi_rxm'
for provider in 'net;ofi_rxm' sockets; do
    has "$provider" && providers="$providers $provider"
done
for provider in $providers; do
    for where in 10.1.0.2=10.1.0.2 d1=10.2.0.1 10.1.0.1/32=10.1.0.1 =127.0.0.1; do
        job_on "$provider" "${where%=*}"
        expect_rc 0
        [ "$(grep -c "^listens ${where#*=}$" "$tmp/out")" -ge 4 ] || fail "not every PE listens there"
        # The provider sockets binds what listens, and leaves the rest to the system.
        [ "$provider" = sockets ] && grep -v '^speaks' "$tmp/out" >"$tmp/rest" && mv "$tmp/rest" "$tmp/out"
        ! grep -v " ${where#*=}$" "$tmp/out" | grep -q . || fail "a socket is elsewhere"
        [ "$provider" = 'tcp;ofi_rxm' ] || break # the others once
    done
done
if [ -e "$build/lib/libshoal-ucx.so" ]; then
    SHOAL_TRANSPORT=ucx job_on '' d1
    expect_rc 0
    ! grep -v ' 10\.2\.0\.1$' "$tmp/out" | grep -q . || fail "a socket of UCX is elsewhere"
fi
job_on 'tcp;ofi_rxm' d7
[ $rc -ne 0 ] && [ $rc -lt 124 ] || fail "exit status $rc although there is no such interface"

# A queue with a descriptor hung with this one.
if [[ $providers = *net* ]]; then
    run env SHOAL_VNODES=2 SHOAL_OFI_PROVIDER='net;ofi_rxm' oshrun -n 4 --timeout 30 "$build/tests/shoal/atomic"
    what="net;ofi_rxm, atomics of 4 PEs"
    expect_rc 0
fi

run oshrun -n 2 "$build/tests/net/sockets"
expect_rc 0
[ ! -s "$tmp/out" ] || fail "a socket on one node"

# This provider starts threads for every endpoint: signals are not theirs (api/guest).
if [[ $providers = *sockets* ]]; then
    run env SHOAL_VNODES=2 SHOAL_OFI_PROVIDER=sockets SHOAL_CTX_ENDPOINTS=1 oshrun -n 2 "$build/tests/api/guest"
    what="the program's signals"
    expect_rc 0
fi
exit 0
