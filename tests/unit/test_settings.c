// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment: what they take, what they say when it is wrong, where a value
// came from, and names that nobody knows.
#include "unit.h"

#include "compiler.h"
#include "log.h"
#include "settings.h"

static struct capture seen;

static int start_clean(void **state)
{
    return clear_settings(state) || log_configure("warn", true);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"1k", 1024},
        {"1K", 1024},
        {"20m", 20UL << 20},
        {"3M", 3UL << 20},
        {"1.5g", 3UL << 29},
        {"2G", 2UL << 30},
        {"1t", 1UL << 40},
        {"128T", 1UL << 47},
        {".5k", 512},
        {"0.5k", 512},
        {"1.k", 1024},
        {"0.25m", 1UL << 18},
        {"1.5", 2}, // rounded up
        {"0.1", 1},
        {"0.0001k", 1},
        {"1.0001k", 1025},
        {"012", 12}, // not octal
        {"1kb", 1024},
        {"1MiB", 1UL << 20},
        {"140737488355328", 1UL << 47},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        size_t bytes = 77;
        assert_int_equal(settings_parse_size(good[i].text, &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
}

static void test_bad_sizes(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "k",
        "-1",
        "-1k",
        "+1",
        "1x",
        "1 k",
        "0x10",
        "0X10",
        ".",
        ".k",
        "nan",
        "inf",
        "1e",
        "m1",
        "many",
        " 1",
        "1,5g",
        "129t",
        "1e30",
        "140737488355329",
        "99999999999999999999",
        "1p",
        "1;",
        "\xff",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        size_t bytes = 77;
        if (settings_parse_size(bad[i], &bytes) != -1)
            fail_msg("\"%s\" was taken as %zu", bad[i], bytes);
        assert_int_equal(bytes, 77); // outputs only on success
    }
}

static void test_defaults(void **state)
{
    (void)state;
    settings.spin = 5;
    settings.debug = true;
    assert_int_equal(settings_read(), 0);
    assert_int_equal(settings.symmetric_size, 0);
    assert_false(settings.debug);
    assert_false(settings.info);
    assert_false(settings.version);
    assert_string_equal(settings.log, "warn");
    assert_true(settings.check);
    assert_false(settings.backtrace);
    assert_int_equal(settings.spin, -1);
    assert_true(settings.direct);
    assert_true(settings.static_data);
}

static void test_values(void **state)
{
    (void)state;
    setenv("SHMEM_SYMMETRIC_SIZE", "1.5g", 1);
    setenv("SHMEM_DEBUG", "", 1); // set to anything: on
    setenv("SHMEM_INFO", "0", 1);
    setenv("SHOAL_LOG", "info,heap:debug", 1);
    setenv("SHOAL_CHECK", "0", 1);
    setenv("SHOAL_BACKTRACE", "1", 1);
    setenv("SHOAL_SPIN", "250", 1);
    assert_int_equal(settings_read(), 0);
    assert_int_equal(settings.symmetric_size, 3UL << 29);
    assert_true(settings.debug);
    assert_true(settings.info);
    assert_false(settings.version);
    assert_string_equal(settings.log, "info,heap:debug");
    assert_false(settings.check);
    assert_true(settings.backtrace);
    assert_int_equal(settings.spin, 250);
    setenv("SHOAL_SPIN", "-3", 1);
    unsetenv("SHMEM_DEBUG");
    assert_int_equal(settings_read(), 0); // reads again
    assert_int_equal(settings.spin, -3);
    assert_false(settings.debug);
}

static void test_words(void **state)
{
    (void)state;
    setenv("SHOAL_TRANSPORT", "ucx", 1);
    setenv("SHOAL_LAUNCHER", "hydra", 1);
    assert_int_equal(settings_read(), 0);
    assert_string_equal(settings.transport, "ucx");
    assert_string_equal(settings.launcher, "hydra");
    unsetenv("SHOAL_TRANSPORT");
    unsetenv("SHOAL_LAUNCHER");
    assert_int_equal(settings_read(), 0);
    assert_string_equal(settings.transport, "auto");
}

// Every setting that can be wrong is named with its value and with what it takes.
static void test_bad_values(void **state)
{
    static const struct {
        const char *name, *value, *takes;
    } bad[] = {
        {"SHMEM_SYMMETRIC_SIZE", "lots", "k, m, g or t"},
        {"SHMEM_SYMMETRIC_SIZE", "", "k, m, g or t"},
        {"SHOAL_CHECK", "yes", "0 or 1"},
        {"SHOAL_CHECK", "", "0 or 1"},
        {"SHOAL_CHECK", "01", "0 or 1"},
        {"SHOAL_BACKTRACE", "2", "0 or 1"},
        {"SHOAL_DIRECT", "off", "0 or 1"},
        {"SHOAL_STATIC", "-1", "0 or 1"},
        {"SHOAL_SPIN", "fast", "whole number"},
        {"SHOAL_SPIN", "", "whole number"},
        {"SHOAL_SPIN", "1.5", "whole number"},
        {"SHOAL_SPIN", "10us", "whole number"},
        {"SHOAL_SPIN", "99999999999999999999", "whole number"},
        {"SHOAL_TRANSPORT", "", "auto, ofi or ucx"},
        {"SHOAL_TRANSPORT", "of", "auto, ofi or ucx"},
        {"SHOAL_TRANSPORT", "fi", "auto, ofi or ucx"},
        {"SHOAL_TRANSPORT", "or", "auto, ofi or ucx"},
        {"SHOAL_TRANSPORT", "ofi or ucx", "auto, ofi or ucx"},
        {"SHOAL_LAUNCHER", "ssh", "auto, srun, hydra or mpirun"},
        {"SHOAL_MPI_INITIAL_ERRHANDLER", "mpi_errors", "mpi_errors_are_fatal"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char named[128];
        snprintf(named, sizeof named, "shoal: %s=\"%s\": ", bad[i].name, bad[i].value);
        setenv(bad[i].name, bad[i].value, 1);
        capture_start(&seen);
        int status = settings_read();
        capture_end(&seen);
        unsetenv(bad[i].name);
        assert_int_equal(status, -1);
        assert_int_equal(strncmp(seen.text, named, strlen(named)), 0);
        assert_non_null(strstr(seen.text, bad[i].takes));
        assert_int_equal(seen.writes, 1);
    }
    assert_int_equal(settings_read(), 0);
}

// The old prefix counts where the new name is not set.
static void test_old_names(void **state)
{
    (void)state;
    setenv("SMA_SYMMETRIC_SIZE", "3m", 1);
    setenv("SMA_DEBUG", "1", 1);
    setenv("SMA_CHECK", "0", 1); // SHOAL_CHECK never had an old name
    assert_int_equal(settings_read(), 0);
    assert_int_equal(settings.symmetric_size, 3UL << 20);
    assert_true(settings.debug);
    assert_true(settings.check);
    setenv("SHMEM_SYMMETRIC_SIZE", "5m", 1);
    assert_int_equal(settings_read(), 0);
    assert_int_equal(settings.symmetric_size, 5UL << 20);
}

static const char *warnings_of(const char *name, const char *value)
{
    setenv(name, value, 1);
    capture_start(&seen);
    settings_warn_unknown();
    capture_end(&seen);
    unsetenv(name);
    return seen.text;
}

static void test_unknown_names(void **state)
{
    static const char *const wrong[][2] = {
        {"SHOAL_SPINS", "SHOAL_SPIN"},
        {"SHOAL_SPN", "SHOAL_SPIN"},
        {"SHOAL_SIPN", "SHOAL_SPIN"},
        {"SHOAL_LOGS", "SHOAL_LOG"},
        {"SHOAL_CHEK", "SHOAL_CHECK"},
        {"SHOAL_BACKTRAC", "SHOAL_BACKTRACE"},
        {"SHOAL_STATICS", "SHOAL_STATIC"},
        {"SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
        {"SHMEM_SYMMETRIC_HEAP", "SHMEM_SYMMETRIC_SIZE"},
        {"SHMEM_DEBUGS", "SHMEM_DEBUG"},
        {"SHMEM_IFNO", "SHMEM_INFO"},
        {"SHOAL_DEBUG", "SHMEM_DEBUG"}, // the wrong prefix
        {"SHOAL_VERSION", "SHMEM_VERSION"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char line[200];
        snprintf(line, sizeof line, "shoal: warning: %s is no setting; did you mean %s?\n",
                 wrong[i][0], wrong[i][1]);
        assert_string_equal(warnings_of(wrong[i][0], "1"), line);
    }
    assert_string_equal(warnings_of("SHOAL_ENTIRELY_OTHER_THING", ""),
                        "shoal: warning: SHOAL_ENTIRELY_OTHER_THING is no setting; "
                        "`shoal info` lists them\n");
    setenv("SHOAL_SPINS", "1", 1);
    warnings_of("SHOAL_CHEK", "1");
    assert_int_equal(seen.writes, 2); // a line each
}

static void test_known_names(void **state)
{
#define X(field, env, type, def, meaning) env,
    static const char *const known[] = { SETTINGS_TABLE(X) };
#undef X
    static const char *const others[] = {"SHOAL_JOB",     "SHOAL_PE", "SHOA_LOG",   "shoal_log",
                                         "MY_SHOAL_LOGS", "SHOAL",    "SMA_NOTHING"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        assert_string_equal(warnings_of(known[i], "x"), "");
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_string_equal(warnings_of(others[i], "x"), "");
}

// The line of the table that settings_print gives for a setting; it stays until the next call.
static const char *printed(const char *name)
{
    static char *table;
    size_t size;
    free(table);
    table = NULL;
    FILE *out = open_memstream(&table, &size);
    settings_print(out);
    fclose(out);
    char *line = table;
    while (line && (strncmp(line, name, strlen(name)) || line[strlen(name)] != ' '))
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    assert_non_null(line);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void check_printed(const char *name, const char *value, const char *source,
                          const char *meaning)
{
    char line[400];
    snprintf(line, sizeof line, "%-22s %-10s %-10s %s", name, value, source, meaning);
    assert_string_equal(printed(name), line);
}

static void test_print(void **state)
{
    (void)state;
    assert_int_equal(settings_read(), 0);
#define X(field, env, type, def, meaning) \
    check_printed(env, def[0] ? def : "-", "default", meaning);
    SETTINGS_TABLE(X)
#undef X
    setenv("SHOAL_SPIN", "35", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1.5g", 1);
    assert_int_equal(settings_read(), 0);
    assert_non_null(strstr(printed("SHOAL_SPIN"), " 35         environment "));
    assert_non_null(strstr(printed("SHMEM_SYMMETRIC_SIZE"), " 1.5g       environment "));
    assert_non_null(strstr(printed("SHOAL_CHECK"), " 1          default "));
    unsetenv("SHOAL_SPIN");
    assert_int_equal(settings_read(), 0);
    assert_non_null(strstr(printed("SHOAL_SPIN"), " -1         default "));
    setenv("SMA_VERSION", "1", 1);
    assert_int_equal(settings_read(), 0);
    assert_non_null(strstr(printed("SHMEM_VERSION"), " environment "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_sizes, start_clean),
        cmocka_unit_test_setup(test_bad_sizes, start_clean),
        cmocka_unit_test_setup(test_defaults, start_clean),
        cmocka_unit_test_setup(test_values, start_clean),
        cmocka_unit_test_setup(test_words, start_clean),
        cmocka_unit_test_setup(test_bad_values, start_clean),
        cmocka_unit_test_setup(test_old_names, start_clean),
        cmocka_unit_test_setup(test_unknown_names, start_clean),
        cmocka_unit_test_setup(test_known_names, start_clean),
        cmocka_unit_test_setup(test_print, start_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
