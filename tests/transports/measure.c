// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Measures transports between two processes: medians, PE 0 to PE 1, which only progresses.
//     BUILD/tests/transports/measure [ucx|PROVIDER...]     both libraries over TCP
#include "rig.h"

enum { ROUNDS = 2000 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_us(void (*one)(void), int rounds)
{
    static double times[ROUNDS];
    for (int i = 0; i < rounds; i++) {
        double start = now();
        one();
        times[i] = now() - start;
    }
    qsort(times, (size_t)rounds, sizeof *times, compare);
    return times[rounds / 2] * 1e6;
}

static uint64_t word = 1;

static void put_8(void)
{
    int status;
    UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(1, 0), &word, 8, NULL));
    flush_wait(1);
}

static void get_8(void)
{
    get_wait(&word, at_heap(1, 0), 8);
}

static void fetch_add(void)
{
    uint64_t old;
    amo_wait(at_heap(1, 0), TRANSPORT_ADD, TRANSPORT_64, 1, 0, &old);
}

static void put_1m(void)
{
    put_wait(at_heap(1, 0), heap_of(0), 1 << 20);
}

static void put_many(void)
{
    int status;
    for (int i = 0; i < 100000; i++)
        UNTIL_TAKEN(status, t->put(ep, NULL, at_heap(1, 8 * (uint64_t)(i % 1000)), &word, 8, NULL));
    flush_wait(1);
}

static void measure(void)
{
    if (me == 0) {
        median_us(put_8, 100);
        printf("put 8 B complete at the target  %8.2f us\n", median_us(put_8, ROUNDS));
        printf("get 8 B                         %8.2f us\n", median_us(get_8, ROUNDS));
        printf("fetch-add                       %8.2f us\n", median_us(fetch_add, ROUNDS));
        printf("put 1 MB                        %8.2f GB/s\n",
               (1 << 20) / (median_us(put_1m, 200) * 1e3));
        printf("puts of 8 B                     %8.3f M/s\n", 1e5 / median_us(put_many, 3));
        fflush(stdout);
        atomic_store(&shared->flag[0], 1);
    }
    if (me == 1)
        wait_flag(0, 1);
    while (!atomic_load(&shared->flag[0])) // the third stays out of the way
        usleep(1000);
    barrier();
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {{"measure", measure}};
    static char *both[] = {"measure", "tcp;ofi_rxm", "ucx"};
    int count = argc > 1 ? argc : ARRAY(both), result = 0, status;
    for (int i = 1; i < count; i++) {
        char *args[] = {argv[0], argc > 1 ? argv[i] : both[i]};
        printf("%s\n", args[1]);
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            exit(rig_run(2, args, tests, ARRAY(tests)));
        waitpid(pid, &status, 0);
        result |= status;
    }
    return result != 0;
}
