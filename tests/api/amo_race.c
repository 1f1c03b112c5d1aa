// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 1 2 4 7 16
// Atomics against each other: all PEs hammer the same words, and nothing may be lost or counted
// twice, whatever mix of operations is used.
#include "../check.h"
#include "types.h"

enum { ROUNDS = 10000 };

// inc, fetch_inc, add, fetch_add, their nonblocking forms and a compare_swap loop on one word.
#define X(T, N)                                                                                 \
    static void count_##N(int owner)                                                            \
    {                                                                                           \
        static T word[3];                                                                       \
        T old, added, seen;                                                                     \
        shmem_barrier_all();                                                                    \
        for (int i = 0; i < ROUNDS; i++) {                                                      \
            shmem_##N##_atomic_inc(&word[1], owner);                                            \
            seen = shmem_##N##_atomic_fetch_inc(&word[1], owner);                               \
            CHECK(seen >= 1);                                                                   \
            shmem_##N##_atomic_add(&word[1], 2, owner);                                         \
            shmem_##N##_atomic_fetch_add_nbi(&added, &word[1], 3, owner);                       \
            shmem_##N##_atomic_fetch_inc_nbi(&old, &word[1], owner);                            \
            shmem_quiet();                                                                      \
            CHECK(old > seen && added > seen);                                                  \
            do                                                                                  \
                old = shmem_##N##_atomic_fetch(&word[1], owner);                                \
            while (shmem_##N##_atomic_compare_swap(&word[1], old, (T)(old + 2), owner) != old); \
        }                                                                                       \
        shmem_barrier_all();                                                                    \
        if (me == owner)                                                                        \
            CHECK_EQ(word[1], (T)(10 * ROUNDS) * (T)npes);                                      \
        CHECK(word[0] == 0 && word[2] == 0);                                                    \
    }
EACH_AMO(X)
#undef X

// Every PE owns one bit of a word and sets, clears and flips it; the others' bits must not show it.
#define X(T, N)                                                                          \
    static void bits_##N(int owner)                                                      \
    {                                                                                    \
        static T word;                                                                   \
        T mine = (T)((T)1 << (me % (8 * sizeof(T)))), old;                               \
        bool alone = npes <= (int)(8 * sizeof(T));                                       \
        shmem_barrier_all();                                                             \
        for (int i = 0; i < ROUNDS && alone; i++) {                                      \
            CHECK_EQ(shmem_##N##_atomic_fetch_or(&word, mine, owner) & mine, 0);         \
            CHECK_EQ(shmem_##N##_atomic_fetch_xor(&word, mine, owner) & mine, mine);     \
            shmem_##N##_atomic_xor(&word, mine, owner);                                  \
            CHECK_EQ(shmem_##N##_atomic_fetch_and(&word, (T)~mine, owner) & mine, mine); \
            shmem_##N##_atomic_or(&word, mine, owner);                                   \
            shmem_##N##_atomic_fetch_and_nbi(&old, &word, (T)~mine, owner);              \
            shmem_quiet();                                                               \
            CHECK_EQ(old &mine, mine);                                                   \
        }                                                                                \
        shmem_##N##_atomic_or(&word, mine, owner);                                       \
        shmem_barrier_all();                                                             \
        T all = 0;                                                                       \
        for (int pe = 0; pe < npes; pe++)                                                \
            all |= (T)((T)1 << (pe % (8 * sizeof(T))));                                  \
        if (me == owner)                                                                 \
            CHECK_EQ(word, all);                                                         \
    }
EACH_AMO_BITWISE(X)
#undef X

// Tickets from fetch_inc are handed out once each.
static void tickets(void)
{
    static uint64_t next;
    int total = ROUNDS * npes;
    int *taken = must_shmalloc(sizeof(int) * (size_t)total);
    memset(taken, 0, sizeof(int) * (size_t)total);
    shmem_barrier_all();
    uint64_t last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t t = shmem_uint64_atomic_fetch_inc(&next, npes - 1);
        CHECK(t < (uint64_t)total && (i == 0 || t > last));
        if (t < (uint64_t)total)
            shmem_int_atomic_inc(&taken[t], 0);
        last = t;
    }
    shmem_barrier_all();
    if (me == 0)
        CHECK_EACH(i, total, taken[i], 1);
    shmem_free(taken);
}

// Swaps pass values on: what went in comes out once, or is the last one there.
#define X(T, N)                                                 \
    static void swaps_##N(void)                                 \
    {                                                           \
        static T word;                                          \
        static int64_t out_sum, in_sum;                         \
        int64_t in = 0, out = 0;                                \
        shmem_barrier_all();                                    \
        for (int i = 0; i < ROUNDS; i++) {                      \
            T v = (T)(me * ROUNDS + i + 1), old;                \
            in += (int64_t)v;                                   \
            if (i % 2 == 0) {                                   \
                old = shmem_##N##_atomic_swap(&word, v, 0);     \
            } else {                                            \
                shmem_##N##_atomic_swap_nbi(&old, &word, v, 0); \
                shmem_quiet();                                  \
            }                                                   \
            out += (int64_t)old;                                \
        }                                                       \
        shmem_int64_atomic_add(&in_sum, in, 0);                 \
        shmem_int64_atomic_add(&out_sum, out, 0);               \
        shmem_barrier_all();                                    \
        if (me == 0)                                            \
            CHECK_EQ(out_sum + (int64_t)word, in_sum);          \
    }
EACH_AMO(X)
EACH_AMO_FLOAT(X)
#undef X

int main(void)
{
    check_start();
    check_spread();
    int owner = 0;
#define X(T, N) count_##N(owner++ % npes);
    EACH_AMO(X)
#undef X
#define X(T, N) bits_##N(owner++ % npes);
    EACH_AMO_BITWISE(X)
#undef X
    tickets();
#define X(T, N) swaps_##N();
    EACH_AMO(X)
    EACH_AMO_FLOAT(X)
#undef X
    return check_done();
}
