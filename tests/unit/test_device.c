// SPDX-License-Identifier: BSD-3-Clause
// Which devices a class of the kernel's has (device.h).
#include "unit.h"

#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char class[] = "/tmp/shoal-class-XXXXXX";

static void add(const char *device)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", class, device);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void drop(const char *device)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", class, device);
    assert_int_equal(rmdir(path), 0);
}

static void test_empty(void **state)
{
    (void)state;
    assert_false(device_is_there("/nowhere/at/all", NULL));
    assert_non_null(mkdtemp(class));
    assert_false(device_is_there(class, NULL)); // a driver without hardware
    assert_false(device_is_there(class, "."));
}

static void test_names(void **state)
{
    (void)state;
    add("mlx5_0");
    add("mlx5_10");
    assert_true(device_is_there(class, NULL));
    assert_true(device_is_there(class, "mlx5_0"));
    assert_true(device_is_there(class, "mlx5_0:1"));
    assert_true(device_is_there(class, "mlx5_10"));
    assert_false(device_is_there(class, "mlx5_1"));
    assert_false(device_is_there(class, "mlx5_1:0"));
    assert_false(device_is_there(class, "mlx5"));
    assert_false(device_is_there(class, ""));
    drop("mlx5_0");
    drop("mlx5_10");
    assert_int_equal(rmdir(class), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
