// SPDX-License-Identifier: BSD-3-Clause
// The collectives over active sets (deprecated since 1.5): broadcast, collect, fcollect, alltoall
// and alltoalls, each with 32 and 64 bits. pSync comes back as it was; two are used in turn.
#include "../check.h"
#include "asets.h"

enum { CALLS = 12 };

typedef struct {
    size_t size;
    void (*broadcast)(void *, const void *, size_t, int, int, int, int, long *);
    void (*collect)(void *, const void *, size_t, int, int, int, long *);
    void (*fcollect)(void *, const void *, size_t, int, int, int, long *);
    void (*alltoall)(void *, const void *, size_t, int, int, int, long *);
    void (*alltoalls)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long *);
} active_row;

static const active_row rows[] = {
    {4, shmem_broadcast32, shmem_collect32, shmem_fcollect32, shmem_alltoall32, shmem_alltoalls32},
    {8, shmem_broadcast64, shmem_collect64, shmem_fcollect64, shmem_alltoall64, shmem_alltoalls64},
};

static long bcast_sync[2][SHMEM_BCAST_SYNC_SIZE];
static long collect_sync[2][SHMEM_COLLECT_SYNC_SIZE];
static long alltoall_sync[2][SHMEM_ALLTOALL_SYNC_SIZE];
static long alltoalls_sync[2][SHMEM_ALLTOALLS_SYNC_SIZE];
static long barrier_sync[MAX_ASETS * SHMEM_BARRIER_SYNC_SIZE];

static unsigned char *src, *dst, *model, *from;
static long *wait_here; // the pSync of the set's own barrier
static size_t space;    // bytes of src, dst, model and from

static void begin(const aset *s)
{
    memset(dst, 0xEE, space);
    memset(model, 0xEE, space);
    shmem_barrier(s->start, s->log, s->size, wait_here);
}

static void end(const aset *s, const char *what, size_t n)
{
    char text[96];
    snprintf(text, sizeof text, "%s of %zu elements, set (%d, %d, %d)", what, n, s->start, s->log,
             s->size);
    CHECK_MEM(dst, model, space, text);
}

static void broadcast(const active_row *r, const aset *s, size_t n, int root)
{
    begin(s);
    r->broadcast(dst, src, n, root, s->start, s->log, s->size, bcast_sync[n % 2]);
    if (aset_index(s, me) != root) // the root's destination stays as it is
        fill(model, n * r->size, (unsigned)aset_pe(s, root));
    end(s, "broadcast", n);
}

static void fcollect(const active_row *r, const aset *s, size_t n)
{
    begin(s);
    r->fcollect(dst, src, n, s->start, s->log, s->size, collect_sync[0]);
    for (int k = 0; k < s->size; k++)
        fill(model + (size_t)k * n * r->size, n * r->size, (unsigned)aset_pe(s, k));
    end(s, "fcollect", n);
}

static void collect(const active_row *r, const aset *s, size_t n)
{
    begin(s);
    size_t mine = n * (size_t)(aset_index(s, me) % 3), at = 0;
    r->collect(dst, src, mine, s->start, s->log, s->size, collect_sync[1]);
    for (int k = 0; k < s->size; k++) {
        size_t share = n * (size_t)(k % 3) * r->size;
        fill(model + at, share, (unsigned)aset_pe(s, k));
        at += share;
    }
    end(s, "collect", n);
}

static void alltoall(const active_row *r, const aset *s, size_t n, ptrdiff_t to, ptrdiff_t by)
{
    size_t rank = (size_t)aset_index(s, me), es = r->size;
    begin(s);
    if (to == 1 && by == 1)
        r->alltoall(dst, src, n, s->start, s->log, s->size, alltoall_sync[n % 2]);
    else
        r->alltoalls(dst, src, to, by, n, s->start, s->log, s->size, alltoalls_sync[n % 2]);
    for (size_t k = 0; k < (size_t)s->size; k++) {
        fill(from, n * (size_t)(s->size * by) * es, (unsigned)aset_pe(s, (int)k));
        for (size_t i = 0; i < n; i++)
            memcpy(model + (k * n + i) * (size_t)to * es, from + (rank * n + i) * (size_t)by * es,
                   es);
    }
    end(s, "alltoall(s)", n);
}

static void one_set(const aset *s)
{
    for (int i = 0; i < 2; i++) {
        const active_row *r = &rows[i];
        for (int root = 0; root < s->size; root++)
            broadcast(r, s, (size_t)root * 37, root);
        broadcast(r, s, 20000, s->size - 1);
        fcollect(r, s, 1);
        fcollect(r, s, 0);
        fcollect(r, s, 700);
        collect(r, s, 1);
        collect(r, s, 301);
        alltoall(r, s, 1, 1, 1);
        alltoall(r, s, 130, 1, 1);
        alltoall(r, s, 1, 2, 3);
        alltoall(r, s, 30, 3, 1);
        alltoall(r, s, 31, 1, 2);
    }
}

// One after another with the pSync arrays used in turn and nothing else in between, as old
// programs do; each destination is used once.
static void in_turn(const aset *s)
{
    uint64_t *words = (uint64_t *)dst, value = (uint64_t)me + 1;
    memset(dst, 0, space);
    memcpy(src, &value, sizeof value);
    shmem_barrier(s->start, s->log, s->size, wait_here);
    for (int i = 0; i < CALLS; i++) {
        shmem_fcollect64(words + i * s->size, src, 1, s->start, s->log, s->size,
                         collect_sync[i % 2]);
        shmem_alltoall64(words + (CALLS + i) * s->size, words + i * s->size, 1, s->start, s->log,
                         s->size, alltoall_sync[i % 2]);
    }
    int rank = aset_index(s, me);
    for (int i = 0; i < CALLS; i++) {
        CHECK_EACH(k, s->size, words[(size_t)(i * s->size) + k], aset_pe(s, (int)k) + 1);
        CHECK_EACH(k, s->size, words[(size_t)((CALLS + i) * s->size) + k], aset_pe(s, rank) + 1);
    }
    fill(src, 64, (unsigned)me);
    shmem_barrier(s->start, s->log, s->size, wait_here);
}

int main(void)
{
    check_start();
    space = (1 << 18) + (size_t)npes * 8192;
    src = must_shmalloc(space);
    dst = must_shmalloc(space);
    model = must_alloc(space);
    from = must_alloc(space);
    fill(src, space, (unsigned)me);
    for (int k = 0; k < 2; k++) {
        init_sync(bcast_sync[k], SHMEM_BCAST_SYNC_SIZE);
        init_sync(collect_sync[k], SHMEM_COLLECT_SYNC_SIZE);
        init_sync(alltoall_sync[k], SHMEM_ALLTOALL_SYNC_SIZE);
        init_sync(alltoalls_sync[k], SHMEM_ALLTOALLS_SYNC_SIZE);
    }
    init_sync(barrier_sync, sizeof barrier_sync / sizeof(long));
    shmem_barrier_all();
    aset sets[MAX_ASETS];
    int count = list_asets(sets);
    for (int i = 0; i < count; i++) {
        wait_here = barrier_sync + i * SHMEM_BARRIER_SYNC_SIZE;
        if (aset_index(&sets[i], me) >= 0) {
            one_set(&sets[i]);
            in_turn(&sets[i]);
        }
        shmem_barrier_all();
        for (int k = 0; k < 2; k++) {
            CHECK_SYNC_RESTORED(bcast_sync[k], SHMEM_BCAST_SYNC_SIZE);
            CHECK_SYNC_RESTORED(collect_sync[k], SHMEM_COLLECT_SYNC_SIZE);
            CHECK_SYNC_RESTORED(alltoall_sync[k], SHMEM_ALLTOALL_SYNC_SIZE);
            CHECK_SYNC_RESTORED(alltoalls_sync[k], SHMEM_ALLTOALLS_SYNC_SIZE);
        }
        shmem_barrier_all();
    }
    free(model);
    free(from);
    return check_done();
}
