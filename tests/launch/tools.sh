#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc, mpicc and shoal: what they print, and that a program built by them runs, also when moved.
. "$(dirname "$0")/lib.sh"

run oshcc --show -O2 a.c -o a
expect_rc 0
grep -Eq -- ' -O2 a.c -o a -I[^ ]+ -L[^ ]+ -Wl,-rpath,[^ ]+ -lshoal' "$tmp/out" || fail "$(cat "$tmp/out")"
for show in --show -show --showme; do
    run oshcc -c $show a.c
    grep -q -- -lshoal "$tmp/out" && fail "-lshoal with -c"
    grep -q -- ' -c a.c' "$tmp/out" || fail "arguments are missing"
done
run env SHMEM_CC='my cc' oshcc --show "-DA='b c'" a.c
grep -q '^my cc ' "$tmp/out" || fail "SHMEM_CC is not used"
eval "set -- $(cat "$tmp/out")"
quoted=no
for word; do [ "$word" != "-DA='b c'" ] || quoted=yes; done
[ $quoted = yes ] || fail "--show does not quote"
run env OSHCC=oshcc oshcc --show a.c
grep -q '^oshcc' "$tmp/out" && fail "OSHCC=oshcc makes it call itself"
run oshcc -help
expect_rc 0
run oshcc --help
expect_rc 0
run oshcc --version
expect_rc 0
grep -q '^oshcc (Shoal) [0-9]' "$tmp/out" || fail "no version"
run oshc++ --show a.cc
cxx=$(cut -d' ' -f1 "$tmp/out")
[ "$(oshCC --show a.cc | cut -d' ' -f1)" = "$cxx" ] || fail "oshCC is not oshc++"

run shoal info
expect_rc 0
for word in SHMEM_SYMMETRIC_SIZE SHOAL_LOG compiler hwloc cores teams; do
    grep -q "$word" "$tmp/out" || fail "$word is not there"
done
run env SHOAL_SPIN=x shoal info
expect_rc 1
run shoal nope
expect_rc 2
run shoal --version
expect_rc 0

compile ring <<'EOF'
#include <shmem.h>
static long got = -1;
int main(void)
{
    shmem_init();
    shmem_p(&got, (long)shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    long want = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    shmem_finalize();
    return got != want;
}
EOF
run oshrun -n 3 "$tmp/ring"
expect_rc 0
expect_quiet
cp "$tmp/ring.c" "$tmp/ring.cc"
if command -v "$cxx" >/dev/null; then
    oshc++ -o "$tmp/ring++" "$tmp/ring.cc" || fail "oshc++ does not compile"
    run oshrun -n 3 "$tmp/ring++"
    expect_rc 0
fi

# The same script as mpicc: only the ABI's library is needed, unless the program wants more.
cat >"$tmp/hop.c" <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, got = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return got != left;
}
EOF
cp "$tmp/hop.c" "$tmp/hop.cc"
for cc in mpicc mpicc_abi mpicxx mpicxx_abi mpic++ mpiCC; do
    case $cc in
        mpicc*) source=hop.c ;;
        *) source=hop.cc; command -v "$cxx" >/dev/null || continue ;;
    esac
    $cc -o "$tmp/hop" "$tmp/$source" || fail "$cc does not compile"
    run mpiexec -np 3 "$tmp/hop"
    expect_rc 0
    expect_quiet
done
run mpirun -n 2 "$tmp/hop"
expect_rc 0
if command -v readelf >/dev/null; then
    mpicc -o "$tmp/hop" "$tmp/hop.c"
    run readelf -d "$tmp/hop"
    grep -q 'NEEDED.*\[libmpi_abi\.so\.1\]' "$tmp/out" || fail "it does not need libmpi_abi.so.1"
    grep -q 'NEEDED.*libshoal' "$tmp/out" && fail "an MPI program needs libshoal"
fi
run mpicc -show -c a.c
grep -q -- '-lmpi_abi' "$tmp/out" && fail "-lmpi_abi with -c"
# As build systems ask the wrappers of other MPIs.
mpicc -c $(mpicc -showme:compile) -o "$tmp/hop.o" "$tmp/hop.c" && cc=$(mpicc -showme:command) &&
    $cc -o "$tmp/hop3" "$tmp/hop.o" $(mpicc --showme:link) || fail "the parts of -showme do not make a program"
info=$(mpicc -link_info)
$(mpicc -compile_info) -c -o "$tmp/hop.o" "$tmp/hop.c" && ${info%% *} -o "$tmp/hop3" "$tmp/hop.o" ${info#* } ||
    fail "-compile_info and -link_info do not make a program"
run oshrun -n 2 "$tmp/hop3"
expect_rc 0
# Some keep flags and libraries apart, link with the flags first, and name the libraries by their paths.
flags= libraries=
for word in $(mpicc -showme:link); do
    case $word in
        -L*) dir=${word#-L} ;;
        -l*) libraries="$libraries $dir/lib${word#-l}.so" ;;
        *) flags="$flags $word" ;;
    esac
done
$cc $flags -o "$tmp/hop3" "$tmp/hop.o" $libraries || fail "flags first do not make a program"
! command -v readelf >/dev/null || ! readelf -d "$tmp/hop3" | grep -q 'NEEDED.*libshoal' ||
    fail "an MPI program needs libshoal, with flags first"
run mpicc -showme:compile a.c -lx
grep -q -- '-l\|a\.c' "$tmp/out" && fail "more than what compiling needs"
for dir in $(mpicc -showme:incdirs); do found="${found-} $(ls "$dir")"; done
case $found in *mpi.h*) ;; *) fail "-showme:incdirs: no mpi.h" ;; esac
ls "$(mpicc -showme:libdirs)/libmpi_abi.so" >"$tmp/out" || fail "-showme:libdirs: no libmpi_abi"
run mpicc -showme:libs
expect_out mpi_abi
run mpicc -cc=moon -show -c a.c
grep -q '^moon .*-c a.c' "$tmp/out" || fail "-cc is not used"
run mpicc -showme:moon
expect_rc 1
grep -q 'no -showme:moon' "$tmp/err" || fail "not why"
run env MPI_CC='my cc' mpicc --show a.c
grep -q '^my cc .*-lmpi_abi' "$tmp/out" || fail "MPI_CC is not used"
run mpicc --version
grep -q '^mpicc (Shoal) [0-9]' "$tmp/out" || fail "no version"
head -1 "$tmp/out" | grep -q Shoal && fail "who asks a compiler for its version gets another one"
for own in 'env mpicc' x86_64-linux-gnu-mpicc; do
    run timeout 20 env MPI_CC="$own" mpicc --show a.c
    expect_rc 0
    grep -q mpicc "$tmp/out" && fail "mpicc would call itself"
done
# What a program has of its own is found before what lies beside the runtime's headers.
mkdir "$tmp/own"
: >"$tmp/own/shoal.h"
echo '#include <shoal.h>
int SHOAL_OK;' >"$tmp/own.c"
mpicc -c -I"$tmp/own" -o "$tmp/own.o" "$tmp/own.c" || fail "mpicc's own folder comes before the program's"
# Under the names that distributions give them.
ln -s "$(command -v mpicc)" "$tmp/mpic++.shoal"
ln -s "$(command -v mpicc)" "$tmp/x86_64-linux-gnu-mpicc"
[ "$("$tmp/mpic++.shoal" --show a.cc | cut -d' ' -f1)" = "$cxx" ] || fail "mpic++.shoal is not for C++"
"$tmp/x86_64-linux-gnu-mpicc" --show a.c | grep -q -- -lmpi_abi || fail "x86_64-linux-gnu-mpicc is not mpicc"

mkdir -p "$tmp/moved/bin" "$tmp/moved/lib" "$tmp/moved/include"
cp "$build/bin/oshcc" "$tmp/moved/bin" && cp -L "$build"/lib/libshoal.so* "$tmp/moved/lib"
printf '%s\n' "$(oshcc --show | tr ' ' '\n' | sed -n 's/^-I//p')" >"$tmp/inc"
cp "$(cat "$tmp/inc")"/*.h "$tmp/moved/include"
"$tmp/moved/bin/oshcc" -o "$tmp/ring2" "$tmp/ring.c" || fail "a moved oshcc does not compile"
"$tmp/moved/bin/oshcc" --show a.c | grep -q -- "-L$tmp/moved/lib" || fail "a moved oshcc uses the old place"
run oshrun -n 2 "$tmp/ring2"
expect_rc 0
mv "$tmp/moved" "$tmp/com,ma" # which -Wl splits at
"$tmp/com,ma/bin/oshcc" -o "$tmp/ring2" "$tmp/ring.c" || fail "not in a folder with a comma"
run oshrun -n 2 "$tmp/ring2"
expect_rc 0
exit 0
