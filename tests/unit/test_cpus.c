// SPDX-License-Identifier: BSD-3-Clause
// Cores and memory that affinity and cgroups leave. The files of the cgroup and the affinity mask
// are the ones given here: the library's fopen, sched_getaffinity and sysconf are those below.
#include "unit.h"

#include "compiler.h"
#include "cpus.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 1 << 20 }; // 4 GiB

struct file {
    const char *path, *text; // text NULL: end of the list
};

static struct {
    bool on;
    int affinity; // -1: the call fails
    int online;
    struct file file[5];
} machine;

// A sanitizer calls these too, before it is ready for code that it watches.
#define UNWATCHED __attribute__((no_sanitize("thread", "address", "undefined")))
#define NEXT(name) ((__typeof(&name))dlsym(RTLD_NEXT, #name))

UNWATCHED FILE *fopen(const char *path, const char *mode)
{
    if (!machine.on)
        return NEXT(fopen)(path, mode);
    for (const struct file *f = machine.file; f->text; f++)
        if (strcmp(f->path, path) == 0)
            return fmemopen((void *)(uintptr_t)f->text, strlen(f->text), "r");
    return NULL;
}

UNWATCHED int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (!machine.on)
        return NEXT(sched_getaffinity)(pid, size, set);
    if (machine.affinity < 0)
        return -1;
    memset(set, 0, size);
    for (int i = 0; i < machine.affinity; i++)
        CPU_SET(3 * i, set); // not the first ones, not in a row
    return 0;
}

UNWATCHED long sysconf(int name)
{
    if (!machine.on)
        return NEXT(sysconf)(name);
    switch (name) {
    case _SC_NPROCESSORS_ONLN: return machine.online;
    case _SC_PHYS_PAGES: return PAGES;
    case _SC_PAGESIZE: return PAGE;
    default: return -1;
    }
}

// The number of cores is found out once in a process, so each case has its own.
static void in_child(int cpus, size_t memory)
{
    int ends[2];
    struct {
        int cpus;
        size_t memory;
    } found = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        machine.on = true;
        found.cpus = cpus_usable();
        machine.affinity = 1; // known already
        if (cpus_usable() != found.cpus)
            found.cpus = -1;
        found.memory = memory_usable();
        machine.on = false;
        ssize_t ignored UNUSED = write(ends[1], &found, sizeof found);
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], &found, sizeof found);
    close(ends[0]);
    waitpid(child, NULL, 0);
    assert_int_equal(n, (ssize_t)sizeof found);
    assert_int_equal(found.cpus, cpus);
    assert_int_equal(found.memory, memory);
}

#define ALL_MEMORY ((size_t)PAGES * PAGE)
#define OWN "/sys/fs/cgroup/a.slice/b"

static void test_affinity(void **state)
{
    (void)state;
    machine.online = 16;
    for (int n = 1; n <= 100; n += 33) {
        machine.affinity = n;
        machine.file[0] = (struct file){0};
        in_child(n, ALL_MEMORY);
    }
    machine.affinity = -1; // more cores than the mask has room for
    in_child(16, ALL_MEMORY);
}

static void test_quota(void **state)
{
    static const struct {
        const char *text;
        int cpus;
    } cases[] = {
        {"max 100000\n", 8},    {"400000 100000\n", 4},
        {"200000 50000\n", 4},  {"150000 100000\n", 1},
        {"390000 100000\n", 3}, {"800000 100000\n", 8},
        {"900000 100000\n", 8}, {"1600000 100000\n", 8},
        {"50000 100000\n", 1},  {"1000 1000000\n", 1},
        {"300000 0\n", 8},      {"300000", 8},
        {"nonsense\n", 8},      {"\n", 8},
    };
    (void)state;
    machine.affinity = 8;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memset(machine.file, 0, sizeof machine.file);
        machine.file[0] = (struct file){"/proc/self/cgroup", "0::/a.slice/b\n"};
        machine.file[1] = (struct file){OWN "/cpu.max", cases[i].text};
        in_child(cases[i].cpus, ALL_MEMORY);
    }
}

static void test_memory(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"max\n", ALL_MEMORY},
        {"1073741824\n", 1UL << 30},
        {"4294967296\n", ALL_MEMORY},
        {"9223372036854771712\n", ALL_MEMORY},
        {"4096\n", 4096},
        {"junk\n", ALL_MEMORY},
    };
    (void)state;
    machine.affinity = 2;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memset(machine.file, 0, sizeof machine.file);
        machine.file[0] = (struct file){"/proc/self/cgroup", "0::/a.slice/b\n"};
        machine.file[1] = (struct file){OWN "/memory.max", cases[i].text};
        in_child(2, cases[i].bytes);
    }
}

#define GROUPS(text)              \
    {                             \
        "/proc/self/cgroup", text \
    }
#define HYBRID GROUPS("5:memory:/other\n1:cpu:/other\n0::/a.slice/b\n")
#define V1_ONLY GROUPS("5:memory:/other\n1:cpu:/a.slice/b\n")
#define ROOT_GROUP GROUPS("0::/\n")
#define OWN_CPU                           \
    {                                     \
        OWN "/cpu.max", "300000 100000\n" \
    }
#define OWN_MEMORY                   \
    {                                \
        OWN "/memory.max", "12288\n" \
    }
#define ROOT_CPU                                    \
    {                                               \
        "/sys/fs/cgroup/cpu.max", "500000 100000\n" \
    }
#define OTHER_CPU                                         \
    {                                                     \
        "/sys/fs/cgroup/other/cpu.max", "100000 100000\n" \
    }

// Which file counts: that of the own group; in a container, where the group's path does not exist
// in what is mounted, the root's. Lines of v1 hierarchies are no groups.
static void test_group(void **state)
{
    static const struct {
        struct file file[5];
        int cpus;
        size_t memory;
    } cases[] = {
        {{HYBRID, OWN_CPU, ROOT_CPU, OWN_MEMORY}, 3, 12288},
        {{HYBRID, OTHER_CPU, OWN_CPU}, 3, ALL_MEMORY},
        {{HYBRID, ROOT_CPU}, 5, ALL_MEMORY},
        {{ROOT_GROUP, OWN_CPU, OWN_MEMORY}, 8, ALL_MEMORY},
        {{ROOT_GROUP, OWN_CPU, ROOT_CPU}, 5, ALL_MEMORY},
        {{V1_ONLY, OWN_CPU, OTHER_CPU}, 8, ALL_MEMORY},
        {{ROOT_CPU, OWN_CPU}, 5, ALL_MEMORY}, // no /proc
    };
    (void)state;
    machine.affinity = 8;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memcpy(machine.file, cases[i].file, sizeof machine.file);
        in_child(cases[i].cpus, cases[i].memory);
    }
}

// The machine as it is: a process bound to one core may use one.
static void test_real(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    pid_t child = fork();
    if (child == 0) {
        size_t memory = memory_usable();
        _exit(sched_setaffinity(0, sizeof one, &one) || cpus_usable() != 1 || memory < 1 << 20);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    int n = cpus_usable();
    assert_in_range(n, 1, CPU_COUNT(&all));
}

static void test_list(void **state)
{
    enum { SIZE = 16 };
    static const struct {
        const char *status, *list;
    } cases[] = {
        {"Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nThreads:\t1\n", "0-1"},
        {"Cpus_allowed_list:\t0-127,256-38\n", "0-127,256-38"},
        {"Cpus_allowed_list:\t0-127,1256-1383\n", "0-127,1256-1383"},
        {"Cpus_allowed_list:\t0-3,64-66,100-127\n", "0-3,64-66,10..."},
        {"Name:\tx\n", "unknown"},
        {NULL, "unknown"}, // no /proc
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[SIZE];
        machine.file[0] = (struct file){"/proc/self/status", cases[i].status};
        machine.file[1] = (struct file){0};
        machine.on = true;
        cpus_list(text, sizeof text);
        machine.on = false;
        assert_string_equal(text, cases[i].list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affinity), cmocka_unit_test(test_quota),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_group),
        cmocka_unit_test(test_real),     cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
