// SPDX-License-Identifier: BSD-3-Clause
// Which network devices UCX may use. It would listen on every interface there is and prefer one by
// its speed, reachable or not; so it is given one, but for RDMA devices, which it knows better.
#include "ucx.h"
#include "device.h"
#include "subnet.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *ip_bytes(const struct ifaddrs *at, int *family)
{
    if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) || !(at->ifa_flags & IFF_RUNNING))
        return NULL;
    *family = at->ifa_addr->sa_family;
    if (*family == AF_INET)
        return (const uint8_t *)&((const struct sockaddr_in *)at->ifa_addr)->sin_addr;
    if (*family == AF_INET6)
        return (const uint8_t *)&((const struct sockaddr_in6 *)at->ifa_addr)->sin6_addr;
    return NULL;
}

// 0 best: IPv4, IPv6, loopback, link-local.
static int rank(const struct ifaddrs *at, int family, const uint8_t *ip)
{
    if (at->ifa_flags & IFF_LOOPBACK)
        return 2;
    if (family == AF_INET)
        return ip[0] == 169 && ip[1] == 254 ? 3 : 0;
    return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80 ? 3 : 1;
}

static bool is_wanted(const struct ifaddrs *at, int family, const uint8_t *ip, const char *wanted)
{
    return !wanted || strcmp(at->ifa_name, wanted) == 0 || subnet_holds(wanted, family, ip);
}

static bool choose_interface(const char *wanted, char *name, size_t size, char *address)
{
    struct ifaddrs *all, *chosen = NULL;
    int chosen_rank = 0, family;
    char text[UCX_ADDRESS_TEXT];
    if (getifaddrs(&all))
        return false;
    for (struct ifaddrs *at = all; at; at = at->ifa_next) {
        const uint8_t *ip = ip_bytes(at, &family);
        if (!ip || !is_wanted(at, family, ip, wanted))
            continue;
        if (!chosen || rank(at, family, ip) < chosen_rank) {
            chosen = at;
            chosen_rank = rank(at, family, ip);
            snprintf(address, UCX_ADDRESS_TEXT, "%s",
                     inet_ntop(family, ip, text, sizeof text) ? text : "");
        }
    }
    if (chosen)
        snprintf(name, size, "%s", chosen->ifa_name);
    freeifaddrs(all);
    return chosen;
}

// Of the interface that UCX_NET_DEVICES names first, or of the best where it names another device.
static void find_address(char *address)
{
    const char *set = getenv("UCX_NET_DEVICES");
    char first[64], name[64];
    snprintf(first, sizeof first, "%.*s", set ? (int)strcspn(set, ",") : 0, set ? set : "");
    if (!choose_interface(first, name, sizeof name, address))
        choose_interface(NULL, name, sizeof name, address);
}

bool ucx_choose(const struct transport_job *job, char *devices, size_t size, char *address)
{
    devices[0] = address[0] = 0;
    if (!job->interface && (getenv("UCX_NET_DEVICES") || device_is_there(DEVICE_VERBS, NULL))) {
        find_address(address);
        return true;
    }
    if (choose_interface(job->interface, devices, size, address))
        return true;
    if (!job->interface || !device_is_there(DEVICE_VERBS, job->interface)) {
        job_log(job, "ucx", LOG_DEBUG, "there is no interface %s that is up",
                job->interface ? job->interface : "at all");
        return false;
    }
    snprintf(devices, size, "%s", job->interface);
    find_address(address);
    return true;
}
