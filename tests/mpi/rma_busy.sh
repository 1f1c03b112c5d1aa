#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rma_busy.c where something of the target's process has to serve in its place: private memory that
# nobody else reaches, and between nodes, over each transport.
. "$(dirname "$0")/../launch/lib.sh"
busy=$build/tests/mpi/rma_busy
[ -x "$busy" ] || skip "tests/mpi/rma_busy is not built"

serves() { # SETTING...
    run env "$@" oshrun -n 2 --timeout 40 "$busy"
    expect_rc 0
}

serves SHOAL_CROSS_MEMORY=0
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || { echo "left out: libshoal-$transport is not built"; continue; }
    serves SHOAL_VNODES=2 SHOAL_TRANSPORT=$transport
done
exit 0
