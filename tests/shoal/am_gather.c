// SPDX-License-Identifier: BSD-3-Clause
// Messages that may leave together (shoal_am_gather), among others that do not: each PE's arrive once, in
// order and with every byte, whatever their lengths; and they leave when their sender waits, when it
// says so, and also when it calls nothing any more.
// PES: 1 2 4 7
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>

enum { NEXT = 1, TURNS = 3000, LONGEST = 5000, FEW = 20 };

static uint64_t come_from[64], come;
static uint64_t is_seen;     // symmetric
static uint64_t longest[64]; // bytes, to each PE: those of a node take less, all in HOSTILE builds

static unsigned char byte_of(int from, uint64_t turn, size_t i)
{
    return (unsigned char)((uint64_t)from * 59 + turn * 7 + i);
}

// Different from turn to turn, the same at both ends.
static unsigned draw(int from, int to, uint64_t turn)
{
    uint64_t x = (turn * 64 + (uint64_t)from) * 64 + (uint64_t)to + 1;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(x >> 40);
}

static size_t length(int from, int to, uint64_t turn)
{
    unsigned x = draw(from, to, turn);
    return x % (x % 5 ? 24 : longest[from == me ? to : from]);
}

static void on_next(const shoal_am_t *am)
{
    const unsigned char *in = am->payload;
    uint64_t turn = come_from[am->from]++;
    come++;
    CHECK_EQ(am->arg, turn);
    CHECK_EQ(am->is_reply, 0);
    if (CHECK_EQ(am->n, length(am->from, me, turn)))
        CHECK_EACH(i, am->n, in[i], byte_of(am->from, turn, i));
}

static void send_one(int pe, uint64_t turn, int (*am)(int, int, uint64_t, const void *, size_t))
{
    unsigned char out[LONGEST];
    size_t n = length(me, pe, turn);
    int status;
    for (size_t i = 0; i < n; i++)
        out[i] = byte_of(me, turn, i);
    while ((status = am(pe, NEXT, turn, out, n)) == SHOAL_EAGAIN)
        CHECK(shoal_progress() >= 0);
    CHECK_EQ(status, SHOAL_OK);
    memset(out, 0xEE, n); // copied
}

// In rows to one PE, with others among them.
static void send_all(void)
{
    for (uint64_t turn = 0; turn < TURNS; turn += 10)
        for (int pe = 0; pe < npes; pe++)
            for (uint64_t t = turn; t < turn + 10; t++) {
                unsigned kind = draw(pe, me, t) % 16;
                send_one(pe, t,
                         kind == 0   ? shoal_am_request
                         : kind == 1 ? shoal_am_try
                                     : shoal_am_gather);
                if (kind == 2)
                    CHECK_EQ(shoal_am_push(), SHOAL_OK);
            }
}

static void wait_for(uint64_t n)
{
    while (come < n)
        CHECK(shoal_progress() >= 0);
    CHECK_EQ(come, n);
}

// PE 0 sends to the last one, and then calls nothing before that has seen them.
static void compute_after(bool is_pushed)
{
    is_seen = 0;
    shmem_barrier_all();
    for (int i = 0; me == 0 && i < FEW; i++)
        send_one(npes - 1, TURNS + (uint64_t)i + (is_pushed ? FEW : 0), shoal_am_gather);
    if (me == 0 && is_pushed)
        CHECK_EQ(shoal_am_push(), SHOAL_OK);
    if (me == npes - 1) {
        wait_for((uint64_t)npes * TURNS + (is_pushed ? 2 * FEW : FEW));
        shmem_uint64_p(&is_seen, 1, 0);
        shmem_quiet();
    }
    while (me == 0 && !*(volatile uint64_t *)&is_seen)
        sched_yield();
    shmem_barrier_all();
}

int main(void)
{
    uint64_t before = 0, after = 0, direct = 0, far = 0;
    check_skip_under_tsan(); // the orders of other nodes
    check_start();
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX_TO, pe, &longest[pe]), SHOAL_OK);
        longest[pe] = longest[pe] < LONGEST ? longest[pe] : LONGEST;
    }
    CHECK_EQ(shoal_am_register(NEXT, on_next, NULL), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(shoal_query(SHOAL_Q_SENT_FAR, 0, &before), SHOAL_OK);
    send_all();
    CHECK_EQ(shoal_query(SHOAL_Q_SENT_FAR, 0, &after), SHOAL_OK);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &direct), SHOAL_OK);
        far += !direct;
    }
    CHECK(after - before >= far * TURNS);
    wait_for((uint64_t)npes * TURNS);
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(come_from[pe], TURNS);
    if (npes > 1) {
        compute_after(false);
        compute_after(true);
    }
    shmem_barrier_all();
    return check_done();
}
