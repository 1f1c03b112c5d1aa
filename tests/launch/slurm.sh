#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs started by srun, with PMI-2 and PMIx, in a Slurm of one node that this script starts.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "slurmd must be root"
. "$here/slurm_up.sh"
# Each is ours and known by its number; the newest first, so that nobody complains.
take_down() {
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do kill "${daemons[i]}" 2>/dev/null; done
    for pid in "${daemons[@]}"; do
        for ((t = 0; t < 50; t++)); do kill -0 "$pid" 2>/dev/null && sleep 0.1 || break; done
        kill -KILL "$pid" 2>/dev/null
    done
    wait
    rm -rf "$tmp"
}
trap take_down EXIT
trap 'exit 130' INT TERM

host=$(hostname -s)
port=$((20000 + $$ % 20000))
mkdir "$tmp/spool"
slurm_configure <<EOF
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
MpiParams=ports=$((port + 2))-$((port + 99))
SlurmdSpoolDir=$tmp/spool
TmpFS=$tmp
SlurmdPidFile=$tmp/slurmd.pid
SelectType=select/cons_tres
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
slurm_munge
daemon slurmctld slurmctld -D -f "$SLURM_CONF"
daemon slurmd slurmd -D -f "$SLURM_CONF"
is_idle() { sinfo -h -o %t 2>/dev/null | grep -q '^idle'; }
slurm_await 100 is_idle

for mpi in pmi2 pmix; do
    srun --mpi=list 2>&1 | grep -q "\b$mpi\b" || continue
    [ $mpi = pmi2 ] || [ -e "$build/lib/libshoal-pmix.so" ] || continue
    launch=(srun -Q --mpi=$mpi -n)
    . "$here/foreign.sh"
    check_programs
    # srun has the status of a job by PMI-2 only from processes that end by themselves.
    if [ $mpi = pmi2 ]; then check_ends 137; else check_ends 7; fi
done
refused 'srun --mpi=pmi2' srun -Q --mpi=none -n 2 "$tmp/job"
exit 0
