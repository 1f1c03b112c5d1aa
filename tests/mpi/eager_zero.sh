#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose messages all wait for their receivers, which get the data: nothing is eager, nothing
# staged. (Tests that are about what a send leaves behind, as stage and cancel are, hang then.)
. "$(dirname "$0")/../launch/lib.sh"

export SHOAL_MPI_EAGER=0 SHOAL_MPI_STAGE=0
names="order probe edges traffic partitioned completion count_forms isend_full bsend coll_random comms
    intercomms threads"
counts="2 4"
! is_sanitized || names="order probe partitioned comms" counts=2 # the others take their time
# shellcheck disable=SC2046,SC2086
"$here/../run" "$build" -j 1 -n "$counts" $(printf 'mpi/%s ' $names)
