#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs on two and three hosts (see tests/net/hosts), by mpiexec --hosts and by hydra's own,
# over each transport: messages, collectives, communicators, threads, random traffic, windows; a rank
# that is killed, one that aborts.
set -u
. "$(dirname "$0")/lib.sh"
command -v mpiexec.hydra >/dev/null || skip "hydra's mpiexec is not installed (package mpich)"
[ -x "$build/bin/mpicc" ] || skip "there is no mpicc"
hosts 3

ours() { # PLACES COMMAND...
    run timeout -k 5 60 mpiexec --hosts "$@" </dev/null
    expect_rc 0
}

hydras() { # PLACES N COMMAND...
    local places=$1 n=$2
    shift 2
    run timeout -k 5 60 "${hydra[@]}" -hosts "$places" -n "$n" "$@" </dev/null
}

cat >"$tmp/end.c" <<'PROGRAM'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, size, local, word = 0;
    char host[64];
    MPI_Comm node;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &local);
    gethostname(host, sizeof host);
    printf("rank %d of %d on %s with %d\n", me, size, host, local);
    fflush(stdout);
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1 && argv[1][0] == 'k')
        raise(SIGKILL);
    if (me == 1 && argv[1][0] == 'a')
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (argv[1][0] != 'e') // of what never comes
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
PROGRAM
"$build/bin/mpicc" "$tmp/end.c" -o "$tmp/end" || fail "does not compile"

end_of_jobs() {
    hydras shoal1:1,shoal2:1 2 "$tmp/end" a
    expect_rc 7
    hydras shoal1:1,shoal2:1 2 "$tmp/end" k
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] || fail "exit status $rc although a rank was killed"
}

for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || { echo "left out: libshoal-$transport is not built"; continue; }
    export SHOAL_TRANSPORT=$transport
    for test in traffic rma_random coll; do
        ours shoal1:3,shoal2:1 "$build/tests/mpi/$test"
    done
    ours shoal1:2,shoal2:2 "$build/tests/mpi/threads"
    ours shoal1:2,shoal2:1 "$build/tests/mpi/near_far"
    for test in rma_threads rma_windows rma_busy; do
        ours shoal1,shoal2 "$build/tests/mpi/$test"
    done
    for test in comms rma_sync; do
        hydras shoal1:2,shoal2:1,shoal3:2 5 "$build/tests/mpi/$test"
        expect_rc 0
    done
    end_of_jobs
done
unset SHOAL_TRANSPORT
for test in rma_atomic rma_dynamic; do
    hydras shoal1:1,shoal2:1 2 "$build/tests/mpi/$test"
    expect_rc 0
done
ours shoal1:2,shoal2,shoal3:3 "$tmp/end" e
sort "$tmp/out" >"$tmp/sorted"
cat >"$tmp/want" <<'WANT'
rank 0 of 6 on shoal1 with 2
rank 1 of 6 on shoal1 with 2
rank 2 of 6 on shoal2 with 1
rank 3 of 6 on shoal3 with 3
rank 4 of 6 on shoal3 with 3
rank 5 of 6 on shoal3 with 3
WANT
cmp -s "$tmp/sorted" "$tmp/want" || fail "not as it should be"
exit 0
