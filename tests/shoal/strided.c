// SPDX-License-Identifier: BSD-3-Clause
// Strided transfers of up to eight levels, with strides of either sign, and vectors: random ones
// against a copy made here byte by byte.
#include "../check.h"

#include <shoal.h>

enum { SIZE = 1 << 15, ROUNDS = 60, PARTS = 12 };

static struct {
    shoal_key_t key[2];
} names, theirs;
static unsigned char *memory[2], *local, *want;

struct shape {
    int levels;
    size_t count[SHOAL_MAX_LEVELS + 1];
    ptrdiff_t to[SHOAL_MAX_LEVELS], from[SHOAL_MAX_LEVELS];
    size_t to_start, from_start; // where the first block is
};

// Distances such that blocks do not meet, in either direction, and the place of the first block so
// that all of them are within SIZE. False: they are not.
static bool spread(uint64_t *seed, const struct shape *s, ptrdiff_t stride[], size_t *start,
                   bool may_meet)
{
    size_t extent = s->count[0];
    *start = 0;
    for (int i = 0; i < s->levels; i++) {
        size_t step = extent + rnd_below(seed, 1 + extent / 2), n = s->count[i + 1];
        if (may_meet && rnd_below(seed, 4) == 0)
            step = rnd_below(seed, 3);
        if (n > 0)
            extent += step * (n - 1);
        if (extent > SIZE)
            return false;
        stride[i] = rnd_below(seed, 2) ? (ptrdiff_t)step : -(ptrdiff_t)step;
        if (stride[i] < 0 && n > 0)
            *start += step * (n - 1);
    }
    *start += rnd_below(seed, SIZE - extent + 1);
    return true;
}

// Many short blocks, as the columns of a matrix.
static struct shape random_rows(uint64_t *seed)
{
    struct shape s;
    do {
        s.levels = 1 + (int)rnd_below(seed, 2);
        s.count[0] = 1 + rnd_below(seed, 20);
        s.count[1] = 20 + rnd_below(seed, rnd_below(seed, 2) ? 400 : 2000);
        s.count[2] = 1 + rnd_below(seed, 3);
    } while (!spread(seed, &s, s.to, &s.to_start, false) ||
             !spread(seed, &s, s.from, &s.from_start, true));
    return s;
}

static struct shape random_shape(uint64_t *seed)
{
    struct shape s;
    if (rnd_below(seed, 3) == 0)
        return random_rows(seed);
    do {
        s.levels = (int)rnd_below(seed, SHOAL_MAX_LEVELS + 1);
        s.count[0] = rnd_below(seed, 20) ? 1 + rnd_below(seed, 9 + 200 / (1u << s.levels)) : 0;
        for (int i = 1; i <= s.levels; i++)
            s.count[i] = rnd_below(seed, 30) ? 1 + rnd_below(seed, s.levels > 4 ? 3 : 5) : 0;
    } while (!spread(seed, &s, s.to, &s.to_start, false) ||
             !spread(seed, &s, s.from, &s.from_start, true));
    return s;
}

static void model(const struct shape *s, int level, unsigned char *to, const unsigned char *from)
{
    if (level == 0) {
        for (size_t b = 0; b < s->count[0]; b++)
            to[b] = from[b];
        return;
    }
    for (size_t i = 0; i < s->count[level]; i++)
        model(s, level - 1, to + (ptrdiff_t)i * s->to[level - 1],
              from + (ptrdiff_t)i * s->from[level - 1]);
}

static shoal_rptr_t place(int kind, size_t offset)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr(&theirs.key[kind], offset, &r), SHOAL_OK);
    return r;
}

static shoal_event_t event;
static void wait_event(void)
{
    shoal_event_t *list[] = {&event};
    CHECK_EQ(shoal_wait(1, list, 1, NULL, NULL), SHOAL_OK);
}

// Both know the seed, so both know what comes.
static void strided_round(uint64_t round, int kind, int pe, int from_pe)
{
    uint64_t out = round * 64 + (uint64_t)me, in = round * 64 + (uint64_t)from_pe;
    struct shape s = random_shape(&out), came = random_shape(&in);
    fill(memory[kind], SIZE, (unsigned)me + 50);
    fill(local, SIZE, (unsigned)me);
    shmem_barrier_all();
    CHECK_EQ(shoal_puts(place(kind, s.to_start), s.to, local + s.from_start, s.from, s.count,
                        s.levels, NULL, round % 2 ? &event : NULL),
             SHOAL_OK);
    if (round % 2)
        wait_event();
    else
        CHECK_EQ(shoal_quiet(pe), SHOAL_OK);
    shmem_barrier_all();
    fill(local, SIZE, (unsigned)from_pe);
    fill(want, SIZE, (unsigned)me + 50);
    model(&came, came.levels, want + came.to_start, local + came.from_start);
    CHECK_MEM(memory[kind], want, SIZE, "memory after a strided put");
    fill(memory[kind], SIZE, (unsigned)me + 50);
    shmem_barrier_all();
    fill(local, SIZE, (unsigned)me);
    CHECK_EQ(shoal_gets(local + s.to_start, s.to, place(kind, s.from_start), s.from, s.count,
                        s.levels, NULL, &event),
             SHOAL_OK);
    wait_event();
    unsigned char *source = must_alloc(SIZE);
    fill(source, SIZE, (unsigned)pe + 50);
    fill(want, SIZE, (unsigned)me);
    model(&s, s.levels, want + s.to_start, source + s.from_start);
    CHECK_MEM(local, want, SIZE, "memory after a strided get");
    free(source);
    shmem_barrier_all();
}

// Parts between PARTS pairs of slices, in any order and of either kind of memory.
struct vector {
    size_t n, size[PARTS], remote[PARTS], local[PARTS];
    int kind[PARTS];
};

static struct vector random_vector(uint64_t *seed)
{
    enum { SLICE = SIZE / PARTS };
    struct vector v = {.n = 1 + rnd_below(seed, PARTS)};
    for (size_t i = 0; i < PARTS; i++) {
        v.remote[i] = v.local[i] = i * SLICE;
        v.size[i] = rnd_below(seed, 5) ? rnd(seed) % SLICE >> rnd_below(seed, 12) : 0;
        v.kind[i] = (int)rnd_below(seed, 2);
    }
    rnd_shuffle(seed, PARTS, v.remote);
    rnd_shuffle(seed, PARTS, v.local);
    return v;
}

static size_t parts_of(const struct vector *v, shoal_part_t part[])
{
    for (size_t i = 0; i < v->n; i++)
        part[i] = (shoal_part_t){place(v->kind[i], v->remote[i]), local + v->local[i], v->size[i]};
    return v->n;
}

static void vector_round(uint64_t round, int pe, int from_pe)
{
    uint64_t out = round * 64 + (uint64_t)me + 7777, in = round * 64 + (uint64_t)from_pe + 7777;
    struct vector v = random_vector(&out), came = random_vector(&in);
    shoal_part_t part[PARTS];
    fill(local, SIZE, (unsigned)me);
    for (int k = 0; k < 2; k++)
        fill(memory[k], SIZE, (unsigned)(me + 50 + k));
    shmem_barrier_all();
    CHECK_EQ(shoal_putv(part, parts_of(&v, part), NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_barrier_all();
    fill(local, SIZE, (unsigned)from_pe);
    for (int k = 0; k < 2; k++) {
        fill(want, SIZE, (unsigned)(me + 50 + k));
        for (size_t i = 0; i < came.n; i++)
            if (came.kind[i] == k)
                memcpy(want + came.remote[i], local + came.local[i], came.size[i]);
        CHECK_MEM(memory[k], want, SIZE, "memory after a vector put");
        fill(memory[k], SIZE, (unsigned)(me + 50 + k));
    }
    shmem_barrier_all();
    fill(local, SIZE, (unsigned)me);
    fill(want, SIZE, (unsigned)me);
    CHECK_EQ(shoal_getv(part, parts_of(&v, part), NULL, &event), SHOAL_OK);
    wait_event();
    for (size_t i = 0; i < v.n; i++)
        for (size_t b = 0; b < v.size[i]; b++)
            want[v.local[i] + b] = fill_byte((unsigned)(pe + 50 + v.kind[i]), v.remote[i] + b);
    CHECK_MEM(local, want, SIZE, "memory after a vector get");
    shmem_barrier_all();
}

int main(void)
{
    shoal_region_t region;
    uint64_t most = 0;
    check_start();
    memory[0] = must_shmalloc(SIZE);
    memory[1] = must_alloc(SIZE);
    local = must_alloc(SIZE);
    want = must_alloc(SIZE);
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(shoal_region_register(memory[k], SIZE, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &names.key[k]), SHOAL_OK);
    }
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &most), SHOAL_OK);
    uint64_t rounds = most < 1024 ? ROUNDS / 4 : ROUNDS; // tiny limits: much slower
    for (uint64_t round = 0; round < rounds; round++) {
        int shift = (int)(round % (uint64_t)npes);
        int pe = (me + shift) % npes, from_pe = (me + npes - shift) % npes;
        shmem_barrier_all();
        shmem_getmem(&theirs, &names, sizeof theirs, pe);
        strided_round(round, (int)(round / (uint64_t)npes) % 2, pe, from_pe);
        vector_round(round, pe, from_pe);
    }
    return check_done();
}
