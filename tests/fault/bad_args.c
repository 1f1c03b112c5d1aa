// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Wrong arguments, one call of every kind: each must end the program with one line that names the
// call, the argument and what is wrong with it. bad_args.sh runs it; bad_names.c goes through the
// names of all types.
#include "../check.h"
#include "bad.h"
#include "bad_rows.h"

#include <limits.h>

static long words[64];         // symmetric
static int ints[64];           // symmetric
static long sync_words[64];    // symmetric, a pSync
static long *heap_words;       // symmetric, on the heap
static long *last;             // the last word of the heap
static long mine[64];          // a source or destination on this side
static long *priv;             // private
static size_t indices[64];
static long no_handle[64];     // neither a team nor a context
static shmem_team_t gone_team; // destroyed
static shmem_ctx_t gone_ctx;

// ---- From the lists: a function that makes the i-th call, and a table of what is expected of it.
static void answer(bool as_specified)
{
    if (!as_specified)
        exit(9);
}

static bool split(int start, int stride, int size)
{
    shmem_team_t made = SHMEM_TEAM_WORLD;
    return shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &made) != 0 &&
           made == SHMEM_TEAM_INVALID;
}

struct row {
    const char *call, *pattern;
};
#define ROW(call, pattern, ...) {#call, pattern},
#define CALL(call, pattern, ...)      \
    case __COUNTER__ - FIRST_COUNTER: \
        __VA_ARGS__;                  \
        break;
#define LIST(list, name)                            \
    static const struct row name##_rows[] = {list(ROW)}; \
    static void name##_call(int which)              \
    {                                               \
        enum { FIRST_COUNTER = __COUNTER__ + 1 };   \
        switch (which) {                            \
            list(CALL)                              \
        }                                           \
    }
LIST(EARLY, early)
#define AFTER_INIT(X)                                                                     \
    RMA(X) STRIDED(X) ATOMIC(X) SIGNAL(X) WAIT(X) LOCK(X) COLL(X) ACTIVE(X) HEAP(X) TEAM(X) \
    CONTEXT(X)
LIST(AFTER_INIT, wrong)
LIST(FINE, fine)
LIST(UNCHECKED, unchecked)

// The heap is made of whole pages, and goes on from any block of it.
static void find_end(void)
{
    char *at = (char *)((uintptr_t)heap_words | 4095) + 1;
    while (shmem_addr_accessible(at, 0))
        at += 4096;
    last = (long *)(void *)at - 1;
}

static void start(void)
{
    check_start();
    heap_words = must_shmalloc(64 * sizeof *heap_words);
    find_end();
    priv = must_alloc(64 * sizeof *priv);
    priv[0] = 77;
}

static void wrong(int which)
{
    start();
    wrong_call(which);
    shmem_finalize();
}

#if !defined(__SANITIZE_ADDRESS__)
LIST(GONE, gone)

static void gone(int which)
{
    start();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &gone_team);
    shmem_ctx_create(0, &gone_ctx);
    shmem_team_destroy(gone_team);
    shmem_ctx_destroy(gone_ctx);
    gone_call(which);
}
#endif

static void fine(int which)
{
    start();
    fine_call(which);
    shmem_finalize();
}

static void unchecked(int which)
{
    setenv("SHOAL_CHECK", "0", 1);
    start();
    unchecked_call(which);
    shmem_finalize();
}

static void late(int which) // as before shmem_init
{
    start();
    shmem_finalize();
    early_call(which);
}

#define RUN(name, how)                                                          \
    for (size_t i = 0; i < sizeof name##_rows / sizeof name##_rows[0]; i++)     \
        bad_run(name##_rows[i].call, name##_rows[i].pattern, how, (int)i,        \
                name##_rows[i].pattern != NULL)

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    unsetenv("SHOAL_CHECK");
    for (int direct = 1; direct >= 0; direct--) {
        setenv("SHOAL_DIRECT", direct ? "1" : "0", 1);
        RUN(wrong, wrong);
        RUN(fine, fine);
        RUN(unchecked, unchecked);
    }
    RUN(early, early_call);
    RUN(early, late);
#if !defined(__SANITIZE_ADDRESS__)
    RUN(gone, gone);
#endif
    return bad_done();
}
