# SPDX-License-Identifier: BSD-3-Clause
# Read by the scripts that start a Slurm of their own, all of it in $tmp. Skips where there is none.
#   slurm_configure <LINES: what every such Slurm has, and LINES
#   daemon NAME COMMAND...: in the background, its number in daemons
#   slurm_munge: the daemon that all others ask who somebody is, by a socket
#   slurm_await TRIES COMMAND...: every 0.2 s, until it succeeds; skips if it does not
PATH=$PATH:/usr/sbin:/sbin
for command in munged slurmctld slurmd srun; do
    command -v $command >/dev/null ||
        skip "$command is not installed (packages munge slurmctld slurmd slurm-client)"
done
daemons=()

slurm_configure() {
    mkdir "$tmp"/{munge,state,log}
    chmod 755 "$tmp"
    chmod 700 "$tmp/munge"
    head -c 1024 /dev/urandom >"$tmp/munge/key"
    chmod 400 "$tmp/munge/key"
    cat >"$tmp/slurm.conf"
    cat >>"$tmp/slurm.conf" <<END
ClusterName=shoal
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthInfo=socket=$tmp/munge/socket
StateSaveLocation=$tmp/state
SlurmctldPidFile=$tmp/slurmctld.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
END
    echo "CgroupPlugin=cgroup/v1" >"$tmp/cgroup.conf"
    export SLURM_CONF=$tmp/slurm.conf
}

daemon() {
    local name=$1
    shift
    "$@" >"$tmp/log/$name" 2>&1 &
    daemons+=($!)
}

slurm_munge() {
    daemon munged munged --foreground --force --key-file="$tmp/munge/key" \
        --socket="$tmp/munge/socket" --pid-file="$tmp/munge/pid" --log-file="$tmp/munge/log" \
        --seed-file="$tmp/munge/seed" --num-threads=1
}

slurm_await() {
    local tries=$1
    shift
    for ((t = 0; t < tries; t++)); do
        "$@" && return
        for pid in "${daemons[@]}"; do
            kill -0 "$pid" 2>/dev/null ||
                skip "a daemon of Slurm does not start here: $(cat "$tmp"/log/* | grep -i error | head -n 1)"
        done
        sleep 0.2
    done
    skip "Slurm does not come up here: $(cat "$tmp"/log/* | grep -i error | tail -n 1)"
}
