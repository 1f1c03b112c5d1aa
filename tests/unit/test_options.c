// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line, and the words for a death.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "call.h"
#include "job.h"
#include "options.h"
#include "programs.h"
#include "verdict.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

// Parses words separated by blanks.
static enum options_result parse(const char *line, struct options *opt)
{
    static char text[256];
    static char *argv[32];
    int argc = 0;
    strcpy(text, line);
    argv[argc++] = "oshrun";
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    enum options_result result = options_parse(argc, argv, opt);
    return result;
}

static void release(struct options *opt)
{
    free(opt->vars);
    free(opt->blocks ? opt->block[0].vars : opt->own_vars); // it goes on behind each block's
    free(opt->block);
}

static void test_counts(void **state)
{
    static const char *const lines[] = {"-n 4 a", "-np 4 a", "-c 4 a",   "--np 4 a", "-n4 a",
                                        "-np4 a", "-c4 a",   "--np=4 a", "-n=4 a",   "-n 2 -n 4 a"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct options opt;
        assert_int_equal(parse(lines[i], &opt), OPTIONS_RUN);
        assert_int_equal(opt.npes, 4);
        assert_int_equal(opt.blocks, 1);
        assert_string_equal(opt.block[0].program[0], "a");
        assert_null(opt.block[0].program[1]);
        release(&opt);
    }
}

static void test_defaults(void **state)
{
    struct options opt;
    (void)state;
    assert_int_equal(parse("prog -n 3", &opt), OPTIONS_RUN);
    assert_int_equal(opt.npes, 1);
    assert_false(opt.tag);
    assert_true(opt.timeout == 0);
    assert_int_equal(opt.bind, BIND_NONE);
    assert_int_equal(opt.nvars, 0);
    assert_string_equal(opt.block[0].program[1], "-n");
    release(&opt);
}

static void test_all(void **state)
{
    struct options opt;
    (void)state;
    assert_int_equal(parse("-t --timeout=1.5 --bind numa -x A -xB=1 -x C=x=y -- -odd arg", &opt),
                     OPTIONS_RUN);
    assert_true(opt.tag);
    assert_true(opt.timeout == 1.5);
    assert_int_equal(opt.bind, BIND_NUMA);
    assert_int_equal(opt.nvars, 3);
    assert_string_equal(opt.vars[1], "B=1");
    assert_string_equal(opt.vars[2], "C=x=y");
    assert_string_equal(opt.block[0].program[0], "-odd");
    release(&opt);
    assert_int_equal(parse("--help", &opt), OPTIONS_HELP);
    release(&opt);
    assert_int_equal(parse("-n 3 --version", &opt), OPTIONS_VERSION);
    release(&opt);
}

static void test_blocks(void **state)
{
    struct options opt;
    (void)state;
    assert_int_equal(parse("-n 2 -t a x : b : -n 3 --timeout 7 a : : y", &opt), OPTIONS_WRONG);
    release(&opt);
    assert_int_equal(parse("-n 2 -t a x : b : -n 3 --timeout 7 -- a : : y", &opt), OPTIONS_RUN);
    assert_int_equal(opt.npes, 6);
    assert_true(opt.npes_given && opt.tag && opt.timeout == 7);
    assert_int_equal(opt.blocks, 3);
    assert_int_equal(opt.block[0].npes, 2);
    assert_string_equal(opt.block[0].program[1], "x");
    assert_null(opt.block[0].program[2]);
    assert_int_equal(opt.block[1].npes, 1);
    assert_string_equal(opt.block[1].program[0], "b");
    assert_null(opt.block[1].program[1]);
    assert_string_equal(opt.block[2].program[2], ":");
    assert_string_equal(opt.block[2].program[3], "y");
    assert_true(programs_differ(&opt));
    static const int block_of[] = {0, 0, 1, 2, 2, 2};
    for (int pe = 0; pe < 6; pe++)
        assert_int_equal(programs_block_of(&opt, pe), block_of[pe]);
    release(&opt);
    assert_int_equal(parse("-n 1 a x : -n 2 a", &opt), OPTIONS_RUN);
    assert_false(programs_differ(&opt));
    release(&opt);
}

static void test_wrong(void **state)
{
    static const char *const lines[] = {"",
                                        "-n 2",
                                        "-n",
                                        "-n 0 a",
                                        "-n -1 a",
                                        "-n 2.5 a",
                                        "-n x a",
                                        "-nx a",
                                        "-npx a",
                                        "-n 1048577 a",
                                        "-n 4294967297 a",
                                        "-n 99999999999999999999 a",
                                        "--timeout 0 a",
                                        "--timeout -1 a",
                                        "--timeout nan a",
                                        "--timeout inf a",
                                        "--timeout 5s a",
                                        "--bind a",
                                        "--bind cores a",
                                        "-x =1 a",
                                        "-x",
                                        "-y a",
                                        "--nope a",
                                        "-tt a",
                                        "--tag=1 a",
                                        "--np4 a",
                                        "a :",
                                        ": a",
                                        "a : -n 2",
                                        "a : -n 0 b",
                                        "-n 1048576 a : b"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct options opt;
        assert_int_equal(parse(lines[i], &opt), OPTIONS_WRONG);
        assert_true(opt.error[0] != '\0');
        release(&opt);
    }
}

static void check_words(const struct death *d, enum verdict verdict, int status, const char *words)
{
    char text[300];
    assert_int_equal(verdict_of(d), verdict);
    if (verdict != VERDICT_FINE)
        assert_int_equal(verdict_status(d), status);
    verdict_describe(d, text, sizeof text);
    if (words)
        assert_string_equal(text, words);
}

#define EXITED(n) ((n) << 8)

static void test_verdicts(void **state)
{
    (void)state;
    uint64_t in_barrier = CALL_WORD(CALL_barrier_all, -1) | CALL_BLOCKS;
    uint64_t put = CALL_WORD(CALL_put, 1);
    check_words(
        &(struct death){
            .pe = 2, .pid = 7, .status = SIGSEGV, .state = PE_RUNNING, .call = in_barrier},
        VERDICT_FATAL, 139,
        "PE 2 (pid 7) was killed by SIGSEGV (Segmentation fault) in shmem_barrier_all");
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = EXITED(3), .state = PE_RUNNING, .call = put},
        VERDICT_FATAL, 3, "PE 2 (pid 7) exited with status 3; last Shoal call: shmem_put to PE 1");
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = SIGRTMIN + 3, .state = PE_RUNNING},
        VERDICT_FATAL, 128 + SIGRTMIN + 3,
        "PE 2 (pid 7) was killed by signal 37 (Real-time signal 3) in no call that waits");
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = EXITED(0), .state = PE_RUNNING, .call = 0},
        VERDICT_FATAL, 1, "PE 2 (pid 7) exited with status 0 before shmem_finalize");
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = EXITED(0), .state = PE_CLAIMED, .call = 0},
        VERDICT_ABSENT, 1,
        "PE 2 (pid 7) exited with status 0 without shmem_init, which others called");
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = EXITED(0), .state = PE_FINALIZED, .call = 0},
        VERDICT_FINE, 0, NULL);
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = EXITED(9), .state = PE_FINALIZED, .call = 0},
        VERDICT_LATE, 9, NULL);
    check_words(&(struct death){.pe = 2, .pid = 7, .status = SIGKILL, .state = PE_NONE, .call = 0},
                VERDICT_FATAL, 137, "PE 2 (pid 7) was killed by SIGKILL (Killed)");
    // A word written over by a wild store is not trusted.
    check_words(
        &(struct death){.pe = 2, .pid = 7, .status = SIGKILL, .state = 77, .call = UINT64_MAX},
        VERDICT_FATAL, 137, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_wrong),  cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
