// SPDX-License-Identifier: BSD-3-Clause
// Transfers with events to a PE of another node return while it cannot answer: PE 1 is stopped by
// SIGSTOP until PE 0 has begun one of each kind (the alarm ends a PE 0 that waits there). More of them
// than can be under way; their order; what is found out at the target.
// PES: 2
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { N = 500, MANY = 1500, OTHER = 1, KINDS = 6, FEW = 3 };

static struct names {
    shoal_key_t key;
    uint64_t pid;
} names;
static uint64_t words[N], counter;
static uint64_t *private;
static shoal_region_t region;

static void wait_all(size_t n, shoal_event_t *event)
{
    for (size_t i = 0; i < n; i++) {
        shoal_event_t *one[] = {&event[i]};
        CHECK_EQ(shoal_wait(1, one, 1, NULL, NULL), SHOAL_OK);
        CHECK_EQ(event[i].status, SHOAL_OK);
    }
}

static void begin_each(shoal_rptr_t at, const uint64_t *out, uint64_t *in, uint64_t *old,
                       shoal_event_t *event)
{
    const uint64_t three = 3;
    const size_t bytes = FEW * sizeof *out, half[] = {FEW * sizeof *out, 2};
    const ptrdiff_t stride[] = {160};
    shoal_part_t part[] = {{shoal_rptr_add(at, 1600), (void *)(uintptr_t)(out + 200), bytes},
                           {shoal_rptr_add(at, 2400), (void *)(uintptr_t)(out + 300), bytes}};
    CHECK_EQ(shoal_put(at, out, bytes, NULL, &event[0]), SHOAL_OK);
    CHECK_EQ(shoal_get(in, shoal_rptr_add(at, 3200), bytes, NULL, &event[1]), SHOAL_OK);
    CHECK_EQ(
        shoal_puts(shoal_rptr_add(at, 800), stride, out + 100, stride, half, 1, NULL, &event[2]),
        SHOAL_OK);
    CHECK_EQ(shoal_putv(part, 2, NULL, &event[3]), SHOAL_OK);
    CHECK_EQ(shoal_atomic(shoal_rptr_add(at, 3992), SHOAL_SUM, SHOAL_UINT64, &three, NULL, old,
                          NULL, &event[4]),
             SHOAL_OK);
    CHECK_EQ(shoal_acc(shoal_rptr_add(at, 2880), NULL, out, NULL, &bytes, 0, SHOAL_SUM,
                       SHOAL_UINT64, NULL, NULL, &event[5]),
             SHOAL_OK);
}

static void check_each(const uint64_t *memory)
{
    CHECK_EACH(i, FEW, memory[i], 7 + i);
    CHECK_EACH(i, FEW, memory[100 + i], 107 + i);
    CHECK_EACH(i, FEW, memory[120 + i], 127 + i);
    CHECK_EACH(i, FEW, memory[200 + i], 207 + i);
    CHECK_EACH(i, FEW, memory[300 + i], 307 + i);
    CHECK_EACH(i, FEW, memory[360 + i], 360 + i + 7 + i);
    CHECK_EQ(memory[N - 1], N - 1 + 3);
}

static void stopped(const struct names *theirs)
{
    static uint64_t out[N], in[2][FEW], old[2], once;
    static shoal_event_t event[2 * KINDS];
    shoal_rptr_t at[2];
    CHECK_EQ(shoal_rptr_symmetric(words, OTHER, &at[0]), SHOAL_OK);
    CHECK_EQ(shoal_rptr(&theirs->key, 0, &at[1]), SHOAL_OK);
    for (int i = 0; i < N; i++)
        out[i] = 7 + (uint64_t)i;
    for (int k = 0; k < 2; k++) { // they know each other
        CHECK_EQ(shoal_get(&once, at[k], sizeof once, NULL, NULL), SHOAL_OK);
        CHECK_EQ(shoal_put(at[k], &once, sizeof once, NULL, NULL), SHOAL_OK);
    }
    uint64_t room = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &room), SHOAL_OK);
    bool stops = room >= 1024; // a build of tiny queues has none for so many
    alarm(30);
    CHECK_EQ(kill((pid_t)theirs->pid, stops ? SIGSTOP : SIGCONT), 0);
    while (stops && check_process_state(theirs->pid) != 'T')
        sched_yield();
    for (int k = 0; k < 2; k++)
        begin_each(at[k], out, in[k], &old[k], event + k * KINDS);
    CHECK_EQ(check_process_state(theirs->pid) == 'T', stops);
    CHECK_EQ(kill((pid_t)theirs->pid, SIGCONT), 0);
    wait_all(2 * KINDS, event);
    alarm(0);
    for (int k = 0; k < 2; k++) {
        CHECK_EACH(i, FEW, in[k][i], 400 + i);
        CHECK_EQ(old[k], N - 1);
    }
}

// Of one PE, in their order, also where there are too many to be under way.
static void many(void)
{
    static uint64_t old[MANY];
    static shoal_event_t event[MANY];
    const uint64_t one = 1;
    shoal_rptr_t at;
    CHECK_EQ(shoal_rptr_symmetric(&counter, OTHER, &at), SHOAL_OK);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(shoal_atomic(at, SHOAL_SUM, SHOAL_UINT64, &one, NULL, &old[i], NULL, &event[i]),
                 SHOAL_OK);
    wait_all(MANY, event);
    CHECK_EACH(i, MANY, old[i], i);
}

static void stale(const struct names *theirs)
{
    shoal_rptr_t at;
    shoal_event_t event = {0}, *one[] = {&event};
    uint64_t word = 1;
    CHECK_EQ(shoal_rptr(&theirs->key, 0, &at), SHOAL_OK);
    CHECK_EQ(shoal_put(at, &word, sizeof word, NULL, NULL), SHOAL_EKEY);
    CHECK_EQ(shoal_put(at, &word, sizeof word, NULL, &event), SHOAL_OK);
    CHECK_EQ(shoal_wait(1, one, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(event.status, SHOAL_EKEY);
}

int main(void)
{
    struct names theirs;
    check_start();
    private = malloc(sizeof words);
    for (int i = 0; i < N; i++)
    private[i] = words[i] = (uint64_t)i;
    CHECK_EQ(shoal_region_register(private, sizeof words, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.key), SHOAL_OK);
    names.pid = (uint64_t)getpid();
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof theirs, npes - 1 < OTHER ? 0 : OTHER);
    uint64_t is_near = 1;
    CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, npes > 1 ? OTHER : 0, &is_near), SHOAL_OK);
    shmem_barrier_all();
    if (me == 0 && !is_near) {
        stopped(&theirs);
        many();
    }
    shmem_barrier_all();
    if (me == OTHER && counter) { // PE 0 was on another node
        check_each(words);
        check_each(private);
    }
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    shmem_barrier_all();
    if (me == 0 && !is_near)
        stale(&theirs);
    shmem_barrier_all();
    free(private);
    return check_done();
}
