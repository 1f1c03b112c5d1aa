// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// global_exit CODE WHAT DIRECTORY PE: that PE calls shmem_global_exit(CODE) while the others do
// WHAT: compute, wait, barrier, lock, sleep. global_exit.sh runs it.
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long lock, word;

static void be_busy(const char *what)
{
    if (strcmp(what, "compute") == 0)
        for (volatile unsigned long i = 0;; i++)
            ;
    if (strcmp(what, "wait") == 0)
        shmem_wait_until(&word, SHMEM_CMP_EQ, 12345L);
    if (strcmp(what, "barrier") == 0)
        shmem_barrier_all();
    if (strcmp(what, "lock") == 0)
        shmem_set_lock(&lock);
    if (strcmp(what, "sleep") == 0)
        sleep(100);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 99;
    shmem_init();
    char path[512];
    snprintf(path, sizeof path, "%s/pid.%d", argv[3], shmem_my_pe());
    FILE *f = fopen(path, "w");
    if (!f)
        return 99;
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    if (shmem_my_pe() == atoi(argv[4])) {
        shmem_set_lock(&lock);
        shmem_barrier_all();
        printf("leaving\n"); // buffered: global_exit flushes it
        usleep(100000);
        shmem_global_exit(atoi(argv[1]));
    }
    shmem_barrier_all();
    be_busy(argv[2]);
    shmem_finalize();
    return 98;
}
