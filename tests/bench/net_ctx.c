// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Between two nodes: threads of PE 0, each with a context, put to and get from PE 1, which waits in a
// barrier. net_ctx one: for a PE whose contexts share one endpoint (SHOAL_CTX_ENDPOINTS=0).
#include "bench.h"

#include <pthread.h>
#include <shmem.h>

enum { THREADS = 4, SIZE = 4096, MANY = 1000 };

static char *there;
static int threads;
static pthread_barrier_t all;
static double put_ns, get_ns; // of one operation, in the fastest batch

static void begin(double *start)
{
    pthread_barrier_wait(&all);
    *start = now_ns();
}

// All threads are through: the first one takes the time.
static void end(int id, double start, double *least)
{
    pthread_barrier_wait(&all);
    if (id == 0)
        keep_least(least, (now_ns() - start) / (MANY * threads));
}

static void *work(void *id_)
{
    int id = *(int *)id_;
    char *here = aligned_alloc(64, SIZE), *at = there + id * SIZE;
    double start;
    shmem_ctx_t ctx;
    memset(here, 1, SIZE);
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx))
        shmem_global_exit(1);
    for (int batch = 0; batch < BATCHES / 20; batch++) {
        begin(&start);
        for (int i = 0; i < MANY; i++)
            shmem_ctx_putmem_nbi(ctx, at, here, SIZE, 1);
        shmem_ctx_quiet(ctx);
        end(id, start, &put_ns);
        begin(&start);
        for (int i = 0; i < MANY; i++)
            shmem_ctx_getmem(ctx, here, at, 8, 1);
        end(id, start, &get_ns);
    }
    shmem_ctx_destroy(ctx);
    free(here);
    return NULL;
}

static void run(const char *prefix, int n)
{
    pthread_t thread[THREADS];
    int id[THREADS];
    char key[64];
    threads = n;
    put_ns = get_ns = 0;
    pthread_barrier_init(&all, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        id[i] = i;
        pthread_create(&thread[i], NULL, work, &id[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&all);
    snprintf(key, sizeof key, "%snet_ctx_put_rate", prefix);
    figure(key, n, 1e3 / put_ns, "M/s");
    snprintf(key, sizeof key, "%snet_ctx_get_rate", prefix);
    figure(key, n, 1e3 / get_ns, "M/s");
}

int main(int argc, char **argv)
{
    int provided;
    const char *prefix = argc > 1 && !strcmp(argv[1], "one") ? "one_" : "";
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    there = shmem_malloc(THREADS * SIZE);
    memset(there, 0, THREADS * SIZE);
    shmem_barrier_all();
    for (int n = 1; n <= THREADS && shmem_my_pe() == 0; n *= 2)
        run(prefix, n);
    fflush(stdout);
    shmem_barrier_all();
    shmem_free(there);
    shmem_finalize();
    return 0;
}
