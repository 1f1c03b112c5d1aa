// SPDX-License-Identifier: BSD-3-Clause
// Binding with hwloc: each PE to the next place, or places, going round over what there is. See bind.h.
#include "bind.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <sched.h>
#include <stdlib.h>

// The places of a kind, each cut down to what this process may use; those left empty are passed
// over. Returns how many were put into sets, at most `most`.
static int list_places(hwloc_topology_t topology, hwloc_obj_type_t type, cpu_set_t *sets, int most)
{
    cpu_set_t usable;
    int n = 0;
    hwloc_obj_t place = NULL;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return 0;
    while (n < most && (place = hwloc_get_next_obj_by_type(topology, type, place))) {
        cpu_set_t set;
        if (hwloc_cpuset_to_glibc_sched_affinity(topology, place->cpuset, &set, sizeof set))
            continue;
        CPU_AND(&sets[n], &set, &usable);
        n += CPU_COUNT(&sets[n]) > 0;
    }
    return n;
}

static const hwloc_obj_type_t type_of[] = {[BIND_CORE] = HWLOC_OBJ_CORE,
                                           [BIND_SOCKET] = HWLOC_OBJ_PACKAGE,
                                           [BIND_NUMA] = HWLOC_OBJ_NUMANODE,
                                           [BIND_HWTHREAD] = HWLOC_OBJ_PU,
                                           [BIND_L3] = HWLOC_OBJ_L3CACHE};

cpu_set_t *bind_plan(enum bind_what what, int each, int npes, const char **why)
{
    hwloc_topology_t topology;
    *why = "hwloc cannot read this machine's topology";
    if (hwloc_topology_init(&topology))
        return NULL;
    cpu_set_t *place = calloc(CPU_SETSIZE, sizeof *place),
              *sets = calloc((size_t)npes, sizeof *sets);
    int places = 0;
    if (place && sets && hwloc_topology_load(topology) == 0) {
        *why = "hwloc finds no such places on this machine";
        places = list_places(topology, type_of[what], place, CPU_SETSIZE);
    }
    hwloc_topology_destroy(topology);
    each = each < places ? each : places;
    for (long i = 0; places && i < (long)npes * each; i++)
        CPU_OR(&sets[i / each], &sets[i / each], &place[i % places]);
    free(place);
    if (places == 0) {
        free(sets);
        return NULL;
    }
    return sets;
}
