// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// The machine's limits, without any library: what two processes on two cores that share memory can
// do at best, and what it costs to change processes on one core. raw near SECONDS: only what a line
// takes in the better quarter of so many seconds.
#include "lines.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { SWITCHES = 100, RING = 2 };

// Whole lines that take turns, as the envelopes of messages that are waited for: `turn` is written last.
struct ring {
    struct {
        _Alignas(LINE) _Atomic uint64_t turn;
        uint64_t words[LINE / sizeof(uint64_t) - 1];
    } line[RING];
};

struct shared {
    struct lines lines;
    struct ring to[2];
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

static void ring_tell(struct ring *ring, uint64_t seq)
{
    for (size_t i = 0; i < LINE / sizeof(uint64_t) - 1; i++)
        ring->line[seq % RING].words[i] = seq;
    atomic_store_explicit(&ring->line[seq % RING].turn, seq, memory_order_release);
}

static void ring_await(struct ring *ring, uint64_t seq, bool with_pause)
{
    while (atomic_load_explicit(&ring->line[seq % RING].turn, memory_order_acquire) != seq)
        if (with_pause)
            line_pause();
    for (size_t i = 0; i < LINE / sizeof(uint64_t) - 1; i++)
        if (ring->line[seq % RING].words[i] != seq)
            abort();
}

static double ring_one_way(struct shared *s, int me, bool with_pause, uint64_t *seq)
{
    double start = now_ns();
    for (int i = 0; i < LINE_TRIPS; i++) {
        ++*seq;
        if (me == 0)
            ring_tell(&s->to[1], *seq);
        ring_await(&s->to[me], *seq, with_pause);
        if (me == 1)
            ring_tell(&s->to[0], *seq);
    }
    return (now_ns() - start) / LINE_TRIPS / 2;
}

// One side of the ping-pong, in a process of its own; side 0 prints.
static pid_t start_side(struct shared *s, int me)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    uint64_t seq = 0, ring_seq = 0;
    double one = 0, two = 0, ring = 0;
    if (pin(me) < 2)
        _exit(0); // one core: no limit to find
    for (int batch = 0; batch < BATCHES; batch++) {
        keep_least(&one, line_one_way(&s->lines, me, false, &seq));
        keep_least(&two, line_one_way(&s->lines, me, true, &seq));
        keep_least(&ring, ring_one_way(s, me, batch % 2, &ring_seq));
    }
    if (me == 0) {
        figure("one_line", -1, one, "ns");
        figure("two_lines", -1, two, "ns");
        figure("ring_line", -1, ring, "ns");
        fflush(stdout);
    }
    _exit(0);
}

static void one_way(void)
{
    struct shared *s = map_shared(sizeof *s);
    start_side(s, 0);
    start_side(s, 1);
    while (wait(NULL) > 0)
        ;
}

static void watch(int seconds)
{
    enum { LOOKS_A_SECOND = 20, MOST = 100 * LOOKS_A_SECOND };
    static double line[MOST];
    int looks = seconds < MOST / LOOKS_A_SECOND ? seconds * LOOKS_A_SECOND : MOST;
    struct shared *s = map_shared(sizeof *s);
    int me = fork() == 0;
    uint64_t seq = 0;
    if (pin(me) < 2)
        _exit(0);
    for (int i = 0; i < looks; i++) {
        line[i] = median_line(&s->lines, me, &seq);
        usleep(1000000 / LOOKS_A_SECOND);
    }
    if (me)
        _exit(0);
    wait(NULL);
    qsort(line, (size_t)looks, sizeof *line, ascending);
    figure("near_line", -1, line[looks / 4], "ns");
}

static void copies(size_t n)
{
    char *from = aligned_alloc(4096, n), *to = map_shared(n);
    double least;
    memset(from, 1, n);
    memset(to, 2, n);
    FASTEST(least, BATCHES, n < 65536 ? 1000 : n < 1 << 20 ? 50 : 1, memcpy(to, from, hidden(n)));
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
    volatile long sink; // unused results make other instructions
    FASTEST(least, BATCHES, 10000, sink = atomic_fetch_add(w, 1));
    (void)sink;
    figure("fetch_add", -1, least, "ns");
    long value = 0; // what the word holds: every exchange succeeds
    atomic_store(w, 0);
    FASTEST(least, BATCHES, 10000, long old = value;
            value += atomic_compare_exchange_strong(w, &old, value + 1));
    if (value != BATCHES * 10000L)
        abort();
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
    pid_t child = fork(); // on the same core
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

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "near") == 0) {
        watch(atoi(argv[2]));
        return 0;
    }
    one_way();
    pin(0);
    words();
    for (size_t n = 4096; n <= 4 << 20; n *= n == 1 << 20 ? 4 : 16)
        copies(n);
    fflush(stdout);
    double yield = change(by_yield), futex = change(by_futex);
    if (yield > 0)
        figure("switch_yield", -1, yield, "ns");
    figure("switch_futex", -1, futex, "ns");
    figure("switch", -1, yield > 0 && yield < futex ? yield : futex, "ns");
    return 0;
}
