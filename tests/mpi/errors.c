// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, classes and codes of the program's, texts, and infos' errors.
// ENV: ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1
#include "mpi_check.h"

#include <limits.h>

// The handlers' types have two names.
static MPI_Comm_errhandler_fn *const comm_fn = (MPI_Comm_errhandler_function *)NULL;
static MPI_Win_errhandler_fn *const win_fn = (MPI_Win_errhandler_function *)NULL;
static MPI_File_errhandler_fn *const file_fn = (MPI_File_errhandler_function *)NULL;
static MPI_Session_errhandler_fn *const session_fn = (MPI_Session_errhandler_function *)NULL;

static int calls, last;
static MPI_Comm where;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last = *code;
    where = *comm;
}

static void handlers(void)
{
    MPI_Errhandler mine, got;
    MPI_Comm c, d;
    int rank;
    OK(MPI_Comm_create_errhandler(on_error, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    OK(MPI_Comm_get_errhandler(c, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Comm_set_errhandler(c, mine));
    OK(MPI_Comm_get_errhandler(c, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine)); // lives on in c
    CHECK(mine == MPI_ERRHANDLER_NULL);
    CHECK_EQ(class_of(MPI_Send(&rank, 1, MPI_INT, npes, 0, c)), MPI_ERR_RANK);
    CHECK(calls == 1 && where == c && class_of(last) == MPI_ERR_RANK);
    OK(MPI_Comm_dup(c, &d)); // inherits it
    OK(MPI_Comm_call_errhandler(d, MPI_ERR_OTHER));
    CHECK(calls == 2 && where == d && last == MPI_ERR_OTHER);
    OK(MPI_Comm_free(&d));
    OK(MPI_Comm_free(&c));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Comm_size(MPI_COMM_NULL, &rank)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Comm_size((MPI_Comm)MPI_INT, &rank)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Comm_rank(MPI_COMM_SELF, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Comm_free(&(MPI_Comm){MPI_COMM_SELF})), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL)),
             MPI_ERR_ERRHANDLER);
    CHECK_EQ(class_of(MPI_Init(NULL, NULL)), MPI_ERR_OTHER);
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
}

static void codes(void)
{
    int class, code, other, n, *used, flag;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_RANK, &other));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &flag));
    CHECK(flag && *used == other);
    CHECK_EQ(class_of(code), class);
    CHECK_EQ(class_of(other), MPI_ERR_RANK);
    OK(MPI_Error_string(code, text, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Add_error_string(code, "mine"));
    OK(MPI_Error_string(code, text, &n));
    CHECK(n == 4 && strcmp(text, "mine") == 0);
    CHECK_EQ(class_of(MPI_Add_error_string(MPI_ERR_RANK, "no")), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Remove_error_class(class)), MPI_ERR_OTHER); // it has a code
    CHECK_EQ(class_of(MPI_Remove_error_code(code)), MPI_ERR_OTHER);   // it has a text
    OK(MPI_Remove_error_string(code));
    CHECK_EQ(class_of(MPI_Remove_error_string(code)), MPI_ERR_ARG);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Remove_error_class(class));
    CHECK_EQ(class_of(MPI_Error_class(code, &n)), MPI_ERR_ARG);
    for (class = MPI_SUCCESS; class <= MPI_ERR_ABI; class ++) {
        OK(MPI_Error_string(class, text, &n));
        CHECK(n > 0 && n == (int)strlen(text));
    }
}

static void infos(void)
{
    MPI_Info i, j;
    char text[16], key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int n = 0, flag, length = 3;
    memset(key, 'k', sizeof key - 1);
    key[MPI_MAX_INFO_KEY] = 0;
    memset(value, 'v', sizeof value - 1);
    value[MPI_MAX_INFO_VAL] = 0;
    OK(MPI_Info_create(&i));
    OK(MPI_Info_set(i, "a", "1"));
    OK(MPI_Info_set(i, "b", "hello"));
    OK(MPI_Info_set(i, "a", "2"));
    OK(MPI_Info_dup(i, &j));
    OK(MPI_Info_delete(i, "a"));
    OK(MPI_Info_get_nkeys(i, &n));
    CHECK_EQ(n, 1);
    OK(MPI_Info_get_nthkey(j, 0, text));
    CHECK(strcmp(text, "a") == 0);
    OK(MPI_Info_get_string(j, "b", &length, text, &flag));
    CHECK(flag && length == 6 && strcmp(text, "he") == 0);
    OK(MPI_Info_get(j, "a", 15, text, &flag));
    CHECK(flag && strcmp(text, "2") == 0);
    OK(MPI_Info_get_valuelen(j, "c", &n, &flag));
    CHECK(!flag);
    CHECK_EQ(class_of(MPI_Info_delete(i, "a")), MPI_ERR_INFO_NOKEY);
    CHECK_EQ(class_of(MPI_Info_set(i, key, "v")), MPI_ERR_INFO_KEY);
    CHECK_EQ(class_of(MPI_Info_set(i, "a", value)), MPI_ERR_INFO_VALUE);
    CHECK_EQ(class_of(MPI_Info_get_nthkey(i, 1, text)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Info_set(MPI_INFO_NULL, "a", "v")), MPI_ERR_INFO);
    CHECK_EQ(class_of(MPI_Info_set(MPI_INFO_ENV, "a", "v")), MPI_ERR_INFO);
    OK(MPI_Info_get(MPI_INFO_ENV, "maxprocs", 15, text, &flag));
    CHECK(flag && atoi(text) == npes);
    OK(MPI_Info_free(&i));
    OK(MPI_Info_free(&j));
    CHECK(j == MPI_INFO_NULL);
}

// The integers of handles: predefined ones keep their number, others have one while they live.
static void numbers(void)
{
    MPI_Comm c, d;
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Comm_fromint(-5) == MPI_COMM_NULL && MPI_Comm_fromint(INT_MIN) == MPI_COMM_NULL);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &d));
    int number = MPI_Comm_toint(c);
    CHECK(number >= 4096 && number != MPI_Comm_toint(d));
    CHECK(MPI_Comm_fromint(number) == c && MPI_Comm_toint(c) == number);
    CHECK(MPI_Group_fromint(number) == MPI_GROUP_NULL);
    OK(MPI_Comm_free(&c));
    CHECK(MPI_Comm_fromint(number) == MPI_COMM_NULL);
    OK(MPI_Comm_free(&d));
}

/* The older names, and a status as Fortran's INTEGERs (19.3.5). */
static void numbers_of_fortran(void)
{
    MPI_Comm c;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    MPI_Fint number = MPI_Comm_c2f(c), as_integers[MPI_F_STATUS_SIZE];
    CHECK(number == MPI_Comm_toint(c) && PMPI_Comm_c2f(c) == number);
    CHECK(MPI_Comm_f2c(number) == c && MPI_Comm_f2c(-5) == MPI_COMM_NULL);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    MPI_Status status, again;
    int sent[3] = {1, 2, 3}, got[4], count;
    OK(MPI_Sendrecv(sent, 3, MPI_INT, 0, 17, got, 4, MPI_INT, 0, 17, c, &status));
    OK(MPI_Status_c2f(&status, as_integers));
    CHECK(as_integers[MPI_F_SOURCE] == 0 && as_integers[MPI_F_TAG] == 17);
    memset(&again, 255, sizeof(again));
    OK(MPI_Status_f2c(as_integers, &again));
    CHECK_EQ(again.MPI_TAG, 17);
    OK(MPI_Get_count(&again, MPI_INT, &count));
    CHECK_EQ(count, 3);
    OK(MPI_Comm_free(&c));
}

static void memory(void)
{
    char *blocks[8], *far;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    for (int i = 0; i < 8; i++) {
        OK(MPI_Alloc_mem(1000, i % 2 ? info : MPI_INFO_NULL, &blocks[i]));
        CHECK_EQ((uintptr_t)blocks[i] % (i % 2 ? 4096 : 64), 0);
        memset(blocks[i], i, 1000);
    }
    for (int i = 0; i < 8; i++) {
        CHECK_EACH(k, 1000, blocks[i][k], i);
        OK(MPI_Free_mem(blocks[i]));
    }
    CHECK_EQ(class_of(MPI_Free_mem(&far)), MPI_ERR_BASE);
    CHECK_EQ(class_of(MPI_Alloc_mem(-1, MPI_INFO_NULL, &far)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Alloc_mem(INTPTR_MAX / 2, MPI_INFO_NULL, &far)), MPI_ERR_NO_MEM);
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "96"));
    CHECK_EQ(class_of(MPI_Alloc_mem(1, info, &far)), MPI_ERR_INFO_VALUE);
    OK(MPI_Info_free(&info));
}

int main(void)
{
    mpi_start();
    CHECK(!comm_fn && !win_fn && !file_fn && !session_fn);
    handlers();
    codes();
    infos();
    numbers();
    numbers_of_fortran();
    memory();
    return mpi_done();
}
