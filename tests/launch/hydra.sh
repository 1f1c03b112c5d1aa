#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs started by hydra's mpiexec (MPICH): PMI-1, and PMI-2, which it speaks too.
. "$(dirname "$0")/lib.sh"

mpiexec=
for name in mpiexec.hydra mpiexec; do
    command -v $name >/dev/null && $name --version 2>/dev/null | grep -q HYDRA && mpiexec=$name && break
done
[ -n "$mpiexec" ] || skip "hydra's mpiexec is not installed (package mpich)"
launch=("$mpiexec" -n)
. "$here/foreign.sh"
check_programs
check_ends 7

# It is killed: nobody stays.
kill_launcher
# shellcheck disable=SC2046
expect_gone $(pids)

# The other protocol. (Hydra's environment hides that Slurm's would be there.)
for n in 2 7; do
    run timeout -k 5 50 "$mpiexec" -n $n env -u HYDI_CONTROL_FD PMI_JOBID=0 "$tmp/job" </dev/null
    expect_rc 0
    [ "$(grep -c "of $n\$" "$tmp/out")" -eq $n ] || fail "PMI-2 does not make a job of $n"
done

# What cannot be joined is refused.
refused 'PMI_FD=9' env PMI_FD=9 PMI_RANK=0 PMI_SIZE=2 "$tmp/job" 9<&-
refused 'mpiexec of hydra' env PMI_SIZE=2 "$tmp/job"
refused 'are not a process of so many' "$mpiexec" -n 2 env PMI_RANK=2 "$tmp/job"
exit 0
