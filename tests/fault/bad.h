// SPDX-License-Identifier: BSD-3-Clause
// Programs that make wrong calls, each in a process of its own. bad_run() forks one that is not
// yet a PE, makes it a job of one PE, calls, and compares how it ended and what it said:
//
//     bad_run("shmem_long_p", BAD_PE("-1", "0"), call, i, 1);   call(i) ends with status 1 and with
//                                                   one line "shoal: shmem_long_p: argument pe ..."
//     bad_run("shmem_long_p", NULL, call, i, 0);    ends with status 0 and says nothing
#ifndef TESTS_FAULT_BAD_H
#define TESTS_FAULT_BAD_H

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// What follows the name of the call: the argument, what is wrong, and what to do.
#define AT "0x[0-9a-f]+"
#define BAD_PE(pe, last) "argument pe is " pe ", [a-z' ]+ PEs 0 to " last
#define BAD_PRIVATE(what)                                                                  \
    "argument " what " \\(" AT "\\) is not symmetric: use memory from shmem_malloc, or a " \
    "global or static variable of the program that is not const"
#define BAD_NULL(what) "argument " what " is NULL.*"
#define BAD_RANGE(what, bytes) \
    "argument " what ": the " bytes " bytes from " AT " reach beyond symmetric memory"
#define BAD_ALIGN(what) "argument " what " \\(" AT "\\) is not aligned.*"

static int bad_count, bad_failed;

static void bad_child(int fd, void (*call)(int), int which)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(fd, STDERR_FILENO);
    close(fd);
    alarm(20);
    call(which);
    exit(0);
}

// All that the child says, and its wait status.
static int bad_collect(int fd, pid_t pid, char *text, size_t size)
{
    size_t have = 0;
    char rest[512];
    for (ssize_t n; (n = read(fd, rest, sizeof rest)) > 0;) {
        size_t keep = (size_t)n < size - 1 - have ? (size_t)n : size - 1 - have;
        memcpy(text + have, rest, keep);
        have += keep;
    }
    text[have] = '\0';
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static bool bad_is_line(const char *text, const char *call, const char *pattern)
{
    char whole[1024];
    regex_t regex;
    if (!pattern)
        return text[0] == '\0';
    snprintf(whole, sizeof whole, "^shoal: %s: %s\n$", call, pattern);
    if (regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB)) {
        fprintf(stderr, "not a regular expression: %s\n", whole);
        return false;
    }
    bool same = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return same && strchr(text, '\n') == strrchr(text, '\n');
}

static void bad_run(const char *name, const char *pattern, void (*call)(int), int which,
                    int expected)
{
    int fds[2];
    char text[4096];
    fflush(NULL);
    pid_t pid = pipe(fds) ? -1 : fork();
    if (pid == 0) {
        close(fds[0]);
        bad_child(fds[1], call, which);
    }
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    close(fds[1]);
    int status = bad_collect(fds[0], pid, text, sizeof text);
    close(fds[0]);
    bad_count++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == expected && bad_is_line(text, name, pattern))
        return;
    bad_failed++;
    printf("%s: %s %d, expected status %d\n  expected: %s\n  got: %.500s\n", name,
           WIFSIGNALED(status) ? "killed by signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), expected,
           pattern ? pattern : "(nothing)", text[0] ? text : "(nothing)");
}

static int bad_done(void)
{
    printf("%d calls, %d not as expected\n", bad_count, bad_failed);
    return bad_failed > 0;
}

#endif
