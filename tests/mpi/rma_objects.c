// SPDX-License-Identifier: BSD-3-Clause
// Windows as objects: their error handlers, attributes of the program's, names, and which hints are
// kept.
// PES: 2
#include "rma_check.h"

#define GIVES(class, call) CHECK_EQ(class_of(call), class)

static MPI_Win win;
static int x;

static void window_open(void)
{
    OK(MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

// ---- Error handlers
static int calls, last;
static MPI_Win where;

static void on_error(MPI_Win *at, int *code, ...)
{
    calls++;
    last = *code;
    where = *at;
}

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    CHECK(!"called for a window"), fprintf(stderr, "class %d\n", class_of(*code));
}

static void error_handlers(void)
{
    MPI_Errhandler mine, got, of_comms;
    window_open();
    OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Win_create_errhandler(on_error, &mine));
    OK(MPI_Win_set_errhandler(win, mine));
    OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine)); // lives on in the window
    CHECK(mine == MPI_ERRHANDLER_NULL);
    OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    CHECK(calls == 1 && where == win && last == MPI_ERR_OTHER);
    GIVES(MPI_ERR_RMA_SYNC, MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win)); // outside an epoch
    CHECK(calls == 2 && where == win && class_of(last) == MPI_ERR_RMA_SYNC);
    OK(MPI_Comm_create_errhandler(on_comm_error, &of_comms));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(win, of_comms));
    CHECK(calls == 3 && class_of(last) == MPI_ERR_ERRHANDLER);
    OK(MPI_Errhandler_free(&of_comms));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    CHECK_EQ(calls, 3);
    OK(MPI_Win_free(&win));
}

// ---- Attributes
static int copies, deletions, fails;
static void *deleted;

static int on_copy(MPI_Win old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)key, (void)extra, (void)in, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Win at, int key, void *value, void *extra)
{
    (void)key;
    CHECK(at == win && extra == &deletions);
    if (fails)
        return MPI_ERR_OTHER;
    deletions++;
    deleted = value;
    return MPI_SUCCESS;
}

static void check_attribute(int key, const void *want)
{
    void *value = NULL;
    int flag = -1;
    OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK_EQ(flag, want != NULL);
    CHECK(value == want);
}

static void attributes(void)
{
    int key, other, values[3], flag;
    void *value;
    window_open();
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_create_keyval(on_copy, on_delete, &key, &deletions));
    OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
    check_attribute(key, NULL);
    OK(MPI_Win_set_attr(win, key, &values[0]));
    OK(MPI_Win_set_attr(win, other, &values[1]));
    check_attribute(key, &values[0]);
    OK(MPI_Win_set_attr(win, key, &values[2]));
    CHECK(deletions == 1 && deleted == &values[0]);
    OK(MPI_Win_delete_attr(win, other));
    check_attribute(other, NULL);
    GIVES(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_WIN_BASE, &values[0]));
    GIVES(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, MPI_WIN_SIZE));
    GIVES(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_TAG_UB, &value, &flag));
    OK(MPI_Win_free_keyval(&other));
    CHECK_EQ(other, MPI_KEYVAL_INVALID);
    OK(MPI_Win_free_keyval(&key)); // in use till the window is freed
    fails = 1;
    GIVES(MPI_ERR_OTHER, MPI_Win_free(&win));
    CHECK(win != MPI_WIN_NULL);
    OK(MPI_Win_fence(0, win)); // it is as it was
    fails = 0;
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_free(&win));
    CHECK(deletions == 2 && deleted == &values[2]);
    CHECK_EQ(copies, 0); // nothing copies a window
}

// ---- Names
static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int n = -1;
    window_open();
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    OK(MPI_Win_set_name(win, longer));
    OK(MPI_Win_get_name(win, name, &n));
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && n == (int)strlen(name));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_get_name(MPI_WIN_NULL, name, &n));
    CHECK(!strcmp(name, "MPI_WIN_NULL") && n == (int)strlen(name));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_WIN, MPI_Win_set_name(MPI_WIN_NULL, "none"));
}

// ---- Hints
static void check_hint(const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL] = "";
    MPI_Info used;
    int flag, n = sizeof value;
    OK(MPI_Win_get_info(win, &used));
    OK(MPI_Info_get_string(used, key, &n, value, &flag));
    if (!CHECK(want ? flag && !strcmp(value, want) : !flag))
        fprintf(stderr, "%s is %s, not %s\n", key, flag ? value : "missing", want);
    OK(MPI_Info_free(&used));
}

static void set_hint(const char *key, const char *value)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
}

static void hints(void)
{
    MPI_Info info;
    char *p;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "same_disp_unit", "true"));
    OK(MPI_Info_set(info, "no_locks", "maybe"));
    OK(MPI_Info_set(info, "accumulate_ordering", "rar,,waw"));
    OK(MPI_Info_set(info, "mpi_accumulate_granularity", "-4"));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    OK(MPI_Info_set(info, "an_unknown_key", "x"));
    OK(MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &p, &win));
    OK(MPI_Info_free(&info));
    CHECK_EQ((uintptr_t)p % 4096, 0);
    check_hint("same_disp_unit", "true");
    check_hint("no_locks", "false");
    check_hint("accumulate_ordering", "rar,raw,war,waw");
    check_hint("mpi_accumulate_granularity", "0");
    check_hint("an_unknown_key", NULL);
    set_hint("mpi_accumulate_granularity", "64"); // too late
    check_hint("mpi_accumulate_granularity", "0");
    set_hint("same_disp_unit", "false");
    check_hint("same_disp_unit", "false");
    OK(MPI_Win_set_info(win, MPI_INFO_NULL));
    check_hint("same_disp_unit", "false");
    OK(MPI_Win_free(&win));
}

// Memory of each process's own: aligned for all, which one piece is not.
static void apart(void)
{
    MPI_Comm node;
    MPI_Info info;
    char *p;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "256"));
    OK(MPI_Win_allocate_shared(3, 1, info, node, &p, &win));
    CHECK_EQ((uintptr_t)p % 256, 0);
    check_hint("alloc_shared_noncontig", "true");
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate_shared(3, 1, MPI_INFO_NULL, node, &p, &win));
    check_hint("alloc_shared_noncontig", "false");
    OK(MPI_Win_free(&win));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&node));
}

// Kinds of memory that the program asserts to use: those that there are.
static void memory_kind(const char *kind, bool is_kept)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", kind));
    OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda")); // not the program's to say
    OK(MPI_Win_create(&x, sizeof x, 1, info, MPI_COMM_WORLD, &win));
    OK(MPI_Info_free(&info));
    check_hint("mpi_assert_memory_alloc_kinds", is_kept ? kind : NULL);
    check_hint("mpi_memory_alloc_kinds", "mpi,system");
    OK(MPI_Win_free(&win));
}

static void memory_kinds(void)
{
    const char *const kept[] = {"system", "mpi", "mpi:alloc_mem", "mpi:win_allocate,system"};
    const char *const ignored[] = {"cuda:device", "nonsense,,", "system,"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        memory_kind(kept[i], true);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        memory_kind(ignored[i], false);
    window_open();
    check_hint("mpi_assert_memory_alloc_kinds", NULL);
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    error_handlers();
    attributes();
    names();
    hints();
    apart();
    memory_kinds();
    return mpi_done();
}
