// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// barrier_all, sync_all, team_sync, barrier and sync over active sets: nobody leaves before all
// have come, and the barriers deliver what was sent before them.
#include "../check.h"
#include "asets.h"

static long *slots; // one per PE; PE k writes element k everywhere

// Two halves used in turn: a PE that is one barrier ahead writes to the other one.
static long *half(int round)
{
    return slots + (size_t)(round % 2) * (size_t)npes;
}

static void barrier_all_delivers(void)
{
    for (int round = 0; round < 200; round++) {
        long v = round * 1000 + me;
        for (int pe = 0; pe < npes; pe++) {
            if (round % 3 == 0)
                shmem_long_put_nbi(&half(round)[me], &v, 1, pe);
            else if (round % 3 == 1)
                shmem_long_p(&half(round)[me], v, pe);
            else
                shmem_long_atomic_set(&half(round)[me], v, pe);
        }
        shmem_barrier_all();
        CHECK_EACH(pe, npes, half(round)[pe], round * 1000 + (long)pe);
    }
    shmem_barrier_all();
}

// sync does not deliver remote updates by itself: quiet first.
static void sync_all_waits(int (*sync)(void))
{
    for (int round = 0; round < 200; round++) {
        for (int pe = 0; pe < npes; pe++)
            shmem_long_p(&half(round)[me], -round * 1000 - me, pe);
        shmem_quiet();
        CHECK_EQ(sync(), 0);
        CHECK_EACH(pe, npes, half(round)[pe], -round * 1000 - (long)pe);
    }
    shmem_barrier_all();
}

static int sync_all(void)
{
    shmem_sync_all();
    return 0;
}

static int sync_world(void)
{
    return shmem_team_sync(SHMEM_TEAM_WORLD);
}

// Local stores made before a sync are visible to a PE that loads them through shmem_ptr after it.
static void sync_shows_stores(void)
{
    long *theirs = shmem_ptr(slots, right_pe());
    for (long round = 0; round < 100; round++) {
        slots[round % 2] = round * 7 + me;
        shmem_sync_all();
        if (theirs != NULL)
            CHECK_EQ(theirs[round % 2], round * 7 + right_pe());
    }
    shmem_barrier_all();
}

static void team_syncs(void)
{
    shmem_team_t even, back;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &even);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back);
    memset(slots, 0, sizeof(long) * 2 * (size_t)npes);
    shmem_barrier_all();
    for (int round = 1; round <= 100 && me % 2 == 0; round++) {
        for (int pe = 0; pe < npes; pe += 2)
            shmem_long_atomic_inc(&half(round)[me], pe);
        shmem_quiet();
        CHECK_EQ(shmem_team_sync(even), 0);
        for (int pe = 0; pe < npes; pe += 2)
            CHECK_EQ(half(round)[pe], (round + 1) / 2);
    }
    CHECK_EQ(shmem_team_sync(back), 0);
    CHECK_EACH(pe, npes, pe % 2 == 1 ? slots[pe] : 0, 0);
    shmem_team_destroy(even);
    shmem_team_destroy(back);
    shmem_barrier_all();
}

// Consecutive calls on one set may share pSync; a different set gets another one.
static void active_sets(bool barrier)
{
    enum { WORDS = SHMEM_BARRIER_SYNC_SIZE + SHMEM_SYNC_SIZE, ALL = MAX_ASETS * WORDS };
    static long psync[ALL];
    aset sets[MAX_ASETS];
    int count = list_asets(sets);
    init_sync(psync, ALL);
    memset(slots, 0, sizeof(long) * 2 * (size_t)npes);
    shmem_barrier_all();
    for (int i = 0; i < count; i++) {
        const aset *s = &sets[i];
        for (int round = 0; round < 20 && aset_index(s, me) >= 0; round++) {
            long v = i * 1000 + round;
            for (int k = 0; k < s->size; k++)
                shmem_long_p(&half(round)[me], v, aset_pe(s, k));
            if (barrier) {
                shmem_barrier(s->start, s->log, s->size, psync + i * WORDS);
            } else {
                shmem_quiet();
                (shmem_sync)(s->start, s->log, s->size, psync + i * WORDS);
            }
            for (int k = 0; k < s->size; k++)
                CHECK_EQ(half(round)[aset_pe(s, k)], v);
        }
        shmem_barrier_all();
    }
    CHECK_SYNC_RESTORED(psync, ALL);
}

int main(void)
{
    check_start();
    check_spread();
    slots = must_shmalloc(sizeof(long) * 2 * (size_t)npes + 16);
    barrier_all_delivers();
    sync_all_waits(sync_all);
    sync_all_waits(sync_world);
    sync_shows_stores();
    team_syncs();
    active_sets(true);
    active_sets(false);
    return check_done();
}
