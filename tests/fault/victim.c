// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// victim HOW WHERE DIRECTORY PE: that PE dies in the way and at the place named; the others do
// what makes them depend on it. Every PE writes its pid to DIRECTORY/pid.PE first. die.sh runs it.
#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *how;
static volatile int *volatile nowhere;
static long lock, word, row[64];
static int me, npes;

__attribute__((no_sanitize("undefined"))) static void die(void)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "segv") == 0)
        *nowhere = 1;
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exit3") == 0)
        exit(3);
    _exit(0);
}

static void on_alarm(int sig)
{
    (void)sig;
    die();
}

// Dies in ms milliseconds, wherever it is then.
static void die_in(int ms)
{
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &t, NULL);
}

static void write_pid(const char *directory, int pe)
{
    char path[512];
    snprintf(path, sizeof path, "%s/pid.%d", directory, pe);
    FILE *f = fopen(path, "w");
    if (!f)
        exit(99);
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
}

static void in_barrier(int victim)
{
    if (me == victim)
        die_in(100);
    if (me == 0)
        sleep(100); // so that the victim waits when it dies
    shmem_barrier_all();
}

static void before_barrier(int victim)
{
    if (me == victim)
        die();
    shmem_barrier_all();
}

static void after_signal(int victim)
{
    static uint64_t flag;
    if (me == victim) {
        shmem_signal_set(&flag, 1, 0);
        die();
    }
    shmem_barrier_all();
}

static void after_put_signal(int victim)
{
    static uint64_t flag;
    if (me == victim) {
        shmem_long_put_signal(row, (long[]){1}, 1, &flag, 1, SHMEM_SIGNAL_ADD, 0);
        die();
    }
    shmem_barrier_all();
}

static void in_put_loop(int victim)
{
    long mine[64] = {0};
    if (me == victim)
        die_in(100);
    for (;;)
        shmem_put(row, mine, 64, me == victim ? 0 : victim);
}

static void with_lock(int victim)
{
    if (me == victim)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == victim) {
        usleep(100000);
        die();
    }
    shmem_set_lock(&lock);
}

static void others_in_wait(int victim)
{
    if (me != victim)
        shmem_wait_until(&word, SHMEM_CMP_EQ, 12345L);
    usleep(200000); // they sleep by now
    die();
}

static void others_compute(int victim)
{
    if (me == victim)
        die();
    for (volatile unsigned long i = 0;; i++)
        ;
}

static const struct {
    const char *name;
    void (*run)(int victim);
} places[] = {
    {"in_barrier", in_barrier}, {"before_barrier", before_barrier}, {"put", in_put_loop},
    {"signal", after_signal}, {"put_signal", after_put_signal},
    {"lock", with_lock},        {"wait", others_in_wait},           {"compute", others_compute},
};

int main(int argc, char **argv)
{
    const char *pe = getenv("SHOAL_PE");
    if (argc != 5 || !pe)
        return 2;
    how = argv[1];
    int victim = atoi(argv[4]);
    write_pid(argv[3], atoi(pe));
    if (strcmp(argv[2], "before_init") == 0 && atoi(pe) == victim) {
        usleep(100000);
        die();
    }
    if (strcmp(argv[2], "in_init") == 0) // die.sh keeps the others from starting
        die_in(100);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (me == victim && npes <= victim)
        return 2;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcmp(places[i].name, argv[2]) == 0)
            places[i].run(victim);
    shmem_finalize();
    return 2; // nobody gets here
}
