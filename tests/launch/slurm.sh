#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs started by srun, with PMI-2 and PMIx, in a Slurm of one node that this script starts.
. "$(dirname "$0")/lib.sh"

for command in munged slurmctld slurmd srun; do
    PATH=$PATH:/usr/sbin:/sbin command -v $command >/dev/null ||
        skip "$command is not installed (packages munge slurmctld slurmd slurm-client)"
done
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" -eq 0 ] || skip "slurmd must be root"
daemons=()
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
mkdir "$tmp"/{munge,state,spool,log}
chmod 755 "$tmp"
chmod 700 "$tmp/munge"
head -c 1024 /dev/urandom >"$tmp/munge/key"
chmod 400 "$tmp/munge/key"
cat >"$tmp/slurm.conf" <<EOF
ClusterName=shoal
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthInfo=socket=$tmp/munge/socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
MpiParams=ports=$((port + 2))-$((port + 99))
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
TmpFS=$tmp
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
echo "CgroupPlugin=cgroup/v1" >"$tmp/cgroup.conf"
export SLURM_CONF=$tmp/slurm.conf

munged --foreground --force --key-file="$tmp/munge/key" --socket="$tmp/munge/socket" \
    --pid-file="$tmp/munge/pid" --log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed" \
    --num-threads=1 >"$tmp/log/munged" 2>&1 &
daemons+=($!)
slurmctld -D -f "$SLURM_CONF" >"$tmp/log/slurmctld" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" >"$tmp/log/slurmd" 2>&1 &
daemons+=($!)
for ((t = 0; t < 100; t++)); do
    sinfo -h -o %t 2>/dev/null | grep -q '^idle' && break
    for pid in "${daemons[@]}"; do
        kill -0 "$pid" 2>/dev/null || skip "a daemon of Slurm does not start here: $(cat "$tmp"/log/* | grep -i error | head -n 1)"
    done
    sleep 0.2
done
[ $t -lt 100 ] || skip "Slurm does not come up here: $(cat "$tmp"/log/* | grep -i error | tail -n 1)"

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
