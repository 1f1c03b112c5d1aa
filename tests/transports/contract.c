// SPDX-License-Identifier: BSD-3-Clause
// EACH: shm tcp;ofi_rxm net;ofi_rxm sockets ucx 1:tcp;ofi_rxm 2:sockets 4:ucx
// TIMEOUT: 170
// What transports/transport.h promises of data, for any transport: addresses, puts, gets, atomics,
// regions, contexts. Messages, waking, threads and death are in contract_am.c.
#include "rig.h"

enum { RIGHT_GUARD = 64 };

// ---- addresses
static void test_addresses(void)
{
    unsigned char bytes[BYTES_MAX];
    for (size_t i = 0; i < facts.address_size; i++) {
        memcpy(bytes, shared->address[right()], facts.address_size);
        bytes[i] ^= 0x40;
        CHECK(t->connect(ep, right(), bytes) < 0);
    }
    if (facts.address_size) {
        CHECK(t->connect(ep, right(), shared->address[me]) < 0);
        CHECK(t->connect(ep, NPES, shared->address[right()]) < 0);
        CHECK(t->connect(ep, -1, shared->address[right()]) < 0);
    }
}

// ---- put and get
enum how { BY_REQUEST, BY_FLUSH_ONE, BY_FLUSH_ALL };

// The source is in private memory or in the heap, and is overwritten as soon as it may be. Then the
// target's memory is looked at, without its help.
static void one_put(int pe, size_t n, size_t from_offset, size_t to_offset, enum how how)
{
    static unsigned char private[(4 << 20) + 64];
    unsigned char *from = n % 2 ? private : heap_of(me) + (6 << 20);
    unsigned char *to = heap_of(pe) + RIGHT_GUARD + to_offset;
    from += from_offset;
    fill(from, n, (unsigned)(n + me));
    memset(to - RIGHT_GUARD, 0xA5, n + 2 * RIGHT_GUARD);
    struct transport_request request = {.left = 1};
    struct transport_remote at = at_heap(pe, RIGHT_GUARD + to_offset);
    int status;
    UNTIL_TAKEN(status, t->put(ep, NULL, at, from, n, how == BY_REQUEST ? &request : NULL));
    if (status == TRANSPORT_DONE)
        memset(from, 0, n);
    if (how == BY_REQUEST)
        CHECK(finish(status, &request) == 0);
    else
        CHECK(status >= 0 && flush_wait(how == BY_FLUSH_ONE ? pe : -1) == 0);
    memset(from, 0, n);
    CHECK(holds(to, n, (unsigned)(n + me)));
    CHECK(all_are(to - RIGHT_GUARD, RIGHT_GUARD, 0xA5));
    CHECK(all_are(to + n, RIGHT_GUARD, 0xA5));
}

static void one_get(int pe, size_t n, size_t from_offset, size_t to_offset, enum how how)
{
    static unsigned char private[(4 << 20) + 256];
    unsigned char *from = heap_of(pe) + RIGHT_GUARD + from_offset;
    unsigned char *to = (n % 2 ? private : heap_of(me) + (6 << 20)) + RIGHT_GUARD + to_offset;
    fill(from, n, (unsigned)(n + me));
    memset(to - RIGHT_GUARD, 0xA5, n + 2 * RIGHT_GUARD);
    struct transport_request request = {.left = 1};
    struct transport_remote at = at_heap(pe, RIGHT_GUARD + from_offset);
    int status;
    UNTIL_TAKEN(status, t->get(ep, NULL, to, at, n, how == BY_REQUEST ? &request : NULL));
    if (how == BY_REQUEST)
        CHECK(finish(status, &request) == 0);
    else
        CHECK(status >= 0 && flush_wait(how == BY_FLUSH_ONE ? pe : -1) == 0);
    CHECK(holds(to, n, (unsigned)(n + me)));
    CHECK(all_are(to - RIGHT_GUARD, RIGHT_GUARD, 0xA5));
    CHECK(all_are(to + n, RIGHT_GUARD, 0xA5));
}

// Each PE works on its right neighbour, so nobody else touches that memory.
static void sizes(void (*one)(int, size_t, size_t, size_t, enum how))
{
    static const size_t small[] = {0, 1, 2, 3, 4, 7, 8, 9, 16, 31, 63, 64, 65, 255};
    static const size_t large[] = {256,   999,   1000,  1001,    4095,    4096,   4159,
                                   4160,  4184,  4185,  16383,   16384,   16385,  65535,
                                   65536, 65537, 99999, 1 << 18, 1 << 20, 4 << 20};
    int how = 0;
    for (int i = 0; i < ARRAY(small); i++)
        for (size_t offsets = 0; offsets < 64; offsets += 3)
            one(right(), small[i], offsets % 8, offsets / 8, how++ % 3);
    for (int i = 0; i < ARRAY(large); i++)
        for (size_t offset = 0; offset < 3; offset++)
            one(right(), large[i], offset, (offset * 5) % 8, how++ % 3);
    barrier();
    for (int i = 0; i < ARRAY(large); i++)
        one(me, large[i], 1, 2, how++ % 3);
    for (int i = 0; i < ARRAY(small); i++)
        one(me, small[i], 1, 2, how++ % 3);
}

static void test_put(void)
{
    sizes(one_put);
}

static void test_get(void)
{
    sizes(one_get);
}

// Many puts under way, some waited for by one request, the rest by one flush; into static data.
static void test_many(void)
{
    enum { COUNT = 2000 };
    struct transport_request request = {.left = COUNT};
    uint32_t *target = (uint32_t *)(datas + (size_t)right() * DATA_SIZE);
    int status;
    memset(target, 0, DATA_SIZE);
    for (uint32_t i = 0; i < COUNT; i++) {
        static uint32_t values[COUNT];
        values[i] = i ^ 0x5555;
        struct transport_remote at = {right(), TRANSPORT_DATA, i * 4};
        UNTIL_TAKEN(status, t->put(ep, NULL, at, &values[i], 4, &request));
        if (status == TRANSPORT_DONE)
            atomic_fetch_sub(&request.left, 1);
        CHECK(status >= 0);
        at.offset += 4 * COUNT;
        UNTIL_TAKEN(status, t->put(ep, NULL, at, &i, 4, NULL));
        CHECK(status == TRANSPORT_DONE || facts.inject_max < 4);
    }
    CHECK(finish(TRANSPORT_PENDING, &request) == 0 && flush_wait(right()) == 0);
    for (uint32_t i = 0; i < COUNT; i++)
        if (!CHECK(target[i] == (i ^ 0x5555) && target[COUNT + i] == i))
            break;
}

// ---- atomics
static uint64_t model(enum transport_op op, uint64_t old, uint64_t operand, uint64_t compare)
{
    switch (op) {
    case TRANSPORT_ADD: return old + operand;
    case TRANSPORT_AND: return old & operand;
    case TRANSPORT_OR: return old | operand;
    case TRANSPORT_XOR: return old ^ operand;
    case TRANSPORT_SET:
    case TRANSPORT_SWAP: return operand;
    case TRANSPORT_CSWAP: return old == compare ? operand : old;
    default: return old;
    }
}

static void one_amo(int pe, enum transport_op op, enum transport_width width, bool hit, bool fetch)
{
    uint64_t mask = width == TRANSPORT_32 ? UINT32_MAX : UINT64_MAX;
    uint64_t before = UINT64_C(0xFEDCBA9876543210) & mask, old = 77;
    uint64_t operand = UINT64_C(0x8123456789ABCDEF) & mask, compare = hit ? before : before ^ 1;
    size_t offset = pe == me ? 2048 : 1024; // PE me is somebody's right neighbour too
    unsigned char *p = heap_of(pe) + offset;
    size_t size = width == TRANSPORT_32 ? 4 : 8;
    memset(p - 8, 0xA5, 32);
    memcpy(p, &before, size);
    int status = amo_wait(at_heap(pe, offset), op, width, operand, compare, fetch ? &old : NULL);
    uint64_t after = 0, want = model(op, before, operand, compare) & mask;
    memcpy(&after, p, size);
    CHECK(status == 0 && after == want && old == (fetch ? before : 77));
    CHECK(all_are(p - 8, 8, 0xA5) && all_are(p + size, 16, 0xA5));
}

static void test_amo(void)
{
    CHECK(has_amo() || strcmp(facts.name, "ucx") == 0); // not from its 1.16 on
    for (int op = 0; op < TRANSPORT_OP_COUNT; op++)
        for (int width = 0; width < TRANSPORT_WIDTH_COUNT; width++) {
            if (!CHECK(facts.amo[op][width] == has_amo()) || !has_amo())
                continue;
            for (int i = 0; i < 4; i++)
                one_amo(i % 3 ? right() : me, op, width, i & 1, i & 2);
            one_amo(right(), op, width, true, true);
            one_amo(right(), op, width, false, true);
            one_amo(right(), op, width, true, false);
            barrier();
        }
}

// PE 0 and PE 1 work on words of PE 2 over the transport, PE 2 with its own processor (over the
// transport where the two do not mix). Nothing may be lost.
enum { RACES = 1000 };
struct words {
    _Atomic uint64_t sum, bits, swaps, cas;
    _Atomic uint32_t sum32, xor32;
};

static uint64_t race_amo(uint64_t offset, enum transport_op op, enum transport_width width,
                         uint64_t operand, uint64_t compare)
{
    uint64_t old = 0;
    CHECK(amo_wait(at_heap(2, offset), op, width, operand, compare, &old) == 0);
    return old;
}
#define RACE(field, op, width, operand, compare) \
    race_amo(offsetof(struct words, field), TRANSPORT_##op, TRANSPORT_##width, operand, compare)

static void race_remote(uint64_t *swapped)
{
    uint64_t mine = UINT64_C(1) << (me * 20), seen;
    for (int i = 0; i < RACES; i++) {
        RACE(sum, ADD, 64, 1, 0);
        RACE(sum32, ADD, 32, 3, 0);
        RACE(xor32, XOR, 32, 1u << me, 0);
        CHECK(!(RACE(bits, OR, 64, mine, 0) & mine));
        CHECK(RACE(bits, AND, 64, ~mine, 0) & mine);
        *swapped ^= RACE(swaps, SWAP, 64, (uint64_t)me << 32 | (uint64_t)(i + 1), 0);
        for (uint64_t guess = RACE(cas, FETCH, 64, 0, 0);
             (seen = RACE(cas, CSWAP, 64, guess + 1, guess)) != guess;)
            guess = seen;
    }
}

static void race_local(struct words *w, uint64_t *swapped)
{
    uint64_t mine = UINT64_C(1) << (me * 20), guess;
    for (int i = 0; i < RACES; i++) {
        step();
        atomic_fetch_add(&w->sum, 1);
        atomic_fetch_add(&w->sum32, 3);
        atomic_fetch_xor(&w->xor32, 1u << me);
        CHECK(!(atomic_fetch_or(&w->bits, mine) & mine));
        CHECK(atomic_fetch_and(&w->bits, ~mine) & mine);
        *swapped ^= atomic_exchange(&w->swaps, (uint64_t)me << 32 | (uint64_t)(i + 1));
        guess = atomic_load(&w->cas);
        while (!atomic_compare_exchange_weak(&w->cas, &guess, guess + 1))
            ;
    }
}

// Values swapped in come out again, but for the one that stays: the sum of all of them over XOR
// is then the sum of what was put in.
static void test_amo_races(void)
{
    struct words *w = (struct words *)heap_of(2);
    uint64_t swapped = 0, put_in = 0;
    if (!has_amo())
        return;
    if (me == 2)
        memset(heap_of(2), 0, sizeof *w);
    barrier();
    if (me == 2 && facts.amo_coherent_with_cpu)
        race_local(w, &swapped);
    else
        race_remote(&swapped);
    for (int i = 0; i < RACES; i++)
        put_in ^= (uint64_t)me << 32 | (uint64_t)(i + 1);
    uint64_t *out = (uint64_t *)shared->key[me];
    out[0] = swapped ^ put_in;
    barrier();
    if (me != 2)
        return;
    CHECK(atomic_load(&w->sum) == NPES * RACES && atomic_load(&w->cas) == NPES * RACES);
    CHECK(atomic_load(&w->sum32) == 3 * NPES * RACES && atomic_load(&w->xor32) == 0);
    CHECK(atomic_load(&w->bits) == 0);
    uint64_t rest = 0;
    for (int pe = 0; pe < NPES; pe++)
        rest ^= *(uint64_t *)shared->key[pe];
    CHECK(rest == atomic_load(&w->swaps));
}

// ---- regions of users
static void test_regions(void)
{
    if (!t->region_register)
        return;
    static unsigned char memory[100000];
    unsigned char bytes[BYTES_MAX], back[1000];
    uint64_t old = 0;
    void *handle, *second;
    int region = -1, again = -1;
    CHECK(t->region_register(ep, memory, sizeof memory, shared->key[me], &handle) == 0);
    CHECK(t->region_register(ep, memory, 100, bytes, &second) == 0);
    CHECK(t->region_deregister(ep, second) == 0);
    fill(memory, sizeof memory, (unsigned)me);
    barrier();
    for (size_t i = 0; i < facts.key_size; i++) {
        memcpy(bytes, shared->key[right()], facts.key_size);
        bytes[i] ^= 4;
        CHECK(t->region_import(ep, right(), bytes, &region) < 0 && region == -1);
    }
    CHECK(t->region_import(ep, me, shared->key[right()], &region) < 0 && region == -1);
    for (int pe = 0; pe < NPES; pe++) {
        CHECK(t->region_import(ep, pe, shared->key[pe], &region) == 0 && region >= 2);
        struct transport_remote at = {pe, region, 5001 + (uint64_t)me * 2000};
        CHECK(get_wait(back, at, sizeof back) == 0);
        for (size_t i = 0; i < sizeof back; i++)
            if (!CHECK(back[i] == pattern((unsigned)pe, at.offset + i)))
                break;
        memset(back, me + 1, sizeof back);
        CHECK(put_wait(at, back, sizeof back) == 0);
        at.offset = 0;
        CHECK(ask(at, 0, &old) == 0);
        CHECK(memcmp(&old, (unsigned char[]){pattern((unsigned)pe, 0)}, 1) == 0);
        t->region_release(ep, region);
        CHECK(t->region_import(ep, pe, shared->key[pe], &again) == 0 && again == region);
        t->region_release(ep, again);
        int status;
        UNTIL_TAKEN(status, t->put(ep, NULL, at, back, 8, NULL));
        CHECK(status < 0);
    }
    barrier();
    for (int pe = 0; pe < NPES; pe++)
        CHECK(all_are(memory + 5001 + pe * 2000, 1000, (unsigned char)(pe + 1)));
    CHECK(memory[5000] == pattern((unsigned)me, 5000));
    CHECK(t->region_deregister(ep, handle) == 0);
}

// ---- contexts: a flush of one does not need the other
static void two_contexts(bool apart)
{
    void *a, *b;
    int status;
    uint64_t word = 1234567;
    CHECK(t->ctx_create(ep, apart, &a) == 0 && t->ctx_create(ep, false, &b) == 0);
    memset(heap_of(right()), 0, 64);
    UNTIL_TAKEN(status, t->put(ep, a, at_heap(right(), 8), &word, 8, NULL));
    CHECK(status >= 0 && t->flush(ep, b, -1) == 0);
    UNTIL_TAKEN(status, t->flush(ep, a, -1));
    CHECK(status == 0 && memcmp(heap_of(right()) + 8, &word, 8) == 0);
    UNTIL_TAKEN(status, t->put(ep, b, at_heap(right(), 16), &word, 8, NULL));
    UNTIL_TAKEN(status, t->fence(ep, b, right()));
    CHECK(status == 0);
    UNTIL_TAKEN(status, t->put(ep, b, at_heap(right(), 24), &word, 8, NULL));
    while (atomic_load((_Atomic uint64_t *)(heap_of(right()) + 24)) != word)
        step();
    CHECK(memcmp(heap_of(right()) + 16, &word, 8) == 0);
    UNTIL_TAKEN(status, t->flush(ep, b, -1));
    CHECK(status == 0);
    t->ctx_destroy(ep, a);
    t->ctx_destroy(ep, b);
}

// More of those that are apart than there are endpoints for them, and words that all of them change.
static void contexts_apart(void)
{
    enum { CTXS = 5, ROUNDS = 8 };
    void *ctx[CTXS];
    int status;
    uint64_t word[CTXS], old[CTXS];
    struct transport_request request[CTXS];
    const struct transport_remote sum = at_heap(right(), 0);
    for (int i = 0; i < CTXS; i++)
        CHECK(t->ctx_create(ep, true, &ctx[i]) == 0);
    for (int round = 1; round <= ROUNDS; round++) {
        for (uint64_t i = 0; i < CTXS; i++) {
            word[i] = (uint64_t)round * CTXS + i;
            UNTIL_TAKEN(status,
                        t->put(ep, ctx[i], at_heap(right(), 64 + 8 * i), &word[i], 8, NULL));
            request[i] = (struct transport_request){.left = 1};
            if (has_amo())
                UNTIL_TAKEN(status, t->amo(ep, ctx[i], sum, TRANSPORT_ADD, TRANSPORT_64, 1, 0,
                                           &old[i], &request[i]));
        }
        for (uint64_t i = 0; i < CTXS; i++) {
            uint64_t seen = 0;
            UNTIL_TAKEN(status, t->fence(ep, ctx[i], right()));
            UNTIL_TAKEN(status, t->flush(ep, ctx[i], -1));
            CHECK(status == 0);
            UNTIL_TAKEN(status, t->get(ep, ctx[CTXS - 1 - i], &seen, at_heap(right(), 64 + 8 * i),
                                       8, NULL));
            UNTIL_TAKEN(status, t->flush(ep, ctx[CTXS - 1 - i], right()));
            CHECK(status == 0 && seen == word[i]);
            if (t->progress_ctx)
                CHECK(t->progress_ctx(ep, ctx[i]) >= 0);
        }
    }
    barrier();
    uint64_t want = has_amo() ? CTXS * ROUNDS : 0, is;
    memcpy(&is, heap_of(me), sizeof is);
    CHECK(is == want);
    for (int i = 0; i < CTXS; i++)
        t->ctx_destroy(ep, ctx[i]);
}

static void test_contexts(void)
{
    if (!t->ctx_create)
        return;
    two_contexts(false);
    two_contexts(true);
    barrier();
    memset(heap_of(me), 0, 64);
    barrier();
    contexts_apart();
}

// ---- chains: a step begins when the one before it is complete, and is told in that order
static void look_at_chain(const uint64_t *word, size_t n, uint64_t round,
                          const struct transport_request *request)
{
    size_t done = n - (size_t)atomic_load(&request->left);
    for (size_t i = 0; i < done; i++)
        CHECK(word[i] == round);
    for (size_t i = n - 1; i > 0; i--)
        if (__atomic_load_n(&word[i], __ATOMIC_ACQUIRE) == round)
            CHECK(__atomic_load_n(&word[i - 1], __ATOMIC_ACQUIRE) == round);
}

static void test_chain(void)
{
    enum { ROUNDS = 50, MOST = 8 };
    struct transport_step steps[MOST];
    size_t n = facts.chain_max < MOST ? facts.chain_max : MOST;
    const uint64_t *word = (const uint64_t *)(const void *)heap_of(right());
    int status;
    CHECK((n > 1) == (seed == 0 && job.provider && strcmp(job.provider, "sockets") == 0));
    memset(heap_of(right()), 0, MOST * sizeof *word);
    for (uint64_t round = 1; n > 1 && round <= ROUNDS; round++) {
        struct transport_request request = {.left = (int)n};
        for (size_t i = 0; i < n; i++)
            steps[i] = (struct transport_step){.at = at_heap(right(), i * sizeof *word),
                                               .from = &round,
                                               .n = i % 2 ? 0 : sizeof round,
                                               .op = i % 4 == 1 ? TRANSPORT_ADD : TRANSPORT_SET,
                                               .width = i % 8 == 3 ? TRANSPORT_32 : TRANSPORT_64,
                                               .operand = i % 4 == 1 ? 1 : round};
        UNTIL_TAKEN(status, t->chain(ep, steps, n, &request));
        CHECK(status == TRANSPORT_PENDING);
        while (atomic_load(&request.left) > 0) {
            look_at_chain(word, n, round, &request);
            step();
        }
        CHECK(request.status == 0);
        look_at_chain(word, n, round, &request);
    }
    barrier();
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"addresses", test_addresses}, {"put", test_put},         {"get", test_get},
        {"many", test_many},           {"amo", test_amo},         {"amo races", test_amo_races},
        {"contexts", test_contexts},   {"regions", test_regions}, {"chain", test_chain},
    };
    return rig_run(argc, argv, tests, ARRAY(tests));
}
