// SPDX-License-Identifier: BSD-3-Clause
// Processes of a node that see different parts of the machine, as those of containers do: each sees the
// one processor it is bound to, and that is not one place for all of them.
#include "mpi_check.h"

#include <sched.h>

// The processor for this process: one of the first two that the job may use. -1: there is one only.
static int own_cpu(int number)
{
    cpu_set_t all;
    int cpus[2], n = 0;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &all))
            cpus[n++] = cpu;
    return n == 2 ? cpus[number % 2] : -1;
}

// Before anything reads the machine.
static int see_one_cpu(void)
{
    const char *pe = getenv("SHOAL_PE");
    int cpu = own_cpu(pe ? atoi(pe) : 0);
    cpu_set_t one;
    char machine[64];
    if (cpu < 0)
        return cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    snprintf(machine, sizeof machine, "pack:1 core:1 pu:1(indexes=%d)", cpu);
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return cpu;
}

// With how many processes in this place; -1: in none.
static int sharing(MPI_Comm comm, const char *kind)
{
    MPI_Comm place;
    MPI_Info info;
    int size = -1;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", kind));
    OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, 0, info, &place));
    OK(MPI_Info_free(&info));
    if (place != MPI_COMM_NULL) {
        OK(MPI_Comm_size(place, &size));
        OK(MPI_Comm_free(&place));
    }
    return size;
}

int main(void)
{
    int cpu = see_one_cpu();
    mpi_start();
    MPI_Comm node, same;
    int on_node, expected, have = cpu >= 0 && sharing(MPI_COMM_SELF, "hwloc://Core") == 1;
    OK(MPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!have) {
        OK(MPI_Finalize());
        check_skip("one processor, or no hwloc");
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_split(node, cpu, 0, &same));
    OK(MPI_Comm_size(node, &on_node));
    OK(MPI_Comm_size(same, &expected));
    CHECK_EQ(sharing(MPI_COMM_WORLD, "hwloc://PU"), expected);
    CHECK_EQ(sharing(MPI_COMM_WORLD, "hwloc://Core"), expected);
    CHECK_EQ(sharing(MPI_COMM_WORLD, "hwloc://Machine"), on_node);
    OK(MPI_Comm_free(&same));
    OK(MPI_Comm_free(&node));
    return mpi_done();
}
