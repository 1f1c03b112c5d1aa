// SPDX-License-Identifier: BSD-3-Clause
// The calls about a communicator: who is in it, names, info, its end. None but MPI_Comm_disconnect
// waits for other processes, or the end where a buffer is attached.
#include "agree.h"
#include "attr.h"
#include "bsend.h"
#include "check.h"
#include "coll.h"
#include "hint.h"
#include "info.h"

#include <string.h>

// ---- Who is in it
static int give_int(struct comm *c, const char *call, const char *name, int *out, int value)
{
    int error = check_pointer(call, c, name, out);
    if (!error)
        *out = value;
    return error;
}

MPI_DEFINE(int, Comm_size, MPI_Comm comm, int *size)
{
    struct comm *c;
    int error = check_comm("MPI_Comm_size", comm, &c);
    return error ? error : give_int(c, "MPI_Comm_size", "size", size, c->group->size);
}

MPI_DEFINE(int, Comm_rank, MPI_Comm comm, int *rank)
{
    struct comm *c;
    int error = check_comm("MPI_Comm_rank", comm, &c);
    return error ? error : give_int(c, "MPI_Comm_rank", "rank", rank, c->rank);
}

MPI_DEFINE(int, Comm_remote_size, MPI_Comm comm, int *size)
{
    static const char call[] = "MPI_Comm_remote_size";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (!error && !comm_is_inter(c))
        return raise_on(c, MPI_ERR_COMM, call, "comm is not an intercommunicator");
    return error ? error : give_int(c, call, "size", size, c->remote->size);
}

MPI_DEFINE(int, Comm_test_inter, MPI_Comm comm, int *flag)
{
    static const char call[] = "MPI_Comm_test_inter";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    return error ? error : give_int(c, call, "flag", flag, comm_is_inter(c));
}

static int compare(const struct comm *a, const struct comm *b)
{
    if (a == b)
        return MPI_IDENT;
    if (comm_is_inter(a) != comm_is_inter(b))
        return MPI_UNEQUAL;
    int own = group_compare(a->group, b->group);
    int remote = comm_is_inter(a) ? group_compare(a->remote, b->remote) : MPI_IDENT;
    if (own == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        return MPI_UNEQUAL;
    return own == MPI_SIMILAR || remote == MPI_SIMILAR ? MPI_SIMILAR : MPI_CONGRUENT;
}

MPI_DEFINE(int, Comm_compare, MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    static const char call[] = "MPI_Comm_compare";
    struct comm *a, *b;
    int error = check_comm(call, comm1, &a);
    if (!error)
        error = check_comm(call, comm2, &b);
    return error ? error : give_int(a, call, "result", result, compare(a, b));
}

// ---- Names
MPI_DEFINE(int, Comm_set_name, MPI_Comm comm, const char *comm_name)
{
    static const char call[] = "MPI_Comm_set_name";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "comm_name", comm_name);
    if (!error)
        object_set_name(c->name, comm_name);
    return error;
}

MPI_DEFINE(int, Comm_get_name, MPI_Comm comm, char *comm_name, int *resultlen)
{
    static const char call[] = "MPI_Comm_get_name";
    struct comm *c = NULL;
    int error = comm == MPI_COMM_NULL ? MPI_SUCCESS : check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "comm_name", comm_name);
    if (!error)
        error = check_pointer(call, c, "resultlen", resultlen);
    if (error)
        return error;
    *resultlen = object_get_name(c ? c->name : "MPI_COMM_NULL", comm_name);
    return MPI_SUCCESS;
}

// ---- Hints. Those that are known are kept; nothing depends on them yet, as no program may tell.
static const char *const hints[] = {
    "mpi_assert_no_any_tag",         "mpi_assert_no_any_source",
    "mpi_assert_exact_length",       "mpi_assert_allow_overtaking",
    "mpi_assert_memory_alloc_kinds", "mpi_assert_strict_persistent_collective_ordering"};
enum { BOOLEANS = 4, KINDS = 4 }; // so many of them have the default "false"; that one is a list

// Values that make no sense are ignored.
static bool is_sound(size_t hint, const char *value)
{
    if (hint < BOOLEANS)
        return !strcmp(value, "true") || !strcmp(value, "false");
    return hint != KINDS || info_has_kinds(value);
}

// Made with the first one.
static struct info *hints_of(struct comm *c)
{
    struct info *kept = c->hints, *new = kept ? NULL : info_new();
    if (kept || !new || atomic_compare_exchange_strong(&c->hints, &kept, new))
        return kept ? kept : new;
    info_free(new); // another thread was first
    return kept;
}

int comm_set_hints(struct comm *c, const struct info *info)
{
    for (size_t i = 0; info && i < ARRAY_LEN(hints); i++) {
        char room[MPI_MAX_INFO_VAL];
        const char *value = info_get(info, hints[i], room);
        if (!value || !is_sound(i, value))
            continue;
        struct info *kept = hints_of(c);
        if (!kept || info_set(kept, hints[i], value))
            return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

static struct info *used_hints(const struct comm *c)
{
    struct info *used = info_new();
    int error = used ? info_set(used, "mpi_memory_alloc_kinds", INFO_KINDS) : MPI_ERR_NO_MEM;
    for (size_t i = 0; !error && i < ARRAY_LEN(hints); i++) {
        char room[MPI_MAX_INFO_VAL];
        const char *value = info_get(c->hints, hints[i], room);
        if (value || i < BOOLEANS)
            error = info_set(used, hints[i], value ? value : "false");
    }
    if (!error)
        return used;
    info_free(used);
    return NULL;
}

MPI_DEFINE(int, Comm_set_info, MPI_Comm comm, MPI_Info info)
{
    static const char call[] = "MPI_Comm_set_info";
    struct comm *c;
    struct info *i;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = info_check(info, c, call, &i);
    if (!error && comm_set_hints(c, i))
        return raise_on(c, MPI_ERR_NO_MEM, call, "no memory for the hints");
    return error;
}

MPI_DEFINE(int, Comm_get_info, MPI_Comm comm, MPI_Info *info_used)
{
    static const char call[] = "MPI_Comm_get_info";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "info_used", info_used);
    if (error)
        return error;
    struct info *used = used_hints(c);
    if (!used)
        return raise_on(c, MPI_ERR_NO_MEM, call, "no memory for the info");
    *info_used = object_handle(used);
    return MPI_SUCCESS;
}

// ---- The end: of the program's handle now, of the object when nothing that is under way needs it
static int check_end(const char *call, MPI_Comm *comm, struct comm **c)
{
    int error = check_pointer(call, NULL, "comm", comm);
    if (!error)
        error = check_comm(call, *comm, c);
    if (!error && (*c)->head.code)
        return raise_on(*c, MPI_ERR_COMM, call, "%s cannot be freed", (*c)->name);
    return error;
}

static int end(const char *call, MPI_Comm *comm, struct comm *c)
{
    int error = attributes_delete(OBJECT_COMM, *comm, &c->attributes);
    if (error)
        return raise_on(c, error, call, "the delete function of an attribute failed");
    bsend_end(c);
    coll_team_end(c);
    atomic_store_explicit(&c->is_freed, true, memory_order_relaxed);
    comm_free(c);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Comm_free, MPI_Comm *comm)
{
    struct comm *c;
    int error = check_end("MPI_Comm_free", comm, &c);
    return error ? error : end("MPI_Comm_free", comm, c);
}

// When all have come here, what was sent over it has been received.
MPI_DEFINE(int, Comm_disconnect, MPI_Comm *comm)
{
    static const char call[] = "MPI_Comm_disconnect";
    struct comm *c;
    int error = check_end(call, comm, &c);
    if (error)
        return error;
    struct comm *own = comm_is_inter(c) ? c->local : c;
    struct circle all = circle_of(own), again = circle_of(own);
    hint_catch_up();
    error = agree_barrier(&all);
    if (!error && comm_is_inter(c) && c->rank == 0)
        error = agree_swap(c, 0, again.tag, NULL, 0, NULL, 0);
    if (!error && comm_is_inter(c))
        error = agree_barrier(&again);
    return error ? raise_on(c, error, call, "the processes cannot meet") : end(call, comm, c);
}
