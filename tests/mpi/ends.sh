#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ends and beginnings that are unusual (ends.c): one line and a failure for who exits without MPI_Finalize; the
# library opened and closed by a program; started with closed standard files; with all memory locked; each
# rank in a namespace of process numbers of its own.
. "$(dirname "$0")/../launch/lib.sh"
program=$build/tests/mpi/ends
[ -x "$program" ] || skip "tests/mpi/ends is not built"
ulimit -c 0
# Jobs are ended as the leak checker looks at their processes, and networks' libraries are not ours to judge.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

unfinalized() {
    run oshrun -n 3 --timeout 30 "$program" one-exits
    expect_rc 1
    expect_err_line '^shoal: PE 2: it exits with status 0 without MPI_Finalize$'
}
unfinalized
run oshrun -n 3 --timeout 30 "$program" unfinalized # all of them
expect_rc 1
grep -qv 'PE [0-2]: it exits with status 0 without MPI_Finalize$' "$tmp/err" && fail "other lines on stderr"
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_bugs=0" # the networks' libraries are not ours to judge
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || continue
    SHOAL_VNODES=3 SHOAL_TRANSPORT=$transport unfinalized
done
run "$program" unfinalized # nobody waits for it
expect_rc 0
expect_quiet
run oshrun -n 3 --timeout 30 "$program" session
expect_rc 0
expect_quiet

run oshrun -n 2 --timeout 60 "$program" closed
[ "$rc" -ne 0 ] || fail "it went well"
grep -q ': the program has closed descriptor [0-9]* before it initialized: ' "$tmp/err" ||
    fail "no line that says so"

run oshrun -n 2 --timeout 60 "$program" locked
[ "$rc" -eq 77 ] || { expect_rc 0; expect_quiet; }

for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    run timeout 60 bash -c "exec \"\$1\" private $closed" bash "$program"
    expect_rc 0
done

cat >"$tmp/closed" <<'EOF'
#!/bin/sh
exec "$@" <&- >&- 2>&-
EOF
chmod +x "$tmp/closed"
for transport in ofi ucx; do
    [ -e "$build/lib/libshoal-$transport.so" ] || continue
    SHOAL_VNODES=3 SHOAL_TRANSPORT=$transport run oshrun -n 3 --timeout 60 "$tmp/closed" "$program" standard
    expect_rc 0
done

# A sanitizer has to come first in a program.
if ! is_sanitized && command -v cc >/dev/null; then
    cat >"$tmp/opens.c" <<'EOF'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*init)(int *, char ***) = library ? (int (*)(int *, char ***))dlsym(library, "MPI_Init") : NULL;
    int (*end)(void) = init ? (int (*)(void))dlsym(library, "MPI_Finalize") : NULL;
    return !end || init(NULL, NULL) || end() || dlclose(library);
}
EOF
    cc "$tmp/opens.c" -o "$tmp/opens" -ldl || fail "opens.c does not compile"
    run "$tmp/opens" "$build/lib/libmpi_abi.so.1"
    expect_rc 0
    run oshrun -n 3 --timeout 30 "$tmp/opens" "$build/lib/libmpi_abi.so.1"
    expect_rc 0
    expect_quiet
fi

cat >"$tmp/apart" <<'EOF'
#!/bin/sh
exec unshare -pfi "$@"
EOF
chmod +x "$tmp/apart"
if "$tmp/apart" true 2>/dev/null && setarch -R true 2>/dev/null; then
    for stage in 0 4m; do
        SHOAL_MPI_STAGE=$stage run oshrun -n 3 --timeout 60 "$tmp/apart" setarch -R "$program" private
        expect_rc 0
        expect_quiet
    done
else
    echo "no namespaces of process numbers here: left out"
fi
exit 0
