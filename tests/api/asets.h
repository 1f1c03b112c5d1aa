// SPDX-License-Identifier: BSD-3-Clause
// Active sets for the collectives of before OpenSHMEM 1.5: PEs start, start + 2^log, ... (size).
#ifndef TESTS_API_ASETS_H
#define TESTS_API_ASETS_H

typedef struct {
    int start, log, size;
} aset;

enum { MAX_ASETS = 24 };

// All of the world, and sets with strides 1, 2 and 4 from PE 0 and 1, whole and one short.
static inline int list_asets(aset sets[MAX_ASETS])
{
    int count = 0;
    for (int log = 0; log < 3; log++) {
        for (int start = 0; start < 3 && start < npes; start++) {
            int most = (npes - start + (1 << log) - 1) >> log;
            sets[count++] = (aset){start, log, most};
            if (most > 2)
                sets[count++] = (aset){start, log, most - 1};
        }
    }
    return count;
}

// The place of a PE in a set, or -1.
static inline int aset_index(const aset *s, int pe)
{
    int from = pe - s->start, k = from >> s->log;
    return from >= 0 && from % (1 << s->log) == 0 && k < s->size ? k : -1;
}

static inline int aset_pe(const aset *s, int k)
{
    return s->start + (k << s->log);
}

static inline void init_sync(long *psync, size_t n)
{
    for (size_t i = 0; i < n; i++)
        psync[i] = SHMEM_SYNC_VALUE;
}

#define CHECK_SYNC_RESTORED(psync, n) CHECK_EACH(at, n, (psync)[at], SHMEM_SYNC_VALUE)

#endif
