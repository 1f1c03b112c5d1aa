# SPDX-License-Identifier: BSD-3-Clause
# Read by the tests of launchers other than oshrun, after lib.sh. They set
#   launch    words before the number of PEs, an array
# and call check_programs, then check_ends CODE, CODE being what the launcher makes of
# shmem_global_exit(7) when another PE computes and has to be killed.
[ -x "$build/tests/api/barrier" ] || skip "$build/tests/api/barrier is not built"
case $build in *hostile*) skip "nothing here depends on sizes" ;; esac
oshcc --show -c x.c | grep -q fsanitize && skip "a sanitizer's build: launchers' libraries are not instrumented"

compile job <<'EOF'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long word;
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *pmi = getenv("PMI_RANK"), *rank = pmi ? pmi : getenv("PMIX_RANK");
    if (strcmp(what, "no_init") == 0)
        return 0;
    if (strcmp(what, "early") == 0 && rank && atoi(rank) == 1)
        return 3;
    if (strcmp(what, "setting") == 0 && rank && atoi(rank) == 1)
        setenv("SHMEM_SYMMETRIC_SIZE", "word", 1);
    if (strcmp(what, "again") == 0) { // it succeeds the second time
        int provided;
        setenv("SHMEM_SYMMETRIC_SIZE", "word", 1);
        if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) == 0)
            return 8;
        unsetenv("SHMEM_SYMMETRIC_SIZE");
    }
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&word, 100 + me, (me + 1) % n);
    shmem_barrier_all();
    if (argc > 2) {
        char path[512];
        snprintf(path, sizeof path, "%s/pid.%d", argv[2], me);
        FILE *f = fopen(path, "w");
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
        shmem_barrier_all();
    }
    if (word != 100 + (me + n - 1) % n)
        return 9;
    if (strcmp(what, "no_finalize") == 0)
        return 0;
    if (strcmp(what, "compute") == 0 || strcmp(what, "wait") == 0) {
        if (me == 1)
            printf("buffered\n");
        if (me == 1)
            shmem_global_exit(argc > 3 ? atoi(argv[3]) : 7);
        if (me == 0 && strcmp(what, "compute") == 0)
            pause();
        shmem_barrier_all();
    }
    if (me == 1 && strcmp(what, "crash") == 0)
        raise(SIGSEGV);
    if (me == 1 && strcmp(what, "three") == 0)
        exit(3);
    if (strcmp(what, "pause") == 0)
        pause();
    shmem_barrier_all();
    printf("PE %d of %d\n", me, n);
    shmem_finalize();
    return 0;
}
EOF

# Hydra tells a job that its input has ended, now and then one that has just ended itself: then SIGPIPE
# ends hydra, which says nothing of the job.
run_again() { # COMMAND...
    run timeout -k 5 50 "$@" </dev/null
    [ "$rc" -ne 141 ] || run timeout -k 5 50 "$@" </dev/null
}
started() {
    run_again "${launch[@]}" "$@"
}

check_programs() {
    for n in 1 2 4 7; do
        for program in barrier init statics teams fork; do
            started $n "$build/tests/api/$program"
            expect_rc 0
        done
        started $n "$tmp/job"
        expect_rc 0
        for ((pe = 0; pe < n; pe++)); do
            grep -q "PE $pe of $n\$" "$tmp/out" || fail "PE $pe of $n is missing"
        done
    done
    for way in no_init no_finalize again; do
        started 4 "$tmp/job" $way
        expect_rc 0
    done
    # A shell starts it, and others before and after it that do not initialize.
    for program in "$tmp/job" "$tmp/job no_finalize" "$build/tests/api/statics"; do
        started 4 sh -c "$tmp/job no_init; $program; end=\$?; $tmp/job no_init; exit \$end"
        expect_rc 0
    done
    started 4 sh -c "$tmp/job; exit \$?"
    [ "$(grep -c 'PE [0-3] of 4$' "$tmp/out")" -eq 4 ] || fail "not a job of 4"
}

pids() { cat "$tmp"/pid.*; }

expect_failure() { # and not for want of time
    [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] && [ "$rc" -ne 137 -o "$ms" -lt 40000 ] || fail "exit status $rc"
}

one_other() { # COMMAND: is what one of 4 becomes
    started 4 sh -c 'case ${PMI_RANK-$PMIX_RANK} in 1) exec '"$1 ;; *) exec $tmp/job ;; esac"
    expect_failure
}

ended() { # STATUS WHAT [CODE]; "nonzero" is a status too
    rm -f "$tmp"/pid.*
    started 4 "$tmp/job" "$2" "$tmp" ${3+"$3"}
    if [ "$1" = nonzero ]; then
        expect_failure
    else
        expect_rc "$1"
    fi
    # shellcheck disable=SC2046
    expect_gone $(pids)
}

check_ends() {
    ended 7 wait
    grep -q buffered "$tmp/out" || fail "the output of the PE that called shmem_global_exit is lost"
    ended 0 wait 0
    ended "$1" compute
    ended nonzero crash
    ended nonzero three
    # Before it has joined, or in the midst of it.
    for way in early setting; do
        started 4 "$tmp/job" $way
        expect_failure
        started 4 sh -c "$tmp/job $way; exit \$?"
        expect_failure
    done
    one_other "env SHMEM_SYMMETRIC_SIZE=word $tmp/job"
    one_other "$build/tests/api/init"
}

# A job of 4 whose PEs wait, and whose launcher is killed.
kill_launcher() {
    rm -f "$tmp"/pid.*
    "${launch[@]}" 4 "$tmp/job" pause "$tmp" >/dev/null 2>&1 &
    job=$!
    wait_for test -s "$tmp/pid.3"
    wait_for test -s "$tmp/pid.0"
    sleep 0.1 # all have written theirs and wait
    kill -KILL $job
    wait $job 2>/dev/null
    job=
}

# refused WORDS...: runs what is given, which must say in one line what to use instead
refused() {
    want=$1
    shift
    run_again "$@"
    [ "$rc" -ne 0 ] || fail "exit status 0"
    grep -q -- "$want" "$tmp/err" || fail "nothing says: $want"
}
