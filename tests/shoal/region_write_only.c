// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Regions where the kernel lets a PE write the memory of other processes but not read it.
#define FORBIDDEN            \
    {                        \
        SYS_process_vm_readv \
    }
#define WITH_HELP
#include "region.c"
