// SPDX-License-Identifier: BSD-3-Clause
// shoal_put without an event: who sees its signal sees its data, and shoal_quiet completes all that came
// before; messages, counters and atomics come after it. Sources may be reused when the call returns.
#include "../check.h"

#include <shoal.h>

enum { ROUNDS = 200, MOST = 20000, CELLS = 500, ID = 1, FIRST };
static uint64_t signals, counted;
static unsigned char data[MOST], from[MOST];
static uint64_t cells[CELLS], told, seen, first;
static shoal_rptr_t data_there, signals_there, cells_there, counted_there;

static shoal_rptr_t at_right(void *own)
{
    shoal_rptr_t r;
    CHECK_EQ(shoal_rptr_own(own, &r), SHOAL_OK);
    r.pe = right_pe();
    return r;
}

// The left neighbour has put so many bytes of this round.
static size_t length(int round)
{
    static const size_t lengths[] = {0, 1, 8, 200, 256, 257, 1000, 4096, 4097, MOST};
    return lengths[round % 10];
}

static void signalled(int op)
{
    uint64_t base = signals;
    shmem_barrier_all();
    for (int i = 1; i <= ROUNDS; i++) {
        fill(from, length(i), (unsigned)i);
        CHECK_EQ(shoal_put(data_there, from, length(i),
                           &(shoal_comp_t){
                               .signal = &signals_there,
                               .signal_value = op == SHMEM_SIGNAL_ADD ? 1 : base + (uint64_t)i,
                               .signal_op = op},
                           NULL),
                 SHOAL_OK);
        fill(from, length(i), (unsigned)i + 1); // it is ours again
        shmem_uint64_wait_until(&signals, SHMEM_CMP_GE, base + (uint64_t)i);
        fill(from, length(i), (unsigned)i);
        CHECK_MEM(data, from, length(i), "what came before the signal");
        shmem_barrier_all();
    }
}

static void on_message(const shoal_am_t *am)
{
    for (int i = 0; i < CELLS; i++)
        if (cells[i] != am->arg)
            return;
    seen = am->arg;
}

static void on_first(const shoal_am_t *am)
{
    first = cells[0];
    seen = am->arg;
}

// Rows of puts, and what follows each row.
static void rows(void)
{
    for (uint64_t round = 1; round <= 40; round++) {
        for (int i = 0; i < CELLS; i++) {
            uint64_t value = round;
            CHECK_EQ(shoal_put(shoal_rptr_add(cells_there, i * (ptrdiff_t)sizeof value), &value,
                               sizeof value, NULL, NULL),
                     SHOAL_OK);
        }
        if (round % 4 == 0) {
            CHECK_EQ(shoal_quiet(round % 8 ? -1 : right_pe()), SHOAL_OK);
            shmem_barrier_all();
        } else if (round % 4 == 1) {
            CHECK_EQ(shoal_am_request(right_pe(), ID, round, NULL, 0), SHOAL_OK);
            while (*(volatile uint64_t *)&seen != round)
                shoal_progress();
        } else {
            uint64_t one = 1, old;
            CHECK_EQ(shoal_atomic(counted_there, SHOAL_SUM, SHOAL_UINT64, &one, NULL,
                                  round % 4 == 2 ? &old : NULL, NULL, NULL),
                     SHOAL_OK);
            shmem_uint64_wait_until(&counted, SHMEM_CMP_GE, ++told);
        }
        for (int i = 0; i < CELLS; i++)
            if (!CHECK_EQ(cells[i], round))
                break;
        shmem_barrier_all();
    }
}

// One put, which may have left by itself before the message that follows it does.
static void alone(void)
{
    for (uint64_t round = 1000; round < 1200; round++) {
        for (int i = 0; i < CELLS; i++)
            cells[i] = round;
        shmem_barrier_all();
        CHECK_EQ(shoal_put(cells_there, &(uint64_t){round + 1}, sizeof round, NULL, NULL),
                 SHOAL_OK);
        for (volatile uint64_t k = 0; k < round % 7 * 20000; k++)
            ;
        CHECK_EQ(shoal_am_request(right_pe(), FIRST, round + 1, NULL, 0), SHOAL_OK);
        while (*(volatile uint64_t *)&seen != round + 1)
            shoal_progress();
        CHECK_EQ(first, round + 1);
        shmem_barrier_all();
    }
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_am_register(ID, on_message, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(FIRST, on_first, NULL), SHOAL_OK);
    data_there = at_right(data);
    signals_there = at_right(&signals);
    cells_there = at_right(cells);
    counted_there = at_right(&counted);
    signalled(SHMEM_SIGNAL_SET);
    signalled(SHMEM_SIGNAL_ADD);
    rows();
    alone();
    return check_done();
}
