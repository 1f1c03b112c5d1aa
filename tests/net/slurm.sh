#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on two hosts (see tests/net/hosts) started by srun, with PMI-2 and PMIx, in a Slurm that this
# script starts: consecutive numbers, by turns, uneven; by oshrun; exit codes; a PE that dies; a host
# that is cut off.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/../launch/slurm_up.sh"
hosts 2

mkdir "$tmp"/tmp.shoal{1,2}
slurm_configure <<END
SlurmctldHost=$(hostname -s)(10.77.0.254)
SlurmctldPort=6817
SlurmdPort=6818
MpiParams=ports=12000-12999
SlurmdSpoolDir=$tmp/spool.%n
TmpFS=$tmp/tmp.%n
SlurmdPidFile=$tmp/slurmd.%n.pid
KillWait=2
SelectType=select/cons_tres
TreeWidth=2
NodeName=shoal1 NodeAddr=10.77.0.1 CPUs=8 State=UNKNOWN
NodeName=shoal2 NodeAddr=10.77.0.2 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=shoal1,shoal2 Default=YES MaxTime=INFINITE State=UP
END
slurm_munge # one for all: its socket is a file, which the hosts share
wait_for test -S "$tmp/munge/socket"
daemon slurmctld slurmctld -D -f "$SLURM_CONF"
for host in shoal1 shoal2; do
    daemon $host "$hosts" on $host env SLURM_CONF="$SLURM_CONF" "$(command -v slurmd)" -D -N $host -f "$SLURM_CONF"
done
both_idle() { [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c '^idle$')" -eq 2 ]; }
slurm_await 150 both_idle

compile end <<'PROGRAM'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static long flag;
    char host[64];
    int near = 0;
    if (argc > 1 && argv[1][0] == 'n')
        return 0;
    if (argc > 2 && argv[1][0] == 'e' && atoi(argv[2]) == atoi(getenv("SLURM_PROCID")))
        return 3;
    shmem_init();
    gethostname(host, sizeof host);
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        near += shmem_ptr(&flag, pe) != NULL;
    printf("PE %d on %s, one of %d\n", shmem_my_pe(), host, near);
    fflush(stdout);
    shmem_barrier_all();
    if (argc > 1 && shmem_my_pe() == 1 && argv[1][0] == 'k')
        raise(SIGKILL);
    if (argc > 1 && shmem_my_pe() == 1 && argv[1][0] == 'g')
        shmem_global_exit(7);
    if (argc > 1 && argv[1][0] == 'w')
        fclose(fopen(argv[2 + shmem_my_pe()], "w"));
    if (argc > 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 2);
    shmem_finalize();
    return 0;
}
PROGRAM
by() { # MPI WORDS...: srun of the program by one of the protocols
    run timeout -k 5 50 srun -Q --exclusive --mpi="$1" "${@:2}" </dev/null
}
# PE:host/PEs whose memory it reaches
places() { sort "$tmp/out" | sed 's|PE \([0-9]*\) on shoal\([0-9]\), one of |\1:\2/|' | tr '\n' ' '; }

for mpi in pmi2 pmix; do
    srun --mpi=list 2>&1 | grep -q "\b$mpi\b" || continue
    [ $mpi = pmi2 ] || [ -e "$build/lib/libshoal-pmix.so" ] || continue
    by $mpi -N 2 --ntasks-per-node=2 -m block "$tmp/end"
    expect_rc 0
    [ "$(places)" = "0:1/2 1:1/2 2:2/2 3:2/2 " ] || fail "not consecutive: $(places)"
    by $mpi -N 2 -n 5 -m cyclic "$tmp/end"
    expect_rc 0
    [ "$(places)" = "0:1/3 1:2/2 2:1/3 3:2/2 4:1/3 " ] || fail "not by turns: $(places)"
    by $mpi -n 4 -m arbitrary -w shoal1,shoal2,shoal2,shoal2 "$tmp/end"
    expect_rc 0
    [ "$(places)" = "0:1/1 1:2/3 2:2/3 3:2/3 " ] || fail "not uneven: $(places)"
    by $mpi -n 5 -m arbitrary -w shoal2,shoal1,shoal2,shoal2,shoal1 "$tmp/end"
    expect_rc 0
    [ "$(places)" = "0:2/3 1:1/2 2:2/3 3:2/3 4:1/2 " ] || fail "not mixed: $(places)"
    by $mpi -N 2 -n 4 "$build/tests/api/amo"
    expect_rc 0
    by $mpi -N 2 -n 4 sh -c '"$0" n && "$0"; exit $?' "$tmp/end" # by a script, after one that does not initialize
    expect_rc 0
    [ "$(grep -c '^PE' "$tmp/out")" -eq 4 ] || fail "not 4 PEs"
    by $mpi -N 2 -n 2 "$tmp/end" g
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc after shmem_global_exit"
    by $mpi -N 2 -n 4 "$tmp/end" k
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although a PE was killed"
    for pe in 0 3; do # exits before it initializes
        by $mpi -N 2 --ntasks-per-node=2 "$tmp/end" e $pe
        [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although PE $pe has exited with 3"
    done
    by $mpi -N 2 -n 2 sh -c '[ $SLURM_PROCID = 0 ] || export SHMEM_SYMMETRIC_SIZE=word; exec "$0"' "$tmp/end"
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although a PE cannot start"
done
by none -N 2 -n 2 "$tmp/end"
[ "$rc" -ne 0 ] || fail "exit status 0"
grep -q 'use .srun --mpi=pmi2. or .srun --mpi=pmix.' "$tmp/err" || fail "nothing says what to use"

# oshrun, in an allocation: of cores that are not divided as its PEs are, of fewer cores than PEs, and in
# one of its steps.
for way in "-n 8 oshrun" "-n 2 oshrun" "-n 4 --ntasks-per-node=2 srun -N 1 -n 1 oshrun"; do
    # shellcheck disable=SC2086
    run timeout -k 5 50 salloc -Q -N 2 $way --hosts shoal1:2,shoal2:2 "$tmp/end" </dev/null
    expect_rc 0
    [ "$(places)" = "0:1/2 1:1/2 2:2/2 3:2/2 " ] || fail "not as --hosts says: $(places)"
done
run timeout -k 5 50 salloc -Q -N 2 --ntasks-per-node=8 oshrun --hosts shoal1:1,shoal2:3 --tag "$tmp/end" </dev/null
expect_rc 0
expect_quiet
sed -i 's/^[0-9]*: *//' "$tmp/out"
[ "$(places)" = "0:1/1 1:2/3 2:2/3 3:2/3 " ] || fail "not as --hosts says: $(places)"

for way in "shoal1:2,shoal2:2 0:1/2 1:2/2 2:1/2 3:2/2 " "shoal1:3,shoal2 0:1/3 1:2/1 2:1/3 3:1/3 "; do
    run timeout -k 5 50 salloc -Q -N 2 -n 8 oshrun --hosts "${way%% *}" --map-by node "$tmp/end" </dev/null
    expect_rc 0
    [ "$(places)" = "${way#* }" ] || fail "not by turns: $(places)"
done

# Several programs, of which one is another executable with a directory of its own.
cat >"$tmp/part.c" <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char host[64], dir[256];
    int me, sum, *app, found;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    gethostname(host, sizeof host);
    printf("%d of %d on %s: %s in %s, %d\n", me, *app, host, argv[argc - 1], getcwd(dir, sizeof dir), sum);
    MPI_Finalize();
}
PROGRAM
mpicc -o "$tmp/part" "$tmp/part.c" || fail "cannot compile"
(echo 'char before[100000] = {1};' && cat "$tmp/part.c") >"$tmp/other.c"
mpicc -o "$tmp/other" "$tmp/other.c" || fail "cannot compile"
run timeout -k 5 50 salloc -Q -N 2 -n 16 oshrun --hosts shoal1:2,shoal2:1 -n 1 "$tmp/part" "a b" : \
    --wdir /usr -n 2 "$tmp/other" "it's" </dev/null
expect_rc 0
[ "$(sort "$tmp/out")" = "0 of 0 on shoal1: a b in $PWD, 3
1 of 1 on shoal1: it's in /usr, 3
2 of 1 on shoal2: it's in /usr, 3" ] || fail "not the programs that were given"

what="shoal2 is cut off"
export SHOAL_HOST_TIMEOUT=2
timeout -k 1 40 salloc -Q -N 2 -n 16 oshrun --hosts shoal1:2,shoal2:2 "$tmp/end" w "$tmp"/ready.{0,1,2,3} \
    >"$tmp/out" 2>"$tmp/err" </dev/null &
job=$!
all_ready() { [ "$(ls "$tmp" | grep -c '^ready')" -eq 4 ]; }
wait_long all_ready
start=$(now_ms)
"$hosts" cut shoal2
wait $job
rc=$? job=
ms=$(($(now_ms) - start))
grep -Eq "shoal: PE 0: host shoal2 \(PEs 2 to 3\) is lost" "$tmp/err" || fail "no line names the host"
[ $rc -eq 1 ] && [ $ms -lt 10000 ] || fail "exit status $rc after $ms ms"
! pgrep -x end >/dev/null || fail "PEs are there"
exit 0
