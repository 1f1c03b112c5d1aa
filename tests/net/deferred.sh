#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Triggered operations that make each other due are run by a provider that takes deferred work, when
# it was named: as many as the test has, by SHOAL_STATS; none of them without such a provider,
# behind an adversary, or when that is switched off; and with the same result.
set -u
. "$(dirname "$0")/../launch/lib.sh"
[ -e "$build/lib/libshoal-ofi.so" ] || skip "libshoal-ofi is not built: libfabric is missing"
is_sanitized t && skip "the thread sanitizer does not follow sources into libfabric"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # libfabric is not ours to judge

chained() { # PROVIDER SETTING...: how many works of each PE were run in chains, at least
    provider=$1
    shift
    run env SHOAL_STATS=1 SHOAL_VNODES=2 SHOAL_OFI_PROVIDER="$provider" "$@" \
        timeout -k 5 100 oshrun -n 2 --timeout 90 "$build/tests/shoal/trigger_chain"
    expect_rc 0
    least=$(sed -n 's/^shoal: PE [01]: \([0-9]*\) triggered operations in .*/\1/p' "$tmp/err" |
        sort -n | head -n 1)
    pes=$(grep -c 'triggered operations in' "$tmp/err")
}

chained sockets
[ "$pes" = 2 ] || fail "not both PEs have run chains: $(cat "$tmp/err")"
# 20 rounds: 40 links on 40 counters, 40 on one, 4 to a flag, 2 and a message, some to be cancelled.
# Where a chain is full, or a counter's lock is not free, a link goes by itself.
[ "${least:-0}" -ge 1500 ] || fail "only ${least:-0} works were run in chains"
for other in 'tcp;ofi_rxm' 'sockets SHOAL_OFI_OFFLOAD=0' 'sockets SHOAL_ADVERSARY=3'; do
    chained $other
    [ "$pes" = 0 ] || fail "with $other ${least} works were run in chains"
done
exit 0
