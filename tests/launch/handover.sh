#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --hosts: which launcher it finds, and the command it makes; with launchers that only pretend.
. "$(dirname "$0")/lib.sh"
unset SHOAL_TRANSPORT LD_LIBRARY_PATH # of tests/run: it would be handed over

oshrun=$(command -v oshrun)
mkdir "$tmp/bin"
pretend() { # NAME VERSION
    printf '#!/bin/sh\n[ "$1" != --version ] || { echo "%s"; exit; }\n%s\n' "$2" \
        "echo $1; for a; do echo \"<\$a>\"; done; exit \${RC-0}" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}
dry() { run env PATH="$tmp/bin:/usr/bin:/bin" "$oshrun" --dry-run "$@"; }
only() { run env PATH="$tmp/bin" "$oshrun" "$@"; } # nothing else is installed
unset SLURM_JOB_ID SLURM_STEP_ID SLURM_JOB_CPUS_PER_NODE SHOAL_LAUNCHER

only --hosts a,b ./x
expect_rc 1
expect_err_line 'no launcher for several hosts is in PATH: install hydra'

pretend mpiexec.hydra HYDRA
pretend mpirun.openmpi 'Open MPI'
pretend srun slurm
dry --hosts a:4,b:4 ./prog --its "own args"
expect_rc 0
expect_quiet
expect_out "mpiexec.hydra -hosts a:4,b:4 -n 8 -bind-to none ./prog --its 'own args'"
dry -H a:4,b:4 -n 6 --tag --bind numa -x A="it's" -x B ./prog
expect_out "A='it'\\''s' mpiexec.hydra -hosts a:4,b:2 -n 6 -bind-to numa -prepend-rank ./prog"
dry --hosts=a,b,c -n 7 ./prog
expect_out "mpiexec.hydra -hosts a:3,b:2,c:2 -n 7 -bind-to none ./prog"
dry --hosts a,b,c -n 2 ./prog
expect_out "mpiexec.hydra -hosts a:1,b:1 -n 2 -bind-to none ./prog"
dry --hosts a:2,b ./prog
expect_out "mpiexec.hydra -hosts a:2,b:1 -n 3 -bind-to none ./prog"
dry --hosts a:4,b -n 2 ./prog x : -n 3 ./other y
expect_out "mpiexec.hydra -hosts a:4,b:1 -n 2 -bind-to none -env SHOAL_APP 0:2 ./prog x : -n 3 -env SHOAL_APP 1:3 ./other y"
dry -hosts a:4,b -n 2 -wdir there ./prog x : -n 3 -wdir "a b" ./other y
expect_out "mpiexec.hydra -hosts a:4,b:1 -n 2 -bind-to none -wdir there -env SHOAL_APP 0:2 ./prog x : -n 3 -wdir 'a b' -env SHOAL_APP 1:3 ./other y"
dry --hosts a:3,b,c -ppn 2 -n 5 ./prog
expect_out "mpiexec.hydra -hosts a:2,b:2,c:1 -n 5 -bind-to none ./prog"
dry --hosts a:3,b --map-by ppr:2:node -n 4 ./prog
expect_out "mpiexec.hydra -hosts a:2,b:2 -n 4 -bind-to none ./prog"
dry --hosts a:3,b -ppn 2 -map-by core -bind-to none:2 ./prog
expect_out "mpiexec.hydra -hosts a:2,b:2 -n 4 -bind-to none ./prog"
dry --hosts a,b -N2 -env A "1 2" ./prog
expect_out "A='1 2' mpiexec.hydra -hosts a:2,b:2 -n 4 -bind-to none ./prog"
dry --hosts a,b -n 1 -env A "1 2" ./prog : ./other
expect_out "mpiexec.hydra -hosts a:1,b:1 -n 1 -bind-to none -env A '1 2' -env SHOAL_APP 0:1 ./prog : -n 1 -env SHOAL_APP 1:1 ./other"
# By turns: over all hosts in the order of the list, until one is full. Numbers go as the places, or as --rank-by says.
by_turns='mpiexec.hydra -hosts a:1,b:1,c:1,a:1,b:1,a:1'
for way in '--map-by node' '--bynode' '-rr' '--map-by node:OVERSUBSCRIBE' '--rank-by node' '--map-by node --rank-by node'; do
    dry --hosts a:3,b:2,c $way ./prog
    expect_out "$by_turns -n 6 -bind-to none ./prog"
done
dry --hosts a:3,b:2,c --map-by node --rank-by slot -n 4 ./prog
expect_out "mpiexec.hydra -hosts a:2,b:1,c:1 -n 4 -bind-to none ./prog"
dry --hosts a:3,b:2,c --rank-by node -n 4 ./prog
expect_out "mpiexec.hydra -hosts a:1,b:1,a:1,a:1 -n 4 -bind-to none ./prog"
dry --hosts a:4,b:4 --map-by node -n 6 --bind core:2 ./prog
expect_out "mpiexec.hydra -hosts a:1,b:1 -n 6 -bind-to core:2 ./prog"
dry --hosts a,b --pernode --map-by :PE=2 --bind hwthread ./prog
expect_out "mpiexec.hydra -hosts a:1,b:1 -n 2 -bind-to hwthread:2 ./prog"
dry --hosts a,b --map-by ppr:2:socket ./prog
expect_rc 2
dry --hosts a -launcher ssh -bootstrap-exec 'my rsh' -iface eth0 ./prog
expect_out "HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC='my rsh' HYDRA_IFACE=eth0 mpiexec.hydra -hosts a:1 -n 1 -bind-to none ./prog"
export WORD_A=1 # there, and named
dry --hosts a -genvnone -x WORD_A -x WORD_B=2 -x WORD_C ./prog
expect_rc 0
grep -Exq 'WORD_B=2 mpiexec.hydra -hosts a:1 -n 1 -bind-to none -genvlist (WORD_A,WORD_B|WORD_B,WORD_A) ./prog' "$tmp/out" || fail "not these"
dry --hosts a -envnone ./prog
expect_out "mpiexec.hydra -hosts a:1 -n 1 -bind-to none -genvnone ./prog"
dry --hosts a -outfile-pattern 'o %r' -errfile-pattern %r.%t --timestamp-output ./prog
expect_out "mpiexec.hydra -hosts a:1 -n 1 -bind-to none -prepend-pattern '%t ' -outfile-pattern 'o %r' -errfile-pattern %r.%t ./prog"
dry --hosts a --output tag,timestamp ./prog
expect_out "mpiexec.hydra -hosts a:1 -n 1 -bind-to none -prepend-pattern '%t [%r] ' ./prog"
dry --hosts a -prepend-pattern %r ./prog
expect_out "mpiexec.hydra -hosts a:1 -n 1 -bind-to none -prepend-pattern %r ./prog"
dry --hosts a -n 2 --stdin none -print-all-exitcodes ./prog
expect_out "mpiexec.hydra -hosts a:2 -n 2 -bind-to none -print-all-exitcodes ./prog"
lacks() { # WORDS...: of the options that the launcher has nothing for, the first one
    dry --hosts a "$@" ./prog
    expect_rc 2
    expect_err_line "has nothing like $1.*; SHOAL_LAUNCHER may name another launcher"
}
lacks --output-filename dir
lacks --merge-stderr-to-stdout
lacks --stdin 1
lacks --stdin all
dry --hosts a -envnone ./prog : ./prog
expect_rc 2
dry --hosts a,b -ppn 2 -n 5 ./prog
expect_rc 2
expect_err_line '-n 5: the hosts have places for 4 PEs'
export SLURM_JOB_ID=1
dry --hosts a:1 --wdir=there ./prog
expect_out "srun --mpi=pmi2 --nodes=1 --ntasks=1 --ntasks-per-node=1 --distribution=block --nodelist=a --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --chdir there ./prog"
dry --hosts a:2,b --tag --bind core ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=3 --distribution=arbitrary --nodelist=a,a,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --cpu-bind=cores --label ./prog"
dry --hosts a,b -n 4 ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=4 --ntasks-per-node=2 --distribution=block --nodelist=a,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 ./prog"
dry --hosts a:2,b:2 --map-by node --bind hwthread ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=4 --ntasks-per-node=2 --distribution=cyclic --nodelist=a,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --cpu-bind=threads ./prog"
dry --hosts a:2,b:1 --map-by node ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=3 --distribution=arbitrary --nodelist=a,b,a --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 ./prog"
dry --hosts a:2,b:2 --display-map ./prog # which is of one that is told each place
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=4 --distribution=arbitrary --nodelist=a,a,b,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 ./prog"
lacks --bind l3cache
lacks --bind core:2
dry --hosts a -outfile-pattern 'o.%r%%%h%g' -errfile-pattern e ./prog
expect_out "srun --mpi=pmi2 --nodes=1 --ntasks=1 --ntasks-per-node=1 --distribution=block --nodelist=a --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --output=o.%t%%%N0 --error=e ./prog"
dry --hosts a -genvnone -genvlist WORD_A ./prog
grep -q -- ' --export=WORD_A ' "$tmp/out" || fail "not this variable"
dry --hosts a -envnone ./prog
grep -q -- ' --export=NONE ' "$tmp/out" || fail "not none"
dry --hosts a -envnone ./prog : ./prog
expect_rc 2
expect_err_line 'srun has nothing like -envnone of one program of several'
for input in 1 all; do
    dry --hosts a --stdin $input ./prog
    grep -q -- " --input=$input " "$tmp/out" || fail "not this input"
done
lacks --output-filename dir
lacks --merge-stderr-to-stdout
lacks --timestamp-output
lacks -print-all-exitcodes
lacks -prepend-pattern %r
dry --hosts a -outfile-pattern %t ./prog
expect_rc 2
# Where srun would divide them by cores, each place has its name; and in a step it would wait for that.
export SLURM_JOB_CPUS_PER_NODE='7,1(x2)' SLURM_STEP_ID=0
dry --hosts a,b -n 4 ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=4 --distribution=arbitrary --nodelist=a,a,b,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --overlap ./prog"
export SLURM_JOB_CPUS_PER_NODE='2(x3)'
dry --hosts a,b -n 4 ./prog
expect_out "srun --mpi=pmi2 --nodes=2 --ntasks=4 --ntasks-per-node=2 --distribution=block --nodelist=a,b --overcommit --export=ALL --input=0 --kill-on-bad-exit=1 --overlap ./prog"
unset SLURM_JOB_CPUS_PER_NODE SLURM_STEP_ID
dry --hosts a:2,b -n 1 ./prog x : --tag -n 2 -wdir "a b" -- ./other : "it's"
expect_rc 0
tail -n 1 "$tmp/out" | grep -q '^srun .*--nodelist=a,a,b .* sh -c ' || fail "not one program"
pretend srun slurm # a word a line
run env PATH="$tmp/bin:/usr/bin:/bin" "$oshrun" --hosts a:2,b -n 1 echo 'x  *' : "$tmp/absent" : -wdir "$tmp" -env WORD_A "it's" -- sh -c 'echo $0 $* $SHOAL_APP "$WORD_A"; pwd' "it's" : </dev/null
grep '^<.*SLURM_PROCID' "$tmp/out" | sed 's/^<//; s/>$//' >"$tmp/script"
script() { # PROCID: what the shell makes of it
    run env SLURM_PROCID="$1" sh "$tmp/script"
}
script 0
expect_out 'x  *'
script 1
expect_rc 127
script 2
expect_out "it's : 2:1 it's
$tmp"
export SHOAL_LAUNCHER=mpirun
dry --host a:2,b --tag -x A=1 ./prog
expect_out "A=1 mpirun.openmpi --host a:2,b:1 -n 3 --map-by slot --bind-to none -x SHOAL_LAUNCHER -x A --tag-output ./prog"
dry -host a:2 -wdir there -initial-errhandler mpi_errors_return ./prog
expect_out "SHOAL_MPI_INITIAL_ERRHANDLER=mpi_errors_return mpirun.openmpi --host a:2 -n 2 --map-by slot --bind-to none -x SHOAL_LAUNCHER -x SHOAL_MPI_INITIAL_ERRHANDLER --wdir there ./prog"
dry --hosts a:2,b ./prog x : -n 2 -wdir there -env A "1 2" ./other
expect_out "mpirun.openmpi --host a:2,b:1 -n 1 --map-by slot --bind-to none -x SHOAL_LAUNCHER -x SHOAL_STATIC -x SHOAL_APP=0:1 ./prog x : -n 2 --wdir there -x 'A=1 2' -x SHOAL_APP=1:2 ./other"
dry --host a --timestamp-output --merge-stderr-to-stdout --output-filename dir:nocopy ./prog
expect_out "mpirun.openmpi --host a:1 -n 1 --map-by slot --bind-to none -x SHOAL_LAUNCHER --timestamp-output --merge-stderr-to-stdout --output-filename dir:nocopy ./prog"
dry --host a:2,b --map-by node --cpus-per-proc 2 ./prog
expect_out "mpirun.openmpi --host a:2,b:1 -n 3 --map-by node:PE=2 --rank-by node --bind-to core -x SHOAL_LAUNCHER ./prog"
lacks --bind socket:2
dry --host a --stdin 1 ./prog
expect_out "mpirun.openmpi --host a:1 -n 1 --map-by slot --bind-to none -x SHOAL_LAUNCHER --stdin 1 ./prog"
lacks --stdin all
lacks -genvnone
lacks -print-all-exitcodes
lacks -prepend-pattern %r
lacks -outfile-pattern %r
lacks -errfile-pattern %r
WORD_ALL=1 dry -genvall --hosts a ./prog
expect_rc 0
grep -q ' -x WORD_ALL .* -x HOME ' "$tmp/out" || grep -q ' -x HOME .* -x WORD_ALL ' "$tmp/out" || fail "not all variables"
run env PATH="$tmp/bin:/usr/bin:/bin" SHOAL_JOB=5 SHOAL_PE=1 SHOAL_APP=1:1 "$oshrun" --dry-run --hosts a ./prog
expect_out "mpirun.openmpi --host a:1 -n 1 --map-by slot --bind-to none -x SHOAL_LAUNCHER ./prog"
unset SLURM_JOB_ID SHOAL_LAUNCHER

# Without hosts, where Slurm has given some.
run env SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 oshrun -n 2 true
expect_rc 0
expect_err_line 'warning: all 2 PEs start on this node: Slurm has allocated 2 nodes, which .*srun --mpi=pmi2 -n 2'
for quiet in SLURM_JOB_NUM_NODES=1 SLURM_STEP_ID=0 SHOAL_LOG=error; do
    run env SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 $quiet oshrun -n 2 true
    expect_quiet
done
run env SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 oshrun true
expect_quiet

# A file, with comments and both ways to say how many.
printf '# all\n\na slots=2 # two\n  b:3\nc\n' >"$tmp/file"
dry --hostfile "$tmp/file" ./prog
expect_out "mpiexec.hydra -hosts a:2,b:3,c:1 -n 6 -bind-to none ./prog"

# The limit of Open MPI's files, and a line for each PE, as batch systems write them.
printf 'a slots=2 max-slots=4\nb max_slots=4 slots=3\nc:2 max_slots=2\n' >"$tmp/file"
dry --hostfile "$tmp/file" ./prog
expect_out "mpiexec.hydra -hosts a:2,b:3,c:2 -n 7 -bind-to none ./prog"
printf 'b\nb\na\nb\na\nc\n' >"$tmp/file"
dry --machinefile "$tmp/file" ./prog
expect_out "mpiexec.hydra -hosts b:3,a:2,c:1 -n 6 -bind-to none ./prog"
dry --machinefile "$tmp/file" -n 4 ./prog
expect_out "mpiexec.hydra -hosts b:3,a:1 -n 4 -bind-to none ./prog"
dry --hosts a:2,b,a,c,a:3 ./prog
expect_out "mpiexec.hydra -hosts a:6,b:1,c:1 -n 8 -bind-to none ./prog"

# Names that several launchers use.
rm "$tmp"/bin/*
pretend mpiexec 'HYDRA build details:'
pretend mpirun 'mpirun (Open MPI) 4.1'
only --dry-run --hosts a ./prog
expect_out "mpiexec -hosts a:1 -n 1 -bind-to none ./prog"
pretend mpiexec 'mpiexec (OpenRTE)'
only --dry-run --hosts a ./prog
expect_rc 0
grep -q '^mpirun --host a:1' "$tmp/out" || fail "not mpirun"
run env PATH="$tmp/bin" SHOAL_LAUNCHER=hydra "$oshrun" --hosts a ./x
expect_err_line 'no launcher .* as SHOAL_LAUNCHER=hydra'
run env SHOAL_LAUNCHER=ssh "$oshrun" --hosts a ./x
expect_err_line 'SHOAL_LAUNCHER="ssh": it takes auto, srun, hydra or mpirun'

# It is run, its output and status are passed on, -v says what it is.
pretend mpiexec.hydra HYDRA
run env PATH="$tmp/bin" RC=5 "$oshrun" -v --hosts a -n 2 ./prog x </dev/null
expect_rc 5
expect_err_line '^mpiexec.hydra -hosts a:2 -n 2 -bind-to none ./prog x$'
expect_out "mpiexec.hydra
<-hosts>
<a:2>
<-n>
<2>
<-bind-to>
<none>
<./prog>
<x>"

run env PATH="$tmp/bin" "$oshrun" --hosts a:3,b --map-by node -print-rank-map ./prog </dev/null
[ "$(head -n 2 "$tmp/out")" = "$(printf '(a:0,2,3)\n(b:1)')" ] || fail "not where PEs are"

# A launcher that stays although a host is lost, or the time is over, or that is told to end.
printf '#!/bin/sh\n%s\n' 'echo "[2] shoal: PE 2: host b (PEs 0 to 1) is lost: no answer for 5 s" >&2
trap "" TERM; while :; do /bin/sleep 0.1; done' >"$tmp/bin/mpiexec.hydra"
run timeout 20 env PATH="$tmp/bin" "$oshrun" --hosts a,b ./prog
expect_rc 1
[ "$ms" -lt 6000 ] || fail "took $ms ms"
grep -q '^oshrun: mpiexec.hydra was ended: it still waited for a host that is lost$' "$tmp/err" || fail "no line"
printf '#!/bin/sh\n%s\n' 'echo "shoal: PE 2: host b (PEs 0 to 1) is lost: no answer for 5 s" >&2; exit $RC' \
    >"$tmp/bin/mpiexec.hydra"
for status in 7 0; do # its own, unless it takes that for a good end
    run timeout 20 env PATH="$tmp/bin" RC=$status "$oshrun" --hosts a,b ./prog
    expect_rc $((status ? status : 1))
    expect_err_line 'is lost'
done
printf '#!/bin/sh\nexec /bin/sleep 100\n' >"$tmp/bin/mpiexec.hydra"
run timeout 20 env PATH="$tmp/bin" "$oshrun" --hosts a,b --timeout 0.5 ./prog
expect_rc 124
expect_err_line '^oshrun: mpiexec.hydra was ended: timed out$'
printf '#!/bin/sh\ntrap "echo told; exit 9" TERM\necho >%s/started; while :; do /bin/sleep 0.1; done\n' "$tmp" >"$tmp/bin/mpiexec.hydra"
PATH="$tmp/bin" "$oshrun" --hosts a,b ./prog >"$tmp/out" 2>"$tmp/err" &
job=$!
wait_for test -e "$tmp/started"
kill -TERM $job
wait $job
rc=$? job=
expect_rc 9
expect_out told

what="wrong lists"
while read -r words; do
    # shellcheck disable=SC2086
    run oshrun $words
    expect_rc 2
done <<END
--hosts a:0 ./x
--hosts a:x ./x
--hosts a,,b ./x
--hosts -a ./x
--hosts a;b ./x
--hosts a:2,b -n 4 ./x
--hostfile /nonexistent ./x
--hosts a --hostfile $tmp/file ./x
--dry-run ./x
-v ./x
END
for line in 'a slots=2 slots=2' 'a slots=2 cores=4' 'a:2 slots=2' 'a max_slots=x' 'a max_slots=' 'a b'; do
    printf '%s\n' "$line" >"$tmp/file"
    run oshrun --hostfile "$tmp/file" ./x
    expect_rc 2
    expect_err_line 'file, line 1: a line is NAME, NAME:COUNT or NAME slots=COUNT'
done
exit 0
