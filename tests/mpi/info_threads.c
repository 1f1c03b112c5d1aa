// SPDX-License-Identifier: BSD-3-Clause
// Several threads change and read one info object, the hints and the name of one communicator, the attributes of
// another, each value of which is deleted once; commit a datatype that others send, and free its handles while
// others are given some (MPI 5.0, "Threads": calls have the effect of some order).
// PES: 1 2
#include "mpi_check.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, TIMES = 300, KEYS = 40 };

static MPI_Info shared;
static MPI_Comm hinted;
static int keyval;
static MPI_Datatype row, of_rows;
static _Atomic unsigned char deleted[THREADS][TIMES];

static int count_it(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key;
    sched_yield(); // to who sets another one
    ++*(_Atomic unsigned char *)value;
    return extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// The delete functions of types take their time, in which another thread is given the type.
static int take_time(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    sched_yield();
    return MPI_SUCCESS;
}

// One more handle of what this type is made of.
static MPI_Datatype part_of(MPI_Datatype whole)
{
    int n, size = 0;
    MPI_Aint address;
    MPI_Datatype part;
    OK(MPI_Type_get_contents(whole, 1, 0, 1, &n, &address, &part));
    OK(MPI_Type_size(part, &size));
    CHECK_EQ(size, 3 * sizeof(int));
    return part;
}

static void use_info(int id, int i)
{
    char key[MPI_MAX_INFO_KEY], value[100];
    int flag, length, keys;
    MPI_Info copy;
    snprintf(key, sizeof key, "key %d", i % KEYS);
    memset(value, 'a' + id, sizeof value - 1);
    value[1 + i % 90] = 0;
    OK(MPI_Info_set(shared, key, value));
    OK(MPI_Info_get(shared, key, sizeof value - 1, value, &flag));
    for (size_t c = 1; flag && value[c]; c++)
        CHECK(value[c] == value[0]); // of one thread
    OK(MPI_Info_get_valuelen(shared, key, &length, &flag));
    OK(MPI_Info_get_nkeys(shared, &keys));
    CHECK(keys >= 0 && keys <= KEYS);
    if (i % 8 == 0)
        MPI_Info_delete(shared, key); // another thread may have
    if (i % 16 == 0) {
        OK(MPI_Info_dup(shared, &copy));
        OK(MPI_Info_free(&copy));
    }
}

static void use_comm(int id, int i)
{
    MPI_Info hint, used;
    MPI_Comm copy;
    int flag, *value;
    OK(MPI_Info_create(&hint));
    OK(MPI_Info_set(hint, "mpi_assert_no_any_tag", i % 2 ? "true" : "false"));
    OK(MPI_Comm_set_info(hinted, hint));
    OK(MPI_Comm_get_info(hinted, &used));
    OK(MPI_Info_free(&used));
    OK(MPI_Info_free(&hint));
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Comm_set_name(hinted, id % 2 ? "one" : "the other"));
    OK(MPI_Comm_get_name(hinted, name, &flag));
    CHECK(!strcmp(name, "one") || !strcmp(name, "the other"));
    OK(MPI_Type_commit(&row));
    OK(MPI_Sendrecv(NULL, 0, row, 0, id, NULL, 0, row, 0, id, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void *)&deleted[id][i]));
    MPI_Datatype again = part_of(of_rows);
    OK(MPI_Type_commit(&again));
    OK(MPI_Type_free(&again));
    if (i % 16)
        return;
    MPI_Group self;
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Comm_create_group(MPI_COMM_SELF, self, id * TIMES + i, &copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Group_free(&self));
}

static void *use(void *id)
{
    for (int i = 0; i < TIMES; i++) {
        use_info(*(int *)id, i);
        use_comm(*(int *)id, i);
    }
    return NULL;
}

// One thread frees the last handle of a type while others are given it: theirs are valid.
static MPI_Datatype base, two_bases;
static pthread_barrier_t together;
static int type_keyval;

static void *give_and_take(void *id)
{
    bool is_first = *(int *)id == 0;
    for (int round = 0; round < TIMES / 4; round++) {
        if (is_first) {
            OK(MPI_Type_contiguous(3, MPI_INT, &base));
            OK(MPI_Type_contiguous(2, base, &two_bases));
            OK(MPI_Type_set_attr(base, type_keyval, NULL));
        }
        pthread_barrier_wait(&together);
        if (is_first) {
            OK(MPI_Type_free(&base));
        } else {
            MPI_Datatype given = part_of(two_bases);
            OK(MPI_Type_commit(&given));
            OK(MPI_Type_free(&given));
        }
        pthread_barrier_wait(&together);
        if (is_first)
            OK(MPI_Type_free(&two_bases));
    }
    return NULL;
}

int main(void)
{
    int provided, ids[THREADS];
    pthread_t thread[THREADS];
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    OK(MPI_Info_create(&shared));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &hinted));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_contiguous(3, MPI_INT, &row));
    OK(MPI_Type_commit(&row));
    OK(MPI_Type_contiguous(2, row, &of_rows));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, take_time, &type_keyval, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_it, &keyval, NULL));
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        CHECK(pthread_create(&thread[i], NULL, use, &ids[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
    for (int i = 0; i < THREADS; i++)
        CHECK_EACH(k, TIMES, deleted[i][k], 1);
    OK(MPI_Comm_free_keyval(&keyval));
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, give_and_take, &ids[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(MPI_Type_free_keyval(&type_keyval));
    OK(MPI_Type_free(&of_rows));
    OK(MPI_Type_free(&row));
    OK(MPI_Comm_free(&hinted));
    OK(MPI_Info_free(&shared));
    return mpi_done();
}
