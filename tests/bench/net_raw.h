// SPDX-License-Identifier: BSD-3-Clause
// What the network's own library takes, as little as a program can do around it: two processes on two
// cores, one endpoint each, and a target that does nothing but call the library. net_raw.c does it
// with libfabric, net_raw_ucx.c with UCX; here is what they share.
//
//     net_raw check             says whether it works here
//     net_raw                   both processes, over loopback
//     net_raw FILE 0|1 ADDRESS  one of the two, which meet in FILE; this one is at ADDRESS
#ifndef NET_RAW_H
#define NET_RAW_H

#include "bench.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { LARGE = 1 << 20, WINDOW = 128, TRIPS = 50, CARD = 4096 };

// What the two tell each other.
static struct shared {
    unsigned char card[2][CARD];
    _Atomic int ready, done;
} * shared;

// ---- What a library's program defines. Operations are complete at the target when they return.
static bool raw_works(const char *address); // else it has said why not
static size_t raw_open(const char *address, void *card); // fills the card; returns its length
static void raw_connect(const void *card); // the other side's
static void raw_poll(void);
static void raw_put(size_t n);
static void raw_get(void);
static void raw_fetch_add(void);
static void raw_put_many(int count); // of 8 bytes, WINDOW at a time
static double raw_one_way(int me);   // ns; both call it

static char *memory; // LARGE bytes others write, LARGE bytes to write from

static void meet(int me, const char *address)
{
    memory = aligned_alloc(4096, 2 * LARGE);
    memset(memory, 0, 2 * LARGE);
    if (raw_open(address, shared->card[me]) > CARD) {
        fprintf(stderr, "net_raw: the address is too long\n");
        exit(1);
    }
    atomic_fetch_add(&shared->ready, 1);
    while (atomic_load(&shared->ready) < 2)
        sched_yield();
    raw_connect(shared->card[!me]);
}

static void measure(void)
{
    double least;
    FASTEST(least, BATCHES, TRIPS, raw_put(8));
    figure("raw_put_8", -1, least / 1e3, "us");
    FASTEST(least, BATCHES, TRIPS, raw_get());
    figure("raw_get_8", -1, least / 1e3, "us");
    FASTEST(least, BATCHES, TRIPS, raw_fetch_add());
    figure("raw_fetch_add", -1, least / 1e3, "us");
    FASTEST(least, BATCHES, 4, raw_put(LARGE));
    figure("raw_put_1048576", -1, LARGE / least, "GB/s");
    FASTEST(least, BATCHES / 4, 1, raw_put_many(2000));
    figure("raw_rate", -1, 2000 * 1e3 / least, "M/s");
}

static int run_side(int me, const char *address)
{
    double least = 0;
    pin(me);
    meet(me, address);
    for (int batch = 0; batch < BATCHES; batch++)
        keep_least(&least, raw_one_way(me));
    if (me == 0) {
        figure("raw_one_way", -1, least / 1e3, "us");
        measure();
        fflush(stdout);
        atomic_store(&shared->done, 1);
    }
    while (!atomic_load(&shared->done))
        raw_poll();
    return 0;
}

// Zeros, however often it is opened.
static bool share(const char *file)
{
    int fd = file ? open(file, O_RDWR | O_CREAT, 0600) : -1;
    if (file && (fd < 0 || ftruncate(fd, sizeof *shared)))
        return false;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | (file ? 0 : MAP_ANONYMOUS), fd, 0);
    return shared != MAP_FAILED;
}

static int raw_main(int argc, char **argv)
{
    bool alone = argc == 4;
    const char *address = alone ? argv[3] : "127.0.0.1";
    if (!raw_works(address)) // before there are two of us
        return 77;
    if (argc == 2 && strcmp(argv[1], "check") == 0)
        return 0;
    if ((argc != 1 && !alone) || !share(alone ? argv[1] : NULL)) {
        fprintf(stderr, "usage: net_raw [check | FILE 0|1 ADDRESS]\n");
        return 2;
    }
    if (alone)
        return run_side(argv[2][0] == '1', address);
    pid_t child = fork();
    if (child == 0)
        return run_side(1, address);
    int status = run_side(0, address), theirs;
    waitpid(child, &theirs, 0);
    return status || theirs;
}

#endif
