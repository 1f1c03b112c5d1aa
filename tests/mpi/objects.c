// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of calls on groups, communicators, topologies, infos, error codes, keys, operators and
// sessions: the class that each gets, and that no output was written. Empty groups, which are none.
#include "mpi_check.h"

#include <limits.h>

#define WRONG(call, class) CHECK_EQ(class_of(call), class)

static const MPI_Comm w = MPI_COMM_WORLD;
static const MPI_Info no_info = (MPI_Info)MPI_INT;
static MPI_Group all, others, g;
static MPI_Comm c;
static int x = 7;

static void lists_of_ranks(void)
{
    int (*const make[])(MPI_Group, int, const int[], MPI_Group *) = {MPI_Group_incl,
                                                                     MPI_Group_excl};
    int twice[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        WRONG(make[i](MPI_GROUP_NULL, 1, twice, &g), MPI_ERR_GROUP);
        WRONG(make[i](all, -1, twice, &g), MPI_ERR_ARG);
        WRONG(make[i](all, 1, NULL, &g), MPI_ERR_ARG);
        WRONG(make[i](all, 1, twice, NULL), MPI_ERR_ARG);
        WRONG(make[i](all, 1, (int[]){npes}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 1, (int[]){-1}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 1, (int[]){MPI_PROC_NULL}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, npes + 1, twice, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 2, twice, &g), MPI_ERR_RANK);
    }
}

static void ranges_of_ranks(void)
{
    int (*const make[])(MPI_Group, int, int[][3], MPI_Group *) = {MPI_Group_range_incl,
                                                                  MPI_Group_range_excl};
    int last = npes - 1, twice[2][3] = {{0, last, 1}, {last, last, 1}};
    for (int i = 0; i < 2; i++) {
        WRONG(make[i](all, -1, twice, &g), MPI_ERR_ARG);
        WRONG(make[i](all, 1, NULL, &g), MPI_ERR_ARG);
        WRONG(make[i](all, 1, (int[][3]){{0, last, 0}}, &g), MPI_ERR_ARG);
        WRONG(make[i](all, 1, (int[][3]){{0, npes, 1}}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 1, (int[][3]){{-1, last, 1}}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 1, (int[][3]){{last, -1, -1}}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 1, (int[][3]){{npes, 0, -1}}, &g), MPI_ERR_RANK);
        WRONG(make[i](all, 2, twice, &g), MPI_ERR_RANK);
    }
}

static void groups(void)
{
    int ranks[2] = {0, MPI_PROC_NULL}, got[2] = {7, 7};
    lists_of_ranks();
    ranges_of_ranks();
    WRONG(MPI_Group_translate_ranks(all, -1, ranks, all, got), MPI_ERR_ARG);
    WRONG(MPI_Group_translate_ranks(all, 1, NULL, all, got), MPI_ERR_RANK);
    WRONG(MPI_Group_translate_ranks(all, 1, ranks, all, NULL), MPI_ERR_ARG);
    WRONG(MPI_Group_translate_ranks(all, 2, (int[]){0, npes}, all, got), MPI_ERR_RANK);
    WRONG(MPI_Group_translate_ranks(all, 2, (int[]){0, -1}, all, got), MPI_ERR_RANK);
    CHECK(got[0] == 7 && got[1] == 7);
    OK(MPI_Group_translate_ranks(all, 2, ranks, MPI_GROUP_EMPTY, got));
    CHECK(got[0] == MPI_UNDEFINED && got[1] == MPI_PROC_NULL);
    WRONG(MPI_Group_compare(all, MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
    WRONG(MPI_Group_union(all, all, NULL), MPI_ERR_ARG);
    WRONG(MPI_Group_rank(all, NULL), MPI_ERR_ARG);
    WRONG(MPI_Group_free(NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_group(w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_remote_group(w, &g), MPI_ERR_COMM);
    CHECK(g == MPI_GROUP_NULL);
}

// Of groups without this process, or of none.
static void from_groups(void)
{
    const MPI_Errhandler back = MPI_ERRORS_RETURN;
    const MPI_Info none = MPI_INFO_NULL;
    char tag[MPI_MAX_STRINGTAG_LEN + 1];
    memset(tag, 't', sizeof tag - 1);
    tag[sizeof tag - 1] = 0;
    WRONG(MPI_Comm_create_from_group(all, "t", none, (MPI_Errhandler)MPI_INT, &c),
          MPI_ERR_ERRHANDLER);
    WRONG(MPI_Comm_create_from_group(all, NULL, none, back, &c), MPI_ERR_ARG);
    WRONG(MPI_Comm_create_from_group(all, tag, none, back, &c), MPI_ERR_ARG);
    WRONG(MPI_Comm_create_from_group(all, "t", no_info, back, &c), MPI_ERR_INFO);
    WRONG(MPI_Comm_create_from_group(all, "t", none, back, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", none, back, &c), MPI_ERR_GROUP);
    if (npes > 1) {
        WRONG(MPI_Comm_create_from_group(others, "t", none, back, &c), MPI_ERR_GROUP);
        WRONG(MPI_Intercomm_create_from_groups(others, 0, all, 0, "t", none, back, &c),
              MPI_ERR_GROUP);
    }
    CHECK(c == MPI_COMM_NULL);
    // What the leader alone knows all of its side hear of.
    WRONG(MPI_Intercomm_create_from_groups(all, 0, MPI_GROUP_NULL, 0, "t", none, back, &c),
          MPI_ERR_GROUP);
    WRONG(MPI_Intercomm_create_from_groups(all, 0, all, npes, "t", none, back, &c), MPI_ERR_RANK);
    WRONG(MPI_Intercomm_create_from_groups(all, 0, all, -1, "t", none, back, &c), MPI_ERR_RANK);
    WRONG(MPI_Intercomm_create_from_groups(all, npes, all, 0, "t", none, back, &c), MPI_ERR_RANK);
    WRONG(MPI_Intercomm_create_from_groups(all, -1, all, 0, "t", none, back, &c), MPI_ERR_RANK);
    c = MPI_COMM_SELF;
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "t", none, back, &c));
    CHECK(c == MPI_COMM_NULL);
}

static void comms(void)
{
    const MPI_Comm self = MPI_COMM_SELF;
    WRONG(MPI_Comm_create(w, MPI_GROUP_NULL, &c), MPI_ERR_GROUP);
    WRONG(MPI_Comm_create(w, all, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_create_group(w, all, -1, &c), MPI_ERR_TAG);
    WRONG(MPI_Comm_create_group(w, all, 0, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_split(w, 0, 0, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_dup(w, NULL), MPI_ERR_ARG);
    if (npes > 1) {
        WRONG(MPI_Comm_create(self, all, &c), MPI_ERR_GROUP);
        WRONG(MPI_Comm_create_group(self, all, 0, &c), MPI_ERR_GROUP);
    }
    WRONG(MPI_Comm_split_type(w, -77, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
    WRONG(MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, no_info, &c), MPI_ERR_INFO);
    WRONG(MPI_Comm_dup_with_info(w, no_info, &c), MPI_ERR_INFO);
    WRONG(MPI_Comm_set_info(w, no_info), MPI_ERR_INFO);
    WRONG(MPI_Comm_get_info(w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Intercomm_create(self, 1, w, 0, 0, &c), MPI_ERR_RANK);
    WRONG(MPI_Intercomm_create(self, 0, w, npes, 0, &c), MPI_ERR_RANK);
    WRONG(MPI_Intercomm_create(self, 0, w, 0, 0, NULL), MPI_ERR_ARG);
    WRONG(MPI_Intercomm_create(self, 0, w, 0, -1, &c), MPI_ERR_TAG);
    WRONG(MPI_Intercomm_create(self, 0, MPI_COMM_NULL, 0, 0, &c), MPI_ERR_COMM);
    WRONG(MPI_Intercomm_merge(w, 0, &c), MPI_ERR_COMM);
    CHECK(c == MPI_COMM_NULL);
}

// Who is not in it is told so, whatever was there before.
static void without(void)
{
    const int one = 1, open = 0, ends = 0;
    MPI_Group none = MPI_GROUP_EMPTY;
    MPI_Comm got[8];
    for (int i = 0; i < 8; i++)
        got[i] = w;
    OK(MPI_Comm_split(w, MPI_UNDEFINED, 0, &got[0]));
    OK(MPI_Comm_split_type(w, MPI_UNDEFINED, 0, MPI_INFO_NULL, &got[1]));
    OK(MPI_Comm_create(w, none, &got[2]));
    OK(MPI_Comm_create_group(w, none, 0, &got[3]));
    OK(MPI_Cart_create(w, 0, NULL, NULL, 0, &got[4]));
    OK(MPI_Cart_create(w, 1, &one, &open, 0, &got[5]));
    OK(MPI_Graph_create(w, 1, &ends, NULL, 0, &got[6]));
    OK(MPI_Graph_create(w, 0, NULL, NULL, 0, &got[7]));
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(got[i] != MPI_COMM_NULL, i >= 4 && i < 7 && me == 0);
        if (got[i] != MPI_COMM_NULL)
            OK(MPI_Comm_free(&got[i]));
    }
}

static void grids(void)
{
    MPI_Comm grid, point;
    int one = 1, open = 0, source = 7, dest = 7;
    WRONG(MPI_Cart_create(w, -1, &one, &open, 0, &c), MPI_ERR_DIMS);
    WRONG(MPI_Cart_create(w, 1, NULL, &open, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Cart_create(w, 1, &one, NULL, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Cart_map(w, 1, &(int){-1}, &open, &x), MPI_ERR_DIMS);
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &open, 0, &grid));
    WRONG(MPI_Cart_get(grid, 0, &x, &x, &x), MPI_ERR_ARG);
    WRONG(MPI_Cart_get(grid, 1, &x, NULL, &x), MPI_ERR_ARG);
    WRONG(MPI_Cart_coords(grid, 0, 0, &x), MPI_ERR_ARG);
    WRONG(MPI_Cart_coords(grid, -1, 1, &x), MPI_ERR_RANK);
    WRONG(MPI_Cart_rank(grid, &(int){-1}, &x), MPI_ERR_ARG);
    WRONG(MPI_Cart_rank(grid, NULL, &x), MPI_ERR_ARG);
    WRONG(MPI_Cart_shift(grid, 1, 1, &source, &dest), MPI_ERR_ARG);
    WRONG(MPI_Cart_shift(grid, -1, 1, &source, &dest), MPI_ERR_ARG);
    WRONG(MPI_Cart_shift(grid, 0, 1, &source, NULL), MPI_ERR_ARG);
    WRONG(MPI_Cart_sub(grid, NULL, &c), MPI_ERR_ARG);
    WRONG(MPI_Cart_sub(grid, &one, NULL), MPI_ERR_ARG);
    OK(MPI_Cart_sub(grid, &open, &point)); // without dimensions
    WRONG(MPI_Cart_shift(point, 0, 1, &source, &dest), MPI_ERR_ARG);
    OK(MPI_Cart_coords(point, 0, 0, NULL));
    OK(MPI_Cart_get(point, 0, NULL, NULL, NULL));
    OK(MPI_Comm_free(&point));
    OK(MPI_Comm_free(&grid));
    CHECK(c == MPI_COMM_NULL && source == 7 && dest == 7);
}

static void dims(void)
{
    int two[2] = {0, 0}, three = 3;
    WRONG(MPI_Dims_create(0, 2, two), MPI_ERR_ARG);
    WRONG(MPI_Dims_create(4, -1, two), MPI_ERR_DIMS);
    WRONG(MPI_Dims_create(4, 1, NULL), MPI_ERR_ARG);
    WRONG(MPI_Dims_create(4, 1, &three), MPI_ERR_DIMS);
    WRONG(MPI_Dims_create(6, 1, &three), MPI_ERR_DIMS);
    WRONG(MPI_Dims_create(4, 1, &(int){-2}), MPI_ERR_DIMS);
    CHECK(two[0] == 0 && two[1] == 0 && three == 3);
    OK(MPI_Dims_create(3, 1, &three));
}

static void graphs(void)
{
    const int ends[2] = {2, 1}, one = 1, most = npes + 1;
    int list[3] = {7, 7, 7};
    MPI_Comm graph;
    WRONG(MPI_Graph_create(w, -1, ends, ends, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_create(w, most, ends, ends, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_create(w, 1, NULL, ends, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_create(w, 1, &one, NULL, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_create(w, 1, &one, &one, 0, &c), MPI_ERR_ARG); // node 1 of 0 to 0
    WRONG(MPI_Graph_create(w, 1, &one, &(int){-1}, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_create(w, 1, &(int){-1}, ends, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Graph_map(w, -1, ends, ends, &x), MPI_ERR_ARG);
    WRONG(MPI_Graph_map(w, 1, &one, NULL, &x), MPI_ERR_ARG);
    WRONG(MPI_Graph_map(w, 0, NULL, NULL, NULL), MPI_ERR_ARG);
    if (npes > 1)
        WRONG(MPI_Graph_create(w, 2, ends, (int[]){0, 0}, 0, &c), MPI_ERR_ARG);
    OK(MPI_Graph_create(MPI_COMM_SELF, 1, (int[]){3}, (int[]){0, 0, 0}, 0, &graph));
    WRONG(MPI_Graph_get(graph, -1, 3, &x, list), MPI_ERR_ARG);
    WRONG(MPI_Graph_get(graph, 1, -1, &x, list), MPI_ERR_ARG);
    WRONG(MPI_Graph_get(graph, 1, 3, NULL, list), MPI_ERR_ARG);
    WRONG(MPI_Graph_neighbors(graph, 1, 3, list), MPI_ERR_RANK);
    WRONG(MPI_Graph_neighbors(graph, -1, 3, list), MPI_ERR_RANK);
    WRONG(MPI_Graph_neighbors(graph, 0, -1, list), MPI_ERR_ARG);
    WRONG(MPI_Graph_neighbors(graph, 0, 3, NULL), MPI_ERR_ARG);
    WRONG(MPI_Graph_neighbors_count(graph, 1, &x), MPI_ERR_RANK);
    CHECK_EACH(i, 3, list[i], 7);
    OK(MPI_Graph_neighbors(graph, 0, 0, NULL));
    OK(MPI_Graph_get(graph, 0, 0, NULL, NULL));
    OK(MPI_Graph_neighbors(graph, 0, 2, list)); // as many as there is room for
    CHECK(list[0] == 0 && list[1] == 0 && list[2] == 7);
    OK(MPI_Comm_free(&graph));
}

static void distributed(void)
{
    const MPI_Info none = MPI_INFO_NULL;
    int zero = 0, one = 1, less = -1, in = 7, out = 7;
    int *const no = MPI_UNWEIGHTED, *const empty = MPI_WEIGHTS_EMPTY;
    MPI_Comm graph;
    WRONG(MPI_Dist_graph_create(w, -1, &zero, &one, &zero, no, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, NULL, &one, &zero, no, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, &npes, &one, &zero, no, none, 0, &c), MPI_ERR_RANK);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, NULL, &zero, no, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, &less, &zero, no, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 2, (int[]){0, 0}, (int[]){INT_MAX, 1}, &zero, no, none, 0, &c),
          MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, &one, &less, no, none, 0, &c), MPI_ERR_RANK);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, &one, &zero, NULL, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, &one, &zero, empty, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create(w, 1, &zero, &one, &zero, &less, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create_adjacent(w, 1, &zero, no, 1, &zero, &one, none, 0, &c),
          MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create_adjacent(w, -1, &zero, no, 0, NULL, no, none, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_create_adjacent(w, 0, NULL, no, 1, &npes, no, none, 0, &c), MPI_ERR_RANK);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &zero, no, 1, &zero, no, none, 0, &graph));
    WRONG(MPI_Dist_graph_neighbors(graph, -1, &in, no, 1, &out, no), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_neighbors(graph, 1, &in, no, -1, &out, no), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_neighbors(graph, 1, NULL, no, 1, &out, no), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_neighbors(graph, 1, &in, no, 1, NULL, no), MPI_ERR_ARG);
    WRONG(MPI_Dist_graph_neighbors_count(graph, &in, &out, NULL), MPI_ERR_ARG);
    CHECK(in == 7 && out == 7);
    OK(MPI_Dist_graph_neighbors(graph, 0, NULL, no, 0, NULL, no));
    OK(MPI_Dist_graph_neighbors(graph, 0, NULL, no, 1, &out, no));
    CHECK(in == 7 && out == 0);
    OK(MPI_Comm_free(&graph));
    CHECK(c == MPI_COMM_NULL);
}

static void infos(void)
{
    MPI_Info info, none = MPI_INFO_NULL;
    char text[8] = "as was";
    int flag = 7, n = 8;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    WRONG(MPI_Info_create(NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_dup(info, NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_dup(none, &none), MPI_ERR_INFO);
    WRONG(MPI_Info_free(&none), MPI_ERR_INFO);
    WRONG(MPI_Info_free(NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_create_env(0, NULL, NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_free(&(MPI_Info){MPI_INFO_ENV}), MPI_ERR_INFO);
    WRONG(MPI_Info_set(info, NULL, "v"), MPI_ERR_INFO_KEY);
    WRONG(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    WRONG(MPI_Info_set(info, "key", NULL), MPI_ERR_INFO_VALUE);
    WRONG(MPI_Info_delete(info, NULL), MPI_ERR_INFO_KEY);
    WRONG(MPI_Info_get(info, "key", -1, text, &flag), MPI_ERR_ARG);
    WRONG(MPI_Info_get(info, "key", 7, NULL, &flag), MPI_ERR_INFO_VALUE);
    WRONG(MPI_Info_get(info, "key", 7, text, NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_get_valuelen(info, "key", NULL, &flag), MPI_ERR_ARG);
    WRONG(MPI_Info_get_string(info, "key", NULL, text, &flag), MPI_ERR_ARG);
    WRONG(MPI_Info_get_string(info, "key", &(int){-1}, text, &flag), MPI_ERR_ARG);
    WRONG(MPI_Info_get_string(info, "key", &n, NULL, &flag), MPI_ERR_INFO_VALUE);
    WRONG(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
    WRONG(MPI_Info_get_nthkey(info, -1, text), MPI_ERR_ARG);
    WRONG(MPI_Info_get_nthkey(info, 0, NULL), MPI_ERR_INFO_KEY);
    CHECK(flag == 7 && n == 8 && strcmp(text, "as was") == 0);
    OK(MPI_Info_free(&info));
}

static void error_codes(void)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int class, code, n = 7;
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = 0;
    WRONG(MPI_Add_error_class(NULL), MPI_ERR_ARG);
    WRONG(MPI_Add_error_code(MPI_ERR_ARG, NULL), MPI_ERR_ARG);
    WRONG(MPI_Add_error_code(MPI_ERR_LASTCODE + 1, &n), MPI_ERR_ARG); // nobody has added it
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    WRONG(MPI_Add_error_code(code, &n), MPI_ERR_ARG); // of a code there are none
    WRONG(MPI_Add_error_string(code, NULL), MPI_ERR_ARG);
    WRONG(MPI_Add_error_string(code, text), MPI_ERR_ARG);
    WRONG(MPI_Add_error_string(MPI_SUCCESS, "x"), MPI_ERR_ARG);
    WRONG(MPI_Remove_error_class(code), MPI_ERR_ARG);
    WRONG(MPI_Remove_error_class(MPI_ERR_ARG), MPI_ERR_ARG);
    WRONG(MPI_Remove_error_code(class), MPI_ERR_ARG);
    WRONG(MPI_Error_class(code, NULL), MPI_ERR_ARG);
    WRONG(MPI_Error_string(code + 1, text, &n), MPI_ERR_ARG);
    WRONG(MPI_Error_string(-1, text, &n), MPI_ERR_ARG);
    WRONG(MPI_Error_string(code, text, NULL), MPI_ERR_ARG);
    CHECK_EQ(n, 7);
    text[MPI_MAX_ERROR_STRING - 1] = 0; // the longest one
    OK(MPI_Add_error_string(class, text));
    WRONG(MPI_Remove_error_class(class), MPI_ERR_OTHER);
    OK(MPI_Error_string(class, text, &n));
    CHECK_EQ(n, MPI_MAX_ERROR_STRING - 1);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
    WRONG(MPI_Remove_error_class(class), MPI_ERR_ARG);
    OK(MPI_Error_string(MPI_T_ERR_PVAR_NO_ATOMIC, text, &n)); // a class as well
    CHECK(n > 0 && n == (int)strlen(text));
    CHECK_EQ(class_of(MPI_T_ERR_CANNOT_INIT), MPI_T_ERR_CANNOT_INIT);
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void keys_and_operators(void)
{
    MPI_Errhandler e = MPI_ERRHANDLER_NULL;
    MPI_Op op = MPI_OP_NULL;
    int flag = 7, a = 1, b = 2, key;
    void *value = &flag;
    WRONG(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL),
          MPI_ERR_ARG);
    WRONG(MPI_Comm_free_keyval(NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_free_keyval(&(int){MPI_TAG_UB}), MPI_ERR_KEYVAL);
    WRONG(MPI_Comm_get_attr(w, MPI_TAG_UB, &value, NULL), MPI_ERR_ARG);
    WRONG(MPI_Comm_get_attr(w, MPI_TAG_UB, NULL, &flag), MPI_ERR_ARG);
    WRONG(MPI_Comm_delete_attr(w, MPI_TAG_UB), MPI_ERR_KEYVAL);
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    WRONG(MPI_Comm_get_attr(w, key, &value, &flag), MPI_ERR_KEYVAL); // of another kind of object
    OK(MPI_Type_free_keyval(&key));
    WRONG(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    WRONG(MPI_Op_create(sum, 1, NULL), MPI_ERR_ARG);
    WRONG(MPI_Op_free(NULL), MPI_ERR_ARG);
    WRONG(MPI_Op_free(&op), MPI_ERR_OP);
    WRONG(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
    WRONG(MPI_Reduce_local(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    WRONG(MPI_Reduce_local(&a, NULL, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    WRONG(MPI_Reduce_local(&b, &b, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    WRONG(MPI_Comm_create_errhandler(NULL, &e), MPI_ERR_ARG);
    WRONG(MPI_Comm_get_errhandler(w, NULL), MPI_ERR_ARG);
    WRONG(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
    WRONG(MPI_Errhandler_free(&e), MPI_ERR_ERRHANDLER);
    WRONG(MPI_Session_set_errhandler(MPI_SESSION_NULL, MPI_ERRORS_RETURN), MPI_ERR_SESSION);
    WRONG(MPI_Session_attach_buffer(MPI_SESSION_NULL, &a, sizeof a), MPI_ERR_SESSION);
    WRONG(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
    CHECK(flag == 7 && a == 1 && b == 2 && value == &flag);
    CHECK(op == MPI_OP_NULL && e == MPI_ERRHANDLER_NULL);
}

static void sessions(void)
{
    const MPI_Errhandler back = MPI_ERRORS_RETURN;
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info;
    char name[16];
    int n = 16, size = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_SOME"));
    WRONG(MPI_Session_init(info, back, &s), MPI_ERR_INFO_VALUE);
    OK(MPI_Info_free(&info));
    WRONG(MPI_Session_init(no_info, back, &s), MPI_ERR_INFO);
    WRONG(MPI_Session_init(MPI_INFO_NULL, (MPI_Errhandler)MPI_INT, &s), MPI_ERR_ERRHANDLER);
    WRONG(MPI_Session_init(MPI_INFO_NULL, back, NULL), MPI_ERR_ARG);
    CHECK(s == MPI_SESSION_NULL);
    OK(MPI_Session_init(MPI_INFO_NULL, back, &s));
    WRONG(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &n, name), MPI_ERR_ARG);
    WRONG(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 99, &n, name), MPI_ERR_ARG);
    WRONG(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &(int){-1}, name), MPI_ERR_ARG);
    WRONG(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &n, NULL), MPI_ERR_ARG);
    WRONG(MPI_Session_get_num_psets(s, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    WRONG(MPI_Session_get_info(s, NULL), MPI_ERR_ARG);
    WRONG(MPI_Group_from_session_pset(s, NULL, &g), MPI_ERR_ARG);
    WRONG(MPI_Group_from_session_pset(s, "mpi://WORLD", NULL), MPI_ERR_ARG);
    WRONG(MPI_Session_attach_buffer(s, NULL, 8), MPI_ERR_BUFFER);
    WRONG(MPI_Session_detach_buffer(s, NULL, &n), MPI_ERR_ARG);
    CHECK(n == 16 && g == MPI_GROUP_NULL);
    OK(MPI_Group_from_session_pset(s, "MPI://self", &g)); // upper and lower case are one
    OK(MPI_Group_size(g, &size));
    OK(MPI_Group_rank(g, &n));
    CHECK(size == 1 && n == 0);
    OK(MPI_Group_free(&g));
    OK(MPI_Session_finalize(&s));
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(w, &all));
    OK(MPI_Group_excl(all, 1, &me, &others));
    g = MPI_GROUP_NULL;
    c = MPI_COMM_NULL;
    groups();
    from_groups();
    comms();
    without();
    grids();
    dims();
    graphs();
    distributed();
    infos();
    error_codes();
    keys_and_operators();
    sessions();
    CHECK(c == MPI_COMM_NULL && x == 7);
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&others));
    OK(MPI_Barrier(w)); // and all go on
    return mpi_done();
}
