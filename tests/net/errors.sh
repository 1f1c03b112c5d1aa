#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What is wrong between hosts is told in a line that names the host and says what to do, and soon: an
# interface that is missing or leads elsewhere, a host that cannot be reached from some other, another
# version of the library, another executable, another transport.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
PATH=$PATH:/usr/sbin:/sbin
compile pair <<'PROGRAM'
#include <shmem.h>
#include <stdlib.h>
#ifdef MORE
static long more[4096];
#endif
int main(int argc, char **argv)
{
    static long word;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), to = argc > 1 ? atoi(argv[1]) : (me + 1) % n;
    if (argc == 1 || me == 0)
        shmem_long_p(&word, 1, to);
    shmem_quiet();
#ifdef MORE
    more[me] = word;
#endif
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
PROGRAM
export SHOAL_HOST_TIMEOUT=2

# hydra now and then drops what was written just before its job ended: a failure without a word of
# the library is tried again.
on_hosts() {
    local try
    for try in 1 2 3; do
        run timeout -k 1 30 "${hydra[@]}" -hosts "$1" -n "$2" "${@:3}" </dev/null
        [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] && ! grep -q 'shoal: ' "$tmp/err" || return 0
    done
}

# told PATTERN: in exactly one of the library's lines
told() {
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc"
    [ "$ms" -lt 15000 ] || fail "took $ms ms"
    [ "$(grep -c 'shoal: ' "$tmp/err")" -eq 1 ] || fail "$(grep -c 'shoal: ' "$tmp/err") lines"
    grep -Eq -- "shoal: PE [0-9]+: $1" "$tmp/err" || fail "no line like: $1"
}
# told_by_some PATTERN: from one host or from several
told_by_some() {
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc"
    [ "$ms" -lt 15000 ] || fail "took $ms ms"
    grep -Eq -- "shoal: PE [0-9]+: $1" "$tmp/err" || fail "no line like: $1"
    ! grep 'shoal: ' "$tmp/err" | grep -Evq -- "$1" || fail "there are other lines"
}
two=shoal1:2,shoal2:2
transports=ofi
[ ! -e "$build/lib/libshoal-ucx.so" ] || transports="ofi ucx"

hosts 2
on_hosts $two 4 "$tmp/pair"
expect_rc 0

# Those who watch a host know from the PE that ends there itself, not from a launcher that takes its time.
# shellcheck disable=SC2016
on_hosts $two 4 bash -c '"$0" 99; rc=$?; sleep 3; exit $rc' "$tmp/pair"
told 'shmem_long_p: argument pe is 99, there are PEs 0 to 3'

# An interface of that name on one host only.
extra() { # HOST NAME ADDRESS: one more interface, which leads nowhere
    ip -n "$1" link add "$2" type veth peer name "$2-p" && ip -n "$1" link set "$2" up &&
        ip -n "$1" link set "$2-p" up && ip -n "$1" addr add "$3" dev "$2" || fail "no interface $2"
}
extra shoal1 far0 192.168.1.1/24
SHOAL_INTERFACE=far0 on_hosts $two 4 "$tmp/pair"
told 'SHOAL_INTERFACE=far0: host shoal2 \(PEs 2 to 3\) has no such network interface.* it has .*eth0 10.77.0.2'
SHOAL_INTERFACE=172.16.0.0/12 on_hosts $two 4 "$tmp/pair"
told_by_some 'SHOAL_INTERFACE=172.16.0.0/12: host shoal[12] \(PEs .*\) has no such network interface'

# It is there on both, in networks that do not meet: by other subnets, by no cable.
extra shoal2 far0 192.168.2.1/24
SHOAL_INTERFACE=far0 on_hosts $two 4 "$tmp/pair"
told_by_some 'host shoal[12] .* is lost: it cannot be reached from here .*SHOAL_INTERFACE'
extra shoal1 far1 192.168.3.1/24
extra shoal2 far1 192.168.3.2/24
SHOAL_INTERFACE=far1 on_hosts $two 4 "$tmp/pair"
told_by_some 'host shoal[12] .* is lost: it cannot be reached from here .*SHOAL_INTERFACE'

# A route that discards, and a filter that drops.
ip -n shoal1 route add blackhole 10.77.0.2/32 || fail "no blackhole"
for transport in $transports; do
    SHOAL_TRANSPORT=$transport on_hosts $two 4 "$tmp/pair"
    told_by_some 'host shoal[12] .* is lost: it cannot be reached from here .*routes and firewalls'
done

# Neighbours in the ring reach each other, and two others do not. Four hosts share this machine's cores: they
# get more time for an answer.
export SHOAL_HOST_TIMEOUT=4
hosts 4
ip -n shoal1 route add blackhole 10.77.0.3/32 || fail "no blackhole"
for transport in $transports; do
    SHOAL_TRANSPORT=$transport on_hosts shoal1,shoal2,shoal3,shoal4 4 "$tmp/pair" 2
    told_by_some "$transport: .*PE [02] on host shoal[13] "
done
if command -v nft >/dev/null; then
    drop() { # HOST ADDRESS
        ip netns exec "$1" nft -f - <<<"table ip t { chain c { type filter hook input priority 0; ip saddr $2 tcp dport 1-65535 drop; }; }"
    }
    hosts 4
    if drop shoal3 10.77.0.1; then
        on_hosts shoal1:2,shoal3:2 4 "$tmp/pair"
        told_by_some 'host shoal[13] .* is lost: it cannot be reached from here .*no answer.*firewalls'
        export SHOAL_TRANSPORT=ofi # UCX waits for the system, which gives up after two minutes
        on_hosts shoal1,shoal2,shoal3,shoal4 4 "$tmp/pair" 2
        told_by_some "ofi: .*PE [02] on host shoal[13] .*no answer"
        unset SHOAL_TRANSPORT
    else
        echo "left out: this kernel has no nftables"
    fi
else
    echo "left out: no nft"
fi

export SHOAL_HOST_TIMEOUT=2

# Another executable, another heap, another version of the library on one host.
hosts 2
on_shoal2() { # SHELL WORDS: run on that host before the program
    # shellcheck disable=SC2016
    on_hosts $two 4 bash -c "[ \"\$(hostname)\" = shoal1 ] || { $1; }; exec ${2-$tmp/pair}"
}
"$build/bin/oshcc" -DMORE "$tmp/pair.c" -o "$tmp/pair_more" || fail "does not compile"
on_shoal2 "exec $tmp/pair_more"
told 'PE 2 on host shoal2 runs otherwise than PE 0 on host shoal1, with another executable'
root=$(cd "$here/../.." && pwd)
mkdir "$tmp/other"
cp -r "$root"/{Makefile,lib,transports,include} "$tmp/other"
sed -i 's/^#define JOB_LAYOUT .*/#define JOB_LAYOUT 99u/' "$tmp/other/lib/core/job.h"
make -s -C "$tmp/other" -j2 OPT=-O0 CC=gcc BUILD="$tmp/other/build" "$tmp"/other/build/lib/libshoal{,-ofi}.so >"$tmp/make" 2>&1 || fail "no other library: $(tail -n 3 "$tmp/make")"
on_shoal2 "export LD_LIBRARY_PATH=$tmp/other/build/lib; export LD_PRELOAD=$tmp/other/build/lib/libshoal.so.0"
told 'PE 2 on host shoal2 has another version of libshoal than PE 0 on host shoal1 .*install the same'

# Another transport, or another of libfabric's providers: on a host, on one PE of a host, on a virtual node.
remedy='give all PEs the same SHOAL_TRANSPORT and SHOAL_OFI_PROVIDER'
on_pe() { # PE SETTING: on that PE alone, of four on two virtual nodes
    run env SHOAL_VNODES=2 timeout -k 1 30 oshrun -n 4 bash -c "[ \$SHOAL_PE != $1 ] || export $2; exec $tmp/pair"
}
export SHOAL_TRANSPORT=ofi
on_shoal2 "export SHOAL_OFI_PROVIDER=sockets"
told "PE 2 on host shoal2 uses transport ofi with provider sockets, and PE 0 on host shoal1 ofi with provider [^ ]*: $remedy"
on_shoal2 "[ \$PMI_RANK = 2 ] || export SHOAL_OFI_PROVIDER=sockets"
told "PE 3 on host shoal2 uses transport ofi with provider sockets, and PE 2 on host shoal2 ofi with provider [^ ]*: $remedy"
on_pe 2 SHOAL_OFI_PROVIDER=sockets
told "PE 2 on node 1 uses transport ofi with provider sockets, and PE 0 on node 0 ofi with provider [^ ]*: $remedy"
unset SHOAL_TRANSPORT
if [ "$transports" != ofi ]; then
    for other in ofi ucx; do
        export SHOAL_TRANSPORT=$other
        [ $other = ofi ] && there=ucx || there=ofi
        on_shoal2 "export SHOAL_TRANSPORT=$there"
        told "PE 2 on host shoal2 uses transport $there.*, and PE 0 on host shoal1 $other.*: $remedy"
        on_pe 3 SHOAL_TRANSPORT=$there
        told "PE 3 on node 1 uses transport $there.*, and PE 0 on node 0 $other.*: $remedy"
    done
    unset SHOAL_TRANSPORT
fi

# Names of nothing, and numbers that cannot be meant.
for transport in auto ofi; do
    SHOAL_TRANSPORT=$transport SHOAL_OFI_PROVIDER=bogus on_pe 0 A=1
    told 'SHOAL_OFI_PROVIDER=bogus cannot be used on node [01] .*fi_info'
done
SHOAL_TRANSPORT=foo on_pe 0 A=1
expect_err_line 'shoal: SHOAL_TRANSPORT="foo": it takes auto, ofi or ucx'
for setting in SHOAL_HOST_TIMEOUT=-3 SHOAL_ADVERSARY=-5 'SHOAL_VNODES=0'; do
    run env SHOAL_VNODES=2 $setting timeout -k 1 30 oshrun -n 4 "$tmp/pair"
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc"
    expect_err_line "shoal: ${setting%=*}=\"${setting#*=}\": it takes a whole number >= [01]"
done
exit 0
