// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// shoal.h: counting events, triggered operations and active messages between two PEs, each beside
// what it is judged by, in turns: the ping-pong of plain lines, and plain puts.
#include "lines.h"

#include <shoal.h>

enum { TRIPS = 300, BLOCKS = 15, ROWS = 8, WORKS = 10000, ID = 1 };

struct lab {
    int me;
    struct lines *lines;
    uint64_t line_seq;
    shoal_ct_t event, start, fired; // fired: counts at the target
    uint64_t count;
    shoal_rptr_t there;
    long *word, value;
    volatile long got;
};
static struct lab lab;

static double one_line(struct lab *l)
{
    return line_one_way(l->lines, l->me, false, &l->line_seq);
}

// ---- An event at PE 0 answered by a put to PE 1, which polls the word. Who waits for the event and
// then puts, and who armed the put: PE 1 makes the event happen in both.
static void await_word(struct lab *l, long value)
{
    while (__atomic_load_n(l->word, __ATOMIC_ACQUIRE) != value)
        ;
}

static double put_after_event(struct lab *l)
{
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        l->value++;
        l->count++;
        if (l->me == 1) {
            shoal_ct_inc(0, l->event, (shoal_ct_value_t){1, 0});
            await_word(l, l->value);
        } else {
            shoal_ct_wait(1, &l->event, &l->count, NULL);
            shoal_put(l->there, &l->value, sizeof l->value, NULL, NULL);
        }
    }
    return (now_ns() - start) / TRIPS;
}

// The puts are armed before the clock starts.
static double put_triggered(struct lab *l)
{
    static long values[TRIPS];
    for (int i = 0; i < TRIPS; i++)
        values[i] = l->value + i + 1;
    shoal_work_t work = {.kind = SHOAL_WORK_PUT, .remote = l->there, .n = sizeof(long)};
    for (int i = 0; l->me == 0 && i < TRIPS; i++) {
        work.local = &values[i];
        shoal_trigger(&work, l->event, l->count + (uint64_t)i + 1, SHOAL_CT_NONE, NULL);
    }
    shmem_barrier_all();
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        l->value++;
        l->count++;
        if (l->me == 1) {
            shoal_ct_inc(0, l->event, (shoal_ct_value_t){1, 0});
            await_word(l, l->value);
        }
    }
    double took = (now_ns() - start) / TRIPS;
    shmem_barrier_all();
    return took;
}

// ---- Armed and fired by one PE alone, as fast as it can.
static double arm_and_fire(struct lab *l)
{
    static uint64_t base;
    shoal_work_t work = {.kind = SHOAL_WORK_CT_INC, .pe = l->me, .ct = l->fired, .value = {1, 0}};
    double start = now_ns();
    for (uint64_t i = 1; i <= WORKS; i++)
        shoal_trigger(&work, l->start, base + i, SHOAL_CT_NONE, NULL);
    for (int i = 0; i < WORKS; i++)
        shoal_ct_inc(l->me, l->start, (shoal_ct_value_t){1, 0});
    base += WORKS;
    return WORKS / (now_ns() - start) * 1e3;
}

// ---- Reading a counter of one's own: through its pointer, as a copy, and a word beside them.
static double read_of(const volatile uint64_t *word)
{
    double start = now_ns();
    for (int i = 0; i < WORKS; i++)
        (void)*word;
    return (now_ns() - start) / WORKS;
}

static double read_word(struct lab *l)
{
    return read_of(&l->count);
}

static double read_counter(struct lab *l)
{
    return read_of(&shoal_ct_at(l->event)->success);
}

static double get_counter(struct lab *l)
{
    shoal_ct_value_t value;
    double start = now_ns();
    for (int i = 0; i < WORKS; i++)
        shoal_ct_get(l->event, &value);
    return (now_ns() - start) / WORKS;
}

// ---- Active messages.
static void on_message(const shoal_am_t *am)
{
    lab.got = (long)am->arg;
}

static double message(struct lab *l)
{
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        l->value++;
        if (l->me == 0)
            shoal_am_request(1, ID, (uint64_t)l->value, &l->value, sizeof l->value);
        while (l->got != l->value)
            shoal_progress();
        if (l->me == 1)
            shoal_am_request(0, ID, (uint64_t)l->value, &l->value, sizeof l->value);
    }
    return (now_ns() - start) / TRIPS / 2;
}

static const struct {
    const char *key, *unit;
    double (*batch)(struct lab *);
} kinds[] = {{"one_line", "ns", one_line},           {"put_after_event", "ns", put_after_event},
             {"put_triggered", "ns", put_triggered}, {"trigger_rate", "M/s", arm_and_fire},
             {"word_read", "ns", read_word},         {"ct_read", "ns", read_counter},
             {"ct_get", "ns", get_counter},          {"am_8", "ns", message}};
enum { KINDS = sizeof kinds / sizeof *kinds };

int main(void)
{
    static double seen[KINDS][BLOCKS * ROWS];
    shmem_init();
    lab.me = shmem_my_pe();
    pin(lab.me);
    struct lines *lines = shmem_calloc(1, sizeof *lines);
    lab.lines = shmem_ptr(lines, 0);
    lab.word = shmem_calloc(1, 64);
    shoal_am_register(ID, on_message, NULL);
    shoal_rptr_symmetric(lab.word, 1, &lab.there);
    shoal_ct_alloc(SHMEM_TEAM_WORLD, &lab.event);
    shoal_ct_alloc(SHMEM_TEAM_WORLD, &lab.start);
    shoal_ct_alloc(SHMEM_TEAM_WORLD, &lab.fired);
    for (int i = 0; i < BLOCKS * ROWS; i++)
        for (int k = 0; k < KINDS; k++) {
            shmem_barrier_all();
            seen[k][i] = kinds[k].batch(&lab);
        }
    for (int k = 0; k < KINDS && lab.me == 1; k++) { // who makes the event holds the clock
        qsort(seen[k], BLOCKS * ROWS, sizeof(double), ascending);
        figure(kinds[k].key, -1, seen[k][BLOCKS * ROWS / 2], kinds[k].unit);
    }
    fflush(stdout);
    shmem_finalize();
    return 0;
}
