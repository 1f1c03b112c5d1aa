// SPDX-License-Identifier: BSD-3-Clause
// Nodes in words, and what a host tells about itself. See host.h.
#include "host.h"

#include "cpus.h"
#include "join.h"
#include "log.h"
#include "subnet.h"
#include "world.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TOLD_MS 1000 // for another PE of this node to write its line

// "b", or NULL: a virtual node.
static const char *name(int node)
{
    const struct job *job = world.job;
    return job->hosts ? (const char *)job + job->hosts + (size_t)node * JOB_HOST : NULL;
}

static int name_node(int node, char *text, size_t size)
{
    return name(node) ? snprintf(text, size, "host %s", name(node))
                      : snprintf(text, size, "node %d", node);
}

const char *host_describe(int node, char *text)
{
    int first = -1, last = -1, count = 0;
    for (int pe = 0; pe < world.npes; pe++)
        if (world.job->pe[pe].node == node) {
            first = count++ ? first : pe;
            last = pe;
        }
    int n = name_node(node, text, HOST_TEXT);
    size_t room = HOST_TEXT - (size_t)n;
    if (count == 1)
        snprintf(text + n, room, " (PE %d)", first);
    else if (last - first + 1 == count)
        snprintf(text + n, room, " (PEs %d to %d)", first, last);
    else
        snprintf(text + n, room, " (PE %d and %d more up to %d)", first, count - 1, last);
    return text;
}

const char *host_of(int pe, char *text)
{
    int n = snprintf(text, HOST_TEXT, "PE %d on ", pe);
    name_node(world.job->pe[pe].node, text + n, HOST_TEXT - (size_t)n);
    return text;
}

void host_refuse(const char *fmt, ...)
{
    int32_t nothing = JOB_TOLD_NOTHING;
    if (atomic_compare_exchange_strong(&world.job->told, &nothing, JOB_TOLD_SOON)) {
        char line[900];
        va_list args;
        va_start(args, fmt);
        vsnprintf(line, sizeof line, fmt, args);
        va_end(args);
        log_line(LOG_ERROR, LOG_BOOT, "%s", line);
        atomic_store(&world.job->told, JOB_TOLD);
    }
    // A launcher that sees one PE end kills the others, the one that writes included.
    for (int ms = 0; ms < TOLD_MS && atomic_load(&world.job->told) != JOB_TOLD; ms++)
        usleep(1000);
    int32_t running = JOB_RUNNING;
    atomic_compare_exchange_strong(&world.job->ended, &running, JOB_ENDED_FATAL);
    join_abort();
    _exit(EXIT_FAILURE);
}

// ---- interfaces

// The bytes of an internet address, most significant first, and how many; 0: it is none.
static size_t ip_bytes(const struct sockaddr *address, const unsigned char **bytes)
{
    if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return 0;
    bool is_4 = address->sa_family == AF_INET;
    *bytes =
        is_4 ? (const unsigned char *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
             : ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    return is_4 ? 4 : 16;
}

static bool in_subnet(const struct sockaddr *address, const char *text)
{
    const uint8_t *ip;
    return ip_bytes(address, &ip) && subnet_holds(text, address->sa_family, ip);
}

bool host_has_interface(const char *text)
{
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all))
        return true; // who knows
    for (struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = strcmp(i->ifa_name, text) == 0 || in_subnet(i->ifa_addr, text);
    freeifaddrs(all);
    return found;
}

const char *host_interfaces(char *text, size_t size)
{
    struct ifaddrs *all;
    size_t n = 0;
    text[0] = '\0';
    if (getifaddrs(&all))
        return text;
    for (struct ifaddrs *i = all; i && n < size; i = i->ifa_next) {
        char address[INET6_ADDRSTRLEN];
        const unsigned char *ip;
        if (ip_bytes(i->ifa_addr, &ip) && i->ifa_flags & IFF_UP &&
            inet_ntop(i->ifa_addr->sa_family, ip, address, sizeof address))
            n += (size_t)snprintf(text + n, size - n, "%s%s %s", n ? ", " : "", i->ifa_name,
                                  address);
    }
    freeifaddrs(all);
    return text;
}

void host_report_bindings(void)
{
    char list[256];
    struct utsname here;
    if (uname(&here) == 0)
        fprintf(stderr, "shoal: PE %d is on %s, CPUs %s\n", world.me, here.nodename,
                cpus_list(list, sizeof list));
}
