// SPDX-License-Identifier: BSD-3-Clause
// Sessions without MPI_Init, one after the other and two at once; communicators from their groups.
#include "mpi_check.h"

static int errors;

static void on_error(MPI_Session *session, int *code, ...)
{
    (void)session;
    errors += class_of(*code) == MPI_ERR_ARG;
}

static void check_multiple(MPI_Session s)
{
    MPI_Info info;
    char level[32];
    int flag;
    OK(MPI_Session_get_info(s, &info));
    OK(MPI_Info_get(info, "thread_level", 31, level, &flag));
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    OK(MPI_Info_free(&info));
}

static MPI_Session start(void)
{
    MPI_Errhandler handler;
    MPI_Session s;
    MPI_Info info;
    OK(MPI_Session_create_errhandler(on_error, &handler));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, handler, &s));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Info_free(&info));
    check_multiple(s);
    return s;
}

static void psets(MPI_Session s)
{
    int n = 0, world = 0, self = 0, length;
    OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
    for (int i = 0; i < n; i++) {
        char name[64], part[5];
        length = 0;
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 0 && length <= 64);
        length = sizeof name;
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, name));
        CHECK_EQ(strlen(name) + 1, length);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
        length = sizeof part;
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, part));
        CHECK(strncmp(part, name, 4) == 0 && part[4] == 0);
        CHECK_EQ(length, strlen(name) + 1);
    }
    CHECK(world == 1 && self == 1);
    MPI_Group g = MPI_GROUP_NULL;
    CHECK_EQ(class_of(MPI_Group_from_session_pset(s, "mpi://NONE", &g)), MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_NULL && errors > 0);
}

static MPI_Comm world_of(MPI_Session s, const char *tag, MPI_Group *g)
{
    MPI_Comm c;
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", g));
    OK(MPI_Comm_create_from_group(*g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Comm_rank(c, &me));
    OK(MPI_Comm_size(c, &npes));
    return c;
}

static void use(MPI_Comm c)
{
    int sum = 0;
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, npes * (npes - 1) / 2);
}

// No intercommunicator where a group is empty. Of the remote one the leader's argument counts.
static void nobody(MPI_Group group, int leader)
{
    MPI_Comm none = MPI_COMM_SELF;
    OK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, group, 0, "none", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &none));
    CHECK(none == MPI_COMM_NULL);
    none = MPI_COMM_SELF;
    OK(MPI_Intercomm_create_from_groups(group, leader, MPI_GROUP_EMPTY, 0, "none", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &none));
    CHECK(none == MPI_COMM_NULL);
}

// The halves of the world, and an intercommunicator of both.
static void halves(MPI_Group world)
{
    MPI_Group half, other;
    MPI_Comm c, inter, all;
    int size, remote, middle = npes / 2, low = me < middle;
    int ranges[2][1][3] = {{{0, middle - 1, 1}}, {{middle, npes - 1, 1}}};
    OK(MPI_Group_range_incl(world, 1, ranges[!low], &half));
    OK(MPI_Group_range_incl(world, 1, ranges[low], &other));
    OK(MPI_Comm_create_from_group(half, "half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Comm_size(c, &size));
    CHECK_EQ(size, low ? middle : npes - middle);
    OK(MPI_Intercomm_create_from_groups(half, size - 1, other, npes - size - 1, "both",
                                        MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQ(remote, npes - size);
    nobody(half, size - 1);
    OK(MPI_Intercomm_merge(inter, !low, &all));
    use(all);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&c));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&other));
}

int main(void)
{
    int flag = 1;
    for (int round = 0; round < 3; round++) {
        MPI_Group g, h;
        MPI_Session s = start(), t = start(), asks_nothing;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &asks_nothing));
        check_multiple(asks_nothing); // since others asked for it
        OK(MPI_Session_finalize(&asks_nothing));
        psets(s);
        MPI_Comm c = world_of(s, "first", &g), d = world_of(t, "second", &h);
        use(c);
        use(d);
        if (npes > 1)
            halves(g);
        OK(MPI_Initialized(&flag));
        CHECK(!flag);
        OK(MPI_Comm_free(&c));
        OK(MPI_Group_free(&g));
        OK(MPI_Session_finalize(&s));
        CHECK(s == MPI_SESSION_NULL);
        use(d); // the other session goes on
        OK(MPI_Comm_free(&d));
        OK(MPI_Group_free(&h));
        OK(MPI_Session_finalize(&t));
    }
    mpi_start(); // and the world model after them
    use(MPI_COMM_WORLD);
    return mpi_done();
}
