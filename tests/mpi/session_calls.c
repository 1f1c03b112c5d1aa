// SPDX-License-Identifier: BSD-3-Clause
// A session's error handlers and buffers, and a communicator's buffers, by all forms of the calls.
#include "mpi_check.h"

enum { ROOM = 10000, NUMBERS = 100 };

static MPI_Session session;
static char buffer[ROOM];
static int calls, last;

static void on_error(MPI_Session *s, int *code, ...)
{
    CHECK(*s == session);
    calls++;
    last = class_of(*code);
}

static void handlers(void)
{
    MPI_Errhandler mine, got;
    MPI_Group g = MPI_GROUP_NULL;
    OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_Session_create_errhandler(on_error, &mine));
    OK(MPI_Session_set_errhandler(session, mine));
    OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine)); // lives on in the session
    CHECK_EQ(class_of(MPI_Group_from_session_pset(session, "none", &g)), MPI_ERR_ARG);
    CHECK(calls == 1 && last == MPI_ERR_ARG && g == MPI_GROUP_NULL);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_IO));
    CHECK(calls == 2 && last == MPI_ERR_IO);
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    OK(MPI_Session_call_errhandler(session, MPI_ERR_IO));
    CHECK_EQ(calls, 2);
}

// Who shares memory, in the order of the world's ranks.
static void pset_of_node(void)
{
    MPI_Group node, shared;
    MPI_Comm c;
    int result = -1;
    OK(MPI_Group_from_session_pset(session, "shoal://NODE", &node));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c));
    OK(MPI_Comm_group(c, &shared));
    OK(MPI_Group_compare(node, shared, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_free(&node));
    OK(MPI_Group_free(&shared));
    OK(MPI_Comm_free(&c));
}

static void psets(void)
{
    char text[16] = "";
    int flag = 0;
    MPI_Info info;
    OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
    OK(MPI_Info_get(info, "mpi_size", sizeof text - 1, text, &flag));
    CHECK(flag && atoi(text) == npes);
    OK(MPI_Info_free(&info));
    pset_of_node();
}

static void bsend(MPI_Comm c)
{
    int out[NUMBERS], in[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        out[i] = me * NUMBERS + i;
    OK(MPI_Bsend(out, NUMBERS, MPI_INT, right_pe(), 1, c));
    memset(out, -1, sizeof out);
    OK(MPI_Recv(in, NUMBERS, MPI_INT, left_pe(), 1, c, MPI_STATUS_IGNORE));
    CHECK_EACH(i, NUMBERS, in[i], left_pe() * NUMBERS + (int)i);
}

static void wait(MPI_Request r)
{
    MPI_Status s;
    OK(MPI_Wait(&r, &s));
    CHECK_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(s.MPI_TAG, MPI_ANY_TAG);
}

#define EXPECT(address, size)                   \
    do {                                        \
        CHECK(was == (address) && n == (size)); \
        was = NULL;                             \
        n = -1;                                 \
    } while (0)

#define BUFFERS(ATTACH, DETACH, FLUSH, IFLUSH, COUNT, ...)                    \
    do {                                                                      \
        void *was = NULL;                                                     \
        COUNT n = -1;                                                         \
        MPI_Request r;                                                        \
        OK(ATTACH(__VA_ARGS__ buffer, ROOM));                                 \
        CHECK_EQ(class_of(ATTACH(__VA_ARGS__ buffer, ROOM)), MPI_ERR_BUFFER); \
        bsend(c);                                                             \
        FLUSH;                                                                \
        bsend(c);                                                             \
        IFLUSH;                                                               \
        wait(r);                                                              \
        OK(DETACH(__VA_ARGS__ &was, &n));                                     \
        EXPECT(buffer, ROOM);                                                 \
        CHECK_EQ(class_of(DETACH(__VA_ARGS__ &was, &n)), MPI_ERR_BUFFER);     \
    } while (0)

#define WITH ,
#define OF_PROCESS(SUFFIX, COUNT)                                                         \
    BUFFERS(MPI_Buffer_attach##SUFFIX, MPI_Buffer_detach##SUFFIX, OK(MPI_Buffer_flush()), \
            OK(MPI_Buffer_iflush(&r)), COUNT, )
#define OF(X, handle, SUFFIX, COUNT)                                                            \
    BUFFERS(MPI_##X##_attach_buffer##SUFFIX, MPI_##X##_detach_buffer##SUFFIX,                   \
            OK(MPI_##X##_flush_buffer(handle)), OK(MPI_##X##_iflush_buffer(handle, &r)), COUNT, \
            handle WITH)

static void buffers(MPI_Comm c)
{
    OF_PROCESS(, int);
    OF_PROCESS(_c, MPI_Count);
    OF(Comm, c, , int);
    OF(Comm, c, _c, MPI_Count);
    OF(Session, session, , int);
    OF(Session, session, _c, MPI_Count);
}

// A message goes by the session's buffer from all communicators that descend from it, however.
static void buffer_of_descendants(MPI_Comm c)
{
    static char buffer[1000 + MPI_BSEND_OVERHEAD];
    MPI_Comm part, made, of_union;
    MPI_Group of_part, united;
    void *detached;
    int size, out = 5;
    OK(MPI_Session_attach_buffer(session, buffer, sizeof buffer));
    OK(MPI_Comm_split(c, 0, 0, &part));
    OK(MPI_Comm_group(part, &of_part));
    OK(MPI_Comm_create_from_group(of_part, "part", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    OK(MPI_Group_union(MPI_GROUP_EMPTY, of_part, &united));
    OK(MPI_Comm_create_from_group(united, "union", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_union));
    MPI_Comm all[] = {c, part, made, of_union};
    for (int i = 0; i < 4; i++) {
        int rank, in = 0;
        OK(MPI_Comm_rank(all[i], &rank));
        OK(MPI_Bsend(&out, 1, MPI_INT, rank, 0, all[i]));
        OK(MPI_Recv(&in, 1, MPI_INT, rank, 0, all[i], MPI_STATUS_IGNORE));
        CHECK_EQ(in, out);
    }
    OK(MPI_Session_detach_buffer(session, &detached, &size));
    for (int i = 1; i < 4; i++)
        OK(MPI_Comm_free(&all[i]));
    OK(MPI_Group_free(&of_part));
    OK(MPI_Group_free(&united));
}

int main(void)
{
    MPI_Group g;
    MPI_Comm c;
    mpi_start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    handlers();
    psets();
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &g));
    OK(MPI_Comm_create_from_group(g, "calls", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Group_free(&g));
    buffers(c);
    buffer_of_descendants(c);
    OK(MPI_Comm_free(&c));
    OK(MPI_Session_finalize(&session));
    return mpi_done();
}
