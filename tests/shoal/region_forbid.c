// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Regions where the kernel forbids to reach the memory of other processes.
#define FORBIDDEN                                   \
    {                                               \
        SYS_process_vm_readv, SYS_process_vm_writev \
    }
#define WITH_HELP
#include "region.c"
