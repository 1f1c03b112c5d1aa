// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// leave WHAT: ways to end that are allowed, or nearly. leave.sh runs it.
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *pe = getenv("SHOAL_PE"), *what = argc > 1 ? argv[1] : "";
    int i = pe ? atoi(pe) : 0;
    if (strcmp(what, "no_init") == 0)
        return 0;
    if (strcmp(what, "one_without_init") == 0 && i == 1)
        return 0;
    shmem_init();
    if (strcmp(what, "no_finalize") == 0)
        return 0;
    if (strcmp(what, "one_no_finalize") == 0 && i == 1)
        exit(0);
    shmem_finalize();
    if (strcmp(what, "late_status") == 0) {
        if (i == 1)
            return 4;
        usleep(200000);
        printf("done\n");
        return i == 2 ? 5 : 0;
    }
    if (strcmp(what, "late_crash") == 0 && i == 1)
        abort();
    return 0;
}
