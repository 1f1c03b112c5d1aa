#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of MPI and OpenSHMEM under valgrind: nothing to complain of, and a heap that it can read in time.
. "$(dirname "$0")/lib.sh"
! is_sanitized || skip "valgrind runs no programs of sanitizers"
case $build in *hostile*) skip "heaps are small there anyway" ;; esac
command -v valgrind >/dev/null || skip "valgrind is not installed"

# Some memory is left over, so that valgrind looks for pointers to it.
cat >"$tmp/hop.c" <<'EOF'
#include <mpi.h>
#include <shmem.h>
#include <stdlib.h>
static long sum;
static char *left;
int main(int argc, char **argv)
{
    int rank, size, got[4000], n = 4000;
    MPI_Init(&argc, &argv);
    shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *give = malloc((size_t)n * sizeof *give);
    for (int i = 0; i < n; i++)
        give[i] = rank + i;
    int before = (rank + size - 1) % size;
    for (int k = 0; k < 10; k++)
        MPI_Sendrecv(give, n, MPI_INT, (rank + 1) % size, 0, got, n, MPI_INT, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, give, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    shmem_long_atomic_add(&sum, got[1], 0);
    shmem_barrier_all();
    int wrong = got[n - 1] != before + n - 1 || give[7] != size + 6 || (!rank && sum != size * (size + 1L) / 2);
    // Memory that is given no value here, and that others may write to.
    enum { LONG = 3 << 20 };
    char *from = calloc(LONG, 1), *to = malloc(LONG), *open = malloc(LONG);
    MPI_Request request[2];
    MPI_Win win;
    MPI_Irecv(to, LONG, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(from, LONG, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Win_create(open, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(from, LONG, MPI_BYTE, before, 0, LONG, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < LONG; i += 999)
        wrong |= to[i] || open[i];
    MPI_Win_free(&win);
    free(from);
    free(to);
    free(open);
    left = malloc(10);
    free(give);
    shmem_finalize();
    MPI_Finalize();
    return wrong + !left;
}
EOF
mpicc -O1 -g -o "$tmp/hop" "$tmp/hop.c" -lshoal || fail "mpicc does not compile"
heap() { # what valgrind is given, or SHMEM_SYMMETRIC_SIZE
    grep -q "symmetric heap: $1 bytes" "$tmp/err" || fail "the heap has not $1 bytes: $(grep 'symmetric heap' "$tmp/err")"
}
run env SHOAL_LOG=heap:debug oshrun -n 2 valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$tmp/hop"
expect_rc 0
heap 67108864
run env SHOAL_LOG=heap:debug SHMEM_SYMMETRIC_SIZE=32m oshrun -n 2 "$(command -v valgrind)" -q --error-exitcode=9 "$tmp/hop"
expect_rc 0
heap 33554432

# The launcher does not see it here.
printf '#!/bin/sh\nexec valgrind -q --leak-check=no "$@"\n' >"$tmp/wrapper"
chmod +x "$tmp/wrapper"
run oshrun -n 1 "$tmp/wrapper" "$tmp/hop"
expect_rc 0
warns=$(grep -c 'warning: valgrind reads .*SHMEM_SYMMETRIC_SIZE' "$tmp/err")
run env SHOAL_LOG=heap:debug oshrun -n 1 "$tmp/hop"
size=$(sed -n 's/.*symmetric heap: \([0-9]*\) .*/\1/p' "$tmp/err")
[ "$warns" -eq 1 ] || [ "$size" -lt 600000000 ] || fail "no warning of a heap of $size bytes"
run "$tmp/wrapper" "$tmp/hop" # by itself
expect_rc 0
! grep -q 'warning: valgrind reads' "$tmp/err" || fail "a warning of a heap that is small"
