#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed in every phase of the use of a window (rma_victim.c): the job ends at once with one
# line that says so, whatever the others were waiting for.
. "$(dirname "$0")/../launch/lib.sh"
victim=$build/tests/mpi/rma_victim
[ -x "$victim" ] || skip "tests/mpi/rma_victim is not built"
ulimit -c 0

for phase in target origin private-target private-origin lock shared-lock contention fence post \
    complete create free; do
    run oshrun -n 3 --timeout 20 "$victim" $phase
    expect_rc 137
    expect_err_line 'PE 1 .*killed'
done
exit 0
