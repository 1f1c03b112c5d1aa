// SPDX-License-Identifier: BSD-3-Clause
// Attributes: what is copied, in which order it is deleted, errors of the program's functions, keys
// that are freed while in use, MPI_COMM_SELF's at MPI_Finalize, predefined ones.
#include "mpi_check.h"

static int deleted[8], deletions, fails, at_end;

static int on_copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)old;
    (void)key;
    *flag = *(int *)extra != 2; // key 2 stays behind
    *(void **)out = (char *)in + 1;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    if (fails)
        return MPI_ERR_OTHER;
    deleted[deletions++] = *(int *)extra;
    return MPI_SUCCESS;
}

// Sets another value the first time, and fails.
static int replace(MPI_Comm comm, int key, void *value, void *extra)
{
    static int times;
    if (value == extra || times++)
        return MPI_SUCCESS;
    OK(MPI_Comm_set_attr(comm, key, extra));
    return MPI_ERR_OTHER;
}

static void replaced(void)
{
    int key, flag, *got, one, other;
    MPI_Comm c;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, replace, &key, &other));
    OK(MPI_Comm_set_attr(c, key, &one));
    CHECK_EQ(MPI_Comm_delete_attr(c, key), MPI_ERR_OTHER);
    OK(MPI_Comm_get_attr(c, key, &got, &flag));
    CHECK(flag && got == &other);
    OK(MPI_Comm_delete_attr(c, key));
    OK(MPI_Comm_get_attr(c, key, &got, &flag));
    CHECK(!flag); // it was there once
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&c));
}

static void comms(void)
{
    int numbers[] = {1, 2, 3}, keys[3], flag;
    char values[8], *got;
    MPI_Comm c, d = MPI_COMM_NULL;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_create_keyval(on_copy, on_delete, &keys[i], &numbers[i]));
        OK(MPI_Comm_set_attr(c, keys[i], values + i));
    }
    OK(MPI_Comm_dup(c, &d));
    OK(MPI_Comm_get_attr(d, keys[0], &got, &flag));
    CHECK(flag && got == values + 1);
    OK(MPI_Comm_get_attr(d, keys[1], &got, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free(&d));
    CHECK_EQ(deletions, 2);
    CHECK(deleted[0] == 3 && deleted[1] == 1); // the last that was set goes first
    fails = 1;
    CHECK_EQ(MPI_Comm_dup(c, &d), MPI_ERR_OTHER);
    CHECK_EQ(MPI_Comm_free(&c), MPI_ERR_OTHER);
    CHECK(c != MPI_COMM_NULL);
    CHECK_EQ(MPI_Comm_set_attr(c, keys[0], values + 5), MPI_ERR_OTHER);
    fails = deletions = 0;
    OK(MPI_Comm_get_attr(c, keys[0], &got, &flag));
    CHECK(flag && got == values); // neither deleted nor replaced
    int freed = keys[1];
    OK(MPI_Comm_free_keyval(&keys[1]));
    CHECK_EQ(keys[1], MPI_KEYVAL_INVALID);
    OK(MPI_Comm_delete_attr(c, freed)); // it was in use till now
    CHECK(deletions == 1 && deleted[0] == 2);
    CHECK_EQ(class_of(MPI_Comm_get_attr(c, freed, &got, &flag)), MPI_ERR_KEYVAL);
    CHECK_EQ(class_of(MPI_Comm_set_attr(c, MPI_TAG_UB, values)), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free(&c));
    CHECK_EQ(deletions, 3);
    OK(MPI_Comm_free_keyval(&keys[0]));
    OK(MPI_Comm_free_keyval(&keys[2]));
}

static void types(void)
{
    int key, flag, none;
    void *got;
    MPI_Datatype t, u;
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL));
    OK(MPI_Type_set_attr(t, key, &key));
    OK(MPI_Type_set_attr(t, none, &none));
    OK(MPI_Type_set_attr(MPI_INT, key, &none));
    OK(MPI_Type_dup(t, &u));
    OK(MPI_Type_get_attr(u, key, &got, &flag));
    CHECK(flag && got == &key);
    OK(MPI_Type_get_attr(u, none, &got, &flag));
    CHECK(!flag);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)), MPI_ERR_KEYVAL);
    OK(MPI_Type_delete_attr(MPI_INT, key));
    OK(MPI_Type_free(&u));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Type_free_keyval(&none));
}

static int on_type_copy(MPI_Datatype old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)old;
    (void)key;
    *flag = extra != &fails;
    *(void **)out = (char *)in + 1;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int on_type_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type;
    (void)key;
    (void)extra;
    if (fails)
        return MPI_ERR_OTHER;
    deleted[deletions++] = *(char *)value;
    return MPI_SUCCESS;
}

// Of a type they are the program's functions as well, and their errors those of the call.
static void functions_of_types(void)
{
    int keys[2], flag, size = 0;
    char values[] = {5, 6, 7, 8}, *got;
    MPI_Datatype t, u = MPI_DATATYPE_NULL;
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_create_keyval(on_type_copy, on_type_delete, &keys[0], values));
    OK(MPI_Type_create_keyval(on_type_copy, on_type_delete, &keys[1], &fails)); // stays behind
    for (int i = 0; i < 2; i++)
        OK(MPI_Type_set_attr(t, keys[i], &values[2 * i]));
    OK(MPI_Type_dup(t, &u));
    OK(MPI_Type_get_attr(u, keys[0], &got, &flag));
    CHECK(flag && got == values + 1);
    OK(MPI_Type_get_attr(u, keys[1], &got, &flag));
    CHECK(!flag);
    deletions = 0;
    OK(MPI_Type_free(&u));
    CHECK(deletions == 1 && deleted[0] == 6);
    fails = 1;
    CHECK_EQ(MPI_Type_dup(t, &u), MPI_ERR_OTHER);
    CHECK(u == MPI_DATATYPE_NULL);
    CHECK_EQ(MPI_Type_set_attr(t, keys[0], &values[3]), MPI_ERR_OTHER);
    CHECK_EQ(MPI_Type_delete_attr(t, keys[0]), MPI_ERR_OTHER);
    CHECK_EQ(MPI_Type_free(&t), MPI_ERR_OTHER);
    fails = 0;
    OK(MPI_Type_get_attr(t, keys[0], &got, &flag));
    CHECK(flag && got == values);
    OK(MPI_Type_size(t, &size));
    CHECK_EQ(size, 2 * (int)sizeof(int));
    OK(MPI_Type_free(&t));
    CHECK_EQ(deletions, 3);
    CHECK(deleted[1] == 7 && deleted[2] == 5); // the last that was set goes first
    deletions = 0;
    for (int i = 0; i < 2; i++)
        OK(MPI_Type_free_keyval(&keys[i]));
}

static void predefined(void)
{
    int *value, flag;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    int tag = *value, got = 0;
    OK(MPI_Sendrecv(&me, 1, MPI_INT, me, tag, &got, 1, MPI_INT, me, tag, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK_EQ(got, me);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(flag && *value == npes);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    CHECK(flag && (*value == 0 || *value == 1));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    CHECK(!flag || *value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL ||
          (*value >= 0 && *value < npes));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag)); // no process is a host
    CHECK(!flag || *value == MPI_PROC_NULL);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    CHECK(!flag || *value >= 0);
}

static int frees;

static int on_delete_freeing(MPI_Datatype type, int key, void *value, void *extra)
{
    int size = 0;
    (void)key;
    (void)value;
    OK(MPI_Type_size(type, &size)); // it is there until all of these have run
    CHECK_EQ(size, (int)sizeof(int));
    if (!frees++)
        OK(MPI_Type_free_keyval(extra));
    return MPI_SUCCESS;
}

// Keys whose last use goes while another one begins, or that were freed.
static void freed_keys(void)
{
    int key, freed, flag;
    void *got;
    MPI_Datatype t;
    OK(MPI_Type_dup(MPI_INT, &t));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_delete_freeing, &key, &key));
    freed = key;
    OK(MPI_Type_set_attr(t, key, &key));
    OK(MPI_Type_set_attr(t, key, &freed)); // deletes the first one, which frees the key
    CHECK(key == MPI_KEYVAL_INVALID && frees == 1);
    OK(MPI_Type_get_attr(t, freed, &got, &flag));
    CHECK(flag && got == &freed);
    CHECK_EQ(class_of(MPI_Type_set_attr(t, freed, &key)), MPI_ERR_KEYVAL);
    key = freed;
    OK(MPI_Type_free_keyval(&key)); // once more, while an attribute has it
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    OK(MPI_Type_free(&t));
    CHECK_EQ(frees, 2);
    key = freed;
    CHECK_EQ(class_of(MPI_Type_free_keyval(&key)), MPI_ERR_KEYVAL);
}

static int on_copy_deleting(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)in;
    *flag = 1;
    *(void **)out = extra;
    OK(MPI_Comm_delete_attr(old, key));
    return MPI_SUCCESS;
}

// The old one goes while it is copied.
static void deleted_by_copy(void)
{
    int key, freed, flag;
    void *got;
    MPI_Comm c, d;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
    OK(MPI_Comm_create_keyval(on_copy_deleting, MPI_COMM_NULL_DELETE_FN, &key, &freed));
    freed = key;
    OK(MPI_Comm_set_attr(c, key, &key));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_dup(c, &d));
    OK(MPI_Comm_get_attr(d, freed, &got, &flag));
    CHECK(flag && got == &freed);
    OK(MPI_Comm_get_attr(c, freed, &got, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free(&d));
    OK(MPI_Comm_free(&c));
}

static int on_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int size = 0, flag = 1;
    (void)comm;
    (void)key;
    (void)extra;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size)); // MPI works still
    OK(MPI_Finalized(&flag));
    CHECK(size == npes && !flag);
    CHECK_EQ((intptr_t)value, 2 - at_end);
    at_end++;
    return MPI_SUCCESS;
}

int main(void)
{
    int keys[3];
    mpi_start();
    replaced();
    comms();
    types();
    functions_of_types();
    freed_keys();
    deleted_by_copy();
    predefined();
    for (intptr_t i = 0; i < 3; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &keys[i], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)i));
    }
    int failed = mpi_done();
    CHECK_EQ(at_end, 3);
    return failed || check_failures > 0;
}
