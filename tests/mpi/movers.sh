#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI's order, its edges and random traffic in each way that messages can be made to go: by each channel and
# each mover alone (ways.sh sees to it that the settings have their way; eager_zero.sh is one more).
. "$(dirname "$0")/../launch/lib.sh"
unset SHOAL_CROSS_MEMORY SHOAL_RING_AFTER "${!SHOAL_MPI_@}"

names="order edges traffic probe"
! is_sanitized || names="order edges" # a sanitizer takes its time
while read -r settings; do
    # shellcheck disable=SC2046,SC2086
    env $settings "$here/../run" "$build" -j 1 -n 2 $(printf 'mpi/%s ' $names) >"$tmp/out" 2>&1 ||
        fail "with $settings"
done <<'END'
SHOAL_RING_AFTER=0
SHOAL_RING_AFTER=1
SHOAL_MPI_STREAM=1
SHOAL_MPI_STAGE=0 SHOAL_MPI_SPLIT=0 SHOAL_MPI_HINT=0
SHOAL_MPI_STAGE=0 SHOAL_MPI_SPLIT=1k SHOAL_MPI_HINT=0
SHOAL_MPI_STAGE=0 SHOAL_MPI_HINT=1k
SHOAL_MPI_STAGE=0 SHOAL_CROSS_MEMORY=0
SHOAL_MPI_STAGE=0 SHOAL_MPI_WINDOW=1k
SHOAL_MPI_LEARN=0 SHOAL_MPI_STAGE_SHARED=1g
SHOAL_MPI_EAGER=32
SHOAL_MPI_KEEP=1
SHOAL_MPI_ASYNC_PROGRESS=1
END
exit 0
