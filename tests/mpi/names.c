// SPDX-License-Identifier: BSD-3-Clause
// Names, infos and attributes of communicators, by the deprecated calls too; where a topology would
// put a process; sizes of datatypes by the calls with MPI_Count.
#include "mpi_check.h"

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[MPI_MAX_OBJECT_NAME + 50];
    MPI_Comm c;
    int n = -1;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && n == (int)strlen(name));
    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &n));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_get_name(c, name, &n));
    CHECK(n == 0 && name[0] == 0);
    OK(MPI_Comm_set_name(c, "mine"));
    OK(MPI_Comm_get_name(c, name, &n));
    CHECK(n == 4 && strcmp(name, "mine") == 0);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    OK(MPI_Comm_set_name(c, longer)); // cut
    OK(MPI_Comm_get_name(c, name, &n));
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && n == (int)strlen(name));
    OK(MPI_Comm_free(&c));
}

static bool has(MPI_Comm c, const char *key, const char *want)
{
    char text[32] = "";
    int flag = 0, length = sizeof text;
    MPI_Info used;
    OK(MPI_Comm_get_info(c, &used));
    OK(MPI_Info_get_string(used, key, &length, text, &flag));
    OK(MPI_Info_free(&used));
    return flag && strcmp(text, want) == 0;
}

static const char no_any[] = "mpi_assert_no_any_tag";

static void from_group_has(MPI_Comm *c)
{
    MPI_Errhandler e;
    CHECK(has(*c, no_any, "true"));
    OK(MPI_Comm_get_errhandler(*c, &e));
    CHECK(e == MPI_ERRORS_RETURN);
    OK(MPI_Comm_free(c));
}

// These take an error handler, too.
static void infos_from_groups(MPI_Info info)
{
    const int low = me < npes / 2, middle = npes / 2;
    int ranges[2][1][3] = {{{middle, npes - 1, 1}}, {{0, middle - 1, 1}}};
    MPI_Group all, own, other;
    MPI_Comm c;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Comm_create_from_group(all, "hints", info, MPI_ERRORS_RETURN, &c));
    from_group_has(&c);
    OK(MPI_Group_range_incl(all, 1, ranges[low], &own));
    OK(MPI_Group_range_excl(all, 1, ranges[low], &other));
    OK(MPI_Intercomm_create_from_groups(own, 0, other, 0, "both", info, MPI_ERRORS_RETURN, &c));
    CHECK_EQ(c != MPI_COMM_NULL, npes > 1);
    if (npes > 1)
        from_group_has(&c);
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&other));
}

// Of the other calls that take hints.
static void infos_of_parts(MPI_Info info)
{
    int one = 1;
    MPI_Comm c;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &c));
    CHECK(has(c, no_any, "true"));
    OK(MPI_Comm_free(&c));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, info, &c));
    CHECK(c == MPI_COMM_NULL);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, MPI_UNWEIGHTED, 1, &me,
                                      MPI_UNWEIGHTED, info, 1, &c));
    CHECK(has(c, no_any, "true"));
    OK(MPI_Comm_free(&c));
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &me, MPI_UNWEIGHTED, info, 0, &c));
    CHECK(has(c, no_any, "true"));
    OK(MPI_Comm_free(&c));
    infos_from_groups(info);
}

static void infos(void)
{
    MPI_Info info;
    MPI_Comm c, d;
    MPI_Request r;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, no_any, "true"));
    OK(MPI_Info_set(info, "shoal_no_such_hint", "1"));
    OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &c, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(has(c, no_any, "true"));
    infos_of_parts(info);
    CHECK(!has(c, "shoal_no_such_hint", "1"));
    OK(MPI_Comm_dup(c, &d)); // does not inherit it
    CHECK(!has(d, no_any, "true"));
    OK(MPI_Comm_set_info(d, info));
    CHECK(has(d, no_any, "true"));
    OK(MPI_Comm_free(&d));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &d));
    CHECK(has(d, no_any, "true"));
    OK(MPI_Info_set(info, no_any, "false"));
    OK(MPI_Comm_set_info(d, info));
    CHECK(has(d, no_any, "false") && has(c, no_any, "true"));
    OK(MPI_Comm_free(&d));
    OK(MPI_Comm_free(&c));
    OK(MPI_Info_free(&info));
}

static int copies, deletions;

static int on_copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)old;
    (void)key;
    CHECK(extra == &copies);
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c;
    (void)key;
    (void)value;
    CHECK(extra == &copies);
    deletions++;
    return MPI_SUCCESS;
}

static void deprecated(void)
{
    int key = MPI_KEYVAL_INVALID, plain = MPI_KEYVAL_INVALID, value = 3, *got = NULL, flag = 0;
    MPI_Comm c, d;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Keyval_create(on_copy, on_delete, &key, &copies));
    OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &plain, NULL));
    OK(MPI_Attr_get(c, key, &got, &flag));
    CHECK(!flag);
    OK(MPI_Attr_put(c, key, &value));
    OK(MPI_Attr_put(c, plain, &value));
    OK(MPI_Comm_dup(c, &d));
    CHECK_EQ(copies, 1);
    OK(MPI_Attr_get(d, key, &got, &flag));
    CHECK(flag && got == &value);
    OK(MPI_Comm_get_attr(d, plain, &got, &flag)); // keys of both kinds are the same
    CHECK(flag && got == &value);
    OK(MPI_Attr_delete(c, key));
    CHECK_EQ(deletions, 1);
    OK(MPI_Comm_free(&d));
    CHECK_EQ(deletions, 2);
    OK(MPI_Keyval_free(&key));
    OK(MPI_Keyval_free(&plain));
    CHECK(key == MPI_KEYVAL_INVALID && plain == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&c));
}

static void maps(void)
{
    int dims[1] = {npes}, open[1] = {0}, alone[1] = {0}, rank = -9;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, open, &rank));
    CHECK(rank >= 0 && rank < npes);
    dims[0] = 1;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, open, &rank));
    CHECK(rank == 0 || rank == MPI_UNDEFINED);
    int mine = rank == 0, all = 0;
    OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, 1);
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, (int[]){1, 0}, (int[]){0, 0}, &rank)); // of nobody
    CHECK_EQ(rank, MPI_UNDEFINED);
    OK(MPI_Graph_map(MPI_COMM_WORLD, 1, alone, alone, &rank));
    CHECK(rank == 0 || rank == MPI_UNDEFINED);
}

// A ring with loops: node i has edges to itself and to the next.
static void graph(void)
{
    int *ends = must_alloc((size_t)npes * sizeof *ends), n = -1, edges = -1;
    int *to = must_alloc(2 * (size_t)npes * sizeof *to);
    int *got_ends = must_alloc((size_t)npes * sizeof *ends);
    int *got_to = must_alloc(2 * (size_t)npes * sizeof *to);
    MPI_Comm g;
    for (int i = 0; i < npes; i++) {
        ends[i] = 2 * i + 2;
        to[2 * i] = i;
        to[2 * i + 1] = (i + 1) % npes;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, npes, ends, to, 0, &g));
    OK(MPI_Graphdims_get(g, &n, &edges));
    CHECK(n == npes && edges == 2 * npes);
    OK(MPI_Graph_get(g, npes, 2 * npes, got_ends, got_to));
    CHECK_EACH(i, npes, got_ends[i], ends[i]);
    CHECK_EACH(i, 2 * npes, got_to[i], to[i]);
    OK(MPI_Comm_free(&g));
    free(ends);
    free(to);
    free(got_ends);
    free(got_to);
}

static void sizes(void)
{
    MPI_Datatype t;
    MPI_Count size = -1, low = -1, extent = -1;
    OK(MPI_Type_vector(3, 1, 4, MPI_INT, &t));
    OK(MPI_Type_size_x(t, &size));
    CHECK_EQ(size, 3 * sizeof(int));
    OK(MPI_Type_get_true_extent_x(t, &low, &extent));
    CHECK(low == 0 && extent == 9 * (MPI_Count)sizeof(int));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_INT, &t));
    OK(MPI_Type_size_x(t, &size));
    CHECK_EQ(size, (MPI_Count)4 << 33);
    OK(MPI_Type_free(&t));
}

int main(void)
{
    mpi_start();
    names();
    infos();
    deprecated();
    maps();
    graph();
    sizes();
    return mpi_done();
}
