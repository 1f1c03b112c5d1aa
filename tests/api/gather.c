// SPDX-License-Identifier: BSD-3-Clause
// TIMEOUT: 90
// Small puts and atomics that may be gathered: what they leave behind, fences between them and what
// goes by itself, signals, contexts and sessions; and a PE that puts and then only computes.
#include "../check.h"

enum { MANY = 3000, WORDS = 512, LARGE = 8192, ROUNDS = 40 };

static long words[WORDS], sums[WORDS], flag, answer;
static uint64_t signal_word;
static char *bulk;

// Every size up to well over what is gathered, side by side.
static void sizes(void)
{
    enum { MOST = 400 };
    static unsigned char from[MOST];
    unsigned char *to = (unsigned char *)bulk;
    size_t at = 0;
    for (size_t n = 1; n <= MOST && at + n <= LARGE * 8; at += n, n += n < 20 ? 1 : 37) {
        for (size_t i = 0; i < n; i++)
            from[i] = (unsigned char)(me + n + i);
        shmem_putmem(to + at, from, n, right_pe());
        memset(from, 0xee, n); // it has been copied
    }
    shmem_barrier_all();
    at = 0;
    for (size_t n = 1; n <= MOST && at + n <= LARGE * 8; at += n, n += n < 20 ? 1 : 37)
        for (size_t i = 0; i < n; i++)
            if (!CHECK_EQ(to[at + i], (unsigned char)(left_pe() + n + i)))
                return;
    shmem_barrier_all();
}

// Each PE to all others, atomics without a result and puts mixed; quiet means done at the target.
static void many(void)
{
    for (int i = 0; i < MANY; i++) {
        int pe = (me + i) % npes;
        shmem_long_atomic_add(&sums[i % WORDS], 3, pe);
        shmem_long_atomic_inc(&sums[i % WORDS], pe);
        if (pe == right_pe())
            shmem_long_p(&words[i % WORDS], me * 100000L + i, pe);
    }
    shmem_quiet();
    for (int i = MANY - npes; i < MANY; i++)
        if ((me + i) % npes == right_pe())
            CHECK_EQ(shmem_long_g(&words[i % WORDS], right_pe()), me * 100000L + i);
    shmem_barrier_all();
    long all = 0;
    for (int i = 0; i < WORDS; i++)
        all += sums[i];
    long mine = 0;
    for (int from = 0; from < npes; from++)
        for (int i = 0; i < MANY; i++)
            mine += (from + i) % npes == me ? 4 : 0;
    CHECK_EQ(all, mine);
    shmem_barrier_all();
}

// A fence between what is gathered and what goes by itself, both ways round.
static void fences(void)
{
    long *large = (long *)bulk, source[LARGE / sizeof(long)];
    for (long round = 1; round <= ROUNDS; round++) {
        for (size_t i = 0; i < LARGE / sizeof(long); i++)
            source[i] = round;
        shmem_long_p(&words[0], round, right_pe());
        shmem_fence();
        shmem_putmem(large, source, LARGE, right_pe());
        shmem_fence();
        shmem_long_p(&words[1], round, right_pe());
        shmem_fence();
        shmem_long_atomic_set(&flag, round, right_pe());
        shmem_long_wait_until(&large[0], SHMEM_CMP_GE, round);
        CHECK_EQ(words[0], round);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK_EQ(words[1], round);
        CHECK_EQ(large[LARGE / sizeof(long) - 1], round);
        shmem_barrier_all();
    }
}

static void signals(void)
{
    long *to = (long *)bulk, source[LARGE / sizeof(long)];
    for (long round = 1; round <= ROUNDS; round++) {
        size_t n = round % 3 == 0 ? LARGE / sizeof(long) : (size_t)round % 5;
        for (size_t i = 0; i < n; i++)
            source[i] = -round;
        if (round % 2)
            shmem_long_put_signal(to, source, n, &signal_word, 1, SHMEM_SIGNAL_ADD, right_pe());
        else
            shmem_long_put_signal_nbi(to, source, n, &signal_word, (uint64_t)round,
                                      SHMEM_SIGNAL_SET, right_pe());
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)round);
        for (size_t i = 0; i < n; i++)
            if (!CHECK_EQ(to[i], -round))
                break;
        shmem_quiet();
        shmem_barrier_all();
    }
}

// The put must leave although this PE calls nothing more until it is answered.
static void computing(void)
{
    flag = answer = 0;
    shmem_barrier_all();
    if (me % 2 == 0 && me + 1 < npes) {
        shmem_long_p(&flag, 7, me + 1);
        while (!__atomic_load_n(&answer, __ATOMIC_ACQUIRE))
            ;
        CHECK_EQ(answer, 8);
    } else if (me % 2) {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
        shmem_long_atomic_set(&answer, 8, me - 1);
        shmem_quiet();
    }
    shmem_barrier_all();
}

static void contexts(void)
{
    shmem_ctx_t a, b;
    shmem_ctx_session_config_t config = {.total_ops = MANY};
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &a), 0);
    CHECK_EQ(shmem_ctx_create(0, &b), 0);
    shmem_ctx_session_start(b, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < WORDS; i++) {
        shmem_ctx_long_p(a, &words[i], i, right_pe());
        shmem_ctx_long_atomic_set(b, &sums[i], i + 1, right_pe());
    }
    shmem_ctx_quiet(a);
    for (int i = 0; i < WORDS; i += 31)
        CHECK_EQ(shmem_long_g(&words[i], right_pe()), i);
    shmem_ctx_session_stop(b);
    shmem_ctx_quiet(b);
    for (int i = 0; i < WORDS; i += 31)
        CHECK_EQ(shmem_long_g(&sums[i], right_pe()), i + 1);
    shmem_barrier_all();
    shmem_ctx_long_p(a, &words[0], -1, right_pe());
    shmem_ctx_long_p(b, &words[1], -2, right_pe());
    shmem_ctx_destroy(a);
    shmem_ctx_destroy(b);
    shmem_barrier_all();
    CHECK_EQ(words[0], -1);
    CHECK_EQ(words[1], -2);
    shmem_barrier_all();
}

// One word wanted by atomics of this PE's processor and of all the others.
static void mixed(void)
{
    static long word;
    static unsigned long bits;
    for (int i = 0; i < 200; i++) {
        shmem_long_atomic_inc(&word, 0);
        shmem_long_atomic_fetch_add(&word, 2, 0);
        shmem_ulong_atomic_xor(&bits, 1UL << me % 60, 0);
    }
    long before = shmem_long_atomic_fetch(&word, 0);
    shmem_long_atomic_add(&word, 5, 0);
    shmem_fence();
    CHECK(shmem_long_atomic_fetch(&word, 0) >= before + 5);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(word, npes * 605L);
        CHECK_EQ(bits, 0);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    bulk = shmem_malloc(LARGE * 8);
    memset(bulk, 0, LARGE * 8);
    shmem_barrier_all();
    sizes();
    many();
    memset(bulk, 0, LARGE * 8);
    shmem_barrier_all();
    fences();
    signals();
    computing();
    contexts();
    mixed();
    shmem_free(bulk);
    return check_done();
}
