#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives between nodes: each algorithm by force, on PEs numbered node by node and round-robin;
# and how many messages one takes.
set -u
. "$(dirname "$0")/../launch/lib.sh"
export SHOAL_VNODES=4 SHOAL_TRANSPORT=ofi
failed=0

fail() { echo "$*"; failed=1; }

# libfabric hands sources to the kernel; that their target has them, the sanitizer does not see.
is_sanitized t && skip "the thread sanitizer does not follow sources into libfabric"
[ -f "$build/lib/libshoal-ofi.so" ] || skip "built without libfabric"

cyclic=0
for algorithm in broadcast:chain,allreduce:swap broadcast:scatter,reduce:swap \
    broadcast:binomial,allreduce:doubling,reduce:binomial,allgather:bruck,alltoall:bruck \
    allgather:ring,alltoall:pairwise; do
    SHOAL_COLL=$algorithm SHOAL_VNODES_CYCLIC=$cyclic "$build/bin/oshrun" --timeout 50 -n 5 \
        "$build/tests/api/coll_random" || fail "$algorithm, cyclic $cyclic: wrong"
    cyclic=$((1 - cyclic))
done

for wrong in broadcast chain:broadcast broadcast:ring broadcast: allreduce:swap,x:y; do
    SHOAL_COLL=$wrong "$build/bin/oshrun" -n 2 "$build/tests/shoal/coll_count" 2>&1 |
        grep -q 'SHOAL_COLL: ".*" is no collective' || fail "SHOAL_COLL=$wrong is not refused"
done

SHOAL_LOG=coll:debug SHOAL_COLL=broadcast:chain "$build/bin/oshrun" -n 4 "$build/tests/api/coll_random" 2>&1 |
    grep -q '\[coll\] broadcast of [0-9]* bytes between [34] nodes: chain' || fail "SHOAL_LOG=coll:debug tells no algorithm"

# WHAT KIND-OF-MESSAGE: those that all PEs send for 96 of them, less those for none.
sent() {
    local n count
    for n in 0 96; do
        count=$(SHOAL_LOG=team:debug "$build/bin/oshrun" -n 8 "$build/tests/shoal/coll_count" "$1" $n 2>&1 |
            sed -n "s/.* \([0-9]*\)\( messages\)* of $2.*/\1/p" | awk '{ n += $1 } END { print n + 0 }')
        echo "$count"
    done | awk 'NR == 1 { none = $1 } NR == 2 { print $1 - none }'
}

# On 4 nodes with 2 PEs each. Every 32nd collective that is no barrier ends with one: 3 in 96.
expect() { # WHAT KIND MESSAGES
    local n
    n=$(sent "$1" "$2")
    [ "$n" = "$3" ] || fail "96 x $1: $n messages, expected $3"
}
expect barrier barriers $((96 * 4 * 2))
expect allreduce data $((96 * 4 * 2 + 3 * 4 * 2))
expect allgather data $((96 * 4 * 2 + 3 * 4 * 2))
expect broadcast data $((96 * 3 + 3 * 4 * 2))
exit $failed
