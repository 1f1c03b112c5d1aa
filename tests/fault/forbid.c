// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// forbid ERROR CALL[,CALL...] COMMAND...: runs the command with system calls that fail with EPERM
// or ENOSYS, as in some containers. forbid.sh uses it. 77: this system has no such filters.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 8 };

static const struct {
    const char *name;
    long number;
} calls[] = {
    {"membarrier", SYS_membarrier},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"memfd_create", SYS_memfd_create},
};

static long number_of(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].number;
    fprintf(stderr, "forbid: no such call: %s\n", name);
    exit(2);
}

// load the number; for each call: if equal, fail; allow
static int install(const long *numbers, unsigned short n, int error)
{
    struct sock_filter code[2 + 2 * MOST] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {.len = 1, .filter = code};
    for (unsigned short i = 0; i < n; i++) {
        code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                           (unsigned)numbers[i], 0, 1);
        code[program.len++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA));
    }
    code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    long numbers[MOST];
    unsigned short n = 0;
    if (argc < 4)
        return 2;
    int error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
    for (char *name = strtok(argv[2], ","); name && n < MOST; name = strtok(NULL, ","))
        numbers[n++] = number_of(name);
    if (install(numbers, n, error)) {
        printf("skipped: seccomp: %s\n", strerror(errno));
        return 77;
    }
    for (unsigned short i = 0; i < n; i++) // arguments that are wrong for all of them
        if (syscall(numbers[i], -1L, -1L, 0L, 0L, 0L, -1L) != -1 || errno != error) {
            fprintf(stderr, "forbid: call %ld does not fail with %s\n", numbers[i], argv[1]);
            return 2;
        }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
