#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shmem_global_exit: the job ends with its code, silently, whatever the other PEs do.
. "$(dirname "$0")/../launch/lib.sh"

program=$build/tests/fault/global_exit
[ -x "$program" ] || skip "$program is not built"
for busy in compute wait barrier lock sleep; do
    for code in 0 7 255 256; do
        rm -f "$tmp"/pid.*
        run oshrun -n 4 --timeout 20 "$program" $code $busy "$tmp" 2
        expect_rc $((code & 255))
        expect_quiet
        expect_out leaving
        expect_soon 1200
        expect_gone $(cat "$tmp"/pid.*)
    done
done
exit 0
