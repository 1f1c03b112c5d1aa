// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Regions where the kernel lets a PE read the memory of other processes but not write it.
#define FORBIDDEN             \
    {                         \
        SYS_process_vm_writev \
    }
#define WITH_HELP
#include "region.c"
