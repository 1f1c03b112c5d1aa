// SPDX-License-Identifier: BSD-3-Clause
// More contexts than have a stream of their own to another node, each of which completes what was put in it when
// it is destroyed (OpenSHMEM 1.6, SHMEM_CTX_DESTROY): then the source is written again.
// PES: 2 4
#include "../check.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 300, BYTES = 4 << 20, EVERY = 60 };

static shmem_ctx_t ctx[MANY];

static void put_and_destroy(char *to, char *from, int i)
{
    memset(from, 1 + i % 100, BYTES);
    shmem_ctx_putmem_nbi(ctx[i], to, from, BYTES, (me + 1) % npes);
    shmem_ctx_destroy(ctx[i]);
    memset(from, 0, BYTES);
}

int main(void)
{
    check_start();
    char *to = shmem_malloc(BYTES), *from = malloc(BYTES);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(shmem_ctx_create(0, &ctx[i]), 0);
    for (int i = MANY - 1; i >= 0; i--) {
        if (i % EVERY < EVERY - 1) {
            shmem_ctx_destroy(ctx[i]);
            continue;
        }
        memset(to, 0, BYTES);
        shmem_barrier_all();
        put_and_destroy(to, from, i);
        shmem_barrier_all();
        for (int at = 0; at < BYTES; at += 64)
            CHECK_EQ(to[at], 1 + i % 100);
    }
    shmem_free(to);
    free(from);
    return check_done();
}
