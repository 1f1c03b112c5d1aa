#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --hosts, through hydra and through Open MPI's mpirun: numbers, environment, standard input,
# tags, time limit, exit codes. (tests/launch/handover.sh looks at the commands it makes.)
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
hosts 3

"$build/bin/oshcc" -x c - -o "$tmp/show" <<'PROGRAM' || fail "does not compile"
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char host[64], line[64] = "";
    if (argc == 1)
        return 0;
    shmem_init();
    gethostname(host, sizeof host);
    const char *a = getenv("A"), *b = getenv("SHOAL_LOG");
    if (shmem_my_pe() == 0 && fgets(line, sizeof line, stdin))
        line[strcspn(line, "\n")] = 0;
    printf("PE %d of %d on %s A=%s LOG=%s in=%s %s\n", shmem_my_pe(), shmem_n_pes(), host,
           a ? a : "-", b ? b : "-", line, argc > 2 ? argv[2] : "");
    fflush(stdout);
    shmem_barrier_all();
    if (argc > 4 && shmem_my_pe() == atoi(argv[4]))
        exit(atoi(argv[3]));
    if (argc > 4)
        shmem_barrier_all();
    if (argc > 3)
        shmem_global_exit(atoi(argv[3]));
    shmem_finalize();
    return 0;
}
PROGRAM
through_oshrun() {
    export SHOAL_LAUNCHER=$1
    export SHOAL_LOG=error
    what="oshrun by $1"
    echo word | timeout -k 5 60 oshrun --hosts shoal1:2,shoal2,shoal3:3 -x A="x y" "$tmp/show" 1 "it's" >"$tmp/out" 2>"$tmp/err"
    rc=$?
    expect_rc 0
    sort "$tmp/out" >"$tmp/sorted"
    cat >"$tmp/want" <<END
PE 0 of 6 on shoal1 A=x y LOG=error in=word it's
PE 1 of 6 on shoal1 A=x y LOG=error in= it's
PE 2 of 6 on shoal2 A=x y LOG=error in= it's
PE 3 of 6 on shoal3 A=x y LOG=error in= it's
PE 4 of 6 on shoal3 A=x y LOG=error in= it's
PE 5 of 6 on shoal3 A=x y LOG=error in= it's
END
    cmp -s "$tmp/sorted" "$tmp/want" || fail "not as it should be"
    printf 'shoal1 slots=2 # two\n\nshoal2:2\n' >"$tmp/file"
    run timeout -k 5 60 oshrun --hostfile "$tmp/file" --tag --bind none "$tmp/show" 1 </dev/null
    expect_rc 0
    for at in 0.*shoal1 1.*shoal1 2.*shoal2 3.*shoal2; do
        grep -Eq "${at%%.*}.+PE ${at%%.*} of 4 on ${at##*\*} " "$tmp/out" || fail "PE ${at%%.*} is not there with a tag"
    done
    run timeout -k 5 60 oshrun --hosts shoal1:3,shoal2 --map-by node "$tmp/show" 1 </dev/null
    expect_rc 0
    [ "$(sed -n 's/^PE \([0-9]\) of 4 on shoal\([0-9]\) .*/\1:\2/p' "$tmp/out" | sort | tr '\n' ' ')" = "0:1 1:2 2:1 3:1 " ] ||
        fail "not by turns"
    if [ "$1" = hydra ]; then
        run timeout -k 5 60 oshrun --hosts shoal1,shoal2 -genvnone -x A=1 -outfile-pattern "$tmp/of.%r" "$tmp/show" 1 </dev/null
        expect_rc 0
        expect_out ''
        grep -q "^PE 1 of 2 on shoal2 A=1 LOG=error " "$tmp/of.1" || fail "not PE 1's file"
    fi
    # By a script, after one that does not initialize.
    run timeout -k 5 60 oshrun --hosts shoal1:2,shoal2:2 sh -c '"$0" && "$0" 1 x; exit $?' "$tmp/show" </dev/null
    expect_rc 0
    [ "$(grep -c '^PE' "$tmp/out")" -eq 4 ] || fail "not 4 PEs"
    for code in 0 7; do
        run timeout -k 5 60 oshrun --hosts shoal1,shoal2 -n 4 "$tmp/show" 1 x $code </dev/null
        expect_rc $code
    done
    for pe in 0 1 2; do # a host's first, a later one, and the first of another host
        run timeout -k 5 60 oshrun --hosts shoal1:2,shoal2,shoal3 "$tmp/show" 1 x 3 $pe </dev/null
        expect_rc 3
        ! grep -q 'is lost' "$tmp/err" || fail "a host is said to be lost"
        [ "$1" != hydra ] || grep -q "shoal: PE $pe: exits with status 3 before it has finalized" "$tmp/err" ||
            fail "no line about PE $pe"
    done
    run timeout -k 5 60 oshrun --hosts shoal1,shoal2 --timeout 1 sleep 100
    expect_rc 124
    unset SHOAL_LAUNCHER SHOAL_LOG
}
through_oshrun hydra

if command -v mpirun.openmpi >/dev/null && [ -e "$build/lib/libshoal-pmix.so" ]; then
    through_oshrun mpirun
else
    echo "left out: Open MPI's mpirun or the PMIx module is not there"
fi
exit 0
