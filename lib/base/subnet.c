// SPDX-License-Identifier: BSD-3-Clause
// See subnet.h. The networks' modules, which cannot call the library, have a copy of this file each.
#include "subnet.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

bool subnet_holds(const char *text, int family, const uint8_t *ip)
{
    char address[INET6_ADDRSTRLEN];
    uint8_t wanted[16];
    size_t length = strcspn(text, "/");
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if ((family != AF_INET && family != AF_INET6) || inet_pton(family, address, wanted) != 1)
        return false;
    int most = family == AF_INET ? 32 : 128;
    int bits = text[length] ? atoi(text + length + 1) : most;
    if (bits < 0 || bits > most)
        return false;
    for (int i = 0; i < bits; i++)
        if ((ip[i / 8] ^ wanted[i / 8]) & (0x80 >> i % 8))
            return false;
    return true;
}
