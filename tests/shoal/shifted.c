// SPDX-License-Identifier: BSD-3-Clause
// Transfers between places that lie differently in their pages, where one way of copying or another is
// slow: to shared and to private memory, of lengths that go in one piece and in several, alone and as
// parts of one call, by several threads at once; not a byte beyond is touched.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { ROOM = 80 * 4096, GUARD = 64, PARTS = 5, THREADS = 3, ROUNDS = 20, LONG = 150000 };

static struct {
    shoal_key_t key[2];
} names, theirs;
static unsigned char *memory[2], *local;

static bool is_guard(const unsigned char *p)
{
    for (int i = 0; i < GUARD; i++)
        if (p[i] != 0xee)
            return false;
    return true;
}

// PUT: what is at me is the left one's. The other way round for a get, which ends in `local`.
static void one(bool put, int kind, size_t n, size_t here, size_t there)
{
    shoal_rptr_t r;
    unsigned char *at = put ? memory[kind] + there : local + here;
    memset(at - GUARD, 0xee, n + 2 * GUARD);
    fill(put ? local + here : memory[kind] + there, n, (unsigned)me + 50);
    shmem_barrier_all();
    CHECK_EQ(shoal_rptr(&theirs.key[kind], there, &r), SHOAL_OK);
    int status = put ? shoal_put(r, local + here, n, NULL, NULL)
                     : shoal_get(local + here, r, n, NULL, NULL);
    CHECK_EQ(status, SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EACH(i, n, at[i], fill_byte((unsigned)(put ? left_pe() : right_pe()) + 50, i));
    CHECK(is_guard(at - GUARD));
    CHECK(is_guard(at + n));
    shmem_barrier_all();
}

// Parts of which some lie badly and some do not.
static void several(bool put, int kind)
{
    static const size_t n[PARTS] = {3000, 100, 20000, 5000, 4096};
    static const size_t here[PARTS] = {4096, 20000, 24576, 65536 + 7, 81920};
    static const size_t there[PARTS] = {8192 + 9, 16384, 32768 + 1, 65536 + 128, 81920 + 30};
    shoal_part_t part[PARTS];
    for (int i = 0; i < PARTS; i++) {
        CHECK_EQ(shoal_rptr(&theirs.key[kind], there[i], &part[i].remote), SHOAL_OK);
        part[i].local = local + here[i];
        part[i].n = n[i];
        fill(put ? local + here[i] : memory[kind] + there[i], n[i], (unsigned)(me + i));
        memset(put ? memory[kind] + there[i] : local + here[i], 0, n[i]);
    }
    shmem_barrier_all();
    CHECK_EQ(put ? shoal_putv(part, PARTS, NULL, NULL) : shoal_getv(part, PARTS, NULL, NULL),
             SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_barrier_all();
    for (int k = 0; k < PARTS; k++) {
        unsigned char *at = put ? memory[kind] + there[k] : local + here[k];
        CHECK_EACH(i, n[k], at[i], fill_byte((unsigned)((put ? left_pe() : right_pe()) + k), i));
    }
    shmem_barrier_all();
}

// What the right one has in its private memory; this PE's is not touched meanwhile.
static void *get_it(void *shift)
{
    unsigned char *mine = aligned_alloc(4096, ROOM), *to = mine + (uintptr_t)shift;
    shoal_rptr_t r;
    CHECK_EQ(shoal_rptr(&theirs.key[1], 4096, &r), SHOAL_OK);
    for (int round = 0; round < ROUNDS; round++) {
        memset(mine, 0, ROOM);
        CHECK_EQ(shoal_get(to, r, LONG, NULL, NULL), SHOAL_OK);
        CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
        CHECK_EACH(i, LONG, to[i], fill_byte((unsigned)right_pe() + 3, i));
        CHECK_EQ(to[LONG], 0);
    }
    free(mine);
    return NULL;
}

static void by_threads(void)
{
    static const uintptr_t shifts[THREADS] = {1, 16, 63};
    pthread_t thread[THREADS];
    fill(memory[1] + 4096, LONG, (unsigned)me + 3);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, get_it, (void *)shifts[t]), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
}

int main(void)
{
    static const size_t lengths[] = {2047, 2048, 16385, 150000};
    static const size_t places[] = {4096, 4097, 4104, 4112, 4159, 4160, 8191};
    shoal_region_t region[2];
    check_start();
    local = aligned_alloc(4096, ROOM);
    memory[0] = shmem_align(4096, ROOM);
    memory[1] = aligned_alloc(4096, ROOM);
    for (int k = 0; k < 2; k++) {
        memset(memory[k], 0, ROOM);
        CHECK_EQ(shoal_region_register(memory[k], ROOM, &region[k]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[k], &names.key[k]), SHOAL_OK);
    }
    memset(local, 0, ROOM);
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof theirs, right_pe());
    for (int put = 0; put < 2; put++)
        for (int kind = 0; kind < 2; kind++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
                    one(put, kind, lengths[l], 4096, places[p]);
                    one(put, kind, lengths[l], places[p], 4096);
                }
            several(put, kind);
        }
    by_threads();
    for (int k = 0; k < 2; k++)
        CHECK_EQ(shoal_region_deregister(region[k]), SHOAL_OK);
    free(local);
    shmem_free(memory[0]);
    free(memory[1]);
    return check_done();
}
