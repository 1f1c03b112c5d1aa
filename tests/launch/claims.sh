#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whose the place of a PE is: a program that never initializes the library leaves it to the next one,
# and to the one that it becomes by exec.
. "$(dirname "$0")/lib.sh"

# Its variables tell whether they are those of a program before. Words: nothing: a job's work;
# version, die: no job's; exec PROGRAM...: becomes that; run COMMAND: starts that, then works;
# late COMMAND: works, then starts that.
compile prog <<'END'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef N
#define N 4096
#endif
static long there[N], given = 5;
int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    for (int i = 0; i < N; i++)
        if (there[i] || given != 5)
            return 9;
    if (!strcmp(word, "run") && system(argv[2]))
        return 8;
    if (*word && strcmp(word, "run") && strcmp(word, "late")) {
        memset(there, 1, sizeof there);
        given = 6;
    }
    if (!strcmp(word, "version"))
        return puts("version"), 0;
    if (!strcmp(word, "die"))
        return raise(SIGKILL);
    if (!strcmp(word, "exec"))
        return execv(argv[2], argv + 2), 7;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&there[7], me + 1, (me + 1) % n);
    shmem_barrier_all();
    printf("%d\n", there[7] == (me + n - 1) % n + 1);
    fflush(stdout);
    if (!strcmp(word, "late") && system(argv[2]))
        return 8;
    shmem_finalize();
    return 0;
}
END
{ echo "#define N 40000"; cat "$tmp/prog.c"; } >"$tmp/more"
compile large <"$tmp/more"
prog=$tmp/prog large=$tmp/large
works() { # HOW MANY LINES COMMAND...
    lines=$1
    shift
    run timeout 20 oshrun "$@"
    expect_rc 0
    expect_quiet
    [ "$(grep -c '^1$' "$tmp/out")" -eq "$lines" ] || fail "not $lines PEs have done their work"
}

works 2 -n 2 sh -c "$prog version; $prog"
works 2 -n 2 sh -c "$prog version; $large version; $prog version; $prog"
works 3 -n 3 sh -c "[ \$SHOAL_PE = 1 ] && { $large version; sleep 0.3; }; exec $prog"
works 1 sh -c "$prog version; $prog"
works 2 -n 2 sh -c "$prog die 2>/dev/null; $prog" 2>/dev/null
works 2 -n 2 "$prog" exec "$prog"
works 2 -n 2 "$large" exec "$prog" exec "$prog"
# One that starts others without looking what it starts, and works itself.
works 2 -n 2 "$prog" run "$prog version"
works 2 -n 2 "$prog" late "$prog version"
works 2 -n 2 sh -c "$prog; $prog version"
# Several at once: one of them is the PE.
works 2 -n 2 sh -c "for i in 1 2 3 4 5; do $prog version & $large version & done; wait; $prog"

# Whose place it is, is said by who wants to have it.
taken() { # WORDS COMMAND...
    words=$1
    shift
    run timeout 20 oshrun "$@"
    [ "$rc" -ne 0 ] || fail "status 0"
    [ "$(grep '^shoal: ' "$tmp/err" | grep -vc 'cannot start;')" -eq 1 ] || fail "not one line of the library's"
    grep -q "^shoal: .*$words" "$tmp/err" || fail "no line like: $words"
}
taken 'has been this PE and has ended' -n 1 sh -c "$prog; $prog"
taken 'is this PE already.*unset SHOAL_JOB' -n 1 "$prog" run "$prog"
taken 'SHOAL_JOB=.*needs SHOAL_JOB unset' -n 1 "$prog" late "$prog"
exit 0
