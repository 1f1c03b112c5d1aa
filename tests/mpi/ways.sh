#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every way a message can go, forced by its setting and seen in the counters (ways.c); SHOAL_STATS.
. "$(dirname "$0")/../launch/lib.sh"
ways=$build/tests/mpi/ways
[ -x "$ways" ] || skip "tests/mpi/ways is not built"

unset SHOAL_VNODES SHOAL_CROSS_MEMORY "${!SHOAL_MPI_@}"

expect_ways() { # SETTING... -- COUNTER VALUE...
    local settings=()
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    shift
    run env "${settings[@]}" oshrun -n 2 --timeout 40 "$ways" "$@"
    expect_rc 0
}

# Collectives' own messages are among the eager ones, hence "some".
expect_ways SHOAL_MPI_HINT=32k SHOAL_MPI_STAGE=32k -- eager some synchronous 1 staged 0 rendezvous 4 pull 3 split 3 stream 0 held_back 0 \
    hint 1 hint_followed 1
expect_ways SHOAL_MPI_HINT=0 SHOAL_MPI_STAGE=32k -- rendezvous 4 pull 4 hint 0 hint_followed 0
expect_ways SHOAL_MPI_STAGE=32k -- rendezvous 4 pull 4 hint 0 hint_followed 0
expect_ways SHOAL_MPI_SPLIT=0 SHOAL_MPI_STAGE=32k -- rendezvous 4 pull 4 split 0 pushed 0
expect_ways SHOAL_MPI_EAGER=0 -- staged some
expect_ways SHOAL_MPI_LEARN=0 SHOAL_MPI_STAGE_SHARED=1m -- eager some staged 4 rendezvous 0 pull 0 stream 0
if [ "$(nproc)" -ge 2 ]; then # symmetric data, where processes have cores of their own
    expect_ways A= -- staged 0 rendezvous 4
    run oshrun -n 2 --timeout 40 --bind core "$ways" staged 0 rendezvous 4
    expect_rc 0
fi
expect_ways SHOAL_MPI_EAGER=0 SHOAL_MPI_STAGE=0 -- synchronous 0 rendezvous some pull some stream 0
expect_ways SHOAL_MPI_STREAM=1 -- rendezvous 4 pull 0 stream 4 hint 0
expect_ways SHOAL_MPI_EAGER=0 SHOAL_MPI_STREAM=1 -- rendezvous some pull 0 stream some
expect_ways SHOAL_MPI_WINDOW=8k -- held_back some credit some eager some
expect_ways SHOAL_CROSS_MEMORY=0 SHOAL_MPI_STAGE=0 -- rendezvous 4 pull 4 stream 0 hint 0

# Channels. The runtime's own messages are among those of the inbox: what offers a ring.
expect_ways SHOAL_RING_AFTER=0 -- channel_inbox some channel_ring 0 channel_network 0
expect_ways SHOAL_RING_AFTER=1 -- channel_inbox some channel_ring some channel_network 0
expect_ways A= -- inline some
expect_ways SHOAL_MPI_EAGER=32 -- inline some staged some # messages of 100 bytes
expect_ways SHOAL_MPI_KEEP=1 -- kept some buffered 1
case $build in
*hostile*) ;; # there is no room for so many
*) expect_ways A= -- kept 0 buffered 0 ;; # what can leave at once does not pass through the buffer
esac

# Between nodes.
if [ -e "$build/lib/libshoal-ofi.so" ] || [ -e "$build/lib/libshoal-ucx.so" ]; then
    expect_ways SHOAL_VNODES=2 -- eager some staged 0 rendezvous 4 pull 4
    case $build in
    *hostile*) ;; # an envelope that waits for room follows no hint
    *) expect_ways SHOAL_VNODES=2 SHOAL_MPI_HINT=32k SHOAL_MPI_STAGE=32k -- hint 1 hint_followed 1 ;;
    esac
    expect_ways SHOAL_VNODES=2 -- channel_network some channel_ring 0
    expect_ways SHOAL_VNODES=2 SHOAL_MPI_STAGE_SHARED=1m -- staged 0 rendezvous 4 pull 4 split 0 hint 0
fi

run env SHOAL_STATS=1 oshrun -n 2 --timeout 40 "$ways" eager some
expect_rc 0
for rank in 0 1; do
    grep -Eq "^shoal: rank $rank: eager [0-9]+ .*" "$tmp/err" || fail "no line of rank $rank"
done

# Data with gaps is copied in any case; where there is no shared memory left, to other one.
case $build in
*hostile*) ;; # as above
*)
    run oshrun -n 2 --timeout 40 "$build/tests/mpi/gaps" staged
    expect_rc 0
    ;;
esac
run env SHMEM_SYMMETRIC_SIZE=2m oshrun -n 2 --timeout 40 "$build/tests/mpi/gaps"
expect_rc 0
