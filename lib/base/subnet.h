// SPDX-License-Identifier: BSD-3-Clause
// Internet addresses and subnets, as users name them.
#ifndef SHOAL_BASE_SUBNET_H
#define SHOAL_BASE_SUBNET_H

#include <stdbool.h>
#include <stdint.h>

// Is the internet address, most significant byte first, the ADDRESS or in the subnet ADDRESS/BITS
// that text names? family: AF_INET or AF_INET6.
bool subnet_holds(const char *text, int family, const uint8_t *ip);

#endif
