// SPDX-License-Identifier: BSD-3-Clause
// Versions, threads, clocks, the ABI's inquiries, the fields of a status, the integers of handles:
// what needs no communication, and mostly no MPI_Init.
#include "mpi_check.h"

#include <pthread.h>
#include <unistd.h>

static void versions(void)
{
    int a = -1, b = -1, n = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Get_version(&a, &b));
    CHECK(a == MPI_VERSION && b == MPI_SUBVERSION);
    OK(MPI_Abi_get_version(&a, &b));
    CHECK(a == MPI_ABI_VERSION && b == MPI_ABI_SUBVERSION);
    OK(MPI_Get_library_version(text, &n));
    CHECK(n > 0 && n == (int)strlen(text) && strstr(text, "Shoal"));
}

static long number_at(MPI_Info info, const char *key)
{
    char text[16] = "";
    int flag = 0, length = sizeof text;
    OK(MPI_Info_get_string(info, key, &length, text, &flag));
    return flag ? atol(text) : -1;
}

static void abi(void)
{
    MPI_Info info;
    unsigned char yes[] = {1, 2, 3, 4}, no[] = {5, 6, 7, 8}, t[4], f[4];
    int is_set = -1;
    OK(MPI_Abi_get_info(&info));
    CHECK_EQ(number_at(info, "mpi_aint_size"), sizeof(MPI_Aint));
    CHECK_EQ(number_at(info, "mpi_count_size"), sizeof(MPI_Count));
    CHECK_EQ(number_at(info, "mpi_offset_size"), sizeof(MPI_Offset));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_booleans(4, t, f, &is_set));
    CHECK_EQ(is_set, 0);
    OK(MPI_Abi_set_fortran_booleans(4, yes, no));
    OK(MPI_Abi_get_fortran_booleans(4, t, f, &is_set));
    CHECK_EQ(is_set, 1);
    CHECK_MEM(t, yes, 4, "true");
    CHECK_MEM(f, no, 4, "false");
    OK(MPI_Abi_get_fortran_booleans(8, t, f, &is_set)); // of another size
    CHECK_EQ(is_set, 0);
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_logical_size", "4"));
    OK(MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK_EQ(number_at(info, "mpi_logical_size"), 4);
    OK(MPI_Info_free(&info));
}

// Each is set once.
static void abi_again(void)
{
    unsigned char yes[4] = {1}, no[4] = {0};
    MPI_Info info;
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK_EQ(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(4, yes, no)), MPI_ERR_ABI);
    CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(3, yes, no)), MPI_ERR_ARG);
    int is_set = 7;
    CHECK_EQ(class_of(MPI_Abi_get_fortran_booleans(4, NULL, no, &is_set)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Abi_get_fortran_booleans(4, yes, no, NULL)), MPI_ERR_ARG);
    CHECK_EQ(is_set, 7);
    OK(MPI_Info_set(info, "mpi_integer_size", "8")); // not as it is here
    CHECK_EQ(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_Info_free(&info));
}

static void status_fields(void)
{
    MPI_Status s;
    int value = -1;
    MPI_Count n = -1;
    memset(&s, 0, sizeof s);
    OK(MPI_Status_set_source(&s, 4));
    OK(MPI_Status_set_tag(&s, 5));
    OK(MPI_Status_set_error(&s, MPI_ERR_IO));
    OK(MPI_Status_set_elements_x(&s, MPI_INT, 6));
    CHECK(s.MPI_SOURCE == 4 && s.MPI_TAG == 5 && s.MPI_ERROR == MPI_ERR_IO);
    OK(MPI_Status_get_source(&s, &value));
    CHECK_EQ(value, 4);
    OK(MPI_Status_get_tag(&s, &value));
    CHECK_EQ(value, 5);
    OK(MPI_Status_get_error(&s, &value));
    CHECK_EQ(value, MPI_ERR_IO);
    OK(MPI_Get_count_c(&s, MPI_INT, &n));
    CHECK_EQ(n, 6);
    OK(MPI_Status_set_elements_c(&s, MPI_BYTE, (MPI_Count)1 << 40));
    OK(MPI_Get_count_c(&s, MPI_BYTE, &n));
    CHECK_EQ(n, (MPI_Count)1 << 40);
    OK(MPI_Get_count(&s, MPI_BYTE, &value)); // an int has no room for it
    CHECK_EQ(value, MPI_UNDEFINED);
}

static void clocks(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int n = -1;
    double before = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    CHECK(MPI_Wtime() >= before);
    OK(MPI_Get_processor_name(name, &n));
    CHECK(n > 0 && n == (int)strlen(name) && strcmp(name, "unknown") != 0);
    CHECK_EQ(class_of(MPI_Get_processor_name(NULL, &n)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Get_processor_name(name, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Get_version(NULL, &n)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Get_version(&n, NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Get_library_version(NULL, &n)), MPI_ERR_ARG);
    MPI_Info hardware;
    OK(MPI_Get_hw_resource_info(&hardware)); // what MPI_Comm_split_type takes
    char text[8] = "";
    int flag = 0;
    OK(MPI_Info_get(hardware, "mpi_shared_memory", sizeof text - 1, text, &flag));
    CHECK(flag && strcmp(text, "true") == 0);
    OK(MPI_Info_free(&hardware));
    OK(MPI_Pcontrol(1));
    OK(MPI_Pcontrol(2, "anything", 3.5));
}

// The keys that the standard names, as far as they are known; the machine's are those of this process.
static void info_env_keys(MPI_Info info)
{
    static const char *const keys[] = {"host", "arch", "wdir", "thread_level"};
    char text[MPI_MAX_INFO_VAL + 1], here[MPI_MAX_INFO_VAL + 1];
    for (int i = 0; i < 4; i++) {
        int flag = 0;
        OK(MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL, text, &flag));
        CHECK(flag && text[0]);
        if (i == 2)
            CHECK(getcwd(here, sizeof here) && strcmp(text, here) == 0);
        if (i == 3)
            CHECK(strcmp(text, "MPI_THREAD_MULTIPLE") == 0);
    }
}

static void info_env(void)
{
    char *argv[] = {(char[]){"prog"}, (char[]){"-x"}, (char[]){"7"}, NULL}, text[64];
    MPI_Info info;
    int n = 0, flag = 0;
    OK(MPI_Info_create_env(3, argv, &info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n >= 2);
    info_env_keys(info);
    OK(MPI_Info_get(info, "command", sizeof text - 1, text, &flag));
    CHECK(flag && strcmp(text, "prog") == 0);
    OK(MPI_Info_get(info, "argv", sizeof text - 1, text, &flag));
    CHECK(flag && strcmp(text, "-x 7") == 0);
    OK(MPI_Info_set(info, "more", "yes")); // unlike MPI_INFO_ENV it is the program's own
    OK(MPI_Info_free(&info));
}

static bool has_argv(MPI_Info info, const char *want)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    OK(MPI_Info_get(info, "argv", MPI_MAX_INFO_VAL, text, &flag));
    return want ? flag && strcmp(text, want) == 0 : !flag;
}

static bool is_same_command(MPI_Info info)
{
    char text[2][MPI_MAX_INFO_VAL + 1] = {"", ""};
    int flag[2] = {0, 0};
    OK(MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, text[0], &flag[0]));
    OK(MPI_Info_get(info, "command", MPI_MAX_INFO_VAL, text[1], &flag[1]));
    return flag[0] && flag[1] && text[0][0] && strcmp(text[0], text[1]) == 0;
}

// All arguments, or none where they are too long for a value (environment.sh).
static void own_arguments(int argc, char **argv)
{
    char *all = calloc(1, 1 << 20), *end = all;
    MPI_Info info;
    for (int i = 1; i < argc; i++)
        end += sprintf(end, "%s%s", i > 1 ? " " : "", argv[i]);
    const char *want = end > all && end - all < MPI_MAX_INFO_VAL ? all : NULL;
    CHECK(has_argv(MPI_INFO_ENV, want));
    info_env_keys(MPI_INFO_ENV);
    OK(MPI_Info_create_env(0, NULL, &info));
    CHECK(has_argv(info, want));
    CHECK(is_same_command(info));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(argc, argv, &info));
    CHECK(has_argv(info, want));
    OK(MPI_Info_free(&info));
    free(all);
}

#define BACK_AND_FORTH(NAME, handle)                                       \
    do {                                                                   \
        int number = MPI_##NAME##_toint(handle);                           \
        CHECK(MPI_##NAME##_fromint(number) == (handle));                   \
        CHECK_EQ(MPI_##NAME##_toint(handle), number);                      \
        CHECK(number >= 4096 || (uintptr_t)number == (uintptr_t)(handle)); \
    } while (0)

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
}

static void handles(void)
{
    MPI_Info info;
    MPI_Errhandler e;
    MPI_Request r;
    MPI_Group g;
    MPI_Session s;
    OK(MPI_Info_create(&info));
    OK(MPI_Session_create_errhandler(handler, &e));
    OK(MPI_Session_init(MPI_INFO_NULL, e, &s));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
    OK(MPI_Recv_init(NULL, 0, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
    BACK_AND_FORTH(Info, info);
    BACK_AND_FORTH(Info, MPI_INFO_NULL);
    BACK_AND_FORTH(Errhandler, e);
    BACK_AND_FORTH(Errhandler, MPI_ERRORS_RETURN);
    BACK_AND_FORTH(Session, s);
    BACK_AND_FORTH(Group, g);
    BACK_AND_FORTH(Group, MPI_GROUP_EMPTY);
    BACK_AND_FORTH(Request, r);
    BACK_AND_FORTH(Request, MPI_REQUEST_NULL);
    BACK_AND_FORTH(Op, MPI_SUM);
    BACK_AND_FORTH(Message, MPI_MESSAGE_NO_PROC);
    int number = MPI_Request_toint(r);
    OK(MPI_Request_free(&r));
    CHECK(MPI_Request_fromint(number) == MPI_REQUEST_NULL);
    number = MPI_Session_toint(s);
    OK(MPI_Group_free(&g));
    OK(MPI_Session_finalize(&s));
    CHECK(MPI_Session_fromint(number) == MPI_SESSION_NULL);
    OK(MPI_Errhandler_free(&e));
    OK(MPI_Info_free(&info));
}

static void *of_another_thread(void *arg)
{
    int flag = -1;
    OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 0);
    return arg;
}

static void threads(void)
{
    int flag = -1, level = -1;
    pthread_t thread;
    OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Query_thread(&level));
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    CHECK(pthread_create(&thread, NULL, of_another_thread, NULL) == 0);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided = -1;
    versions();
    abi();
    info_env();
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    versions();
    abi_again();
    status_fields();
    clocks();
    handles();
    own_arguments(argc, argv);
    threads();
    int failed = mpi_done();
    versions();
    return failed || check_failures > 0;
}
