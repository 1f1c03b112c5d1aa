// SPDX-License-Identifier: BSD-3-Clause
// Whether the cores of processes 0 and 1 are as near to each other as they mostly are. A virtual machine's
// are moved about: a line takes 60 ns for some seconds and 280 for others, and 15 where they are two threads
// of one; what was measured then says more about that than about a library. So a round at whose end they
// are elsewhere is made again when they are back. run says in BENCH_NEAR what a line takes, in ns, and in
// BENCH_LINES the name of a file of zeros; without these all rounds count.
#ifndef BENCH_NEAR_H
#define BENCH_NEAR_H

#include "lines.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { NEAR_TURNS = 1 << 15, NEAR_PATIENCE_S = 15 }; // in all, waiting

enum near_verdict { NEAR_UNTOLD, NEAR_YES, NEAR_NO, NEAR_GIVEN_UP };

// In the file.
struct near {
    struct lines lines;
    _Atomic unsigned char verdict[NEAR_TURNS]; // process 0's of each turn
};

static struct near *near;
static int near_process, near_turn, near_missed;
static uint64_t near_seq;
static double near_usual, near_waited;

static inline enum near_verdict near_judge(double line)
{
    if (line < 1.5 * near_usual && line > near_usual / 1.5)
        return NEAR_YES;
    return near_waited < NEAR_PATIENCE_S * 1e9 ? NEAR_NO : NEAR_GIVEN_UP;
}

// All processes call it, and all get process 0's answer. Others than 0 and 1 leave them their cores.
static inline enum near_verdict near_ask(void)
{
    _Atomic unsigned char *verdict = &near->verdict[near_turn++];
    double line = near_process < 2 ? median_line(&near->lines, near_process, &near_seq) : 0;
    if (near_process == 0)
        atomic_store(verdict, (unsigned char)near_judge(line));
    while (atomic_load(verdict) == NEAR_UNTOLD)
        usleep(100);
    return atomic_load(verdict);
}

// Whether the round counts that all processes have just ended. If not the cores are as usual again now.
static inline int was_near(void)
{
    enum near_verdict verdict = NEAR_YES;
    int rounds = 0;
    while (near && near_turn < NEAR_TURNS - 2 && (verdict = near_ask()) == NEAR_NO) {
        rounds++;
        usleep(20000);
        near_waited += 20e6;
    }
    near_missed += verdict == NEAR_GIVEN_UP;
    return rounds == 0 || verdict == NEAR_GIVEN_UP;
}

static inline void near_start(int process)
{
    const char *usual = getenv("BENCH_NEAR"), *name = getenv("BENCH_LINES");
    int fd = usual && name ? open(name, O_RDWR) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof *near, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return;
    near = at;
    near_process = process;
    near_usual = atof(usual);
    was_near();
}

// For run, which says it: rounds that count although the cores were farther apart, or nearer.
static inline void near_end(void)
{
    if (near && near_process == 0 && near_missed)
        figure("near_missed", -1, near_missed, "rounds");
}

#endif
