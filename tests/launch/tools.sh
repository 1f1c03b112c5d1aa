#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc and shoal: what they print, and that a program built by them runs, also when moved.
. "$(dirname "$0")/lib.sh"

run oshcc --show -O2 a.c -o a
expect_rc 0
grep -Eq -- '-I[^ ]+.* -O2 a.c -o a -L[^ ]+ -Wl,-rpath,[^ ]+ -lshoal' "$tmp/out" || fail "$(cat "$tmp/out")"
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
mkdir -p "$tmp/moved/bin" "$tmp/moved/lib" "$tmp/moved/include"
cp "$build/bin/oshcc" "$tmp/moved/bin" && cp -L "$build"/lib/libshoal.so* "$tmp/moved/lib"
printf '%s\n' "$(oshcc --show | tr ' ' '\n' | sed -n 's/^-I//p')" >"$tmp/inc"
cp "$(cat "$tmp/inc")"/*.h "$tmp/moved/include"
"$tmp/moved/bin/oshcc" -o "$tmp/ring2" "$tmp/ring.c" || fail "a moved oshcc does not compile"
"$tmp/moved/bin/oshcc" --show a.c | grep -q -- "-L$tmp/moved/lib" || fail "a moved oshcc uses the old place"
run oshrun -n 2 "$tmp/ring2"
expect_rc 0
exit 0
