#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Several programs in one job, with ":" between them: each has its own arguments and processes, knows
# which one it is (MPI_APPNUM), and messages go between them, of variables that lie at other places.
. "$(dirname "$0")/lib.sh"
[ -x "$build/bin/mpicc" ] || skip "there is no mpicc"

run oshrun -n 2 sh -c 'echo $SHOAL_PE $SHOAL_APP $*' a b : echo c : -n 2 --tag -- sh -c 'echo $SHOAL_APP $*' d :
expect_rc 0
[ "$(sort "$tmp/out" | tr '\n' ',')" = "[0] 0 0:2 b,[1] 1 0:2 b,[2] c,[3] 2:2 :,[4] 2:2 :," ] || fail "other lines"
# Variables of one program, over those of all; the last of several.
export WORD_A=0
run oshrun -n 1 -env WORD_A 1 sh -c 'echo $WORD_A $WORD_B' : sh -c 'echo $WORD_A $WORD_B' : \
    -genv WORD_B b -n 1 -env WORD_A 2 -env WORD_B 'c  d' -env WORD_A 3 sh -c 'echo "$WORD_A $WORD_B"; env | grep -c WORD_A='
expect_rc 0
[ "$(sort "$tmp/out" | tr '\n' ',')" = "0 b,1,1 b,3 c  d," ] || fail "other variables"
run oshrun -n 2 true : sh -c 'oshrun -n 1 sh -c "echo in \$SHOAL_APP."'
expect_out "in ."
run oshrun -n 2 true : -n 3 "$tmp/absent"
expect_rc 127
is_sanitized t || expect_err_line "cannot run $tmp/absent" # which makes a fork of vfork

cat >"$tmp/part.c" <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef OTHER
static char before[100000] = {1};
#else
static char before[1];
#endif
static int data[5000], got[5000];

int main(int argc, char **argv)
{
    int me, npes, found, *app, there, sum = 0;
    char processes[8] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
    int room = sizeof processes;
    MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &room, processes, &there);
    for (int i = 0; i < 5000; i++)
        data[i] = me + i;
    for (int n = 1; n <= 5000; n *= 10) {
        MPI_Sendrecv(data, n, MPI_INT, (me + 1) % npes, 0, got, n, MPI_INT, (me + npes - 1) % npes, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += got[n - 1] - (me + npes - 1) % npes - (n - 1);
        MPI_Allreduce(data, got, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += got[n - 1] - npes * (npes - 1) / 2 - npes * (n - 1);
    }
    printf("%d of %d: %d of %s, %s %d %d\n", me, npes, *app, processes, argv[argc - 1], sum, before[0]);
    MPI_Finalize();
}
PROGRAM
mpicc -o "$tmp/part" "$tmp/part.c" && mpicc -DOTHER -o "$tmp/other" "$tmp/part.c" || fail "cannot compile"

expect_parts() {
    expect_rc 0
    sort "$tmp/out" >"$tmp/sorted"
    cmp -s "$tmp/sorted" - <<'END' || fail "other lines"
0 of 4: 0 of 2, x 0 0
1 of 4: 0 of 2, x 0 0
2 of 4: 1 of 1, y 0 1
3 of 4: 2 of 1, z 0 0
END
}
parts=(-n 2 "$tmp/part" x : "$tmp/other" y : -n 1 "$tmp/part" z)
run mpiexec --timeout 20 "${parts[@]}"
expect_parts
expect_quiet

# Handed over, with a directory of its own for one of them.
mkdir "$tmp/there"
parts=(-n 2 "$tmp/part" x : --wdir "$tmp/there" ../other y : -n 1 "$tmp/part" z)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for launcher in hydra mpirun; do
    case $launcher in hydra) command=mpiexec.hydra ;; mpirun) command=mpirun.openmpi ;; esac
    command -v $command >/dev/null || continue
    if [ $launcher = mpirun ]; then # libpmix is not ours to judge
        [ -e "$build/lib/libshoal-pmix.so" ] && ! is_sanitized || continue
    fi
    run env SHOAL_LAUNCHER=$launcher oshrun --timeout 30 --hosts localhost:4 "${parts[@]}" </dev/null
    expect_parts
done
exit 0
