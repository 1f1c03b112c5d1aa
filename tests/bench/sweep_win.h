// SPDX-License-Identifier: BSD-3-Clause
// Operations on windows, with what completes them.
#ifndef BENCH_SWEEP_WIN_H
#define BENCH_SWEEP_WIN_H

#include "sweep.h"

CALL(fence_put, MPI_Win_fence(0, window); MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, window);
     MPI_Win_fence(0, window))
CALL(flush_put, MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, held); MPI_Win_flush(right, held))
CALL(flush_get, MPI_Get(in, n, MPI_BYTE, right, 0, n, MPI_BYTE, held); MPI_Win_flush(right, held))
CALL(flush_accumulate,
     MPI_Accumulate(out, doubles, MPI_DOUBLE, right, 0, doubles, MPI_DOUBLE, MPI_SUM, held);
     MPI_Win_flush(right, held))
CALL(flush_accumulate_int,
     MPI_Accumulate(out, doubles, MPI_INT64_T, right, 0, doubles, MPI_INT64_T, MPI_SUM, held);
     MPI_Win_flush(right, held))
CALL(flush_accumulate_char, MPI_Accumulate(out, n, MPI_CHAR, right, 0, n, MPI_CHAR, MPI_SUM, held);
     MPI_Win_flush(right, held))
CALL(lock_fetch_and_op, MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
     MPI_Fetch_and_op(out, in, MPI_INT64_T, right, 0, MPI_SUM, window);
     MPI_Win_unlock(right, window))
CALL(flush_get_accumulate, MPI_Get_accumulate(out, doubles, MPI_DOUBLE, in, doubles, MPI_DOUBLE,
                                              right, 0, doubles, MPI_DOUBLE, MPI_SUM, held);
     MPI_Win_flush(right, held))
CALL(own_put, MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, own); MPI_Win_flush(right, own))
CALL(own_get, MPI_Get(in, n, MPI_BYTE, right, 0, n, MPI_BYTE, own); MPI_Win_flush(right, own))
CALL(own_accumulate,
     MPI_Accumulate(out, doubles, MPI_DOUBLE, right, 0, doubles, MPI_DOUBLE, MPI_SUM, own);
     MPI_Win_flush(right, own))
CALL(own_put_gaps, MPI_Put(out, doubles, column, right, 0, doubles, column, own);
     MPI_Win_flush(right, own))
CALL(own_get_gaps, MPI_Get(out, doubles, column, right, 0, doubles, column, own);
     MPI_Win_flush(right, own))
CALL(lock_put, MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
     MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, window); MPI_Win_unlock(right, window))
CALL(exclusive_put, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
     MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, window); MPI_Win_unlock(right, window))
CALL(put_gaps, MPI_Put(out, doubles, column, right, 0, doubles, column, held);
     MPI_Win_flush(right, held))
static void own_put_16(void)
{
    for (int i = 0; i < MANY; i++)
        MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, own);
    MPI_Win_flush(right, own);
}
static void epoch_put(void)
{
    static MPI_Group to, from;
    if (!to || to == MPI_GROUP_NULL) {
        MPI_Group all;
        MPI_Comm_group(W, &all);
        MPI_Group_incl(all, 1, &right, &to);
        MPI_Group_incl(all, 1, &left, &from);
        MPI_Group_free(&all);
    }
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(out, n, MPI_BYTE, right, 0, n, MPI_BYTE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
}
static void fetch_and_op(void)
{
    MPI_Fetch_and_op(out, in, MPI_INT64_T, right, 0, MPI_SUM, held);
    MPI_Win_flush(right, held);
}
static void own_fetch_and_op(void)
{
    MPI_Fetch_and_op(out, in, MPI_INT64_T, right, 0, MPI_SUM, own);
    MPI_Win_flush(right, own);
}
static void compare_and_swap(void)
{
    MPI_Compare_and_swap(out, in, in + 8, MPI_INT64_T, right, 0, held);
    MPI_Win_flush(right, held);
}

#endif
