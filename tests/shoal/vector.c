// SPDX-License-Identifier: BSD-3-Clause
// Vectors of parts: of all lengths, in rows as of a matrix or anywhere, in symmetric and in private memory,
// gathered from and scattered to anywhere, ended by the call, by an event, with a completion. One that leads
// out of its region, or to one that is gone, is an error of all of them.
// PES: 2 4
#include "counters.h"

enum { BYTES = 1 << 17, MOST = 700, FEW = 90, ROUNDS = 12 };

static unsigned char *memory[2], *local; // memory: symmetric, private
static shoal_key_t key[2], theirs[2];
static shoal_rptr_t base[2];
static shoal_part_t part[MOST];
static size_t parts, longest; // bytes
static shoal_ct_t count_of;
static uint64_t seed = 11;
static int right;

static unsigned char there(int pe, size_t i)
{
    return (unsigned char)(pe * 67 + (int)(i * 5 + i / 256));
}

// One part in each slot of both, as long as the slot at most; many in order, or a few from the last on. Rows:
// all of one length, at one distance.
static void draw_parts(int kind, bool is_packed, bool is_backward, bool are_rows)
{
    parts = is_backward ? FEW : MOST;
    longest = BYTES / parts;
    unsigned char *next = local;
    for (size_t i = 0; i < parts; i++) {
        size_t slot = is_backward ? parts - 1 - i : i;
        size_t n = are_rows ? longest / 4 : rnd_below(&seed, longest + 1);
        size_t at = slot * longest + (are_rows ? 3 : rnd_below(&seed, longest + 1 - n));
        part[i] = (shoal_part_t){shoal_rptr_add(base[kind], (ptrdiff_t)at),
                                 is_packed ? next : local + (parts - 1 - slot) * longest, n};
        next += n;
    }
}

static size_t place_of_part(int kind, size_t i)
{
    return (size_t)(part[i].remote.offset - base[kind].offset);
}

static void get(int kind, int how)
{
    shoal_event_t event, *all[] = {&event};
    shoal_comp_t comp = {.initiator_ct = count_of};
    memset(local, 0xEE, BYTES);
    CHECK_EQ(shoal_ct_set(me, count_of, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    CHECK_EQ(shoal_getv(part, parts, how == 1 ? &comp : NULL, how == 2 ? &event : NULL), SHOAL_OK);
    if (how == 2)
        CHECK_EQ(shoal_wait(1, all, 1, NULL, NULL), SHOAL_OK);
    if (how == 1)
        VALUE_IS(count_of, 1, 0);
    for (size_t i = 0; i < parts; i++)
        for (size_t k = 0; k < part[i].n; k++)
            if (!CHECK_EQ(((unsigned char *)part[i].local)[k],
                          there(right, place_of_part(kind, i) + k)))
                return;
}

// What lies between the parts keeps its values: got as a whole.
static void put(int kind, int how)
{
    shoal_event_t event, *all[] = {&event};
    unsigned char *model = must_alloc(BYTES), *whole = must_alloc(BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        model[i] = there(right, i);
        local[i] = (unsigned char)(i * 3 + i / 128 + (size_t)how);
    }
    for (size_t i = 0; i < parts; i++)
        memcpy(model + place_of_part(kind, i), part[i].local, part[i].n);
    CHECK_EQ(shoal_putv(part, parts, NULL, how == 2 ? &event : NULL), SHOAL_OK);
    if (how == 2)
        CHECK_EQ(shoal_wait(1, all, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(right), SHOAL_OK);
    CHECK_EQ(shoal_get(whole, base[kind], BYTES, NULL, NULL), SHOAL_OK);
    CHECK(memcmp(whole, model, BYTES) == 0);
    for (size_t i = 0; i < BYTES; i++)
        model[i] = there(right, i);
    CHECK_EQ(shoal_put(base[kind], model, BYTES, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(right), SHOAL_OK);
    free(model);
    free(whole);
}

static void refuse(int kind, int expected)
{
    shoal_part_t was = part[parts / 2];
    if (expected == SHOAL_ERANGE)
        part[parts / 2].remote = shoal_rptr_add(base[kind], BYTES + 1);
    CHECK_EQ(shoal_putv(part, parts, NULL, NULL), expected);
    CHECK_EQ(shoal_getv(part, parts, NULL, NULL), expected);
    part[parts / 2] = was;
}

int main(void)
{
    shoal_region_t region[2];
    check_start();
    right = (me + 1) % npes;
    memory[0] = shmem_malloc(BYTES);
    memory[1] = must_alloc(BYTES);
    local = must_alloc(BYTES);
    count_of = must_ct(SHMEM_TEAM_WORLD);
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < BYTES; i++)
            memory[kind][i] = there(me, i);
        CHECK_EQ(shoal_region_register(memory[kind], BYTES, &region[kind]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[kind], &key[kind]), SHOAL_OK);
    }
    shmem_barrier_all();
    shmem_getmem(theirs, key, sizeof theirs, right);
    for (int kind = 0; kind < 2; kind++)
        CHECK_EQ(shoal_rptr(&theirs[kind], 0, &base[kind]), SHOAL_OK);
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < 2; kind++) {
            draw_parts(kind, round % 2, round / 2 % 2, round >= ROUNDS / 2);
            get(kind, round % 3);
            put(kind, round % 3);
        }
    refuse(1, SHOAL_ERANGE);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region[1]), SHOAL_OK);
    shmem_barrier_all();
    refuse(1, SHOAL_EKEY);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region[0]), SHOAL_OK);
    shmem_free(memory[0]);
    free(memory[1]);
    free(local);
    return check_done();
}
