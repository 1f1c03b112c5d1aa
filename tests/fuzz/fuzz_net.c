// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whatever a peer on another node may say to lib/core/net_message.c. This process is PE 0
// of four on two nodes, with a network that swallows what is sent. An input is a row of messages:
//
//     length (2 bytes), sender, mode, bytes of the message
//
// mode 1: it comes while a get waits for an answer, with the token of that. An input that begins with
// r is one remote pointer and a length. Gathered puts may go anywhere in a PE's memory; here they find
// some of malloc in its place.
#include "counter.h"
#include "handlers.h"
#include "inbox.h"
#include "net.h"
#include "net_credit.h"
#include "net_message.h"
#include "net_work.h"
#include "region.h"
#include "shoal.h"
#include "wait.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NPES = 4, REGION = 1000, COUNTERS = 4, PLAIN = 1000, STATIC = 300 };
#define STAMP UINT64_C(0x5354414d50535453)

static unsigned char *region; // of malloc: what lies around it is guarded
static unsigned char *plain, *static_data;
static shoal_ct_t counters[COUNTERS];
_Alignas(
    struct job) static unsigned char fake_job[sizeof(struct job) + NPES * sizeof(struct job_pe)];
static uint32_t region_index;
static uint64_t token; // of the operation that is waited for
static unsigned char *answer;
static size_t answer_n;

__attribute__((constructor(101))) static void settings_before_the_library(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "64k", 1);
    setenv("SHOAL_STATIC", "0", 1);
    setenv("SHOAL_LOG", "error", 1);
    setenv("SHOAL_SPIN", "0", 1);
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

// ---- The network, in the place of net.c
struct port net;

int net_up(void)
{
    return 0;
}

void net_down(void)
{
}

void net_leave(void)
{
}

void net_let_leave(unsigned *looks)
{
    (void)looks;
}

bool net_is_leaving(void)
{
    return false;
}

void net_connect(int pe)
{
    require(pe > 0 && pe < NPES);
}

_Noreturn void net_failed(const char *call, int pe, int status)
{
    (void)call, (void)pe, (void)status;
    abort();
}

_Noreturn void net_failed_locked(const char *call, int pe, int status)
{
    net_failed(call, pe, status);
}

int net_progress(void)
{
    return 0;
}

int net_move(void)
{
    return 0;
}

void net_describe(struct transport_job *job)
{
    job->region[TRANSPORT_HEAP].base = world.ctl;
    job->region[TRANSPORT_HEAP].size = (size_t)world.slice_size;
}

// As in net_message.c.
enum {
    AT_KIND = 0,
    AT_N = 8,
    AT_STATUS = 12,
    AT_TOKEN = 16,
    HEAD = 64,
    RUN = 2,
    DONE = 3,
    BATCH = 5
};
#define OF_STREAM (UINT64_C(1) << 63)

static int fake_am(void *ep, void *ctx, int pe, const struct transport_payload *payload)
{
    size_t n = transport_payload_size(payload);
    (void)ep, (void)ctx;
    require(pe > 0 && pe < NPES && payload->head_n >= HEAD && n <= net.facts.am_max);
    const unsigned char *bytes = payload->head;
    if (bytes[AT_KIND] == RUN)
        memcpy(&token, bytes + AT_TOKEN, sizeof token);
    return TRANSPORT_DONE;
}

static int fake_flush(void *ep, void *ctx, int pe)
{
    (void)ep, (void)ctx, (void)pe;
    return TRANSPORT_DONE;
}

static const struct transport fake = {.am = fake_am, .flush = fake_flush, .fence = fake_flush};

// ---- Answers: that of the input first, then a true one.
enum { WANTED = 33 }; // bytes of data

static int give_answers(void)
{
    unsigned char good[HEAD + WANTED] = {[AT_KIND] = DONE, [AT_N] = WANTED};
    memcpy(good + AT_TOKEN, &token, sizeof token);
    if (answer)
        memcpy(answer + AT_TOKEN, &token, sizeof token);
    if (answer)
        net_message_arrived(NULL, 2, answer, answer_n, NULL);
    answer = NULL;
    net_message_arrived(NULL, 2, good, sizeof good, NULL);
    return 1;
}

static void ask(unsigned char *bytes, size_t n)
{
    unsigned char *to = malloc(WANTED);
    struct operation op = {.kind = SHOAL_WORK_GET,
                           .n = WANTED,
                           .has_local = true,
                           .local = place_of(to),
                           .remote = {.pe = 2, .region = REGION_FIRST}};
    answer = bytes;
    answer_n = n;
    wait_hooks.progress = give_answers;
    net_run(&op, 2);
    wait_hooks.progress = NULL;
    free(to);
}

// ---- What arrives
static unsigned seen;

static void handler(const shoal_am_t *am)
{
    require(am->from >= 0 && am->from < NPES);
    for (size_t i = 0; i < am->n; i++)
        seen += ((const unsigned char *)am->payload)[i];
}

static void arrive_batch(int from, const unsigned char *bytes, size_t n)
{
    struct world kept = world;
    world.ctl = (char *)plain;
    world.slice_size = PLAIN;
    world.data = (uintptr_t)static_data;
    world.data_size = STATIC;
    net_message_arrived(NULL, from, bytes, n, NULL);
    world = kept;
}

// A PE that is told that its puts were refused ends.
static bool is_refusal(const unsigned char *bytes)
{
    uint64_t of;
    int32_t status;
    memcpy(&of, bytes + AT_TOKEN, sizeof of);
    memcpy(&status, bytes + AT_STATUS, sizeof status);
    return bytes[AT_KIND] == DONE && of < UINT64_MAX - 1 && of & OF_STREAM && status;
}

static void arrive(int from, bool is_answer, const uint8_t *bytes, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1); // exactly as long
    memcpy(copy, bytes, n);
    bool has_head = n >= HEAD;
    if (has_head && is_refusal(copy))
        memset(copy + AT_STATUS, 0, sizeof(int32_t));
    if (is_answer && has_head)
        ask(copy, n);
    else if (has_head && copy[AT_KIND] == BATCH)
        arrive_batch(from, copy, n);
    else
        net_message_arrived(NULL, from, copy, n, NULL);
    free(copy);
    net_work();
    inbox_poll();
}

// Whatever a remote pointer says, what it is resolved to is memory it may name.
static void resolve(const uint8_t *bytes, size_t size)
{
    shoal_rptr_t r;
    uint64_t n;
    struct place at;
    if (size < sizeof r + sizeof n)
        return;
    memcpy(&r, bytes, sizeof r);
    memcpy(&n, bytes + sizeof r, sizeof n);
    if (region_resolve(&r, n, &at) || n == 0 || !world_is_here(at.pe))
        return;
    const char *start = place_here(at), *slice = world.ctl;
    require(start != NULL);
    bool in_heap = start >= (char *)world.heap && n <= (size_t)(slice + world.slice_size - start);
    bool in_region = start >= (char *)region && start <= (char *)region + REGION &&
                     n <= (size_t)((char *)region + REGION - start);
    require(in_heap || in_region);
}

// What counts may release.
static void arm(void)
{
    shoal_work_t work = {.kind = SHOAL_WORK_CT_INC, .pe = 2, .ct = counters[1], .value = {1, 0}};
    shoal_trigger(&work, counters[0], 1, SHOAL_CT_NONE, NULL);
    work.pe = 0;
    shoal_trigger(&work, counters[0], 5, counters[2], NULL);
    work = (shoal_work_t){.kind = SHOAL_WORK_AM, .pe = 0, .am_id = 1};
    shoal_trigger(&work, counters[1], 2, counters[2], NULL);
    work = (shoal_work_t){
        .kind = SHOAL_WORK_PUT,
        .local = region,
        .n = 100,
        .remote = {.stamp = STAMP, .pe = 0, .region = REGION_FIRST + region_index}};
    shoal_trigger(&work, counters[2], 1000, counters[3], NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    credit_down(); // nobody takes what the last one made this PE send
    require(credit_up() == 0);
    if (size && data[0] == 'r') {
        resolve(data + 1, size - 1);
        return 0;
    }
    arm();
    for (size_t at = 0, n; at + 4 <= size; at += 4 + n) {
        n = data[at] | (size_t)(data[at + 1] & 31) << 8;
        if (n > size - at - 4)
            n = size - at - 4;
        arrive(1 + data[at + 2] % (NPES - 1), data[at + 3] & 1, data + at + 4, n);
    }
    for (int i = 0; i < COUNTERS; i++) {
        shoal_ct_cancel(counters[i], NULL);
        counter_set(counter_at(0, counters[i]), 0, (shoal_ct_value_t){0, 0});
    }
    handlers_forget();
    net_message_down();
    return 0;
}

// ---- Set-up
static struct world true_world;

// The library waits for other PEs when this one leaves; there are none.
static void make_one_node(void)
{
    world = true_world;
    net = (struct port){0};
}

static void make_two_nodes(void)
{
    true_world = world;
    atexit(make_one_node);
    struct job *job = (struct job *)fake_job;
    memcpy(job, world.job, sizeof *job);
    for (int pe = 0; pe < NPES; pe++)
        job->pe[pe] = (struct job_pe){.node = pe > 0, .slot = pe > 0 ? pe - 1 : 0};
    world.job = job;
    world.npes = NPES;
    world.nodes = 2;
    net = (struct port){.transport = &fake,
                        .facts = {.name = "fake", .am_max = LIMIT_AM_PART + 128, .am_soon = 1000},
                        .ep = &net};
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    require(shoal_init() == SHOAL_OK);
    region = malloc(REGION);
    plain = malloc(PLAIN);
    static_data = malloc(STATIC);
    require(region_register(region, REGION, false, &region_index) == 0);
    atomic_store(&slice_of(0)->region[region_index].stamp, STAMP);
    for (int i = 0; i < COUNTERS; i++)
        counters[i] = counter_alloc(NULL);
    for (int id = 1; id < 5; id++)
        shoal_am_register(id, handler, NULL);
    make_two_nodes();
    return 0;
}
