#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the runtime tells of the MPI layer's settings, which it names and checks, is what the layer goes by: the
# same names and the same values, by default and as they are set.
. "$(dirname "$0")/../launch/lib.sh"
[ -x "$build/tests/mpi/tool" ] || skip "tests/mpi/tool is not built"

# NAME VALUE of both; sizes in bytes.
compare() {
    run "$build/tests/mpi/tool" cvars
    expect_rc 0
    sort "$tmp/out" >"$tmp/cvars"
    run shoal info
    expect_rc 0
    awk '($1 ~ /^SHOAL_MPI_/ && $1 != "SHOAL_MPI_INITIAL_ERRHANDLER") || $1 == "SHOAL_STATS" {
             unit = index("kmgt", substr($2, length($2)))
             printf "%s %.0f\n", $1, ($2 + 0) * 1024 ^ unit
         }' "$tmp/out" | sort >"$tmp/settings"
    [ -s "$tmp/settings" ] || fail "no settings"
    what="settings of shoal info, and control variables"
    diff "$tmp/settings" "$tmp/cvars" >"$tmp/out" || fail "they differ"
}

unset $(env | sed -n 's/^\(SHOAL_MPI_[A-Z_]*\)=.*/\1/p') SHOAL_STATS
compare
export SHOAL_MPI_EAGER=0 SHOAL_MPI_WINDOW=2m SHOAL_MPI_STAGE=100 SHOAL_MPI_STAGE_SHARED=3k SHOAL_MPI_SPLIT=0
export SHOAL_MPI_HINT=1g SHOAL_MPI_LEARN=0 SHOAL_MPI_GATHER=64 SHOAL_MPI_ASK=1k SHOAL_MPI_KEEP=1
compare
exit 0
