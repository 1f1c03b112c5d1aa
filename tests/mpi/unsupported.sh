#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that do not look at what MPI's calls about files return are told once that there are none.
. "$(dirname "$0")/../launch/lib.sh"
unsupported=$build/tests/mpi/unsupported
[ -x "$unsupported" ] || skip "tests/mpi/unsupported is not built"
run mpiexec -n 3 "$unsupported"
expect_rc 0
expect_err_line 'rank 0: MPI_File_open returns MPI_ERR_UNSUPPORTED_OPERATION: this library does not have'
exit 0
