#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whatever begins first and ends last of OpenSHMEM, MPI and a session, each works from its beginning
# to its end (mixed_orders.c says what the letters mean).
. "$(dirname "$0")/../launch/lib.sh"
orders=$build/tests/mpi/mixed_orders
[ -x "$orders" ] || skip "tests/mpi/mixed_orders is not built"

for order in SMsm SMms MSsm MSms STms TSsm MmSs SsMm XSMxsm XSxMsm XxMm MXmx XMxm XMmx SXsx XSxs MmXx XxXxSs; do
    run oshrun -n 3 --timeout 40 "$orders" $order
    expect_rc 0
    expect_quiet
done
exit 0
