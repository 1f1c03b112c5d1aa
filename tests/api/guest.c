// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CTX_ENDPOINTS=1
// The library and what it loads are guests of the program: the handlers and mask of signals, their
// alternate stack, the environment and the functions that map memory are as they were; sockets
// listen on the chosen interface alone, which is loopback between virtual nodes; no thread but the
// program's takes a signal. So it is once a context has an endpoint of its own, too.
#include "../check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

enum { SIGNALS = 65, FUNCTIONS = 9, CODE = 16, VARIABLES = 4096 };

static const char *const function[FUNCTIONS] = {"mmap", "munmap", "mremap",  "madvise", "brk",
                                                "sbrk", "malloc", "realloc", "free"};
static struct state {
    struct sigaction action[SIGNALS];
    sigset_t mask;
    stack_t stack;
    unsigned char code[FUNCTIONS][CODE];
    char **environ;
    char *variable[VARIABLES];
} before, after;

static void look(struct state *s)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    for (int sig = 1; sig < SIGNALS; sig++)
        sigaction(sig, NULL, &s->action[sig]);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    sigaltstack(NULL, &s->stack);
    for (int i = 0; libc && i < FUNCTIONS; i++)
        memcpy(s->code[i], dlsym(libc, function[i]), CODE);
    s->environ = environ;
    for (int i = 0; i < VARIABLES && environ[i]; i++)
        s->variable[i] = environ[i];
}

static void compare(void)
{
    look(&after);
    CHECK_EACH(sig, SIGNALS, before.action[sig].sa_sigaction != after.action[sig].sa_sigaction, 0);
    CHECK_EACH(sig, SIGNALS,
               sig && sigismember(&before.mask, (int)sig) != sigismember(&after.mask, (int)sig), 0);
    CHECK(before.stack.ss_sp == after.stack.ss_sp && before.stack.ss_size == after.stack.ss_size);
    for (int i = 0; i < FUNCTIONS; i++)
        CHECK_MEM(after.code[i], before.code[i], CODE, function[i]);
    CHECK(before.environ == after.environ);
    CHECK_EACH(i, VARIABLES, before.variable[i] != after.variable[i], 0);
}

// Signals go to the program's own threads: this is the only one.
static void check_threads(void)
{
    char path[300], line[256];
    unsigned long long blocked;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *at; dir && (at = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/status", at->d_name);
        FILE *f = atoi(at->d_name) && atoi(at->d_name) != getpid() ? fopen(path, "r") : NULL;
        while (f && fgets(line, sizeof line, f))
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
                CHECK_EQ(blocked >> (SIGUSR1 - 1) & 1, 1);
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
}

// Is the socket with this inode one of ours?
static int is_own(unsigned long inode)
{
    char path[64], to[64], wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, to, sizeof to);
        if ((size_t)n == strlen(wanted) && memcmp(to, wanted, (size_t)n) == 0)
            return 1;
    }
    return 0;
}

// An own socket that listens, at anything but the loopback address as the kernel prints it.
static void check_listeners(const char *table, const char *loopback)
{
    char line[512], local[64], state[8];
    unsigned long inode;
    FILE *f = fopen(table, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " %*d: %63[0-9A-F]:%*x %*s %7s %*s %*s %*s %*s %*s %lu", local, state,
                   &inode) == 3 &&
            strcmp(state, "0A") == 0 && is_own(inode))
            CHECK_MEM(local, loopback, strlen(loopback) + 1, "address of a socket that listens");
    if (f)
        fclose(f);
}

int main(void)
{
    shmem_ctx_t ctx;
    look(&before);
    check_start_threads();
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0); // it may open an endpoint
    shmem_barrier_all();
    compare();
    check_threads();
    check_listeners("/proc/self/net/tcp", "0100007F");
    check_listeners("/proc/self/net/tcp6", "00000000000000000000000001000000");
    shmem_finalize();
    compare();
    return check_done();
}
