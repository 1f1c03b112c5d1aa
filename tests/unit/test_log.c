// SPDX-License-Identifier: BSD-3-Clause
// The form of a message, which ones are shown, and the end by fatal().
#include "unit.h"

#include "log.h"

#include <sys/wait.h>

static struct capture seen;

#define assert_says(words, call)                        \
    do {                                                \
        capture_start(&seen);                           \
        call;                                           \
        assert_string_equal(capture_end(&seen), words); \
    } while (0)

static int start_quiet(void **state)
{
    (void)state;
    log_set_ident("");
    return log_configure("warn", true);
}

static void test_form(void **state)
{
    (void)state;
    assert_int_equal(log_configure("debug", true), 0);
    assert_says("shoal: no 7\n", log_line(LOG_ERROR, LOG_HEAP, "no %d", 7));
    assert_says("shoal: warning: w\n", log_line(LOG_WARN, LOG_HEAP, "w"));
    assert_says("shoal: [heap] i\n", log_line(LOG_INFO, LOG_HEAP, "i"));
    assert_says("shoal: [launch] d\n", log_line(LOG_DEBUG, LOG_LAUNCH, "%s", "d"));
    log_set_ident("PE 3: ");
    assert_says("shoal: PE 3: e\n", log_line(LOG_ERROR, LOG_BOOT, "e"));
    assert_says("shoal: PE 3: warning: w\n", log_line(LOG_WARN, LOG_BOOT, "w"));
    assert_int_equal(seen.writes, 1); // lines of several PEs do not mix
    log_set_ident("12345678901234567890123456789012345");
    assert_says("shoal: 1234567890123456789012345678901e\n", log_line(LOG_ERROR, LOG_BOOT, "e"));
}

// One line of at most 1024 bytes that ends as a line does, however long the message.
static void test_long(void **state)
{
    static char text[3000];
    (void)state;
    for (size_t n = 990; n < 1040; n++) {
        memset(text, 'x', sizeof text);
        text[n] = '\0';
        capture_start(&seen);
        log_line(LOG_ERROR, LOG_BOOT, "%s", text);
        size_t length = strlen(capture_end(&seen));
        assert_int_equal(length, n + 8 <= 1024 ? n + 8 : 1024);
        assert_int_equal(seen.text[length - 1], '\n');
        assert_int_equal(seen.text[length - 2], 'x');
        assert_int_equal(seen.writes, 1);
    }
    text[1000] = 'x';
    capture_start(&seen);
    log_line(LOG_ERROR, LOG_BOOT, "%s%s", text, text);
    assert_int_equal(strlen(capture_end(&seen)), 1024);
}

static const enum log_level levels[] = {LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG};
static const char *const level_names[] = {"error", "warn", "info", "debug"};

static void check_enabled(enum log_topic topic, enum log_level least)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        assert_int_equal(log_enabled(levels[i], topic), levels[i] <= least);
        capture_start(&seen);
        log_line(levels[i], topic, "x");
        capture_end(&seen);
        assert_int_equal(seen.writes, levels[i] <= least);
    }
}

static void test_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        assert_int_equal(log_configure(level_names[i], true), 0);
        for (int topic = 0; topic < LOG_TOPIC_COUNT; topic++)
            check_enabled((enum log_topic)topic, levels[i]);
    }
}

// Each topic by its name, and the others stay.
static void test_topics(void **state)
{
#define X(id, name) name,
    static const char *const names[] = { LOG_TOPICS(X) };
#undef X
    (void)state;
    for (int topic = 0; topic < LOG_TOPIC_COUNT; topic++) {
        char spec[64];
        snprintf(spec, sizeof spec, "warn,%s:debug", names[topic]);
        assert_int_equal(log_configure(spec, true), 0);
        for (int other = 0; other < LOG_TOPIC_COUNT; other++)
            check_enabled((enum log_topic)other, other == topic ? LOG_DEBUG : LOG_WARN);
    }
    assert_int_equal(log_configure("heap:debug,,error,data:info,", true), 0); // the last one counts
    check_enabled(LOG_HEAP, LOG_ERROR);
    check_enabled(LOG_DATA, LOG_INFO);
    assert_int_equal(log_configure("", true), 0);
    check_enabled(LOG_DATA, LOG_INFO);
}

static void test_unknown(void **state)
{
    static const char *const bad[] = {
        "loud",   "heap",  "heap:", ":debug",          "heap:loud", "attic:info", "Debug",
        "debug ", "info;", "debu",  "heap:debug:info", ":",         "boot:warn:"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char named[64];
        snprintf(named, sizeof named, "SHOAL_LOG: \"%s\" is neither", bad[i]);
        capture_start(&seen);
        int status = log_configure(bad[i], true);
        capture_end(&seen);
        assert_int_equal(status, -1);
        assert_non_null(strstr(seen.text, named));
        assert_int_equal(seen.writes, 1);
        check_enabled(LOG_HEAP, LOG_WARN); // nothing changed
    }
    capture_start(&seen);
    int status = log_configure("heap:info,oops,debug", true);
    capture_end(&seen);
    assert_int_equal(status, -1);
    assert_non_null(strstr(seen.text, "\"oops\""));
    check_enabled(LOG_HEAP, LOG_INFO); // what stands before counts, what follows does not
    check_enabled(LOG_DATA, LOG_WARN);
}

static void say_at_exit(void)
{
    log_line(LOG_ERROR, LOG_BOOT, "exit handler");
}

static void tell(void)
{
    log_line(LOG_ERROR, LOG_BOOT, "told");
}

static void fatal_in_child(bool backtrace)
{
    capture_start(&seen);
    pid_t child = fork();
    if (child == 0) {
        atexit(say_at_exit);
        log_set_ident("PE 0: ");
        log_on_fatal(tell);
        log_backtrace_on_fatal(backtrace);
        fatal("shmem_put: %s", "wrong");
    }
    int status = -1;
    pid_t waited = waitpid(child, &status, 0);
    capture_end(&seen);
    assert_int_equal(waited, child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void test_fatal(void **state)
{
    (void)state;
    fatal_in_child(false);
    assert_string_equal(seen.text, "shoal: PE 0: shmem_put: wrong\nshoal: PE 0: told\n");
    fatal_in_child(true);
    assert_int_equal(strncmp(seen.text, "shoal: PE 0: shmem_put: wrong\n", 30), 0);
    assert_true(seen.writes > 2); // frames between the line and the call of tell
    assert_non_null(strstr(seen.text, "\nshoal: PE 0: told\n"));
    assert_null(strstr(seen.text, "exit handler"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_form, start_quiet),
        cmocka_unit_test_setup(test_long, start_quiet),
        cmocka_unit_test_setup(test_levels, start_quiet),
        cmocka_unit_test_setup(test_topics, start_quiet),
        cmocka_unit_test_setup(test_unknown, start_quiet),
        cmocka_unit_test_setup(test_fatal, start_quiet),
    };
    return cmocka_run_group_tests(tests, clear_settings, NULL);
}
