// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// adversary_bugs fence|quiet|signal|reuse wrong|right: programs with one synchronization missing,
// and the same with it; count right: one that needs none. The first half of the PEs works with the
// other half, which is on another node. adversary.sh runs them; what it must find is printed as
// "late: ...".
#include "../check.h"

#include <shoal.h>

enum { ROUNDS = 20, WORDS = 16, MANY = 1024 }; // a put of MANY is not gathered

static long data[WORDS], flag, answer;
static bool is_right;

static bool all_are(const long *words, int n, long value)
{
    for (int i = 0; i < n; i++)
        if (words[i] != value) {
            if (check_count())
                fprintf(stderr, "late: PE %d: word %d is %ld, not %ld\n", me, i, words[i], value);
            return false;
        }
    return true;
}

static void put_data(long value, int pe)
{
    long words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = value;
    shmem_long_put(data, words, WORDS, pe);
}

// Data, then a flag, to the same PE; between them a fence, or not.
static void without_fence(int half)
{
    for (long round = 1; round <= ROUNDS; round++) {
        if (me < half) {
            put_data(round, me + half);
            if (is_right)
                shmem_fence();
            shmem_long_p(&flag, round, me + half);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, round);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            all_are(data, WORDS, round);
            shmem_long_p(&answer, round, me - half);
        }
    }
}

// Data to one PE, then a flag to another one, which looks at the data. A fence is not enough.
static void without_quiet(int half)
{
    int reader = half + (me + 1) % half;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me < half) {
            put_data(round, me + half);
            if (is_right)
                shmem_quiet();
            else
                shmem_fence();
            shmem_long_p(&flag, round, reader);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, round);
        } else {
            int writer = (me + half - 1) % half;
            long got[WORDS];
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            shmem_long_get(got, data, WORDS, writer + half);
            all_are(got, WORDS, round);
            shmem_long_p(&answer, round, writer);
        }
    }
}

// A signal is ordered with its own data, not with what was put before.
static void before_signal(int half)
{
    static uint64_t signal;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me < half) {
            put_data(round, me + half);
            if (is_right)
                shmem_fence();
            shmem_signal_set(&signal, (uint64_t)round, me + half);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, round);
        } else {
            shmem_signal_wait_until(&signal, SHMEM_CMP_GE, (uint64_t)round);
            all_are(data, WORDS, round);
            shmem_long_p(&answer, round, me - half);
        }
    }
}

// A count comes after what its thread has put.
static void before_count(int half)
{
    shoal_ct_t ct;
    CHECK_EQ(shoal_init(), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), SHOAL_OK);
    for (long round = 1; round <= ROUNDS; round++) {
        uint64_t threshold = (uint64_t)round;
        if (me < half) {
            int words = round % 2 ? WORDS : 1; // gathered alone, too
            shmem_long_put(data, (long[WORDS]){[0] = round, [WORDS - 1] = round}, (size_t)words,
                           me + half);
            CHECK_EQ(shoal_ct_inc(me + half, ct, (shoal_ct_value_t){1, 0}), SHOAL_OK);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, round);
        } else {
            CHECK_EQ(shoal_ct_wait(1, &ct, &threshold, NULL), SHOAL_OK);
            all_are(data, 1, round);
            shmem_long_p(&answer, round, me - half);
        }
    }
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct), SHOAL_OK);
    shoal_finalize();
}

// A source that is overwritten before the nonblocking put of it is complete.
static void without_wait(int half)
{
    static long kept[ROUNDS][MANY];
    long words[MANY];
    for (long round = 0; round < ROUNDS && me < half; round++) {
        for (int i = 0; i < MANY; i++)
            words[i] = round + 1;
        shmem_long_put_nbi(kept[round], words, MANY, me + half);
        if (is_right)
            shmem_quiet();
    }
    shmem_barrier_all();
    for (long round = 0; round < ROUNDS && me >= half; round++)
        all_are(kept[round], MANY, round + 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int half);
    } bugs[] = {{"fence", without_fence},
                {"quiet", without_quiet},
                {"signal", before_signal},
                {"count", before_count},
                {"reuse", without_wait}};
    check_start();
    is_right = argc > 2 && strcmp(argv[2], "right") == 0;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        if (argc > 1 && strcmp(argv[1], bugs[i].name) == 0)
            bugs[i].run(npes / 2);
    shmem_barrier_all();
    return check_done();
}
