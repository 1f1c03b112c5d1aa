#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# make install: programs that the installed wrappers compile, and those that are compiled as pkg-config says,
# need the installed libraries and no others, and run by the installed launchers. make uninstall leaves
# nothing behind.
. "$(dirname "$0")/../launch/lib.sh"
! is_sanitized || skip "it is installed from the other builds"
case $build in *hostile*) skip "it is installed from the other builds" ;; esac
for tool in make cc pkg-config; do command -v $tool >/dev/null || skip "there is no $tool"; done

root=$(cd "$here/../.." && pwd) there=$tmp/there
make=(make -s -C "$root" BUILD="${build#"$root"/}" PREFIX="$there")
"${make[@]}" install >"$tmp/out" 2>"$tmp/err" || fail "make install"
export PKG_CONFIG_PATH=$there/lib/pkgconfig

cat >"$tmp/mpi.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return size == 2 && sum == 1 ? 0 : 1;
}
END
cat >"$tmp/shmem.c" <<'END'
#include <shmem.h>
int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    shmem_finalize();
    return n == 2 ? 0 : 1;
}
END

runs() { # LAUNCHER PROGRAM LIBRARY
    LD_LIBRARY_PATH=$there/lib ldd "$tmp/$2" | grep -q "$3.* $there/lib/" || fail "$2 needs another $3"
    run env LD_LIBRARY_PATH="$there/lib" "$there/bin/$1" -n 2 --timeout 20 "$tmp/$2"
    expect_rc 0
    expect_quiet
}

"$there/bin/mpicc" -o "$tmp/by_mpicc" "$tmp/mpi.c" || fail "the installed mpicc does not compile"
"$there/bin/oshcc" -o "$tmp/by_oshcc" "$tmp/shmem.c" || fail "the installed oshcc does not compile"
# The archive has no names but public ones, which a program may use for its own.
sed 's/^int main/int net, page_size; void fatal(void) {}\n&/' "$tmp/shmem.c" >"$tmp/names.c"
"$there/bin/oshcc" -o "$tmp/static" "$tmp/names.c" -Wl,-Bstatic -lshoal -Wl,-Bdynamic -ldl -lm ||
    fail "names of the library's own clash with a program's"
for launcher in mpiexec mpirun; do runs $launcher by_mpicc libmpi_abi.so.1; done
runs oshrun by_oshcc libshoal.so.0
for pc in mpi_abi:mpi shoal:shmem oshmem:shmem; do
    # shellcheck disable=SC2046
    cc -o "$tmp/as_said" "$tmp/${pc#*:}.c" $(pkg-config --cflags --libs "${pc%:*}") || fail "pkg-config ${pc%:*}"
    case $pc in mpi*) runs mpiexec as_said libmpi_abi.so.1 ;; *) runs oshrun as_said libshoal.so.0 ;; esac
done

"${make[@]}" uninstall >"$tmp/out" 2>"$tmp/err" || fail "make uninstall"
left=$(find "$there" ! -type d)
[ -z "$left" ] || fail "left after make uninstall: $left"

# Libraries in a folder of the system's kind, by one whose files nobody else may read; then all of it moves.
(umask 077 && "${make[@]}" LIBDIR="$there/lib64" install >"$tmp/out" 2>"$tmp/err") || fail "make install LIBDIR="
left=$(find "$there" -type f ! -perm -044)
[ -z "$left" ] || fail "not for others to read: $left"
"$there/bin/mpicc" --show a.c | grep -q -- "-L$there/lib64 " || fail "mpicc does not know of LIBDIR"
mv "$there" "$tmp/moved" && there=$tmp/moved
"$there/bin/mpicc" -o "$tmp/by_mpicc" "$tmp/mpi.c" || fail "mpicc does not find LIBDIR where it has moved"
if pkg-config --help 2>&1 | grep -q -- --define-prefix; then
    PKG_CONFIG_PATH=$there/lib64/pkgconfig pkg-config --define-prefix --libs --cflags shoal >"$tmp/out"
    grep -q -- "-I$there/include.*-L$there/lib64 " "$tmp/out" || fail "shoal.pc does not follow: $(cat "$tmp/out")"
fi
rm -rf "$there"
"${make[@]}" PREFIX="$tmp/a b" install >"$tmp/out" 2>"$tmp/err" && fail "PREFIX with a space is accepted"
grep -q 'PREFIX has a space' "$tmp/err" || fail "not why PREFIX with a space is not accepted"
exit 0
