// SPDX-License-Identifier: BSD-3-Clause
// The longest active message to each PE: those of other nodes take more. Requests and replies, some to
// a handler that is registered after they came, with every byte looked at; one byte more is refused.
// PES: 1 2 4
// ENV: SHOAL_VNODES=2
#include "../check.h"

#include <shoal.h>

enum { ASK = 1, ANSWER, LATE, TIMES = 50, LATE_TIMES = 5 };

static unsigned char *out, *back; // back: of replies
static uint64_t asked, answered, late;

static unsigned char byte_of(int from, uint64_t turn, size_t i)
{
    return (unsigned char)(from * 89 + (int)turn * 7 + (int)(i * 31 + i / 251));
}

static uint64_t max_to(int pe)
{
    uint64_t n = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX_TO, pe, &n), SHOAL_OK);
    return n;
}

static void fill_out(unsigned char *to, uint64_t turn, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = byte_of(me, turn, i);
}

static void look(const shoal_am_t *am)
{
    const unsigned char *in = am->payload;
    CHECK_EQ(am->n, max_to(am->from) - am->arg % 3);
    CHECK_EACH(i, am->n, in[i], byte_of(am->from, am->arg, i));
}

static void on_ask(const shoal_am_t *am)
{
    look(am);
    asked++;
    size_t n = max_to(am->from) - am->arg % 3;
    fill_out(back, am->arg, n);
    CHECK_EQ(shoal_am_reply(am, ANSWER, am->arg, back, n), SHOAL_OK);
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->is_reply, 1);
    look(am);
    answered++;
}

static void on_late(const shoal_am_t *am)
{
    look(am);
    late++;
}

static void send_to(int pe, int id, uint64_t turn)
{
    size_t n = max_to(pe) - turn % 3;
    fill_out(out, turn, n);
    int status;
    if (turn % 2) {
        while ((status = shoal_am_try(pe, id, turn, out, n)) == SHOAL_EAGAIN)
            CHECK(shoal_progress() >= 0);
        CHECK_EQ(status, SHOAL_OK);
    } else {
        CHECK_EQ(shoal_am_request(pe, id, turn, out, n), SHOAL_OK);
    }
    memset(out, 0xEE, n); // copied
}

int main(void)
{
    check_start();
    uint64_t value, near = 0, most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, me, &near), SHOAL_OK);
    for (int pe = 0; pe < npes; pe++) {
        uint64_t n = max_to(pe), direct = 0;
        CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &direct), SHOAL_OK);
        CHECK(direct ? n == near : n > near);
        most = n > most ? n : most;
    }
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX_TO, npes, &value), SHOAL_EINVAL);
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX_TO, -1, &value), SHOAL_EINVAL);
    out = must_alloc(most + 1);
    back = must_alloc(most);
    CHECK_EQ(shoal_am_register(ASK, on_ask, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shoal_am_request(pe, ASK, 0, out, max_to(pe) + 1), SHOAL_EINVAL);
        CHECK_EQ(shoal_am_try(pe, ASK, 0, out, max_to(pe) + 1), SHOAL_EINVAL);
    }
    for (uint64_t turn = 0; turn < TIMES; turn++)
        for (int pe = 0; pe < npes; pe++)
            send_to(pe, ASK, turn);
    for (uint64_t turn = 0; turn < LATE_TIMES; turn++)
        for (int pe = 0; pe < npes; pe++)
            send_to(pe, LATE, turn);
    while (asked < (uint64_t)npes * TIMES || answered < (uint64_t)npes * TIMES)
        CHECK(shoal_progress() >= 0);
    CHECK_EQ(late, 0);
    CHECK_EQ(shoal_am_register(LATE, on_late, NULL), SHOAL_OK);
    while (late < (uint64_t)npes * LATE_TIMES)
        CHECK(shoal_progress() >= 0);
    shmem_barrier_all();
    free(out);
    free(back);
    return check_done();
}
