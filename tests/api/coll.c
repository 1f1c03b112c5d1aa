// SPDX-License-Identifier: BSD-3-Clause
// broadcast, collect, fcollect, alltoall, alltoalls over teams: every type, every root, teams of
// all kinds, zero to many elements, 1 MB; the whole destination is compared with a model.
#include "../check.h"
#include "coll_rows.h"

enum { BIG = 1 << 20, GUARD = 64 };

static unsigned char *src, *dst, *model;
static size_t space; // bytes of src, dst and model

// What PE pe has in its source for every call.
static void source_of(unsigned char *to, int pe, size_t n)
{
    fill(to, n, (unsigned)(pe * 3 + 1));
}

static void begin(const test_team *t, size_t bytes)
{
    memset(dst, 0xEE, bytes + GUARD);
    memset(model, 0xEE, bytes + GUARD);
    shmem_team_sync(t->team); // dst is ready everywhere
}

static void end(const test_team *t, const coll_row *r, const char *what, size_t n, size_t bytes)
{
    char text[96];
    snprintf(text, sizeof text, "%s of %s, %zu elements, team of %d from %d by %d", what, r->name,
             n, t->size, t->start, t->stride);
    CHECK_MEM(dst, model, bytes + GUARD, text);
}

static void broadcast(const test_team *t, const coll_row *r, size_t n, int root)
{
    size_t bytes = n * r->size;
    begin(t, bytes);
    CHECK_EQ(r->broadcast(t->team, dst, src, n, root), 0);
    source_of(model, team_world_pe(t, root), bytes);
    end(t, r, "broadcast", n, bytes);
}

static void fcollect(const test_team *t, const coll_row *r, size_t n)
{
    size_t bytes = n * r->size;
    begin(t, bytes * (size_t)t->size);
    CHECK_EQ(r->fcollect(t->team, dst, src, n), 0);
    for (int k = 0; k < t->size; k++)
        source_of(model + bytes * (size_t)k, team_world_pe(t, k), bytes);
    end(t, r, "fcollect", n, bytes * (size_t)t->size);
}

// Member k gives n + k elements, or none when (k + n) % 3 is 2.
static void collect(const test_team *t, const coll_row *r, size_t n)
{
    size_t total = 0, mine = 0;
    for (int k = 0; k < t->size; k++) {
        size_t share = (n + (size_t)k) % 3 == 2 ? 0 : n + (size_t)k;
        mine = k == t->rank ? share : mine;
        total += share * r->size;
    }
    begin(t, total);
    CHECK_EQ(r->collect(t->team, dst, src, mine), 0);
    unsigned char *to = model;
    for (int k = 0; k < t->size; k++) {
        size_t share = (n + (size_t)k) % 3 == 2 ? 0 : n + (size_t)k;
        source_of(to, team_world_pe(t, k), share * r->size);
        to += share * r->size;
    }
    end(t, r, "collect", n, total);
}

static void alltoall(const test_team *t, const coll_row *r, size_t n)
{
    size_t block = n * r->size, bytes = block * (size_t)t->size;
    unsigned char *from = must_alloc(bytes);
    begin(t, bytes);
    CHECK_EQ(r->alltoall(t->team, dst, src, n), 0);
    for (int k = 0; k < t->size; k++) {
        source_of(from, team_world_pe(t, k), bytes);
        memcpy(model + block * (size_t)k, from + block * (size_t)t->rank, block);
    }
    free(from);
    end(t, r, "alltoall", n, bytes);
}

static void alltoalls(const test_team *t, const coll_row *r, size_t n, size_t to, size_t by)
{
    size_t es = r->size, ts = (size_t)t->size, rank = (size_t)t->rank;
    size_t bytes = n * ts * es * to, bytes_from = n * ts * es * by;
    unsigned char *from = must_alloc(bytes_from);
    begin(t, bytes);
    CHECK_EQ(r->alltoalls(t->team, dst, src, (ptrdiff_t)to, (ptrdiff_t)by, n), 0);
    for (size_t k = 0; k < ts; k++) {
        source_of(from, team_world_pe(t, (int)k), bytes_from);
        for (size_t i = 0; i < n; i++)
            memcpy(model + (k * n + i) * to * es, from + (rank * n + i) * by * es, es);
    }
    free(from);
    end(t, r, "alltoalls", n, bytes);
}

static void all_types(const test_team *t)
{
    static const size_t counts[] = {1, 0, 5, 33};
    for (int i = 0; i < COLL_ROWS; i++) {
        const coll_row *r = &coll_rows[i];
        size_t n = counts[i % 4];
        broadcast(t, r, n + 3, i % t->size);
        broadcast(t, r, n, (i + 1) % t->size);
        collect(t, r, n);
        fcollect(t, r, n);
        alltoall(t, r, n);
        alltoalls(t, r, n, 1 + (size_t)i % 3, 1 + (size_t)i / 3 % 3);
    }
}

// Sizes around every threshold an implementation may have, in bytes, on one team.
static void all_sizes(const test_team *t)
{
    static const size_t sizes[] = {1,    2,     7,     8,     9,      63,     64,
                                   65,   127,   500,   1024,  4095,   4096,   4097,
                                   8192, 16384, 40000, 65536, 131072, 262145, BIG};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], share = n / (size_t)t->size;
        broadcast(t, &coll_rows[0], n, (int)(i % (size_t)t->size));
        fcollect(t, &coll_rows[0], share);
        collect(t, &coll_rows[0], share / 2);
        alltoall(t, &coll_rows[0], share);
        alltoalls(t, &coll_rows[0], share / 64, 3, 2);
    }
    for (int root = 0; root < t->size; root++)
        broadcast(t, &coll_rows[0], 100, root);
}

// The root may give its own destination as the source; then nothing moves there.
static void broadcast_in_place(void)
{
    for (int root = 0; root < npes; root++) {
        if (me == root)
            source_of(dst, root, 5000);
        else
            memset(dst, 0, 5000);
        shmem_barrier_all();
        CHECK_EQ(shmem_broadcastmem(SHMEM_TEAM_WORLD, dst, dst, 5000, root), 0);
        source_of(model, root, 5000);
        CHECK_MEM(dst, model, 5000, "broadcast in place");
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    space = BIG + (size_t)npes * 8192;
    src = must_shmalloc(space);
    dst = must_shmalloc(space + GUARD);
    model = must_alloc(space + GUARD);
    source_of(src, me, space);
    test_team teams[MAX_TEAMS];
    int count = make_teams(teams);
    shmem_barrier_all();
    for (int i = 0; i < count; i++)
        if (teams[i].rank >= 0)
            all_types(&teams[i]);
    for (int i = 0; i < 2; i++)
        if (teams[i].rank >= 0)
            all_sizes(&teams[i]);
    broadcast_in_place();
    destroy_teams(teams, count);
    free(model);
    return check_done();
}
