// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is killed in collectives, and while communicators are made (victim.h).
// PES: none
#include "victim.h"

enum { FEW = 4, COUNT = 1 << 14, RANKS = 3 };

static int row[RANKS * COUNT], all[RANKS * COUNT];
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request r = MPI_REQUEST_NULL;

// ---- Collectives: blocking ones without the victim, of few bytes, and nonblocking ones that it has begun
#define COLLECTIVES(X)                                                                   \
    X(Barrier, Ibarrier, world)                                                          \
    X(Bcast, Ibcast, all, n, MPI_INT, VICTIM, world)                                     \
    X(Gather, Igather, row, n, MPI_INT, all, n, MPI_INT, 0, world)                       \
    X(Scatter, Iscatter, row, n, MPI_INT, all, n, MPI_INT, VICTIM, world)                \
    X(Allgather, Iallgather, row, n, MPI_INT, all, n, MPI_INT, world)                    \
    X(Alltoall, Ialltoall, row, n, MPI_INT, all, n, MPI_INT, world)                      \
    X(Reduce, Ireduce, row, all, n, MPI_INT, MPI_SUM, 0, world)                          \
    X(Allreduce, Iallreduce, row, all, n, MPI_INT, MPI_SUM, world)                       \
    X(Reduce_scatter_block, Ireduce_scatter_block, row, all, n, MPI_INT, MPI_SUM, world) \
    X(Scan, Iscan, row, all, n, MPI_INT, MPI_SUM, world)                                 \
    X(Neighbor_alltoall, Ineighbor_alltoall, row, n, MPI_INT, all, n, MPI_INT, ring())

// For a neighbourhood of its own.
static MPI_Comm ring(void)
{
    static MPI_Comm c = MPI_COMM_NULL;
    int size = 3, wraps = 1;
    if (c == MPI_COMM_NULL)
        MPI_Cart_create(world, 1, &size, &wraps, false, &c);
    return c;
}

#define X(CALL, ICALL, ...)               \
    static void do_##CALL(int n)          \
    {                                     \
        ring();                           \
        if (me == VICTIM && n == FEW)     \
            raise(SIGKILL);               \
        if (n == FEW)                     \
            MPI_##CALL(__VA_ARGS__);      \
        else                              \
            MPI_##ICALL(__VA_ARGS__, &r); \
        if (me == VICTIM)                 \
            raise(SIGKILL);               \
        MPI_Wait(&r, MPI_STATUS_IGNORE);  \
    }
COLLECTIVES(X)
#undef X

static void schedule(int n)
{
    MPI_Allreduce_init(row, all, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &r);
    for (int i = 0;; i++) {
        MPI_Start(&r);
        if (me == VICTIM && i == 2)
            raise(SIGKILL);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void repeated(int n)
{
    if (me == VICTIM)
        die_soon();
    for (;;)
        MPI_Allreduce(row, all, n, MPI_INT, MPI_SUM, world);
}

// ---- Communicators: without the victim, and in the middle of many
static MPI_Comm make(int how)
{
    MPI_Group group;
    MPI_Session session;
    MPI_Comm c = MPI_COMM_NULL, half;
    switch (how) {
    case 'd': MPI_Comm_dup(world, &c); break;
    case 's': MPI_Comm_split(world, me == 2, me, &c); break;
    case 't': MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c); break;
    case 'g':
        MPI_Comm_group(world, &group);
        MPI_Comm_create_group(world, group, 3, &c);
        MPI_Group_free(&group);
        break;
    case 'c':
        MPI_Comm_group(world, &group);
        MPI_Comm_create(world, group, &c);
        MPI_Group_free(&group);
        break;
    case 'm': // and so are both of these
        MPI_Comm_split(world, me == VICTIM, 0, &half);
        MPI_Intercomm_create(half, 0, world, me == VICTIM ? 0 : VICTIM, 1, &c);
        MPI_Comm_free(&half);
        half = c;
        MPI_Intercomm_merge(half, me == VICTIM, &c);
        MPI_Comm_free(&half);
        break;
    case 'p':
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "victim", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
        MPI_Group_free(&group);
        break;
    case 'r': MPI_Cart_create(world, 1, (int[]){3}, (int[]){1}, true, &c); break;
    }
    return c;
}

static void made(int how)
{
    if (me == VICTIM)
        raise(SIGKILL);
    make(how);
}

static void making(int how)
{
    if (me == VICTIM)
        die_soon();
    for (MPI_Comm c;; MPI_Comm_free(&c))
        c = make(how);
}

static void made_later(int how)
{
    MPI_Comm c;
    (void)how;
    MPI_Comm_idup(world, &c, &r);
    if (me == VICTIM)
        raise(SIGKILL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

// The halves exist already, where the leaders begin to talk.
static void made_between(int how)
{
    MPI_Comm c, half;
    (void)how;
    MPI_Comm_split(world, me == VICTIM, 0, &half);
    if (me == VICTIM)
        raise(SIGKILL);
    MPI_Intercomm_create(half, 0, world, VICTIM, 1, &c);
}

static void ending(int how)
{
    (void)how;
    if (me == VICTIM)
        raise(SIGKILL);
    MPI_Finalize();
}

static const struct step steps[] = {
#define X(CALL, ICALL, ...) {#CALL, "", do_##CALL, FEW, NULL}, {#ICALL, "", do_##CALL, COUNT, NULL},
    COLLECTIVES(X)
#undef X
        {"Allreduces", "", repeated, FEW, NULL},
    {"Allreduces-long", "", repeated, COUNT, NULL},
    {"Allreduce_init", "", schedule, COUNT, NULL},
    {"Comm_dup", "", made, 'd', NULL},
    {"Comm_dups", "", making, 'd', NULL},
    {"Comm_idup", "", made_later, 0, NULL},
    {"Comm_split", "", made, 's', NULL},
    {"Comm_splits", "", making, 's', NULL},
    {"Comm_split_type", "", made, 't', NULL},
    {"Comm_create_group", "", made, 'g', NULL},
    {"Comm_create_groups", "", making, 'g', NULL},
    {"Comm_create", "", made, 'c', NULL},
    {"Comm_create_from_group", "", made, 'p', NULL},
    {"Cart_create", "", made, 'r', NULL},
    {"Intercomm_create", "", made_between, 0, NULL},
    {"Intercomm_merges", "", making, 'm', NULL},
    {"Finalize", "", ending, 0, NULL},
};

int main(int argc, char **argv)
{
    const struct step *step = find_step(steps, sizeof steps / sizeof steps[0], argc, argv);
    step->run(step->how);
    for (;;) // nothing more comes
        MPI_Barrier(world);
}
