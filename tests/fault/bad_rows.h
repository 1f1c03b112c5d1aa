// SPDX-License-Identifier: BSD-3-Clause
// The calls of bad_args.c: X(call, what its line says after the name, statement), with its
// variables: words, ints and heap_words are symmetric, last is the last word of the heap, mine is
// where a transfer on this side may read and write, priv is private.
#ifndef TESTS_FAULT_BAD_ROWS_H
#define TESTS_FAULT_BAD_ROWS_H

#define NO_TEAM ((shmem_team_t)(void *)no_handle)
#define NO_CTX ((shmem_ctx_t)(void *)no_handle)
#define ODD(pointer) ((void *)((char *)(pointer) + 1))
#define BAD_TEAM AT " is not a team, or a destroyed one"
#define BAD_CTX AT " is not a context, or a destroyed one"
#define BAD_CTX_NONE "the context is SHMEM_CTX_INVALID: create one, or use SHMEM_CTX_DEFAULT"
#define BAD_CMP(cmp) "argument cmp is " cmp ", not one of SHMEM_CMP_\\*"
#define BAD_ROOT(root) "argument PE_root is " root ", the team has PEs 0 to 0"
#define BAD_BLOCK "no block in use starts at " AT ": freed twice, or not what shmem_malloc returned"
#define BAD_FOREIGN AT " is not in the symmetric heap: pass what shmem_malloc returned"
#define BAD_SET(start, stride, size)                                                              \
    "arguments PE_start " start ", logPE_stride " stride ", PE_size " size ": no such active set " \
    "among 1 PEs"
#define NOT_UP "called before shmem_init or after shmem_finalize"
#define OVERLAP ".*overlap.*"

#define SIGNAL_PUT(dest, n, sig, op, pe) \
    shmem_long_put_signal(dest, mine, n, (uint64_t *)(sig), 1, op, pe)

#define RMA(X)                                                                                     \
    X(shmem_long_put, BAD_PE("-1", "0"), shmem_long_put(words, mine, 1, -1))                       \
    X(shmem_long_put, BAD_PE("1", "0"), shmem_long_put(words, mine, 1, 1))                         \
    X(shmem_long_put, BAD_PE("2147483647", "0"), shmem_long_put(words, mine, 1, INT_MAX))          \
    X(shmem_long_put, BAD_PE("-1", "0"), shmem_long_put(NULL, NULL, 0, -1))                        \
    X(shmem_long_put, BAD_PRIVATE("dest"), shmem_long_put(priv, mine, 1, 0))                       \
    X(shmem_long_put, BAD_PRIVATE("dest"), shmem_long_put(&(long){0}, mine, 1, 0))                 \
    X(shmem_long_put, BAD_PRIVATE("dest"), shmem_long_put(last + 1, mine, 1, 0))                   \
    X(shmem_long_put, BAD_NULL("dest"), shmem_long_put(NULL, mine, 1, 0))                          \
    X(shmem_long_put, BAD_RANGE("dest", "16"), shmem_long_put(last, mine, 2, 0))                   \
    X(shmem_long_put, BAD_RANGE("dest", "[0-9]+"), shmem_long_put(words, mine, (size_t)-1, 0))     \
    X(shmem_long_put, BAD_RANGE("dest", "[0-9]+"),                                                 \
      shmem_long_put(heap_words, mine, SIZE_MAX / 16, 0))                                          \
    X(shmem_putmem, BAD_RANGE("dest", "8"), shmem_putmem(ODD(last), mine, 8, 0))                   \
    X(shmem_put128, BAD_RANGE("dest", "16"), shmem_put128(last, mine, 1, 0))                       \
    X(shmem_long_put_nbi, BAD_RANGE("dest", "16"), shmem_long_put_nbi(last, mine, 2, 0))           \
    X(shmem_long_p, BAD_PRIVATE("dest"), shmem_long_p(priv, 1, 0))                                 \
    X(shmem_long_p, BAD_NULL("dest"), shmem_long_p(NULL, 1, 0))                                    \
    X(shmem_long_p, BAD_RANGE("dest", "8"), shmem_long_p(ODD(last), 1, 0))                         \
    X(shmem_long_get, BAD_PE("-7", "0"), shmem_long_get(mine, words, 1, -7))                       \
    X(shmem_long_get, BAD_PRIVATE("source"), shmem_long_get(mine, priv, 1, 0))                     \
    X(shmem_long_get, BAD_NULL("source"), shmem_long_get(mine, NULL, 1, 0))                        \
    X(shmem_long_get, BAD_RANGE("source", "24"), shmem_long_get(mine, last, 3, 0))                 \
    X(shmem_getmem_nbi, BAD_PRIVATE("source"), shmem_getmem_nbi(mine, priv, 1, 0))                 \
    X(shmem_long_g, BAD_PE("1", "0"), (void)shmem_long_g(words, 1))                                \
    X(shmem_long_g, BAD_PRIVATE("source"), (void)shmem_long_g(priv, 0))                            \
    X(shmem_ctx_long_put, BAD_PE("1", "0"),                                                        \
      shmem_ctx_long_put(SHMEM_CTX_DEFAULT, words, mine, 1, 1))                                    \
    X(shmem_ctx_long_put, BAD_CTX_NONE, shmem_ctx_long_put(SHMEM_CTX_INVALID, words, mine, 1, 0))  \
    X(shmem_ctx_long_put, BAD_CTX, shmem_ctx_long_put(NO_CTX, words, mine, 1, 0))                  \
    X(shmem_ctx_long_g, BAD_CTX_NONE, (void)shmem_ctx_long_g(SHMEM_CTX_INVALID, words, 0))

#define BAD_STRIDES(dst, sst, least)                                             \
    "arguments dst " dst " and sst " sst " must be at least " least " elements?"
#define STRIDED(X)                                                                                 \
    X(shmem_long_iput, BAD_STRIDES("-1", "1", "1"), shmem_long_iput(words, mine, -1, 1, 2, 0))     \
    X(shmem_long_iput, BAD_STRIDES("1", "0", "1"), shmem_long_iput(words, mine, 1, 0, 2, 0))       \
    X(shmem_long_iput, BAD_PE("1", "0"), shmem_long_iput(words, mine, 1, 1, 2, 1))                 \
    X(shmem_long_iput, BAD_PRIVATE("dest"), shmem_long_iput(priv, mine, 1, 1, 2, 0))               \
    X(shmem_long_iput, BAD_RANGE("dest", "24"), shmem_long_iput(last - 1, mine, 2, 1, 2, 0))       \
    X(shmem_long_iget, BAD_STRIDES("0", "1", "1"), shmem_long_iget(mine, words, 0, 1, 2, 0))       \
    X(shmem_long_iget, BAD_PE("-1", "0"), shmem_long_iget(mine, words, 1, 1, 2, -1))               \
    X(shmem_long_iget, BAD_NULL("source"), shmem_long_iget(mine, NULL, 1, 1, 2, 0))                \
    X(shmem_long_iget, BAD_RANGE("source", "24"), shmem_long_iget(mine, last - 1, 1, 2, 2, 0))     \
    X(shmem_long_ibput, BAD_STRIDES("2", "3", "3"),                                                \
      shmem_long_ibput(words, mine, 2, 3, 3, 2, 0))                                                \
    X(shmem_long_ibput, BAD_RANGE("dest", "40"),                                                   \
      shmem_long_ibput(last - 3, mine, 3, 2, 2, 2, 0))                                             \
    X(shmem_long_ibput, BAD_PE("3", "0"), shmem_long_ibput(words, mine, 2, 2, 2, 2, 3))            \
    X(shmem_long_ibget, BAD_STRIDES("3", "-2", "3"),                                               \
      shmem_long_ibget(mine, words, 3, -2, 3, 2, 0))                                               \
    X(shmem_long_ibget, BAD_PRIVATE("source"), shmem_long_ibget(mine, priv, 2, 2, 2, 2, 0))

#define ATOMIC(X)                                                                                  \
    X(shmem_long_atomic_add, BAD_PE("1", "0"), shmem_long_atomic_add(words, 1, 1))                 \
    X(shmem_long_atomic_add, BAD_PRIVATE("dest"), shmem_long_atomic_add(priv, 1, 0))               \
    X(shmem_long_atomic_add, BAD_NULL("dest"), shmem_long_atomic_add(NULL, 1, 0))                  \
    X(shmem_long_atomic_add, BAD_ALIGN("dest"), shmem_long_atomic_add(ODD(words), 1, 0))           \
    X(shmem_long_atomic_fetch, BAD_PRIVATE("source"), (void)shmem_long_atomic_fetch(priv, 0))      \
    X(shmem_long_atomic_fetch, BAD_ALIGN("source"),                                                \
      (void)shmem_long_atomic_fetch(ODD(heap_words), 0))                                           \
    X(shmem_int_atomic_swap, BAD_PRIVATE("dest"), (void)shmem_int_atomic_swap((int *)priv, 1, 0))  \
    X(shmem_int_atomic_swap, BAD_ALIGN("dest"), (void)shmem_int_atomic_swap(ODD(words), 1, 0))     \
    X(shmem_double_atomic_set, BAD_ALIGN("dest"), shmem_double_atomic_set(ODD(words), 1, 0))       \
    X(shmem_long_atomic_compare_swap, BAD_PE("-1", "0"),                                           \
      (void)shmem_long_atomic_compare_swap(words, 1, 2, -1))                                       \
    X(shmem_uint64_atomic_xor, BAD_RANGE("dest", "8"),                                             \
      shmem_uint64_atomic_xor((uint64_t *)(void *)((char *)last + 4), 1, 0))                       \
    X(shmem_ctx_long_atomic_inc, BAD_CTX, shmem_ctx_long_atomic_inc(NO_CTX, words, 0))             \
    X(shmem_ctx_long_atomic_inc, BAD_CTX_NONE,                                                     \
      shmem_ctx_long_atomic_inc(SHMEM_CTX_INVALID, words, 0))                                      \
    X(shmem_long_atomic_fetch_add_nbi, BAD_PE("9", "0"),                                           \
      shmem_long_atomic_fetch_add_nbi(mine, words, 1, 9))

#define SIGNAL(X)                                                                                  \
    X(shmem_long_put_signal, "argument sig_op is 7, not SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",     \
      SIGNAL_PUT(words, 1, heap_words, 7, 0))                                                      \
    X(shmem_long_put_signal, BAD_PE("1", "0"),                                                     \
      SIGNAL_PUT(words, 1, heap_words, SHMEM_SIGNAL_SET, 1))                                       \
    X(shmem_long_put_signal, BAD_PRIVATE("dest"),                                                  \
      SIGNAL_PUT(priv, 1, heap_words, SHMEM_SIGNAL_SET, 0))                                        \
    X(shmem_long_put_signal, BAD_PRIVATE("sig_addr"),                                              \
      SIGNAL_PUT(words, 1, priv, SHMEM_SIGNAL_SET, 0))                                             \
    X(shmem_long_put_signal, BAD_NULL("sig_addr"),                                                 \
      SIGNAL_PUT(words, 0, NULL, SHMEM_SIGNAL_ADD, 0))                                             \
    X(shmem_long_put_signal, BAD_ALIGN("sig_addr"),                                                \
      SIGNAL_PUT(words, 1, ODD(heap_words), SHMEM_SIGNAL_ADD, 0))                                  \
    X(shmem_signal_set, BAD_PE("-1", "0"), shmem_signal_set((uint64_t *)words, 1, -1))             \
    X(shmem_signal_set, BAD_PRIVATE("sig_addr"), shmem_signal_set((uint64_t *)priv, 1, 0))         \
    X(shmem_signal_add, BAD_ALIGN("sig_addr"), shmem_signal_add(ODD(words), 1, 0))                 \
    X(shmem_ctx_signal_add, BAD_CTX, shmem_ctx_signal_add(NO_CTX, (uint64_t *)words, 1, 0))        \
    X(shmem_signal_fetch, BAD_PRIVATE("sig_addr"), (void)shmem_signal_fetch((uint64_t *)priv))     \
    X(shmem_signal_fetch, BAD_ALIGN("sig_addr"), (void)shmem_signal_fetch(ODD(words)))             \
    X(shmem_signal_wait_until, BAD_CMP("6"),                                                       \
      (void)shmem_signal_wait_until((uint64_t *)words, 6, 0))                                      \
    X(shmem_signal_wait_until, BAD_PRIVATE("sig_addr"),                                            \
      (void)shmem_signal_wait_until((uint64_t *)priv, SHMEM_CMP_GE, 0))

#define WAIT(X)                                                                                    \
    X(shmem_long_wait_until, BAD_CMP("-1"), shmem_long_wait_until(words, -1, 0))                   \
    X(shmem_long_wait_until, BAD_PRIVATE("ivars?"), shmem_long_wait_until(priv, SHMEM_CMP_GE, 0))  \
    X(shmem_long_wait_until, BAD_NULL("ivars?"), shmem_long_wait_until(NULL, SHMEM_CMP_GE, 0))     \
    X(shmem_long_wait_until, BAD_ALIGN("ivars?"),                                                  \
      shmem_long_wait_until(ODD(words), SHMEM_CMP_GE, 0))                                          \
    X(shmem_int_test, BAD_CMP("99"), (void)shmem_int_test(ints, 99, 0))                            \
    X(shmem_int_test, BAD_PRIVATE("ivars?"), (void)shmem_int_test((int *)priv, SHMEM_CMP_EQ, 0))   \
    X(shmem_long_wait_until_all, BAD_RANGE("ivars?", "16"),                                        \
      shmem_long_wait_until_all(last, 2, NULL, SHMEM_CMP_GE, 0))                                   \
    X(shmem_long_wait_until_any, BAD_RANGE("ivars?", "[0-9]+"),                                    \
      (void)shmem_long_wait_until_any(words, (size_t)-1, NULL, SHMEM_CMP_GE, 0))                   \
    X(shmem_long_wait_until_some, BAD_NULL("indices"),                                             \
      (void)shmem_long_wait_until_some(words, 2, NULL, NULL, SHMEM_CMP_EQ, 0))                     \
    X(shmem_long_test_all, BAD_PRIVATE("ivars?"),                                                  \
      (void)shmem_long_test_all(priv, 2, NULL, SHMEM_CMP_EQ, 0))                                   \
    X(shmem_long_test_all, BAD_RANGE("ivars?", "[0-9]+"),                                          \
      (void)shmem_long_test_all(words, SIZE_MAX / 8 + 2, NULL, SHMEM_CMP_EQ, 0))                   \
    X(shmem_long_test_any_vector, BAD_NULL("cmp_values"),                                          \
      (void)shmem_long_test_any_vector(words, 2, NULL, SHMEM_CMP_EQ, NULL))                        \
    X(shmem_long_test_some_vector, BAD_CMP("6"),                                                   \
      (void)shmem_long_test_some_vector(words, 2, indices, NULL, 6, mine))                         \
    X(shmem_long_wait_until_all_vector, BAD_PRIVATE("ivars?"),                                     \
      shmem_long_wait_until_all_vector(priv, 2, NULL, SHMEM_CMP_EQ, mine))

#define LOCK(X)                                                                                    \
    X(shmem_set_lock, BAD_PRIVATE("lock"), shmem_set_lock(priv))                                   \
    X(shmem_set_lock, BAD_NULL("lock"), shmem_set_lock(NULL))                                      \
    X(shmem_set_lock, BAD_ALIGN("lock"), shmem_set_lock(ODD(words)))                               \
    X(shmem_set_lock,                                                                              \
      "this PE has taken the lock at " AT " already; shmem_clear_lock releases it",                \
      (shmem_set_lock(words), shmem_set_lock(words)))                                              \
    X(shmem_set_lock, "the lock at " AT " holds 0x7, and is none yet: .*",                         \
      (memcpy(words, (int[]){7, 0}, 8), shmem_set_lock(words)))                                    \
    X(shmem_set_lock, "the lock at " AT " holds 0x7, and is none yet: .*",                         \
      (memcpy(words, (int[]){0, 7}, 8), shmem_set_lock(words)))                                    \
    X(shmem_test_lock, "the lock at " AT " holds 0x7, and is none yet: .*",                        \
      (memcpy(words, (int[]){7, 0}, 8), (void)shmem_test_lock(words)))                             \
    X(shmem_test_lock, BAD_PRIVATE("lock"), (void)shmem_test_lock(priv))                           \
    X(shmem_test_lock, "this PE has taken the lock at .*",                                         \
      ((void)shmem_test_lock(words), (void)shmem_test_lock(words)))                                \
    X(shmem_clear_lock, BAD_PRIVATE("lock"), shmem_clear_lock(priv))                               \
    X(shmem_clear_lock, "this PE does not hold the lock at " AT, shmem_clear_lock(words))

#define COLL(X)                                                                                    \
    X(shmem_team_sync, BAD_TEAM, (void)shmem_team_sync(NO_TEAM))                                   \
    X(shmem_long_broadcast, BAD_TEAM, (void)shmem_long_broadcast(NO_TEAM, words, words + 8, 1, 0)) \
    X(shmem_long_broadcast, BAD_ROOT("1"),                                                         \
      (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 1, 1))                        \
    X(shmem_long_broadcast, BAD_ROOT("-1"),                                                        \
      (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 1, -1))                       \
    X(shmem_long_broadcast, BAD_PRIVATE("dest"),                                                   \
      (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, priv, words, 1, 0))                             \
    X(shmem_long_broadcast, BAD_PRIVATE("source"),                                                 \
      (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, words, priv, 1, 0))                             \
    X(shmem_broadcastmem, BAD_RANGE("dest", "9"),                                                  \
      (void)shmem_broadcastmem(SHMEM_TEAM_WORLD, last, words, 9, 0))                               \
    X(shmem_long_collect, BAD_TEAM, (void)shmem_long_collect(NO_TEAM, words, words + 8, 1))        \
    X(shmem_long_collect, BAD_NULL("source"),                                                      \
      (void)shmem_long_collect(SHMEM_TEAM_WORLD, words, NULL, 1))                                  \
    X(shmem_long_fcollect, BAD_RANGE("dest", "16"),                                                \
      (void)shmem_long_fcollect(SHMEM_TEAM_WORLD, last, words, 2))                                 \
    X(shmem_long_alltoall, BAD_RANGE("source", "16"),                                              \
      (void)shmem_long_alltoall(SHMEM_TEAM_WORLD, words, last, 2))                                 \
    X(shmem_long_alltoalls, "arguments dst -1 and sst 1 must be at least 1",                       \
      (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, words, words + 8, -1, 1, 2))                    \
    X(shmem_long_alltoalls, "arguments dst 1 and sst 0 must be at least 1",                        \
      (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, words, words + 8, 1, 0, 2))                     \
    X(shmem_long_alltoalls, BAD_RANGE("dest", "24"),                                               \
      (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, last - 1, words, 2, 1, 2))                      \
    X(shmem_long_sum_reduce, BAD_TEAM, (void)shmem_long_sum_reduce(NO_TEAM, words, words + 8, 1))  \
    X(shmem_long_sum_reduce, BAD_PRIVATE("source"),                                                \
      (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, priv, 1))                               \
    X(shmem_long_sum_reduce, OVERLAP,                                                              \
      (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + 1, words, 4))                          \
    X(shmem_long_max_reduce, BAD_RANGE("dest", "[0-9]+"),                                          \
      (void)shmem_long_max_reduce(SHMEM_TEAM_WORLD, words, heap_words, (size_t)-1))                \
    X(shmem_long_sum_inscan, BAD_PRIVATE("dest"),                                                  \
      (void)shmem_long_sum_inscan(SHMEM_TEAM_WORLD, priv, words, 1))                               \
    X(shmem_long_sum_exscan, BAD_TEAM, (void)shmem_long_sum_exscan(NO_TEAM, words, words, 1))      \
    X(shmem_long_sum_exscan, OVERLAP,                                                              \
      (void)shmem_long_sum_exscan(SHMEM_TEAM_WORLD, words, words + 3, 4))

#define ACTIVE(X)                                                                                  \
    X(shmem_barrier, BAD_SET("0", "0", "2"), shmem_barrier(0, 0, 2, sync_words))                   \
    X(shmem_barrier, BAD_SET("-1", "0", "1"), shmem_barrier(-1, 0, 1, sync_words))                 \
    X(shmem_sync, BAD_SET("0", "-1", "1"), shmem_sync(0, -1, 1, sync_words))                       \
    X(shmem_sync, BAD_SET("0", "0", "0"), shmem_sync(0, 0, 0, sync_words))                         \
    X(shmem_broadcast64, BAD_ROOT("1"),                                                            \
      shmem_broadcast64(words, words + 8, 1, 1, 0, 0, 1, sync_words))                              \
    X(shmem_broadcast64, BAD_SET("0", "0", "0"),                                                   \
      shmem_broadcast64(words, words + 8, 1, 0, 0, 0, 0, sync_words))                              \
    X(shmem_broadcast64, BAD_PRIVATE("dest"),                                                      \
      shmem_broadcast64(priv, words, 1, 0, 0, 0, 1, sync_words))                                   \
    X(shmem_collect32, BAD_SET("1", "0", "1"),                                                     \
      shmem_collect32(words, words + 8, 1, 1, 0, 1, sync_words))                                   \
    X(shmem_fcollect64, BAD_RANGE("dest", "16"),                                                   \
      shmem_fcollect64(last, words, 2, 0, 0, 1, sync_words))                                       \
    X(shmem_alltoall64, BAD_PRIVATE("source"),                                                     \
      shmem_alltoall64(words, priv, 1, 0, 0, 1, sync_words))                                       \
    X(shmem_alltoalls32, "arguments dst 0 and sst 1 must be at least 1",                           \
      shmem_alltoalls32(words, words + 8, 0, 1, 2, 0, 0, 1, sync_words))                           \
    X(shmem_long_sum_to_all, BAD_SET("0", "21", "1"),                                              \
      shmem_long_sum_to_all(words, words + 8, 1, 0, 21, 1, words + 16, sync_words))                \
    X(shmem_long_sum_to_all, BAD_NULL("dest"),                                                     \
      shmem_long_sum_to_all(NULL, words, 1, 0, 0, 1, words + 16, sync_words))                      \
    X(shmem_long_sum_to_all, "argument nreduce is -4",                                             \
      shmem_long_sum_to_all(words, words + 8, -4, 0, 0, 1, words + 16, sync_words))

#define HEAP(X)                                                                                    \
    X(shmem_align, "argument alignment is 0, not a power of two", (void)shmem_align(0, 8))         \
    X(shmem_align, "argument alignment is 24, not a power of two", (void)shmem_align(24, 8))       \
    X(shmem_free, BAD_BLOCK, (shmem_free(heap_words), shmem_free(heap_words)))                     \
    X(shmem_free, BAD_BLOCK, shmem_free(heap_words + 1))                                           \
    X(shmem_free, BAD_BLOCK, shmem_free(heap_words + 8))                                           \
    X(shmem_free, BAD_BLOCK, shmem_free(ODD(heap_words)))                                          \
    X(shmem_free, BAD_BLOCK, shmem_free(last))                                                     \
    X(shmem_free, BAD_FOREIGN, shmem_free(last + 1))                                               \
    X(shmem_free, BAD_FOREIGN, shmem_free(priv))                                                   \
    X(shmem_free, BAD_FOREIGN, shmem_free(words))                                                  \
    X(shmem_free, BAD_FOREIGN, shmem_free((void *)8))                                              \
    X(shmem_realloc, BAD_BLOCK, (void)shmem_realloc(heap_words + 2, 100))                          \
    X(shmem_realloc, BAD_FOREIGN, (void)shmem_realloc(priv, 100))                                  \
    X(shmem_realloc, BAD_BLOCK, (shmem_free(heap_words), (void)shmem_realloc(heap_words, 4)))      \
    X(shmem_free, BAD_FOREIGN, shfree(priv))

#define TEAM(X)                                                                                    \
    X(shmem_team_my_pe, BAD_TEAM, (void)shmem_team_my_pe(NO_TEAM))                                 \
    X(shmem_team_n_pes, BAD_TEAM, (void)shmem_team_n_pes(NO_TEAM))                                 \
    X(shmem_team_get_config, BAD_TEAM, (void)shmem_team_get_config(NO_TEAM, 0, NULL))              \
    X(shmem_team_get_config, BAD_NULL("config"),                                                   \
      (void)shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, NULL))                \
    X(shmem_team_translate_pe, BAD_TEAM,                                                           \
      (void)shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, NO_TEAM))                                 \
    X(shmem_team_translate_pe, BAD_TEAM,                                                           \
      (void)shmem_team_translate_pe(NO_TEAM, 0, SHMEM_TEAM_WORLD))                                 \
    X(shmem_team_ptr, BAD_TEAM, (void)shmem_team_ptr(NO_TEAM, words, 0))                           \
    X(shmem_team_split_strided, BAD_TEAM,                                                          \
      (void)shmem_team_split_strided(NO_TEAM, 0, 1, 1, NULL, 0, &gone_team))                       \
    X(shmem_team_split_strided, BAD_NULL("new_team"),                                              \
      (void)shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL))                    \
    X(shmem_team_split_2d, BAD_TEAM,                                                               \
      (void)shmem_team_split_2d(NO_TEAM, 1, NULL, 0, &gone_team, NULL, 0, &gone_team))             \
    X(shmem_team_split_2d, BAD_NULL("[xy]axis_team"),                                              \
      (void)shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, NULL, NULL, 0, &gone_team))          \
    X(shmem_team_destroy, BAD_TEAM, shmem_team_destroy(NO_TEAM))                                   \
    X(shmem_team_destroy, "a predefined team cannot be destroyed",                                 \
      shmem_team_destroy(SHMEM_TEAM_WORLD))                                                        \
    X(shmem_team_destroy, "a predefined team cannot be destroyed",                                 \
      shmem_team_destroy(SHMEM_TEAM_SHARED))

#define CONTEXT(X)                                                                                 \
    X(shmem_ctx_create, BAD_NULL("ctx"), (void)shmem_ctx_create(0, NULL))                          \
    X(shmem_team_create_ctx, BAD_TEAM, (void)shmem_team_create_ctx(NO_TEAM, 0, &gone_ctx))         \
    X(shmem_ctx_destroy, BAD_CTX, shmem_ctx_destroy(NO_CTX))                                       \
    X(shmem_ctx_destroy, "SHMEM_CTX_DEFAULT cannot be destroyed",                                  \
      shmem_ctx_destroy(SHMEM_CTX_DEFAULT))                                                        \
    X(shmem_ctx_get_team, BAD_CTX, (void)shmem_ctx_get_team(NO_CTX, &gone_team))                   \
    X(shmem_ctx_get_team, BAD_NULL("team"), (void)shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL))     \
    X(shmem_ctx_session_start, BAD_CTX, shmem_ctx_session_start(NO_CTX, 0, NULL, 0))               \
    X(shmem_ctx_session_stop, BAD_CTX, shmem_ctx_session_stop(NO_CTX))                             \
    X(shmem_ctx_fence, BAD_CTX, shmem_ctx_fence(NO_CTX))                                           \
    X(shmem_ctx_quiet, BAD_CTX, shmem_ctx_quiet(NO_CTX))                                           \
    X(shmem_ctx_pe_quiet, BAD_CTX, shmem_ctx_pe_quiet(NO_CTX, (int[]){0}, 1))                      \
    X(shmem_ctx_pe_quiet, BAD_PE("1", "0"),                                                        \
      shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, (int[]){0, 1}, 2))                                     \
    X(shmem_pe_quiet, BAD_PE("-1", "0"), shmem_pe_quiet((int[]){0, -1}, 2))                        \
    X(shmem_pe_quiet, BAD_NULL("target_pes"), shmem_pe_quiet(NULL, 1))

// Handles that are gone: their memory may be looked at, but an address sanitizer objects.
#define GONE(X)                                                                                    \
    X(shmem_team_my_pe, BAD_TEAM, (void)shmem_team_my_pe(gone_team))                               \
    X(shmem_team_destroy, BAD_TEAM, shmem_team_destroy(gone_team))                                 \
    X(shmem_long_sum_reduce, BAD_TEAM, (void)shmem_long_sum_reduce(gone_team, words, words, 1))    \
    X(shmem_ctx_destroy, BAD_CTX, shmem_ctx_destroy(gone_ctx))                                     \
    X(shmem_ctx_long_put, BAD_CTX, shmem_ctx_long_put(gone_ctx, words, mine, 1, 0))                \
    X(shmem_ctx_long_atomic_inc, BAD_CTX, shmem_ctx_long_atomic_inc(gone_ctx, words, 0))

// Before shmem_init
#define EARLY(X)                                                                                   \
    X(shmem_my_pe, NOT_UP, (void)shmem_my_pe())                                                    \
    X(shmem_n_pes, NOT_UP, (void)shmem_n_pes())                                                    \
    X(shmem_finalize, NOT_UP, shmem_finalize())                                                    \
    X(shmem_global_exit, NOT_UP, shmem_global_exit(0))                                             \
    X(shmem_barrier_all, NOT_UP, shmem_barrier_all())                                              \
    X(shmem_malloc, NOT_UP, (void)shmem_malloc(8))                                                 \
    X(shmem_free, NOT_UP, shmem_free(NULL))                                                        \
    X(shmem_long_put, NOT_UP, shmem_long_put(words, mine, 1, 0))                                   \
    X(shmem_long_put, NOT_UP, shmem_long_put(NULL, NULL, 0, 0))                                    \
    X(shmem_ctx_long_get, NOT_UP, shmem_ctx_long_get(SHMEM_CTX_DEFAULT, mine, words, 1, 0))        \
    X(shmem_long_iput, NOT_UP, shmem_long_iput(words, mine, 1, 1, 1, 0))                           \
    X(shmem_long_atomic_inc, NOT_UP, shmem_long_atomic_inc(words, 0))                              \
    X(shmem_signal_fetch, NOT_UP, (void)shmem_signal_fetch((uint64_t *)words))                     \
    X(shmem_long_wait_until, NOT_UP, shmem_long_wait_until(words, SHMEM_CMP_EQ, 0))                \
    X(shmem_fence, NOT_UP, shmem_fence())                                                          \
    X(shmem_quiet, NOT_UP, shmem_quiet())                                                          \
    X(shmem_set_lock, NOT_UP, shmem_set_lock(words))                                               \
    X(shmem_team_my_pe, NOT_UP, (void)shmem_team_my_pe(SHMEM_TEAM_WORLD))                          \
    X(shmem_team_sync, NOT_UP, (void)shmem_team_sync(SHMEM_TEAM_WORLD))                            \
    X(shmem_ctx_create, NOT_UP, (void)shmem_ctx_create(0, &gone_ctx))                              \
    X(shmem_long_sum_reduce, NOT_UP,                                                               \
      (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1))                              \
    X(shmem_barrier, NOT_UP, shmem_barrier(0, 0, 1, sync_words))                                   \
    X(shmem_broadcast64, NOT_UP,                                                                   \
      shmem_broadcast64(words, words + 8, 1, 0, 0, 0, 1, sync_words))                              \
    X(shmem_ptr, NOT_UP, (void)shmem_ptr(words, 0))                                                \
    X(shmem_query_thread, NOT_UP, shmem_query_thread(ints))

// Allowed: nothing to move, so the pointers do not matter; calls that answer instead of dying.
#define FINE(X)                                                                                    \
    X(put of nothing, NULL, shmem_long_put(NULL, NULL, 0, 0))                                      \
    X(put of nothing to private memory, NULL, shmem_long_put(priv, NULL, 0, 0))                    \
    X(put of nothing at the end of the heap, NULL, shmem_long_put(last + 1, mine, 0, 0))           \
    X(get of nothing, NULL, shmem_long_get(NULL, (long *)16, 0, 0))                                \
    X(iput of nothing, NULL, shmem_long_iput(NULL, NULL, 1, 1, 0, 0))                              \
    X(ibput of empty blocks, NULL, shmem_long_ibput(NULL, NULL, 1, 1, 0, 0, 0))                    \
    X(put_signal of nothing, NULL,                                                                 \
      (SIGNAL_PUT(NULL, 0, words, SHMEM_SIGNAL_SET, 0), answer(words[0] == 1)))                    \
    X(broadcast of nothing, NULL,                                                                  \
      answer(shmem_long_broadcast(SHMEM_TEAM_WORLD, NULL, NULL, 0, 0) == 0))                       \
    X(collect of nothing, NULL,                                                                    \
      answer(shmem_long_collect(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0))                            \
    X(fcollect of nothing, NULL,                                                                   \
      answer(shmem_long_fcollect(SHMEM_TEAM_WORLD, NULL, priv, 0) == 0))                           \
    X(alltoall of nothing, NULL,                                                                   \
      answer(shmem_long_alltoall(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0))                           \
    X(reduce of nothing, NULL,                                                                     \
      answer(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0))                         \
    X(scan of nothing, NULL,                                                                       \
      answer(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0))                         \
    X(wait for nothing, NULL, shmem_long_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 0))           \
    X(test of nothing, NULL,                                                                       \
      answer(shmem_long_test_any(NULL, 0, NULL, SHMEM_CMP_EQ, 0) == SIZE_MAX))                     \
    X(quiet for no PE, NULL, shmem_pe_quiet(NULL, 0))                                              \
    X(free of NULL, NULL, shmem_free(NULL))                                                        \
    X(fence on no context, NULL, shmem_ctx_fence(SHMEM_CTX_INVALID))                               \
    X(quiet on no context, NULL, shmem_ctx_quiet(SHMEM_CTX_INVALID))                               \
    X(destroy no context, NULL, shmem_ctx_destroy(SHMEM_CTX_INVALID))                              \
    X(session of no context, NULL,                                                                 \
      (shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0),                                     \
       shmem_ctx_session_stop(SHMEM_CTX_INVALID)))                                                 \
    X(team of no context, NULL,                                                                    \
      (answer(shmem_ctx_get_team(SHMEM_CTX_INVALID, &gone_team) != 0),                             \
       answer(gone_team == SHMEM_TEAM_INVALID)))                                                   \
    X(context on no team, NULL,                                                                    \
      (gone_ctx = SHMEM_CTX_DEFAULT,                                                               \
       answer(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &gone_ctx) != 0),                       \
       answer(gone_ctx == SHMEM_CTX_INVALID)))                                                     \
    X(no team: my_pe, NULL, answer(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1))                    \
    X(no team: n_pes, NULL, answer(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1))                    \
    X(no team: get_config, NULL,                                                                   \
      answer(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0))                             \
    X(no team: translate_pe, NULL,                                                                 \
      (answer(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1),             \
       answer(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1)))            \
    X(translate_pe of no such PE, NULL,                                                            \
      (answer(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) == -1),              \
       answer(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, SHMEM_TEAM_WORLD) == -1)))              \
    X(no team: ptr, NULL, answer(shmem_team_ptr(SHMEM_TEAM_INVALID, words, 0) == NULL))            \
    X(no team: sync, NULL, answer(shmem_team_sync(SHMEM_TEAM_INVALID) != 0))                       \
    X(no team: destroy, NULL, shmem_team_destroy(SHMEM_TEAM_INVALID))                              \
    X(no team: broadcast, NULL,                                                                    \
      answer(shmem_long_broadcast(SHMEM_TEAM_INVALID, words, words + 8, 1, 0) != 0))               \
    X(no team: reduce, NULL,                                                                       \
      answer(shmem_long_sum_reduce(SHMEM_TEAM_INVALID, words, words + 8, 1) != 0))                 \
    X(no team: split_strided, NULL,                                                                \
      (gone_team = SHMEM_TEAM_WORLD,                                                               \
       answer(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &gone_team) != 0),    \
       answer(gone_team == SHMEM_TEAM_INVALID)))                                                   \
    X(no team: split_2d, NULL,                                                                     \
      answer(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &gone_team, NULL, 0,              \
                                 &gone_team) != 0))                                                \
    X(bad triplet: start, NULL, answer(split(-1, 1, 1)))                                           \
    X(bad triplet: start past the end, NULL, answer(split(1, 1, 1)))                               \
    X(bad triplet: size, NULL, answer(split(0, 1, 2)))                                             \
    X(bad triplet: no size, NULL, answer(split(0, 1, 0)))                                          \
    X(bad triplet: negative size, NULL, answer(split(0, 1, -1)))                                   \
    X(bad triplet: stride, NULL, answer(split(0, INT_MAX, INT_MAX)))                               \
    X(ptr to private memory, NULL, answer(shmem_ptr(priv, 0) == NULL))                             \
    X(ptr to no such PE, NULL,                                                                     \
      (answer(shmem_ptr(words, 1) == NULL), answer(shmem_ptr(words, -1) == NULL)))                 \
    X(team_ptr to no such PE, NULL, answer(shmem_team_ptr(SHMEM_TEAM_WORLD, words, 1) == NULL))    \
    X(addr_accessible, NULL,                                                                       \
      (answer(!shmem_addr_accessible(priv, 0)), answer(!shmem_addr_accessible(NULL, 0)),           \
       answer(!shmem_addr_accessible(words, 1)), answer(!shmem_addr_accessible(last + 1, 0))))     \
    X(pe_accessible, NULL,                                                                         \
      (answer(!shmem_pe_accessible(-1)), answer(!shmem_pe_accessible(1))))

// With SHOAL_CHECK=0 the buffers of collectives are not looked at; what a data call is given is
// still checked, because finding the address of the peer's object is the check.
#define UNCHECKED(X)                                                                               \
    X(unchecked broadcast, NULL,                                                                   \
      answer(shmem_long_broadcast(SHMEM_TEAM_WORLD, words, priv, 1, 0) == 0))                      \
    X(unchecked reduce, NULL,                                                                      \
      (answer(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, priv, 1) == 0),                       \
       answer(words[0] == 77)))                                                                    \
    X(shmem_team_sync, BAD_TEAM, (void)shmem_team_sync(NO_TEAM))                                   \
    X(shmem_long_put, BAD_PE("1", "0"), shmem_long_put(words, mine, 1, 1))                         \
    X(shmem_long_put, BAD_PRIVATE("dest"), shmem_long_put(priv, mine, 1, 0))

#endif
