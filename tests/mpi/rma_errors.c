// SPDX-License-Identifier: BSD-3-Clause
// Wrong use of windows gives the class of error that the standard names, and nothing happens.
// ALSO: 16
// ENV: ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1
#include "mpi_check.h"

#include <sys/mman.h>

#define GIVES(class, call) CHECK_EQ(class_of(call), class)
#define SYNC(call) GIVES(MPI_ERR_RMA_SYNC, call)

static MPI_Win win;
static int x[4], y;
static MPI_Group self, world;

static int put(int rank, MPI_Aint disp, int count)
{
    return MPI_Put(x, count, MPI_INT, rank, disp, count, MPI_INT, win);
}

static void no_epoch(void)
{
    int flag;
    MPI_Request r;
    SYNC(put(me, 0, 1));
    SYNC(MPI_Get(&y, 1, MPI_INT, me, 0, 1, MPI_INT, win));
    SYNC(MPI_Accumulate(x, 1, MPI_INT, me, 0, 1, MPI_INT, MPI_SUM, win));
    SYNC(MPI_Fetch_and_op(x, &y, MPI_INT, me, 0, MPI_SUM, win));
    SYNC(MPI_Compare_and_swap(x, x, &y, MPI_INT, me, 0, win));
    SYNC(MPI_Rput(x, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r));
    SYNC(MPI_Win_unlock(me, win));
    SYNC(MPI_Win_unlock_all(win));
    SYNC(MPI_Win_flush(me, win));
    SYNC(MPI_Win_flush_local(me, win));
    SYNC(MPI_Win_flush_all(win));
    SYNC(MPI_Win_flush_local_all(win));
    SYNC(MPI_Win_complete(win));
    SYNC(MPI_Win_wait(win));
    SYNC(MPI_Win_test(win, &flag));
}

static void within_lock(void)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, MPI_MODE_NOCHECK, win));
    SYNC(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_fence(0, win));
    SYNC(MPI_Win_start(self, 0, win));
    SYNC(MPI_Win_complete(win));
    SYNC(MPI_Win_free(&win));
    SYNC(MPI_Win_unlock_all(win));
    if (npes > 1) {
        int other = (me + 1) % npes;
        SYNC(put(other, 0, 1));
        SYNC(MPI_Win_unlock(other, win));
        SYNC(MPI_Win_flush(other, win));
    }
    OK(put(me, 0, 1));
    OK(MPI_Win_unlock(me, win));
    OK(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    SYNC(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_start(self, 0, win));
    SYNC(MPI_Win_unlock(me, win));
    SYNC(MPI_Win_fence(0, win));
    SYNC(MPI_Win_free(&win));
    OK(MPI_Win_unlock_all(win));
}

static void within_active(void)
{
    MPI_Request r;
    OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win)); // of no group: nothing is posted
    SYNC(MPI_Win_fence(0, win));
    SYNC(MPI_Win_free(&win));
    SYNC(put(me, 0, 1));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_post(self, 0, win));
    SYNC(MPI_Win_post(self, 0, win));
    SYNC(MPI_Win_fence(0, win));
    SYNC(MPI_Win_free(&win));
    OK(MPI_Win_start(self, 0, win));
    SYNC(MPI_Win_start(self, 0, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    SYNC(MPI_Win_flush(me, win));
    SYNC(MPI_Rput(x, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r));
    if (npes > 1)
        SYNC(put((me + 1) % npes, 0, 1));
    OK(put(me, 0, 1));
    OK(MPI_Win_complete(win));
    SYNC(MPI_Win_complete(win));
    GIVES(MPI_ERR_ARG, MPI_Win_test(win, NULL));
    OK(MPI_Win_wait(win));
    OK(MPI_Win_fence(0, win));
    OK(put(me, 0, 1));
    SYNC(MPI_Rput(x, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r));
    SYNC(MPI_Win_flush(me, win));
    SYNC(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    SYNC(MPI_Win_lock_all(0, win));
    SYNC(MPI_Win_start(self, 0, win));
    SYNC(MPI_Win_free(&win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    SYNC(put(me, 0, 1));
    OK(MPI_Win_fence(0, win)); // no epoch unless it is used
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    OK(MPI_Win_unlock(me, win));
    SYNC(put(me, 0, 1));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void ranges(void)
{
    MPI_Datatype backward, mixed;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    GIVES(MPI_ERR_RMA_RANGE, put(me, -1, 1));
    GIVES(MPI_ERR_RMA_RANGE, put(me, 4, 1));
    GIVES(MPI_ERR_RMA_RANGE, put(me, 2, 3));
    GIVES(MPI_ERR_RMA_RANGE, put(me, PTRDIFF_MAX / 2, 1));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(x, &y, MPI_INT, me, 4, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Compare_and_swap(x, x, &y, MPI_INT, me, -4, win));
    OK(put(me, 2, 2));
    OK(put(me, 4, 0));
    OK(put(me, 100, 0));
    OK(MPI_Type_vector(2, 1, -2, MPI_INT, &backward));
    OK(MPI_Type_commit(&backward));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(x, 2, MPI_INT, me, 1, 1, backward, win));
    OK(MPI_Put(x, 2, MPI_INT, me, 2, 1, backward, win));
    OK(MPI_Type_free(&backward));
    GIVES(MPI_ERR_TRUNCATE, MPI_Put(x, 2, MPI_INT, me, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Get(x, 1, MPI_INT, me, 0, 2, MPI_INT, win));
    OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                              (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &mixed));
    OK(MPI_Type_commit(&mixed));
    GIVES(MPI_ERR_TYPE, MPI_Accumulate(x, 1, mixed, me, 0, 1, mixed, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Accumulate(x, 1, mixed, me, 0, 2, MPI_INT, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Accumulate(x, 1, MPI_INT, me, 0, 1, MPI_FLOAT, MPI_SUM, win));
    OK(MPI_Accumulate(x, 1, MPI_UNSIGNED, me, 0, 1, MPI_INT, MPI_SUM, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Accumulate(x, 1, MPI_INT, me, 0, 2, MPI_INT, MPI_SUM, win));
    GIVES(MPI_ERR_TRUNCATE,
          MPI_Get_accumulate(x, 2, MPI_INT, x + 2, 1, MPI_INT, me, 0, 2, MPI_INT, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Fetch_and_op(x, &y, mixed, me, 0, MPI_SUM, win));
    OK(MPI_Type_free(&mixed));
    OK(MPI_Win_unlock(me, win));
}

// Displacements in bytes.
static void ranges_of_bytes(void)
{
    MPI_Win bytes;
    OK(MPI_Win_create(x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes));
    OK(MPI_Win_set_errhandler(bytes, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(&y, 1, MPI_INT, me, -1, 1, MPI_INT, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Get(&y, 1, MPI_INT, me, -4, 1, MPI_INT, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(&y, 1, MPI_INT, me, sizeof x - 3, 1, MPI_INT, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(&y, 1, MPI_INT, me, PTRDIFF_MAX, 1, MPI_INT, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(x, &y, MPI_INT, me, -1, MPI_SUM, bytes));
    OK(MPI_Put(&y, 1, MPI_INT, me, sizeof x - 4, 1, MPI_INT, bytes));
    MPI_Datatype later, dense; // behind its place: inside the window again
    OK(MPI_Type_create_hindexed_block(1, 8, &(MPI_Aint){16}, MPI_CHAR, &later));
    OK(MPI_Type_create_resized(later, 16, 8, &dense));
    OK(MPI_Type_commit(&dense));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, dense, me, -8, 1, dense, bytes));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, dense, me, PTRDIFF_MAX - 8, 1, dense, bytes));
    OK(MPI_Type_free(&dense));
    OK(MPI_Type_free(&later));
    OK(MPI_Win_unlock(me, bytes));
    OK(MPI_Win_free(&bytes));
}

static void user_op(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)in, (void)inout, (void)n, (void)t;
}

static void arguments(void)
{
    MPI_Datatype raw;
    MPI_Op op;
    MPI_Info bad = (MPI_Info)(uintptr_t)win;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    GIVES(MPI_ERR_RANK, put(npes, 0, 1));
    GIVES(MPI_ERR_RANK, put(-7, 0, 1));
    GIVES(MPI_ERR_RANK, MPI_Win_flush(npes, win));
    GIVES(MPI_ERR_RANK, MPI_Win_flush(-9, win));
    GIVES(MPI_ERR_RANK, MPI_Win_flush_local(npes, win));
    GIVES(MPI_ERR_RANK, MPI_Win_flush_local(-9, win));
    OK(put(MPI_PROC_NULL, 0, 1));
    GIVES(MPI_ERR_COUNT, put(me, 0, -1));
    GIVES(MPI_ERR_TYPE, MPI_Put(x, 1, MPI_DATATYPE_NULL, me, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_TYPE, MPI_Get(x, 1, MPI_INT, me, 0, 1, MPI_DATATYPE_NULL, win));
    GIVES(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_INT, me, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_BUFFER, MPI_Put(MPI_IN_PLACE, 1, MPI_INT, me, 0, 1, MPI_INT, win));
    GIVES(MPI_ERR_ARG, MPI_Rput(x, 1, MPI_INT, me, 0, 1, MPI_INT, win, NULL));
    OK(MPI_Type_contiguous(1, MPI_INT, &raw));
    GIVES(MPI_ERR_TYPE, MPI_Put(x, 1, raw, me, 0, 1, raw, win));
    OK(MPI_Type_free(&raw));
    const MPI_Datatype no = MPI_DATATYPE_NULL;
    GIVES(MPI_ERR_TYPE, MPI_Accumulate(x, 1, no, me, 0, 1, no, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Fetch_and_op(x, &y, no, me, 0, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(x, x, &y, no, me, 0, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_INT, me, 0, 1, MPI_INT, MPI_OP_NULL, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_INT, me, 0, 1, MPI_INT, MPI_NO_OP, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_FLOAT, me, 0, 1, MPI_FLOAT, MPI_BAND, win));
    OK(MPI_Op_create(user_op, 1, &op));
    GIVES(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_INT, me, 0, 1, MPI_INT, op, win));
    GIVES(MPI_ERR_OP, MPI_Fetch_and_op(x, &y, MPI_INT, me, 0, op, win));
    OK(MPI_Op_free(&op));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(x, x, &y, MPI_FLOAT, me, 0, win));
    OK(MPI_Win_unlock(me, win));
    GIVES(MPI_ERR_LOCKTYPE, MPI_Win_lock(7, me, 0, win));
    GIVES(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, npes, 0, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, me, MPI_MODE_NOPUT, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_fence(MPI_MODE_NOCHECK, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_post(self, MPI_MODE_NOSUCCEED, win));
    GIVES(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
    GIVES(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    GIVES(MPI_ERR_INFO, MPI_Win_set_info(win, bad));
    GIVES(MPI_ERR_ARG, MPI_Win_set_name(win, NULL));
    GIVES(MPI_ERR_ARG, MPI_Win_get_group(win, NULL));
    GIVES(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, x, 4));
    GIVES(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, x));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, win));
}

// Of a window of this process alone.
static void strangers(void)
{
    MPI_Win own;
    MPI_Request r;
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    OK(MPI_Win_create(x, sizeof x, 4, MPI_INFO_NULL, MPI_COMM_SELF, &own));
    OK(MPI_Win_set_errhandler(own, MPI_ERRORS_RETURN));
    if (npes > 1) {
        GIVES(MPI_ERR_GROUP, MPI_Win_post(world, 0, own));
        GIVES(MPI_ERR_GROUP, MPI_Win_start(world, 0, own));
    }
    GIVES(MPI_ERR_ARG, MPI_Win_get_name(own, NULL, &n));
    GIVES(MPI_ERR_ARG, MPI_Win_get_name(own, name, NULL));
    GIVES(MPI_ERR_ARG, MPI_Win_get_info(own, NULL));
    OK(MPI_Win_lock_all(0, own));
    GIVES(MPI_ERR_BUFFER, MPI_Compare_and_swap(x, NULL, &y, MPI_INT, 0, 0, own));
    OK(MPI_Rget(&y, 1, MPI_INT, 0, 0, 1, MPI_INT, own, &r));
    n = class_of(MPI_Cancel(&r)); // of one that is done it may be nothing
    CHECK(n == MPI_ERR_REQUEST || n == MPI_SUCCESS);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock_all(own));
    OK(MPI_Win_free(&own));
}

static void no_window(void)
{
    MPI_Win none = MPI_WIN_NULL;
    MPI_Aint size;
    int unit;
    void *p;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_WIN, MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, none));
    GIVES(MPI_ERR_WIN, MPI_Win_fence(0, none));
    GIVES(MPI_ERR_WIN, MPI_Win_free(&none));
    GIVES(MPI_ERR_WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none));
    GIVES(MPI_ERR_WIN, MPI_Win_shared_query(none, 0, &size, &unit, &p));
    GIVES(MPI_ERR_WIN, MPI_Fetch_and_op(x, &y, MPI_INT, 0, 0, MPI_SUM, (MPI_Win)(uintptr_t)self));
    GIVES(MPI_ERR_COMM, MPI_Win_create(x, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &none));
    GIVES(MPI_ERR_SIZE, MPI_Win_create(x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none));
    GIVES(MPI_ERR_DISP, MPI_Win_create(x, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &none));
    GIVES(MPI_ERR_BUFFER, MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none));
    GIVES(MPI_ERR_ARG, MPI_Win_create(x, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
    GIVES(MPI_ERR_ARG, MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &none));
    CHECK(none == MPI_WIN_NULL);
    // More than there is: all fail, or, where private memory will do, none.
    GIVES(MPI_ERR_NO_MEM,
          MPI_Win_allocate_shared((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_SELF, &p, &none));
    GIVES(MPI_ERR_NO_MEM, MPI_Win_allocate(me == 0 ? (MPI_Aint)1 << 60 : 1, 1, MPI_INFO_NULL,
                                           MPI_COMM_WORLD, &p, &none));
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", me == 0 ? "96" : "128"));
    GIVES(MPI_ERR_INFO_VALUE, MPI_Win_allocate(4, 1, info, MPI_COMM_WORLD, &p, &none));
    OK(MPI_Info_free(&info));
}

static void dynamic(void)
{
    MPI_Win d;
    MPI_Aint size;
    int unit;
    void *p;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &d));
    OK(MPI_Win_set_errhandler(d, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(d, x, sizeof x));
    GIVES(MPI_ERR_RMA_ATTACH, MPI_Win_attach(d, x + 1, 4));
    GIVES(MPI_ERR_RMA_ATTACH, MPI_Win_detach(d, x + 1));
    GIVES(MPI_ERR_SIZE, MPI_Win_attach(d, &y, -1));
    GIVES(MPI_ERR_BASE, MPI_Win_attach(d, NULL, 4));
    GIVES(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(d, 0, &size, &unit, &p));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, d));
    OK(MPI_Put(&y, 1, MPI_INT, me, (MPI_Aint)(uintptr_t)&x[3], 1, MPI_INT, d));
    GIVES(MPI_ERR_RMA_RANGE,
          MPI_Put(&y, 1, MPI_INT, me, (MPI_Aint)(uintptr_t)&x[4], 1, MPI_INT, d));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(x, 4, MPI_INT, me, (MPI_Aint)(uintptr_t)&x[1], 4, MPI_INT, d));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_INT, me, 0, 1, MPI_INT, d));
    OK(MPI_Win_unlock(me, d));
    OK(MPI_Win_detach(d, x));
    OK(MPI_Win_free(&d));
}

// Memory that its owner has unmapped: whichever call says so, the window's handler is asked. (So much that the
// owner is not asked to copy it, which it would not survive.)
static void gone(void)
{
    enum { BYTES = 1 << 20, N = 2048 };
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win w;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status status;
    static long got[N];
    bool is_late = false;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == npes - 1)
        munmap(memory, BYTES);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me != npes - 1) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, npes - 1, 0, w));
        int error = MPI_Rget(got, N, MPI_LONG, npes - 1, 0, N, MPI_LONG, w, &r);
        if (!error)
            error = MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(class_of(error), MPI_ERR_RMA_RANGE);
        error = MPI_Rget(got, N, MPI_LONG, npes - 1, 0, N, MPI_LONG, w, &r);
        if (!error)
            CHECK_EQ(class_of(MPI_Waitall(1, &r, &status)), MPI_ERR_IN_STATUS);
        CHECK_EQ(class_of(error ? error : status.MPI_ERROR), MPI_ERR_RMA_RANGE);
        for (int puts = 0; puts < 2; puts++) { // by the call, or by what completes it, once
            error = puts ? MPI_Put(got, N, MPI_LONG, npes - 1, 0, N, MPI_LONG, w)
                         : MPI_Get(got, N, MPI_LONG, npes - 1, 0, N, MPI_LONG, w);
            int flushed = MPI_Win_flush(npes - 1, w);
            CHECK_EQ(class_of(error ? error : flushed), MPI_ERR_RMA_RANGE);
            OK(MPI_Win_flush(npes - 1, w));
        }
        is_late = !MPI_Rget(got, N, MPI_LONG, npes - 1, 0, N, MPI_LONG, w, &r);
        OK(MPI_Win_unlock(npes - 1, w));
    }
    OK(MPI_Win_free(&w));
    if (is_late) // the window is gone, its handler not yet
        CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_RMA_RANGE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (me != npes - 1)
        munmap(memory, BYTES);
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Win_create(x, sizeof x, sizeof x[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    no_epoch();
    within_lock();
    within_active();
    ranges();
    ranges_of_bytes();
    arguments();
    no_epoch();
    strangers();
    no_window();
    dynamic();
    gone();
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&world));
    return mpi_done();
}
