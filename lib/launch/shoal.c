// SPDX-License-Identifier: BSD-3-Clause
// shoal: tells about the installation. The Makefile passes SHOAL_VERSION, SHOAL_CC
// (the compiler) and SHOAL_HWLOC ("yes" or "no") as strings.
#include "compiler.h"
#include "cpus.h"
#include "log.h"
#include "settings.h"
#include "tunables.h"

#include <stdio.h>
#include <string.h>

static int command_info(void)
{
    if (settings_read())
        return 1;
    log_configure(settings.log, true);
    printf("Shoal %s, OpenSHMEM 1.6\n", SHOAL_VERSION);
    printf("\nBuild\n");
    printf("%-22s %s\n", "compiler", SHOAL_CC);
    printf("%-22s %s\n", "hwloc", SHOAL_HWLOC);
    printf("%-22s %s\n", "hostile limits", HOSTILE ? "yes" : "no");
    printf("\nLimits\n");
    printf("%-22s %d\n", "usable cores", cpus_usable());
    printf("%-22s %.1f GiB\n", "usable memory", (double)memory_usable() / (1 << 30));
    if (LIMIT_HEAP_DEFAULT)
        printf("%-22s %lu bytes\n", "default heap", (unsigned long)LIMIT_HEAP_DEFAULT);
    else
        printf("%-22s usable memory divided by the PEs of the job\n", "default heap");
    printf("%-22s %d\n", "PEs", LIMIT_PES);
    printf("%-22s %d\n", "teams", LIMIT_TEAMS);
    printf("\nSettings\n");
    settings_print(stdout);
    settings_warn_unknown();
    return 0;
}

static int command_version(void)
{
    printf("shoal (Shoal) %s\n", SHOAL_VERSION);
    return 0;
}

static int command_help(void);

static const struct command {
    const char *name;
    int (*run)(void);
    const char *help;
} commands[] = {
    {"info", command_info, "version, build, limits and settings"},
    {"--version", command_version, "print the version"},
    {"--help", command_help, "print this"},
};

static void usage(FILE *out)
{
    fprintf(out, "usage: shoal info | --version | --help\n");
}

static int command_help(void)
{
    usage(stdout);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %-20s %s\n", commands[i].name, commands[i].help);
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run();
    if (argc > 1)
        fprintf(stderr, "shoal: unknown command %s%s\n", argv[1], argc > 2 ? " ..." : "");
    usage(stderr);
    return 2;
}
