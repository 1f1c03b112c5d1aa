// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "One-Sided Communications": not there yet.
#include "unsupported.h"

// clang-format off
#define WINDOWS(F)                                                                                \
    F(Accumulate) F(Accumulate_c) F(Compare_and_swap) F(Fetch_and_op) F(Get) F(Get_accumulate)    \
    F(Get_accumulate_c) F(Get_c) F(Put) F(Put_c) F(Raccumulate) F(Raccumulate_c) F(Rget)          \
    F(Rget_accumulate) F(Rget_accumulate_c) F(Rget_c) F(Rput) F(Rput_c) F(Win_allocate)           \
    F(Win_allocate_c) F(Win_allocate_shared) F(Win_allocate_shared_c) F(Win_attach)               \
    F(Win_complete) F(Win_create) F(Win_create_c) F(Win_create_dynamic) F(Win_detach)             \
    F(Win_fence) F(Win_flush) F(Win_flush_all) F(Win_flush_local) F(Win_flush_local_all)          \
    F(Win_free) F(Win_get_group) F(Win_get_info) F(Win_get_name) F(Win_lock) F(Win_lock_all)      \
    F(Win_post) F(Win_set_info) F(Win_set_name) F(Win_shared_query) F(Win_shared_query_c)         \
    F(Win_start) F(Win_sync) F(Win_test) F(Win_unlock) F(Win_unlock_all) F(Win_wait)
// clang-format on
WINDOWS(UNSUPPORTED)
