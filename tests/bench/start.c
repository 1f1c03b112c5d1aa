// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// The smallest program: what it holds in memory once it is a PE; with an argument it prints
// nothing and is there to be timed. Compiled with -DBARE it is no PE but plain C, to compare with.
#include <stdio.h>
#include <string.h>

#ifdef BARE
static void shmem_init(void)
{
}
static void shmem_finalize(void)
{
}
static void shmem_barrier_all(void)
{
}
static int shmem_my_pe(void)
{
    return 0;
}
static int shmem_n_pes(void)
{
    return 1;
}
static void shmem_long_p(long *dest, long value, int pe)
{
    dest[pe] = value;
}
#else
#include <shmem.h>
#endif

enum { MOST = 1024 };
static long resident[MOST];

// Exact, unlike VmRSS, which the kernel counts in batches.
static long resident_kb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Rss:", 4))
            sscanf(line + 4, "%ld", &kb);
    if (f)
        fclose(f);
    return kb;
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (argc == 1 && npes <= MOST) {
        shmem_barrier_all();
        shmem_long_p(&resident[me], resident_kb(), 0);
        shmem_barrier_all();
        long most = 0;
        for (int pe = 0; pe < npes; pe++)
            most = resident[pe] > most ? resident[pe] : most;
        if (me == 0)
            printf("resident_%d %ld kB\n", npes, most);
        fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
