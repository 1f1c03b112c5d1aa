// SPDX-License-Identifier: BSD-3-Clause
// The smallest complete program: every PE writes a greeting into PE 0's memory, and PE 0, which
// does nothing for it, prints what it finds there.
//
//     oshrun -n 4 hello

#include "example.h"

#include <unistd.h>

struct greeting {
    int pe;
    char host[60];
};

static int hello_print(const struct greeting *all, int npes)
{
    for (int pe = 0; pe < npes; pe++) {
        if (all[pe].pe != pe) {
            printf("hello: nothing came from PE %d\n", pe);
            return 1;
        }
        if (pe < 16)
            printf("hello from PE %d of %d on %s\n", pe, npes, all[pe].host);
    }
    if (npes > 16)
        printf("... and from %d more\n", npes - 16);
    return 0;
}

static int hello_run(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    struct greeting *all = example_alloc((size_t)npes, sizeof *all); // same place on every PE
    struct greeting mine = {.pe = me};
    all[0].pe = -1; // so that PE 0's own line has to arrive too
    gethostname(mine.host, sizeof mine.host - 1);

    shmem_barrier_all(); // everyone's table is ready
    shmem_putmem(&all[me], &mine, sizeof mine, 0);
    shmem_barrier_all(); // all puts have arrived

    int wrong = me == 0 ? hello_print(all, npes) : 0;
    shmem_free(all);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct example_option options[] = {{.name = NULL}};
    shmem_init();
    int status = example_options(argc, argv, "every PE says hello through PE 0's memory", options);
    if (status == EXAMPLE_RUN)
        status = hello_run();
    shmem_finalize();
    return status;
}
