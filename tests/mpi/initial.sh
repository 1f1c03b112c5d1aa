#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The handler that a job's communicators begin with (MPI 5.0, "Error Handling"): mpiexec's argument and
# its setting; a wrong call before MPI_Init, inside and after MPI_Finalize returns with it.
. "$(dirname "$0")/../launch/lib.sh"
initial=$build/tests/mpi/initial
[ -x "$initial" ] || skip "tests/mpi/initial is not built"

for option in '-initial-errhandler mpi_errors_return' '--initial-errhandler=mpi_errors_return' \
    '-genv SHOAL_MPI_INITIAL_ERRHANDLER mpi_errors_return'; do
    # shellcheck disable=SC2086
    run mpiexec -n 2 --timeout 20 $option "$initial" return
    expect_rc 0
    expect_quiet
done
for option in '-n 2' '-n 2 -initial-errhandler mpi_errors_are_fatal' '-n 2 -initial-errhandler mpi_errors_abort'; do
    for when in before in after; do
        # shellcheck disable=SC2086
        run mpiexec $option --timeout 20 "$initial" $when
        [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc"
        grep -q 'MPI_Comm_set_name' "$tmp/err" || fail "no line about MPI_Comm_set_name"
    done
done
run mpiexec -n 2 -initial-errhandler mpi_errors_abort "$initial" aborts
expect_rc 0
run mpiexec -n 2 "$initial" none
expect_rc 0
run mpiexec -n 2 -initial-errhandler mpi_errors_return "$initial" fatal # which sets the other one
[ "$rc" -ne 0 ] && [ "$rc" -ne 9 ] || fail "exit status $rc"
run mpiexec -n 2 -initial-errhandler moon "$initial" return
expect_rc 2
run env SHOAL_MPI_INITIAL_ERRHANDLER=moon mpiexec -n 2 "$initial" return
expect_rc 1
expect_err_line 'SHOAL_MPI_INITIAL_ERRHANDLER="moon": it takes mpi_errors_are_fatal'
exit 0
