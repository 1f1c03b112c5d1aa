// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// bad_job WHAT: in a job of two, PE 1 makes a mistake while PE 0 waits for it. bad_args.sh runs it.
#include "../check.h"

static long words[64];
static long sync_words[SHMEM_SYNC_SIZE];
static long *block, *other, *priv;

static void wrong_pe(void)
{
    shmem_long_p(words, 1, 2);
}

static void private_dest(void)
{
    shmem_long_p(priv, 1, 0);
}

static void past_the_end(void)
{
    shmem_long_put(block, words, SIZE_MAX / 16, 0);
}

static void private_source(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, priv, 1);
}

static void wrong_root(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 1, 2);
}

static void nothing_from_nowhere(void)
{
    shmem_long_collect(SHMEM_TEAM_WORLD, words, me ? NULL : words + 8, me ? 0 : 1);
}

static void outside(void)
{
    shmem_barrier(0, 0, 1, sync_words);
}

static void context_pe(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    shmem_ctx_long_p(ctx, words, 1, 5);
}

static void free_twice(void)
{
    shmem_free(other);
}

static void malloc_size(void)
{
    shmem_malloc(me ? 16 : 8);
}

static void realloc_size(void)
{
    block = shmem_realloc(block, me ? 5000 : 4000);
}

static void free_other(void)
{
    shmem_free(me ? block + 64 : block);
}

static void malloc_and_free(void)
{
    if (me)
        shmem_free(block);
    else
        shmem_malloc(8);
}

static const struct {
    const char *name;
    void (*call)(void);
    bool by_all;
} mistakes[] = {
    {"wrong_pe", wrong_pe, false},         {"private_dest", private_dest, false},
    {"past_the_end", past_the_end, false}, {"private_source", private_source, false},
    {"wrong_root", wrong_root, false},     {"outside", outside, false},
    {"nothing_from_nowhere", nothing_from_nowhere, true},
    {"context_pe", context_pe, false},     {"free_twice", free_twice, false},
    {"malloc_size", malloc_size, true},    {"realloc_size", realloc_size, true},
    {"free_other", free_other, true},      {"malloc_and_free", malloc_and_free, true},
};

int main(int argc, char **argv)
{
    check_start();
    priv = calloc(8, sizeof *priv);
    block = must_shmalloc(64 * sizeof *block);
    other = must_shmalloc(64 * sizeof *other);
    other = other == block + 64 ? other : NULL; // as free_other expects
    if (other)
        shmem_free(other);
    if (strcmp(argv[argc - 1], "free_other") == 0)
        must_shmalloc(64 * sizeof *other);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (strcmp(argv[argc - 1], mistakes[i].name) == 0 && (me == 1 || mistakes[i].by_all))
            mistakes[i].call();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
