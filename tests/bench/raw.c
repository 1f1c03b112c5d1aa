// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// The machine's limits, without any library: what two processes on two cores that share memory can
// do at best, and what it costs to change processes on one core.
#include "bench.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LINE = 64, TRIPS = 500, SWITCHES = 100 };

// One direction of a ping-pong: written by one process, polled by the other.
struct lane {
    _Alignas(LINE) _Atomic uint64_t flag;
    _Alignas(LINE) uint64_t data;
};

struct shared {
    struct lane lane[2];
    _Alignas(LINE) _Atomic uint32_t word; // futex
    _Atomic uint32_t started;
};

static void *map_shared(size_t bytes)
{
    int fd = memfd_create("raw", 0);
    if (fd < 0 || ftruncate(fd, (off_t)bytes)) {
        perror("raw: memfd");
        exit(1);
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        perror("raw: mmap");
        exit(1);
    }
    return at;
}

struct variant {
    bool with_data; // a second line travels ahead of the flag
    bool with_pause;
};

static inline void await(struct lane *lane, uint64_t seq, struct variant v)
{
    while (atomic_load_explicit(&lane->flag, memory_order_acquire) != seq)
        if (v.with_pause) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    if (v.with_data && lane->data != seq)
        abort();
}

static inline void tell(struct lane *lane, uint64_t seq, struct variant v)
{
    if (v.with_data)
        lane->data = seq;
    atomic_store_explicit(&lane->flag, seq, memory_order_release);
}

static double trips(struct shared *s, int me, struct variant v, uint64_t *seq)
{
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        ++*seq;
        if (me == 0)
            tell(&s->lane[1], *seq, v);
        await(&s->lane[me], *seq, v);
        if (me == 1)
            tell(&s->lane[0], *seq, v);
    }
    return (now_ns() - start) / TRIPS / 2;
}

static double one_way(bool with_data)
{
    struct shared *s = map_shared(sizeof *s);
    pid_t child = fork();
    int me = child == 0;
    uint64_t seq = 0;
    double least = 0;
    pin(me);
    for (int with_pause = 0; with_pause < 2; with_pause++)
        for (int batch = 0; batch < 2 * BATCHES; batch++)
            keep_least(&least, trips(s, me, (struct variant){with_data, with_pause}, &seq));
    if (me)
        _exit(0);
    waitpid(child, NULL, 0);
    return least;
}

static void copies(size_t n)
{
    char *from = aligned_alloc(4096, n), *to = map_shared(n);
    double least;
    memset(from, 1, n);
    memset(to, 2, n);
    FASTEST(least, BATCHES, n < 1 << 20 ? 100 : 1, memcpy(to, from, n));
    figure("memcpy", (long)n, least, "ns");
    free(from);
    munmap(to, n);
}

static void words(void)
{
    _Atomic long *w = map_shared(4096);
    double least;
    FASTEST(least, BATCHES, 10000, atomic_store_explicit(w + (i & 63), i, memory_order_relaxed));
    figure("store", -1, least, "ns");
    figure("store_rate", -1, 1e3 / least, "M/s");
    FASTEST(least, BATCHES, 10000, (void)atomic_load_explicit(w + (i & 63), memory_order_relaxed));
    figure("load", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, atomic_fetch_add(w, 1));
    figure("fetch_add", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, long old = i; atomic_compare_exchange_strong(w, &old, i + 1));
    figure("compare_swap", -1, least, "ns");
}

static long switches_so_far(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_nvcsw + r.ru_nivcsw;
}

// Two processes on one core give way to each other; the kernel tells how often they did change.
static double by_yield(struct shared *s, int me)
{
    double least = 0;
    (void)s;
    (void)me;
    for (int batch = 0; batch < BATCHES; batch++) {
        long before = switches_so_far();
        double start = now_ns();
        for (int i = 0; i < SWITCHES; i++)
            sched_yield();
        long changed = switches_so_far() - before;
        if (changed >= SWITCHES / 2)
            keep_least(&least, (now_ns() - start) / (double)changed / 2);
    }
    return least;
}

static double by_futex(struct shared *s, int me)
{
    double least = 0;
    uint32_t seq = (uint32_t)me;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now_ns();
        for (int i = 0; i < SWITCHES; i++, seq += 2) {
            uint32_t now;
            while ((now = atomic_load(&s->word)) != seq)
                syscall(SYS_futex, &s->word, FUTEX_WAIT, now, NULL, NULL, 0);
            atomic_store(&s->word, seq + 1);
            syscall(SYS_futex, &s->word, FUTEX_WAKE, 1, NULL, NULL, 0);
        }
        keep_least(&least, (now_ns() - start) / SWITCHES / 2);
    }
    return least;
}

static double change(double (*how)(struct shared *, int))
{
    struct shared *s = map_shared(sizeof *s);
    pin(0);
    pid_t child = fork();
    int me = child == 0;
    atomic_fetch_add(&s->started, 1);
    while (atomic_load(&s->started) < 2)
        sched_yield();
    double least = how(s, me);
    if (me)
        _exit(0);
    waitpid(child, NULL, 0);
    return least;
}

int main(void)
{
    pin(0);
    words();
    copies(4096);
    copies(65536);
    copies(1 << 20);
    copies(4 << 20);
    fflush(stdout);
    figure("one_line", -1, one_way(false), "ns");
    figure("two_lines", -1, one_way(true), "ns");
    fflush(stdout);
    double yield = change(by_yield), futex = change(by_futex);
    if (yield > 0)
        figure("switch_yield", -1, yield, "ns");
    figure("switch_futex", -1, futex, "ns");
    figure("switch", -1, yield > 0 && yield < futex ? yield : futex, "ns");
    return 0;
}
