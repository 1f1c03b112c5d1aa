#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rma_ask.c of several threads, and where nobody asks.
. "$(dirname "$0")/../launch/lib.sh"
ask=$build/tests/mpi/rma_ask
[ -x "$ask" ] || skip "tests/mpi/rma_ask is not built"

run oshrun -n 2 --timeout 60 "$ask" threads
expect_rc 0
run env SHOAL_MPI_ASK=0 oshrun -n 2 --timeout 60 "$ask"
expect_rc 0
exit 0
