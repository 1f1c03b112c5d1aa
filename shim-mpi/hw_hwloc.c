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

// Of this machine; NULL: it could not be read. The tree is read once, at the first question, and stays:
// where in it this process is bound may be another place each time.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t machine;
static const struct kind *found[KINDS + 1];

// With what this process may not use (another container's), so that all processes see the same tree.
static void read_machine(void)
{
    hwloc_topology_t t;
    int n = 0;
    if (hwloc_topology_init(&t))
        return;
    if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
        hwloc_topology_load(t)) {
        hwloc_topology_destroy(t);
        return;
    }
    machine = t;
    for (int k = 0; k < KINDS; k++)
        if (hwloc_get_nbobjs_by_type(t, kinds[k].type) > 0)
            found[n++] = &kinds[k];
}

// What all processes of the node call it, even where they see different parts of the machine: by its
// first processor, as the system counts them. The root is the node itself.
static int number_of(hwloc_obj_t o)
{
    return o->parent ? hwloc_bitmap_first(o->complete_cpuset) : 0;
}

const char *hw_kind(int i)
{
    pthread_once(&once, read_machine);
    return i >= 0 && i < KINDS && found[i] ? found[i]->name : NULL;
}

static int place_of(hwloc_obj_type_t type, hwloc_const_bitmap_t mine)
{
    int place = -1;
    hwloc_obj_t o = NULL;
    while ((o = hwloc_get_next_obj_by_type(machine, type, o)))
        if (hwloc_bitmap_isincluded(mine, o->cpuset))
            place = number_of(o);
    return place;
}

// The thread's binding, not the union of all threads': those of the library and of its networks stay
// where the process was when it started.
int hw_place(const char *kind)
{
    int i = 0, place = -1;
    while (hw_kind(i) && strcmp(hw_kind(i), kind) != 0)
        i++;
    hwloc_bitmap_t mine = hw_kind(i) ? hwloc_bitmap_alloc() : NULL;
    if (mine && hwloc_get_cpubind(machine, mine, HWLOC_CPUBIND_THREAD) == 0)
        place = place_of(found[i]->type, mine);
    hwloc_bitmap_free(mine);
    return place;
}
