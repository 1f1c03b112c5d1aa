// SPDX-License-Identifier: BSD-3-Clause
// Active messages one by one: every size, what a handler is told, replies, long messages, payloads
// built in place, ids registered late, and what a handler may do.
#include "../check.h"

#include <shoal.h>

enum { ECHO = 1, ANSWER, LONG, LONG_ANSWER, PLACED, EARLY, EARLY_2, WORKER, WORKED, LAST = 255 };
enum { BIG = 100000 };

static size_t most, line; // bytes of a payload, and of one within the envelope
static uint64_t requests, answers, longs, long_answers;
static unsigned char big[BIG], inbox[BIG]; // symmetric
static unsigned char *private_box;
static struct {
    shoal_key_t box;
} names, theirs;
static int user_word;

// One look at what has come; when that is nothing, others may need the core.
static void look(void)
{
    int handled = shoal_progress();
    CHECK(handled >= 0);
    if (handled == 0)
        sched_yield();
}

static void until(const uint64_t *count, uint64_t least)
{
    while (*count < least)
        look();
    CHECK_EQ(*count, least);
}

static void check_payload(const shoal_am_t *am, unsigned char_seed)
{
    const unsigned char *p = am->payload;
    for (size_t i = 0; i < am->n; i++)
        if (!CHECK_EQ(p[i], fill_byte(char_seed, i)))
            break;
}

// arg: the size, and the sender in the upper half
static uint64_t arg_of(size_t n)
{
    return (uint64_t)n | (uint64_t)me << 48;
}

static void on_echo(const shoal_am_t *am)
{
    CHECK(am->id == ECHO || am->id == LAST);
    CHECK_EQ(am->is_reply, 0);
    CHECK(am->user == &user_word);
    CHECK_EQ(am->arg, am->n | (uint64_t)am->from << 48);
    check_payload(am, (unsigned)am->from + (unsigned)am->n);
    requests++;
    CHECK_EQ(shoal_am_reply(am, ANSWER, ~am->arg, am->payload, am->n), SHOAL_OK);
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->id, ANSWER);
    CHECK_EQ(am->is_reply, 1);
    CHECK(am->user == NULL);
    CHECK_EQ(~am->arg, arg_of(am->n));
    check_payload(am, (unsigned)me + (unsigned)am->n);
    answers++;
}

static void send_echo(int pe, int id, size_t n)
{
    unsigned char payload[8192];
    fill(payload, n, (unsigned)me + (unsigned)n);
    CHECK_EQ(shoal_am_request(pe, id, arg_of(n), n ? payload : NULL, n), SHOAL_OK);
    memset(payload, 0xee, n); // it was copied
}

// Every PE to every PE, at first one at a time and then many.
static void every_size(void)
{
    uint64_t sent = 0;
    for (int pe = 0; pe < npes; pe++) {
        for (size_t n = 0; n <= most; n += n < 80 ? 1 : 61) {
            send_echo(pe, n % 3 ? ECHO : LAST, n);
            sent++;
            if (n < 40)
                until(&answers, sent);
        }
        send_echo(pe, ECHO, most);
        sent++;
    }
    until(&answers, sent);
    shmem_barrier_all();
    CHECK_EQ(requests, sent);
}

static void on_long(const shoal_am_t *am)
{
    CHECK_EQ(am->is_reply, 0);
    CHECK(am->payload == (am->arg % 2 ? private_box : inbox) + 3);
    CHECK_EQ(am->n, am->arg / 2);
    check_payload(am, (unsigned)am->from);
    longs++;
    shoal_rptr_t back;
    CHECK_EQ(shoal_rptr_symmetric(big, am->from, &back), SHOAL_OK);
    CHECK_EQ(shoal_am_reply_long(am, LONG_ANSWER, am->arg, am->payload, am->n, back), SHOAL_OK);
}

static void on_long_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->is_reply, 1);
    CHECK(am->payload == big);
    CHECK_EQ(am->n, am->arg / 2);
    check_payload(am, (unsigned)me);
    long_answers++;
}

static void long_messages(void)
{
    const size_t sizes[] = {0, 1, 31, 32, 33, 1000, 4096, most, most + 1, BIG - 3};
    unsigned char *payload = must_alloc(BIG);
    fill(payload, BIG, (unsigned)me);
    shmem_getmem(&theirs, &names, sizeof theirs, right_pe());
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i / 2];
        shoal_rptr_t to;
        if (i % 2)
            CHECK_EQ(shoal_rptr(&theirs.box, 3, &to), SHOAL_OK);
        else
            CHECK_EQ(shoal_rptr_symmetric(inbox + 3, right_pe(), &to), SHOAL_OK);
        memset(big, 0, BIG);
        CHECK_EQ(shoal_am_request_long(LONG, 2 * n + i % 2, payload, n, to), SHOAL_OK);
        until(&long_answers, i + 1);
    }
    free(payload);
    shmem_barrier_all();
    CHECK_EQ(longs, long_answers);
}

// In place: any size of room, and messages that turn out shorter.
static void in_place(void)
{
    shoal_am_room_t room;
    for (size_t n = 0; n <= most; n += n < 70 ? 1 : 53) {
        const size_t used[] = {n, n / 2, 0, n < line ? n : line, n ? n - 1 : 0};
        for (int i = 0; i < 5; i++) {
            int pe = (me + i) % npes;
            CHECK_EQ(shoal_am_reserve(pe, n, &room), SHOAL_OK);
            CHECK(room.payload != NULL && room.n >= n);
            fill(room.payload, n, (unsigned)me + (unsigned)used[i]);
            CHECK_EQ(shoal_am_commit(&room, ECHO, arg_of(used[i]), used[i]), SHOAL_OK);
            CHECK(room.payload == NULL);
            CHECK_EQ(shoal_am_commit(&room, ECHO, 0, 0), SHOAL_EINVAL);
        }
    }
    CHECK_EQ(shoal_am_reserve(right_pe(), line, &room), SHOAL_OK);
    CHECK_EQ(shoal_am_commit(&room, ECHO, 0, room.n + 1), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_commit(&room, 0, 0, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_commit(&room, 256, 0, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_am_commit(&room, ECHO, arg_of(0), 0), SHOAL_OK);
}

// Kept until there is a handler, in order, while messages of other ids go on.
static struct {
    uint64_t next[2], count;
} early[64];

static void on_early(const shoal_am_t *am)
{
    int which = am->id == EARLY_2;
    CHECK_EQ(am->arg, early[am->from].next[which]++);
    CHECK_EQ(am->n, am->arg % (most + 1));
    check_payload(am, (unsigned)am->from + (unsigned)am->n);
    early[am->from].count++;
}

static void late_ids(void)
{
    enum { MESSAGES = 300 };
    unsigned char payload[8192];
    for (uint64_t i = 0; i < MESSAGES; i++)
        for (int pe = 0; pe < npes && npes <= 64; pe++) {
            size_t n = i % (most + 1);
            fill(payload, n, (unsigned)(me + (int)n));
            CHECK_EQ(shoal_am_request(pe, EARLY, i, payload, n), SHOAL_OK);
            CHECK_EQ(shoal_am_request(pe, EARLY_2, i, payload, n), SHOAL_OK);
            if (i % 100 == 0)
                send_echo(pe, ECHO, n);
        }
    shmem_barrier_all();
    while (shoal_progress() > 0)
        ;
    CHECK_EQ(early[0].count, 0);
    CHECK_EQ(shoal_am_register(EARLY_2, on_early, NULL), SHOAL_OK);
    for (int pe = 0; pe < npes && npes <= 64; pe++)
        until(&early[pe].next[1], MESSAGES);
    CHECK_EQ(early[0].next[0], 0);
    CHECK_EQ(shoal_am_register(EARLY, on_early, NULL), SHOAL_OK);
    for (int pe = 0; pe < npes && npes <= 64; pe++)
        until(&early[pe].count, 2 * MESSAGES);
}

// A handler that puts, gets, accumulates, counts, sends on, and looks for more.
static shoal_ct_t worked;
static uint64_t sum, ring_box, own_word, done_work;
static uint64_t put_word, got_word; // of the handler's transfers, which end after it
static shoal_event_t put_event, got_event;

static void on_worker(const shoal_am_t *am)
{
    shoal_rptr_t there, word, total;
    const uint64_t one = 1;
    shoal_event_t *list[] = {&put_event, &got_event};
    size_t done = 0;
    put_word = am->arg;
    CHECK_EQ(shoal_rptr_symmetric(&ring_box, am->from, &there), SHOAL_OK);
    CHECK_EQ(shoal_put(there, &put_word, sizeof put_word, &(shoal_comp_t){.target_ct = worked},
                       &put_event),
             SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&own_word, am->from, &word), SHOAL_OK);
    CHECK_EQ(shoal_get(&got_word, word, sizeof got_word, NULL, &got_event), SHOAL_OK);
    CHECK_EQ(shoal_test(2, list, &done, NULL), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&sum, 0, &total), SHOAL_OK);
    CHECK_EQ(shoal_atomic(total, SHOAL_SUM, SHOAL_UINT64, &one, NULL, NULL, NULL, NULL), SHOAL_OK);
    shmem_uint64_atomic_add(&sum, 1, 0);
    CHECK_EQ(shoal_ct_inc(am->from, worked, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    CHECK(shoal_progress() >= 0); // runs no handler within this one
    CHECK_EQ(shoal_am_request((am->from + 1) % npes, WORKED, am->arg, NULL, 0), SHOAL_OK);
}

static void on_worked(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, (unsigned)left_pe() + 1000u);
    done_work++;
}

static void working_handlers(void)
{
    shoal_ct_value_t v;
    shoal_event_t *events[] = {&put_event, &got_event};
    own_word = (unsigned)me + 2000u;
    shmem_barrier_all();
    CHECK_EQ(shoal_am_request(right_pe(), WORKER, (unsigned)me + 1000u, NULL, 0), SHOAL_OK);
    CHECK_EQ(shoal_ct_wait(1, &worked, &(uint64_t){2}, &(size_t){0}), SHOAL_OK);
    CHECK_EQ(shoal_ct_get(worked, &v), SHOAL_OK);
    CHECK_EQ(v.success, 2);
    CHECK_EQ(ring_box, (unsigned)me + 1000u);
    until(&done_work, 1);
    CHECK_EQ(shoal_wait(2, events, 2, NULL, NULL), SHOAL_OK);
    CHECK_EQ(got_word, (unsigned)left_pe() + 2000u);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(sum, 2 * (unsigned)npes);
}

static void arguments(void)
{
    shoal_am_room_t room = {0};
    shoal_am_t am = {.from = right_pe()}, own = {.from = me};
    shoal_rptr_t to, elsewhere, nowhere;
    CHECK_EQ(shoal_rptr_symmetric(inbox, right_pe(), &to), SHOAL_OK);
    nowhere = shoal_rptr_add(to, PTRDIFF_MAX);
#define EINVAL_IS(call) CHECK_EQ(call, SHOAL_EINVAL)
    EINVAL_IS(shoal_am_register(0, on_echo, NULL));
    EINVAL_IS(shoal_am_register(256, on_echo, NULL));
    EINVAL_IS(shoal_am_register(-1, on_echo, NULL));
    EINVAL_IS(shoal_am_request(-1, ECHO, 0, NULL, 0));
    EINVAL_IS(shoal_am_request(npes, ECHO, 0, NULL, 0));
    EINVAL_IS(shoal_am_request(0, 0, 0, NULL, 0));
    EINVAL_IS(shoal_am_request(0, 256, 0, NULL, 0));
    EINVAL_IS(shoal_am_request(me, ECHO, 0, big, most + 1));
    EINVAL_IS(shoal_am_request(0, ECHO, 0, big, SIZE_MAX));
    EINVAL_IS(shoal_am_request(0, ECHO, 0, NULL, 1));
    EINVAL_IS(shoal_am_request_long(0, 0, big, 8, to));
    CHECK_EQ(shoal_am_request_long(ECHO, 0, big, 8, nowhere), SHOAL_ERANGE);
    EINVAL_IS(shoal_am_reply(NULL, ECHO, 0, NULL, 0));
    EINVAL_IS(shoal_am_reply(&own, ECHO, 0, big, most + 1));
    EINVAL_IS(shoal_am_reply_long(NULL, ECHO, 0, big, 8, to));
    if (npes > 1) {
        CHECK_EQ(shoal_rptr_symmetric(inbox, me, &elsewhere), SHOAL_OK);
        EINVAL_IS(shoal_am_reply_long(&am, ECHO, 0, big, 8, elsewhere));
    }
    EINVAL_IS(shoal_am_reserve(npes, 8, &room));
    EINVAL_IS(shoal_am_reserve(-1, 8, &room));
    EINVAL_IS(shoal_am_reserve(0, most + 1, &room));
    EINVAL_IS(shoal_am_reserve(0, 8, NULL));
    EINVAL_IS(shoal_am_commit(NULL, ECHO, 0, 0));
    EINVAL_IS(shoal_am_commit(&room, ECHO, 0, 0));
}

int main(void)
{
    shoal_region_t region;
    uint64_t v = 0;
    check_start();
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &v), SHOAL_OK);
    most = (size_t)v;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_INLINE, 0, &v), SHOAL_OK);
    line = (size_t)v;
    CHECK(line >= 8 && most >= line && most <= 8192);
    private_box = must_alloc(BIG);
    CHECK_EQ(shoal_region_register(private_box, BIG, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.box), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &worked), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ECHO, on_echo, &user_word), SHOAL_OK);
    CHECK_EQ(shoal_am_register(LAST, on_echo, &user_word), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(LONG, on_long, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(LONG_ANSWER, on_long_answer, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(WORKER, on_worker, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(WORKED, on_worked, NULL), SHOAL_OK);
    shmem_barrier_all();
    every_size();
    long_messages();
    in_place();
    late_ids();
    working_handlers();
    arguments();
    shmem_barrier_all();
    return check_done();
}
