// SPDX-License-Identifier: BSD-3-Clause
// The machine's tree by hwloc. See hw.h.
#include "hw.h"

#include <hwloc.h>
#include <pthread.h>
#include <string.h>

static const struct kind {
    hwloc_obj_type_t type;
    const char *name;
} kinds[] = {
    {HWLOC_OBJ_MACHINE, "hwloc://Machine"},   {HWLOC_OBJ_PACKAGE, "hwloc://Package"},
    {HWLOC_OBJ_NUMANODE, "hwloc://NUMANode"}, {HWLOC_OBJ_L3CACHE, "hwloc://L3Cache"},
    {HWLOC_OBJ_L2CACHE, "hwloc://L2Cache"},   {HWLOC_OBJ_L1CACHE, "hwloc://L1Cache"},
    {HWLOC_OBJ_CORE, "hwloc://Core"},         {HWLOC_OBJ_PU, "hwloc://PU"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// Read once, at the first question; what the process is bound to then is what counts.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
    const char *name;
    int place;
} found[KINDS + 1];

static void read_machine(void)
{
    hwloc_topology_t t;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    int n = 0;
    if (!mine || hwloc_topology_init(&t)) {
        hwloc_bitmap_free(mine);
        return;
    }
    if (hwloc_topology_load(t) == 0 && hwloc_get_cpubind(t, mine, HWLOC_CPUBIND_PROCESS) == 0)
        for (int k = 0; k < KINDS; k++) {
            hwloc_obj_t o = NULL;
            if (hwloc_get_nbobjs_by_type(t, kinds[k].type) <= 0)
                continue;
            found[n].name = kinds[k].name;
            found[n].place = -1;
            while ((o = hwloc_get_next_obj_by_type(t, kinds[k].type, o)))
                if (hwloc_bitmap_isincluded(mine, o->cpuset))
                    found[n].place = (int)o->logical_index;
            n++;
        }
    hwloc_topology_destroy(t);
    hwloc_bitmap_free(mine);
}

const char *hw_kind(int i)
{
    pthread_once(&once, read_machine);
    return i >= 0 && i < KINDS ? found[i].name : NULL;
}

int hw_place(const char *kind)
{
    for (int i = 0; hw_kind(i); i++)
        if (strcmp(hw_kind(i), kind) == 0)
            return found[i].place;
    return -1;
}
