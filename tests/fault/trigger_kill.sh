#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE is killed with triggered operations armed, in the middle of one that it runs for another, at
# any moment while all arm and release each other's, while it holds a slot of an inbox that others'
# works send to, while it waits for room to send for another, and when works need its private
# memory: the job ends with one line, and no process is left.
. "$(dirname "$0")/../launch/lib.sh"

ulimit -c 0
compile trigger_kill <<'PROGRAM'
#include <shoal.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 2, MESSAGE = 1, OPERATOR = 0, MANY = 5000, SIZE = 4096 };
static int me, npes;
static char payload[100], *box;
static shoal_key_t key;
static shoal_ct_t gate, done;
static const shoal_ct_value_t one = {1, 0};
static long held, words[64];

static void check(int status)
{
    if (status)
        shoal_abort(3, shoal_strerror(status));
}

// By the kernel: nothing here has to run for it.
static void die_in_100_ms(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec t = {.it_value = {.tv_nsec = 100000000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &t, NULL))
        exit(2);
}

static void on_message(const shoal_am_t *am)
{
    (void)am;
}

static void wait_forever(void)
{
    uint64_t never = UINT64_MAX;
    shoal_ct_wait(1, &done, &never, NULL);
}

static void arm(shoal_work_t work, uint64_t threshold)
{
    check(shoal_trigger(&work, gate, threshold, done, NULL));
}

static shoal_work_t message_to(int pe)
{
    return (shoal_work_t){.kind = SHOAL_WORK_AM, .pe = pe, .am_id = MESSAGE, .local = payload,
                          .n = sizeof payload};
}

static shoal_work_t add_to(int pe)
{
    shoal_work_t add = {.kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_INT64, .a = 1};
    check(shoal_rptr_symmetric(&words[me], pe, &add.remote));
    return add;
}

// Some of them are released before it dies, others when it is dead.
static void armed(void)
{
    for (int i = 0; i < MANY && me == VICTIM; i++)
        arm(add_to(i % npes), (uint64_t)i * 1000);
    shmem_barrier_all();
    if (me == VICTIM) {
        die_in_100_ms();
        pause();
    }
    for (;;)
        shoal_ct_inc(VICTIM, gate, one);
}

// It has the lock of PE 0's counter for good; who cancels there waits for it.
static void deadly(void *acc, const void *in, size_t n, void *user)
{
    (void)acc, (void)in, (void)n, (void)user;
    if (me != VICTIM)
        return;
    __atomic_store_n((long *)shmem_ptr(&held, 0), 1, __ATOMIC_SEQ_CST);
    raise(SIGKILL);
}

static void in_operator(void)
{
    static long acc, in;
    shoal_work_t reduce = {.kind = SHOAL_WORK_REDUCE, .local = &acc, .local2 = &in, .n = 1,
                           .op = (shoal_op_t)(SHOAL_OP_USER + OPERATOR)};
    check(shoal_op_register(OPERATOR, deadly, NULL, sizeof acc));
    for (int i = 0; i < MANY && me == 0; i++)
        arm(i == 10 ? reduce : add_to(i % npes), 1);
    shmem_barrier_all();
    if (me == VICTIM)
        shoal_ct_inc(0, gate, one);
    if (me == 0) {
        shmem_long_wait_until(&held, SHMEM_CMP_EQ, 1);
        shoal_ct_cancel(gate, NULL);
    }
    wait_forever();
}

static void at_any_moment(void)
{
    shmem_barrier_all();
    if (me == VICTIM)
        die_in_100_ms();
    for (uint64_t i = 0;; i++) {
        const int pe = (int)(i % (uint64_t)npes);
        shoal_work_t work = i % 16 ? add_to(pe) : message_to((me + 1) % npes);
        shoal_trigger(&work, gate, i * 2, done, NULL); // or there is none left
        shoal_ct_inc((int)(i * 7 % (uint64_t)npes), gate, one);
        if (i % 100 == 0)
            shoal_ct_cancel(gate, NULL);
    }
}

// The inbox of PE 0 is full soon: nothing behind the victim's slot comes out.
static void ticket(void)
{
    shoal_am_room_t room;
    for (int i = 0; i < MANY && me != VICTIM; i++)
        arm(message_to(0), 1);
    if (me == VICTIM)
        check(shoal_am_reserve(0, sizeof payload, &room));
    shmem_barrier_all();
    if (me == VICTIM) {
        die_in_100_ms();
        pause();
    }
    shoal_ct_inc((me + 1) % npes, gate, one);
    shoal_ct_inc(me, gate, one);
    wait_forever();
}

// PE 0 is not there to receive what the victim sends for PE 1, which wants to cancel it.
static void no_room(void)
{
    for (int i = 0; i < MANY && me == 1; i++)
        arm(message_to(0), 1);
    shmem_barrier_all();
    if (me == VICTIM) {
        die_in_100_ms();
        shoal_ct_inc(1, gate, one);
    } else if (me == 0) {
        pause();
    } else if (me == 1) {
        uint64_t first = 1;
        shoal_ct_wait(1, &done, &first, NULL);
        shoal_ct_cancel(gate, NULL);
    }
    wait_forever();
}

// To and from the private memory of one that will not come into the library again.
static void private_memory(void)
{
    shoal_work_t put = {.kind = SHOAL_WORK_PUT, .local = box, .n = SIZE};
    const int to = me == VICTIM ? 0 : VICTIM;
    shoal_key_t theirs;
    shmem_getmem(&theirs, &key, sizeof theirs, to);
    check(shoal_rptr(&theirs, 0, &put.remote));
    for (int i = 0; i < 10; i++)
        arm(put, 1);
    shmem_barrier_all();
    if (me == VICTIM) {
        die_in_100_ms();
        pause();
    }
    shoal_ct_inc(VICTIM, gate, one);
    shoal_ct_inc((me + 1) % npes, gate, one);
    wait_forever();
}

int main(int argc, char **argv)
{
    shoal_region_t region;
    char path[512];
    if (argc != 3)
        return 2;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    snprintf(path, sizeof path, "%s/pid.%d", argv[2], me);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
        return 2;
    box = malloc(SIZE);
    check(box ? shoal_region_register(box, SIZE, &region) : SHOAL_ENOMEM);
    check(shoal_region_key(region, &key));
    check(shoal_am_register(MESSAGE, on_message, NULL));
    check(shoal_ct_alloc(SHMEM_TEAM_WORLD, &gate));
    check(shoal_ct_alloc(SHMEM_TEAM_WORLD, &done));
    shmem_barrier_all();
    switch (argv[1][0]) {
    case 'a': armed(); break;
    case 'o': in_operator(); break;
    case 'm': at_any_moment(); break;
    case 't': ticket(); break;
    case 'r': no_room(); break;
    case 'p': private_memory(); break;
    }
    shmem_finalize();
    return 3; // nobody gets here
}
PROGRAM

for how in armed operator moment ticket room private; do
    for cross in 1 0; do
        [ $how = private ] || [ $cross = 1 ] || continue
        rm -f "$tmp"/pid.*
        SHOAL_CROSS_MEMORY=$cross run oshrun -n 4 --timeout 60 "$tmp/trigger_kill" $how "$tmp"
        expect_rc 137
        expect_err_line "^oshrun: PE 2 \\(pid $(cat "$tmp/pid.2")\\) was killed by SIGKILL \\(Killed\\).*; the other 3 PEs were ended\$"
        expect_soon 5000 # of which 200 at most are the PE's
        # shellcheck disable=SC2046
        expect_gone $(cat "$tmp"/pid.*)
    done
done
exit 0
