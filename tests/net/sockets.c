// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Every PE talks to every other, then prints the own address of each internet socket it has open:
// "listens ADDRESS" or "speaks ADDRESS", as /proc has it. sockets.sh looks at that.
#include "../check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

static bool is_mine(unsigned long inode)
{
    char path[300], to[64], want[64];
    snprintf(want, sizeof want, "socket:[%lu]", inode);
    DIR *fds = opendir("/proc/self/fd");
    bool found = false;
    for (struct dirent *e; !found && fds && (e = readdir(fds));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        long n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        found = strcmp(to, want) == 0;
    }
    if (fds)
        closedir(fds);
    return found;
}

// Words of 32 bits as the machine has them in memory.
static void print_socket(const char *hex, bool listens)
{
    unsigned char address[16];
    char text[INET6_ADDRSTRLEN];
    size_t words = strcspn(hex, ":") / 8;
    for (size_t i = 0; i < words; i++) {
        unsigned word;
        if (sscanf(hex + 8 * i, "%8x", &word) != 1)
            return;
        memcpy(address + 4 * i, &word, sizeof word);
    }
    printf("%s %s\n", listens ? "listens" : "speaks",
           inet_ntop(words == 1 ? AF_INET : AF_INET6, address, text, sizeof text));
}

static void print_sockets(const char *table)
{
    char line[512], local[64];
    unsigned state;
    unsigned long inode;
    FILE *f = fopen(table, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%*s %63s %*s %x %*s %*s %*s %*s %*s %lu", local, &state, &inode) == 3 &&
            is_mine(inode))
            print_socket(local, state == 0x0A);
    if (f)
        fclose(f);
}

int main(void)
{
    static long words[64];
    check_start();
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&words[me], 1, pe);
    shmem_barrier_all();
    print_sockets("/proc/net/tcp");
    print_sockets("/proc/net/tcp6");
    print_sockets("/proc/net/udp");
    print_sockets("/proc/net/udp6");
    shmem_barrier_all();
    return check_done();
}
