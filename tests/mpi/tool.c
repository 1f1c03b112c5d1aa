// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// MPI 5.0, "Tool Support": variables by name and number, before MPI_Init and after MPI_Finalize;
// strings, handles, sessions, and what their misuse gives.
// PES: 1
// ENV: SHOAL_MPI_WINDOW=300k SHOAL_MPI_EAGER=1g
#include "mpi_check.h"

static void before_init(void)
{
    int n, provided;
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_init_thread(77, &n), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_event_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_event_get_index("x", &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    OK(MPI_T_cvar_get_num(&n)); // it was counted
    CHECK(n > 0);
}

static void strings(void)
{
    char name[100], cut[6];
    int length = sizeof name, needed = 0;
    OK(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(length, (int)strlen(name) + 1);
    OK(MPI_T_cvar_get_info(0, NULL, &needed, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(needed, length);
    int room = sizeof cut;
    OK(MPI_T_cvar_get_info(0, cut, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(strlen(cut), sizeof cut - 1);
    CHECK(strncmp(cut, name, sizeof cut - 1) == 0);
    CHECK_EQ(room, needed);
}

static void cvars(void)
{
    MPI_T_cvar_handle handle, not_one = MPI_T_CVAR_HANDLE_NULL;
    MPI_Datatype type;
    unsigned long long value = 0;
    int n, index, count, scope, bind;
    OK(MPI_T_cvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[100], text[400];
        int length = sizeof name, text_length = sizeof text;
        scope = -1;
        OK(MPI_T_cvar_get_info(i, name, &length, NULL, &type, NULL, text, &text_length, &bind,
                               &scope));
        CHECK_EQ(scope, MPI_T_SCOPE_READONLY);
        CHECK(text_length > 1 && text_length == (int)strlen(text) + 1);
        CHECK(type == MPI_UNSIGNED_LONG_LONG);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        OK(MPI_T_cvar_get_index(name, &index));
        CHECK_EQ(index, i);
    }
    OK(MPI_T_cvar_get_index("SHOAL_MPI_WINDOW", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    OK(MPI_T_cvar_read(handle, &value));
    CHECK_EQ(value, 300 * 1024);
    CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    CHECK_EQ(MPI_T_cvar_handle_free(&not_one), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_handle_alloc(n, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID_HANDLE);
}

static MPI_T_pvar_session session;

static MPI_T_pvar_handle pvar(const char *name, int class)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count;
    OK(MPI_T_pvar_get_index(name, class, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    return handle;
}

static unsigned long long read_pvar(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static void send_to_self(int n)
{
    int x = 0;
    MPI_Request r;
    for (int i = 0; i < n; i++) {
        OK(MPI_Isend(&me, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
        OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

// A handle is one of its own session, of which others are free to end.
static void sessions_apart(MPI_T_pvar_handle handle)
{
    MPI_T_pvar_session other, none;
    MPI_T_pvar_handle no = MPI_T_PVAR_HANDLE_NULL;
    unsigned long long value;
    int count;
    OK(MPI_T_pvar_session_create(&other));
    CHECK_EQ(MPI_T_pvar_read(other, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_handle_free(other, &handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_handle_alloc(other, -1, NULL, &no, &count), MPI_T_ERR_INVALID_INDEX);
    none = other;
    OK(MPI_T_pvar_session_free(&other));
    CHECK_EQ(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_handle_alloc(none, 0, NULL, &no, &count), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_handle_free(none, &handle), MPI_T_ERR_INVALID_SESSION);
    CHECK(no == MPI_T_PVAR_HANDLE_NULL && handle != no);
    OK(MPI_T_pvar_read(session, handle, &value));
}

static void counters(void)
{
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle eager = pvar("shoal_eager", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle same = pvar("shoal_eager", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle level = pvar("shoal_unexpected_now", MPI_T_PVAR_CLASS_LEVEL);
    unsigned long long value = 1;
    send_to_self(2); // not started yet
    CHECK_EQ(read_pvar(eager), 0);
    OK(MPI_T_pvar_start(session, eager));
    send_to_self(3);
    CHECK_EQ(read_pvar(eager), 3);
    OK(MPI_T_pvar_stop(session, eager));
    send_to_self(1);
    CHECK_EQ(read_pvar(eager), 3);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    send_to_self(1);
    CHECK_EQ(read_pvar(eager), 4);
    CHECK_EQ(read_pvar(same), 1);
    OK(MPI_T_pvar_readreset(session, eager, &value));
    CHECK_EQ(value, 4);
    CHECK_EQ(read_pvar(eager), 0);
    CHECK_EQ(MPI_T_pvar_start(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_reset(session, level), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_write(session, level, &value), MPI_T_ERR_PVAR_NO_WRITE);
    MPI_Request r;
    OK(MPI_Isend(&me, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
    while (read_pvar(level) == 0) {
        int flag; // a probe makes progress
        OK(MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    int x;
    OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(read_pvar(level), 0);
    value = 40;
    OK(MPI_T_pvar_write(session, eager, &value));
    send_to_self(2);
    CHECK_EQ(read_pvar(eager), 42);
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK(read_pvar(eager) == 0 && read_pvar(same) == 0);
    OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    send_to_self(1);
    CHECK(read_pvar(eager) == 0 && read_pvar(same) == 0);
    CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    sessions_apart(same);
    OK(MPI_T_pvar_handle_free(session, &same));
    CHECK(same == MPI_T_PVAR_HANDLE_NULL);
    CHECK_EQ(MPI_T_pvar_handle_free(session, &same), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(session, same, &value), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK_EQ(MPI_T_pvar_read(session, eager, &value), MPI_T_ERR_INVALID_SESSION);
}

// The most that have waited are as many as have been sent before the first was received.
static void high_water(void)
{
    enum { SENT = 7 };
    MPI_Request r[SENT];
    int x[SENT];
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle most = pvar("shoal_unexpected_most", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    MPI_T_pvar_handle now = pvar("shoal_unexpected_now", MPI_T_PVAR_CLASS_LEVEL);
    for (int i = 0; i < SENT; i++)
        OK(MPI_Isend(&me, 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]));
    while (read_pvar(now) < SENT) {
        int flag;
        OK(MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < SENT; i++)
        OK(MPI_Recv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(SENT, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(read_pvar(now), 0);
    CHECK_EQ(read_pvar(most), SENT);
    OK(MPI_T_pvar_session_free(&session));
}

static void pvar_infos(void)
{
    int n, index;
    OK(MPI_T_pvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[100];
        int length = sizeof name, class, readonly = -1, continuous = -1, atomic = -1, bind = -1;
        MPI_Datatype type;
        OK(MPI_T_pvar_get_info(i, name, &length, NULL, &class, &type, NULL, NULL, NULL, &bind,
                               &readonly, &continuous, &atomic));
        CHECK(type == MPI_UNSIGNED_LONG_LONG && bind == MPI_T_BIND_NO_OBJECT);
        // What is started, stopped, written and reset is not continuous.
        CHECK_EQ(readonly, class != MPI_T_PVAR_CLASS_COUNTER);
        CHECK_EQ(continuous, readonly);
        CHECK(atomic == 0 || atomic == 1);
        OK(MPI_T_pvar_get_index(name, class, &index));
        CHECK_EQ(index, i);
        CHECK_EQ(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &index),
                 MPI_T_ERR_INVALID_NAME);
    }
    CHECK_EQ(MPI_T_pvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                 NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
}

// Every variable is in one category.
static void categories(void)
{
    int n, cvars = 0, pvars = 0, all_cvars, all_pvars, index, stamp, indices[100];
    OK(MPI_T_category_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[100];
        int length = sizeof name, c, p, k, e;
        OK(MPI_T_category_get_info(i, name, &length, NULL, NULL, &c, &p, &k));
        OK(MPI_T_category_get_index(name, &index));
        CHECK_EQ(index, i);
        OK(MPI_T_category_get_num_events(i, &e));
        CHECK_EQ(k + e, 0);
        OK(MPI_T_category_get_cvars(i, 100, indices));
        CHECK_EACH(j, c, indices[j], j);
        OK(MPI_T_category_get_pvars(i, 100, indices));
        CHECK_EACH(j, p, indices[j], j);
        indices[0] = indices[1] = -1;
        OK(MPI_T_category_get_pvars(i, 1, indices)); // as many as there is room for
        CHECK(indices[0] == (p > 0 ? 0 : -1) && indices[1] == -1);
        OK(MPI_T_category_get_events(i, 0, NULL));
        OK(MPI_T_category_get_categories(i, 0, NULL));
        cvars += c;
        pvars += p;
    }
    OK(MPI_T_cvar_get_num(&all_cvars));
    OK(MPI_T_pvar_get_num(&all_pvars));
    CHECK_EQ(cvars, all_cvars);
    CHECK_EQ(pvars, all_pvars);
    CHECK_EQ(MPI_T_category_get_cvars(n, 100, indices), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_index("nothing", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_category_get_index(NULL, &index), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID);
    stamp = -1;
    OK(MPI_T_category_changed(&stamp));
    OK(MPI_T_category_changed(&index));
    CHECK(stamp >= 0 && index == stamp); // nothing has
}

static void no_events(void)
{
    const MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_NONE;
    const int none = MPI_T_ERR_INVALID_HANDLE;
    MPI_T_event_registration r = NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count time;
    int n = 0;
    CHECK_EQ(MPI_T_event_get_info(0, NULL, &n, NULL, NULL, NULL, &n, NULL, NULL, NULL, &n, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_handle_alloc(0, NULL, info, &r), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_source_get_info(0, NULL, &n, NULL, &n, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_callback_get_info(r, safety, &info), none);
    CHECK_EQ(MPI_T_event_callback_set_info(r, safety, info), none);
    CHECK_EQ(MPI_T_event_copy(NULL, &n), none);
    CHECK_EQ(MPI_T_event_get_source(NULL, &n), none);
    CHECK_EQ(MPI_T_event_get_timestamp(NULL, &time), none);
    CHECK_EQ(MPI_T_event_handle_free(r, NULL, NULL), none);
    CHECK_EQ(MPI_T_event_handle_get_info(r, &info), none);
    CHECK_EQ(MPI_T_event_handle_set_info(r, info), none);
    CHECK_EQ(MPI_T_event_register_callback(r, safety, info, NULL, NULL), none);
    CHECK_EQ(MPI_T_event_set_dropped_handler(r, NULL), none);
}

static void nothing_there(void)
{
    int n = -1;
    MPI_Count time;
    OK(MPI_T_event_get_num(&n));
    CHECK_EQ(n, 0);
    OK(MPI_T_source_get_num(&n));
    CHECK_EQ(n, 0);
    CHECK_EQ(MPI_T_source_get_timestamp(0, &time), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_index("x", &n), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_event_read(NULL, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    no_events();
}

// What was counted is known when MPI has ended.
static void after_finalize(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                           unsigned long long least)
{
    unsigned long long value = 0;
    OK(MPI_T_pvar_read(session, handle, &value));
    CHECK(value >= least && value < least + 1000000);
    OK(MPI_T_pvar_handle_free(session, &handle));
    OK(MPI_T_pvar_session_free(&session));
}

// NAME VALUE, a control variable a line.
static void print_cvars(void)
{
    int n, provided;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        char name[100];
        int length = sizeof name, count;
        unsigned long long value;
        MPI_T_cvar_handle handle;
        OK(MPI_T_cvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        OK(MPI_T_cvar_read(handle, &value));
        OK(MPI_T_cvar_handle_free(&handle));
        printf("%s %llu\n", name, value);
    }
    OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cvars") == 0) {
        print_cvars();
        return check_done();
    }
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long counted = 0;
    int index = -1, count = 0;
    before_init();
    strings();
    cvars();
    mpi_start();
    cvars();
    pvar_infos();
    counters();
    high_water();
    categories();
    nothing_there();
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index("shoal_channel_inbox", MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    OK(MPI_T_pvar_start(session, handle));
    OK(MPI_T_pvar_read(session, handle, &counted));
    int failed = mpi_done(), n;
    after_finalize(session, handle, counted);
    OK(MPI_T_cvar_get_num(&n));
    OK(MPI_T_finalize());
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    return failed || check_failures > 0;
}
