// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// How fast one PE learns what another did: flags, signals, barriers. With more than two PEs only
// the barrier and the short reduction, which then share cores.
#include "bench.h"

#include "coll_calls.h"

enum { TRIPS = 300, BULK = 4096, LINE = 64 };

// The two lines of a ping-pong, in symmetric memory: the peer writes them, this PE polls.
struct lane {
    _Alignas(LINE) long flag;
    _Alignas(LINE) uint64_t signal;
    _Alignas(LINE) long data[BULK / sizeof(long)];
};

static void send_flag(struct lane *lane, long seq, long *src, size_t n, int to)
{
    (void)src;
    (void)n;
    shmem_long_p(&lane->flag, seq, to);
}

static void await_flag(struct lane *lane, long seq)
{
    shmem_long_wait_until(&lane->flag, SHMEM_CMP_EQ, seq);
}

#if HAVE_TEAMS
#define MARK ""
static void send_signal(struct lane *lane, long seq, long *src, size_t n, int to)
{
    src[0] = seq;
    shmem_putmem_signal(lane->data, src, n, &lane->signal, (uint64_t)seq, SHMEM_SIGNAL_SET, to);
}

static void await_signal(struct lane *lane, long seq)
{
    shmem_signal_wait_until(&lane->signal, SHMEM_CMP_EQ, (uint64_t)seq);
    if (lane->data[0] != seq)
        abort();
}
#else
#define MARK EMULATED
static void send_signal(struct lane *lane, long seq, long *src, size_t n, int to)
{
    src[0] = seq;
    shmem_putmem(lane->data, src, n, to);
    shmem_fence();
    shmem_long_p((long *)&lane->signal, seq, to);
}

static void await_signal(struct lane *lane, long seq)
{
    shmem_long_wait_until((long *)&lane->signal, SHMEM_CMP_EQ, seq);
    if (lane->data[0] != seq)
        abort();
}
#endif

typedef void send_fn(struct lane *, long, long *, size_t, int);
typedef void await_fn(struct lane *, long);

static inline double one_way(struct lane *lane, size_t n, send_fn *send, await_fn *await)
{
    static long seq, src[BULK / sizeof(long)];
    int me = shmem_my_pe();
    double least = 0;
    shmem_barrier_all();
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now_ns();
        for (int i = 0; i < TRIPS; i++) {
            seq++;
            if (me == 0)
                send(lane, seq, src, n, 1);
            await(lane, seq);
            if (me == 1)
                send(lane, seq, src, n, 0);
        }
        keep_least(&least, (now_ns() - start) / TRIPS / 2);
    }
    return least;
}

static void ping_pongs(struct lane *lane)
{
    double flag = one_way(lane, 8, send_flag, await_flag);
    double signal = one_way(lane, 8, send_signal, await_signal);
    double bulk = one_way(lane, BULK, send_signal, await_signal);
    if (shmem_my_pe() != 0)
        return;
    figure("flag", -1, flag, "ns");
    figure("put_signal_8", -1, signal, "ns" MARK);
    figure("put_signal_4096", -1, bulk, "ns" MARK);
}

static void everybody(long *dest, long *src)
{
    int npes = shmem_n_pes();
    double barrier, sum;
    FASTEST(barrier, npes > 2 ? BATCHES / 4 : BATCHES, npes > 2 ? 30 : 300, shmem_barrier_all());
    FASTEST(sum, npes > 2 ? BATCHES / 4 : BATCHES, npes > 2 ? 30 : 300, all_sum_long(dest, src, 1));
    if (shmem_my_pe() != 0)
        return;
    figure("barrier", npes, barrier, "ns");
    figure("sum_8", npes, sum, "ns");
}

int main(void)
{
    shmem_init();
    pin(shmem_my_pe());
    coll_begin();
    struct lane *lane = shmem_align(LINE, sizeof *lane);
    long *dest = shmem_malloc(64), *src = shmem_malloc(64);
    memset(lane, 0, sizeof *lane);
    src[0] = 1;
    if (shmem_n_pes() == 2)
        ping_pongs(lane);
    shmem_barrier_all();
    everybody(dest, src);
    fflush(stdout);
    shmem_barrier_all();
    shmem_free(src);
    shmem_free(dest);
    shmem_free(lane);
    shmem_finalize();
    return 0;
}
