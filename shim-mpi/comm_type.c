// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type: processes that share memory, or a place of the machine they are bound to.
// A color is the first PE of the process's node and the number of the place there.
#include "check.h"
#include "hw.h"
#include "info.h"

#include <pshmem.h>
#include <string.h>
#include <strings.h>

static const char kind_key[] = "mpi_hw_resource_type";

static int64_t color_of(int place)
{
    int node = pshmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);
    return place < 0 ? -1 : (int64_t)node << 32 | place;
}

// A kind of place that a program named: those of hw.h, or shared memory.
static int64_t color_of_kind(const char *kind)
{
    if (!kind)
        return -1;
    return color_of(strcmp(kind, "mpi_shared_memory") == 0 ? 0 : hw_place(kind));
}

// A name that all processes understand and that is a set of those here: mpi_pset_name.
static int64_t color_of_pset(const char *name)
{
    if (strcasecmp(name, "mpi://WORLD") == 0)
        return 0;
    if (strcasecmp(name, "mpi://SELF") == 0)
        return (int64_t)shim_pe() << 32;
    return strcasecmp(name, "shoal://NODE") == 0 ? color_of(0) : -1;
}

static int64_t color_guided(const struct info *info, bool with_psets)
{
    char room[2][MPI_MAX_INFO_VAL];
    const char *kind = info_get(info, kind_key, room[0]);
    const char *pset = with_psets ? info_get(info, "mpi_pset_name", room[1]) : NULL;
    return pset && !kind ? color_of_pset(pset) : color_of_kind(kind);
}

// Of an intercommunicator, on either side: both ask the same.
static bool is_part_of(const struct comm *part, const struct comm *c)
{
    return part->group->size < c->group->size ||
           (comm_is_inter(c) && part->remote->size < c->remote->size);
}

// MPI_INFO_ENV, which nothing changes.
static bool is_predefined(const struct info *info)
{
    return info->head.code != 0;
}

// The largest kind of place that comm's processes do not all share: each try is collective.
static int split_unguided(struct comm *c, int key, struct info *info, struct comm **out)
{
    for (int i = -1; i < 0 || hw_kind(i); i++) {
        const char *kind = i < 0 ? "mpi_shared_memory" : hw_kind(i);
        int error = comm_split(c, color_of_kind(kind), key, out);
        if (error)
            return error;
        if (*out && is_part_of(*out, c))
            return info && !is_predefined(info) ? info_set(info, kind_key, kind) : MPI_SUCCESS;
        // All alike, so that all of them try on; those without a place see it in their number.
        bool all_here = *out != NULL;
        comm_free(*out);
        *out = NULL;
        if (!all_here)
            return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
}

static int split(struct comm *c, int type, int key, struct info *info, struct comm **out)
{
    switch (type) {
    case MPI_COMM_TYPE_SHARED: return comm_split(c, color_of(0), key, out);
    case MPI_COMM_TYPE_HW_GUIDED: return comm_split(c, color_guided(info, false), key, out);
    case MPI_COMM_TYPE_RESOURCE_GUIDED: return comm_split(c, color_guided(info, true), key, out);
    case MPI_COMM_TYPE_HW_UNGUIDED: return split_unguided(c, key, info, out);
    default: return comm_split(c, -1, key, out); // MPI_UNDEFINED
    }
}

static int check_type_of_split(const char *call, struct comm *c, int type)
{
    if (type == MPI_UNDEFINED ||
        (type >= MPI_COMM_TYPE_SHARED && type <= MPI_COMM_TYPE_RESOURCE_GUIDED))
        return MPI_SUCCESS;
    return raise_on(c, MPI_ERR_ARG, call, "split_type %d is none of MPI_COMM_TYPE_*", type);
}

MPI_DEFINE(int, Comm_split_type, MPI_Comm comm, int split_type, int key, MPI_Info info,
           MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Comm_split_type";
    struct comm *c, *new = NULL;
    struct info *i;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "newcomm", newcomm);
    if (!error)
        error = info_check(info, c, call, &i);
    if (!error)
        error = check_type_of_split(call, c, split_type);
    if (error)
        return error;
    error = split(c, split_type, key, i, &new);
    if (!error && new)
        error = comm_set_hints(new, i);
    if (error) {
        comm_free(new);
        return raise_on(c, error, call, "the processes could not tell each other where they are");
    }
    if (new)
        return comm_give(new, c, newcomm, call);
    *newcomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Get_hw_resource_info, MPI_Info *hw_info)
{
    static const char call[] = "MPI_Get_hw_resource_info";
    int error = check_pointer(call, NULL, "hw_info", hw_info);
    if (error)
        return error;
    struct info *info = info_new();
    error = info ? info_set(info, "mpi_shared_memory", "true") : MPI_ERR_NO_MEM;
    for (int i = 0; !error && hw_kind(i); i++)
        error = info_set(info, hw_kind(i), hw_place(hw_kind(i)) >= 0 ? "true" : "false");
    if (error) {
        info_free(info);
        return raise_on(NULL, error, call, "no memory for the info");
    }
    *hw_info = object_handle(info);
    return MPI_SUCCESS;
}
