// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// NODES: 1
// Many short parts for private memory of a PE that computes: they are there without it, and what it was asked
// for in vain is not done when it looks at last.
#include "../check.h"
#include "cross_memory.h"

#include <shoal.h>
#include <stdatomic.h>

enum { ROUNDS = 300, PARTS = 64, APART = 5, WORDS = PARTS * APART, SECONDS = 20 };

static shoal_key_t key, theirs; // symmetric

static void put(shoal_rptr_t to, uint64_t value)
{
    uint64_t data[PARTS];
    shoal_part_t part[PARTS];
    for (int i = 0; i < PARTS; i++) {
        data[i] = value;
        part[i] = (shoal_part_t){shoal_rptr_add(to, i * APART * 8), &data[i], 8};
    }
    CHECK_EQ(shoal_putv(part, PARTS, NULL, NULL), SHOAL_OK);
}

// Until the last part is there, without a call of the library.
static void compute(_Atomic uint64_t *word, uint64_t value)
{
    double end = check_now() + SECONDS;
    while (word[WORDS - APART] != value)
        if (!CHECK(check_now() < end))
            return;
    CHECK_EACH(i, WORDS, word[i], i % APART ? 0 : value);
    for (int i = 0; i < WORDS; i++)
        word[i] = 0;
}

int main(void)
{
    shoal_region_t region;
    shoal_rptr_t to = {0};
    _Atomic uint64_t *word = must_alloc(WORDS * 8);
    need_cross_memory();
    check_start();
    for (int i = 0; i < WORDS; i++)
        word[i] = 0;
    CHECK_EQ(shoal_region_register((void *)word, WORDS * 8, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &key, sizeof theirs, 1);
    CHECK_EQ(shoal_rptr(&theirs, 0, &to), SHOAL_OK);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        shmem_barrier_all();
        if (me == 0)
            put(to, round);
        else
            compute(word, round);
        CHECK(shoal_progress() >= 0);
        CHECK_EACH(i, me == 1 ? WORDS : 0, word[i], 0);
    }
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free((void *)word);
    return check_done();
}
