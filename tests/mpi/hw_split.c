// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type by places of the machine, named by the program or not, and by sets of
// processes. Which places there are is the machine's business: what they are split into is not.
#include "mpi_check.h"

#include <sched.h>

static MPI_Comm split(int type, MPI_Info info)
{
    MPI_Comm c = MPI_COMM_WORLD;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &c));
    return c;
}

static int size_of(MPI_Comm c)
{
    int size = 0;
    if (c != MPI_COMM_NULL)
        OK(MPI_Comm_size(c, &size));
    return size;
}

static int size_of_kind(int type, const char *key, const char *kind)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, kind));
    MPI_Comm c = split(type, info);
    int size = size_of(c);
    if (c != MPI_COMM_NULL)
        OK(MPI_Comm_free(&c));
    OK(MPI_Info_free(&info));
    return size;
}

static int guided(const char *kind)
{
    return size_of_kind(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", kind);
}

// Each kind of place there is; a process that is in none of a kind is in no communicator.
static void kinds(int on_node)
{
    MPI_Info info;
    int n = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n >= 1);
    for (int i = 0; i < n; i++) {
        char kind[MPI_MAX_INFO_KEY], value[16] = "";
        int flag = 0;
        OK(MPI_Info_get_nthkey(info, i, kind));
        OK(MPI_Info_get(info, kind, sizeof value - 1, value, &flag));
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
        int size = guided(kind);
        CHECK_EQ(size > 0, strcmp(value, "true") == 0);
        CHECK(size <= on_node);
        CHECK_EQ(size_of_kind(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", kind), size);
    }
    OK(MPI_Info_free(&info));
}

// How many processes of this node are bound to the same processor.
static int with_me_on(MPI_Comm node, int cpu)
{
    int same = 0, on_node = size_of(node);
    int *all = malloc((size_t)on_node * sizeof *all);
    OK(MPI_Allgather(&cpu, 1, MPI_INT, all, 1, MPI_INT, node));
    for (int i = 0; i < on_node; i++)
        same += all[i] == cpu;
    free(all);
    return same;
}

// -1: the machine has no such kind.
static int is_bound_to(const char *kind)
{
    MPI_Info info;
    char value[16] = "";
    int flag = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get(info, kind, sizeof value - 1, value, &flag));
    OK(MPI_Info_free(&info));
    return flag ? strcmp(value, "true") == 0 : -1;
}

static void bound_to(MPI_Comm node, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_EQ(is_bound_to("hwloc://PU"), 1);
    CHECK_EQ(guided("hwloc://PU"), with_me_on(node, cpu));
}

// What a split was by is not told to MPI_INFO_ENV, which nothing changes.
static void env_stays(void)
{
    char kind[64];
    int flag = -1;
    MPI_Comm part = split(MPI_COMM_TYPE_HW_UNGUIDED, MPI_INFO_ENV);
    CHECK_EQ(part != MPI_COMM_NULL, npes > 1);
    OK(MPI_Info_get(MPI_INFO_ENV, "mpi_hw_resource_type", sizeof kind - 1, kind, &flag));
    CHECK_EQ(flag, 0);
    if (part != MPI_COMM_NULL)
        OK(MPI_Comm_free(&part));
}

// A program may bind itself, and bind itself elsewhere, after it has asked.
static void moves(MPI_Comm node)
{
    cpu_set_t before;
    int cpus[2], n = 0, all_move;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &before))
            cpus[n++] = cpu;
    all_move = n == 2 && is_bound_to("hwloc://PU") >= 0;
    OK(MPI_Allreduce(MPI_IN_PLACE, &all_move, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!all_move)
        return;
    CHECK_EQ(is_bound_to("hwloc://PU"), 0);
    bound_to(node, cpus[me % 2]);
    env_stays();
    bound_to(node, cpus[0]);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK_EQ(is_bound_to("hwloc://PU"), 0);
}

static void no_kind(void)
{
    CHECK_EQ(guided("no such place"), 0);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, MPI_INFO_NULL) == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, MPI_INFO_NULL) == MPI_COMM_NULL);
    CHECK(split(MPI_UNDEFINED, MPI_INFO_NULL) == MPI_COMM_NULL);
}

static void sets(int on_node)
{
    static const char key[] = "mpi_pset_name";
    CHECK_EQ(size_of_kind(MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://SELF"), 1);
    CHECK_EQ(size_of_kind(MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://WORLD"), npes);
    CHECK_EQ(size_of_kind(MPI_COMM_TYPE_RESOURCE_GUIDED, key, "shoal://NODE"), on_node);
    CHECK_EQ(size_of_kind(MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://NONE"), 0);
    CHECK_EQ(size_of_kind(MPI_COMM_TYPE_HW_GUIDED, key, "mpi://SELF"), 0);
}

// Down the machine until nothing is left to split: each step is smaller, and says what it is.
static void unguided(void)
{
    MPI_Comm c = MPI_COMM_WORLD, next;
    int size = npes;
    for (int step = 0; step < 12; step++) {
        char kind[64] = "";
        int flag = 0;
        MPI_Info info;
        OK(MPI_Info_create(&info));
        OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &next));
        OK(MPI_Info_get(info, "mpi_hw_resource_type", sizeof kind - 1, kind, &flag));
        OK(MPI_Info_free(&info));
        if (c != MPI_COMM_WORLD)
            OK(MPI_Comm_free(&c));
        CHECK_EQ(flag, next != MPI_COMM_NULL);
        if (next == MPI_COMM_NULL)
            return;
        CHECK(size_of(next) < size);
        size = size_of(next);
        c = next;
    }
    CHECK(!"a machine of so many levels");
}

int main(void)
{
    mpi_start();
    MPI_Comm node = split(MPI_COMM_TYPE_SHARED, MPI_INFO_NULL);
    int on_node = size_of(node);
    CHECK_EQ(guided("mpi_shared_memory"), on_node);
    kinds(on_node);
    moves(node);
    no_kind();
    sets(on_node);
    unguided();
    OK(MPI_Comm_free(&node));
    return mpi_done();
}
