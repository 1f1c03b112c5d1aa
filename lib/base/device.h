// SPDX-License-Identifier: BSD-3-Clause
// RDMA hardware, as the kernel lists it.
#ifndef SHOAL_BASE_DEVICE_H
#define SHOAL_BASE_DEVICE_H

#include <stdbool.h>

#define DEVICE_VERBS "/sys/class/infiniband"
#define DEVICE_CXI "/sys/class/cxi"

// Is there a device of this class that is called NAME, of which only what comes before a ':' counts? NULL: any.
bool device_is_there(const char *class, const char *name);

#endif
