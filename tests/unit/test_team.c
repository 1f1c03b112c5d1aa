// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic that needs no job: members of a set, where a peer's memory lies, places, call words.
// The world is one made up here.
#include "unit.h"

#include "call.h"
#include "compiler.h"
#include "peers.h"
#include "place.h"
#include "team.h"
#include "tunables.h"
#include "world.h"

#include <stdbool.h>

// ---- Sets
static void check_set(const struct pe_set *set, int npes)
{
    for (int pe = -npes; pe < 2 * npes; pe++) {
        int member = -1;
        for (int i = 0; i < set->size; i++)
            if (set->start + i * set->stride == pe) {
                member = i;
                break;
            }
        assert_int_equal(set_find(set, pe), member);
    }
    for (int i = 0; i < set->size; i++)
        assert_int_equal(set_pe(set, i), set->start + i * set->stride);
}

static void test_sets(void **state)
{
    enum { NPES = 13 };
    (void)state;
    for (int start = 0; start < NPES; start++)
        for (int stride = -NPES; stride <= NPES; stride++)
            for (int size = 0; size <= NPES; size++) {
                struct pe_set set = {start, stride, stride ? size : size > 0};
                check_set(&set, NPES);
            }
    struct pe_set large = {LIMIT_PES - 1, -3, LIMIT_PES / 3};
    assert_int_equal(set_find(&large, LIMIT_PES - 1 - 3 * (LIMIT_PES / 3 - 1)), LIMIT_PES / 3 - 1);
    assert_int_equal(set_find(&large, LIMIT_PES - 1 - 3 * (LIMIT_PES / 3)), -1);
    assert_int_equal(set_find(&large, 1), -1);
}

// A progression split by a triplet is one again: member j of the part is member start + j * stride
// of the whole.
static void test_split(void **state)
{
    (void)state;
    struct pe_set whole = {2, 3, 9};
    struct pe_set part = {set_pe(&whole, 7), whole.stride * -2, 4};
    for (int j = 0; j < part.size; j++) {
        assert_int_equal(set_find(&whole, set_pe(&part, j)), 7 - 2 * j);
        assert_int_equal(set_find(&part, set_pe(&whole, 7 - 2 * j)), j);
    }
    assert_int_equal(set_find(&part, set_pe(&whole, 6)), -1);
    assert_int_equal(set_find(&part, set_pe(&whole, 8)), -1);
}

// ---- A world of SLICES slices of which this is PE ME
enum { SLICES = 5, ME = 2, SLICE = 65536, HEAP_AT = 16384, HEAP = 32768, DATA = 4096 };

static _Alignas(CACHE_LINE) char slices[SLICES * SLICE], data[DATA], data_peers[SLICES * DATA];

static int make_world(void **state)
{
    (void)state;
    world.me = ME;
    world.npes = world.end = SLICES;
    world.nodes = 1;
    world.direct_first = 0;
    world.direct_count = SLICES;
    world.slice_size = SLICE;
    world.to_first = -ME * (ptrdiff_t)SLICE;
    world.slices = slices;
    world.ctl = slices + ME * SLICE;
    world.heap = (uintptr_t)world.ctl + HEAP_AT;
    world.heap_size = HEAP;
    world.data = (uintptr_t)data;
    world.data_size = DATA;
    world.data_peers = data_peers;
    return 0;
}

static int forget_world(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    return 0;
}

static void test_peers(void **state)
{
    const char *heap = (const char *)world.heap;
    (void)state;
    for (int pe = 0; pe < SLICES; pe++) {
        char *there = slices + pe * SLICE + HEAP_AT, *data_there = data_peers + pe * DATA;
        assert_ptr_equal(peer_at(heap, 1, pe), there);
        assert_ptr_equal(peer_at(heap, HEAP, pe), there);
        assert_ptr_equal(peer_at(heap + 100, HEAP - 100, pe), there + 100);
        assert_ptr_equal(peer_at(heap + HEAP - 1, 1, pe), there + HEAP - 1);
        assert_ptr_equal(peer_at(data, DATA, pe), data_there);
        assert_ptr_equal(peer_at(data + 7, DATA - 7, pe), data_there + 7);
        assert_ptr_equal(shared_at(heap + 5, pe), there + 5);
        assert_ptr_equal(shared_at(data + 5, pe), data_there + 5);
        assert_ptr_equal(world_ctl(pe), slices + pe * SLICE);
    }
}

// Anything that is not wholly symmetric, and PEs that are not there, take the slow path.
static void test_no_peers(void **state)
{
    const char *heap = (const char *)world.heap, *own = (const char *)world.data;
    char private;
    (void)state;
    const struct {
        const void *addr;
        size_t n;
        int pe;
    } bad[] = {
        {heap - 1, 1, 0},
        {heap - 1, 2, 0},
        {heap + HEAP, 1, 0},
        {heap + HEAP - 1, 2, 0},
        {heap, HEAP + 1, 0},
        {heap + 8, SIZE_MAX, 0},
        {heap + 8, SIZE_MAX - 7, 0},
        {own - 1, 1, 0},
        {own + DATA, 1, 0},
        {own, DATA + 1, 0},
        {own + 1, SIZE_MAX, 0},
        {&private, 1, ME},
        {NULL, 1, 0},
        {heap, 1, -1},
        {heap, 1, SLICES},
        {heap, 1, INT32_MIN},
        {heap, 1, INT32_MAX},
        {world.ctl, 1, 0},
        {heap + SLICE, 1, 0}, // a peer's heap as it is mapped here is no symmetric address
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (peer_at(bad[i].addr, bad[i].n, bad[i].pe))
            fail_msg("row %zu has a peer's address", i);
    world.direct_first = 1; // only PEs 1 to 3 are reached by load and store
    world.direct_count = 3;
    for (int pe = -1; pe <= SLICES; pe++)
        assert_int_equal(peer_at(heap, 1, pe) != NULL, pe >= 1 && pe <= 3);
    world.direct_count = 0; // before shmem_init
    for (int pe = -1; pe <= SLICES; pe++)
        assert_null(peer_at(heap, 1, pe));
}

// ---- Places
static void check_place(const void *addr, int pe, enum space space, uint64_t offset)
{
    struct place p = place_of(addr);
    assert_int_equal(p.pe, pe);
    assert_int_equal(p.space, space);
    assert_true(p.offset == offset);
    assert_int_equal(place_add(p, 24).offset, offset + 24);
    assert_int_equal(place_add(p, -8).offset, offset - 8);
}

static void test_places(void **state)
{
    char local, *private = &local;
    (void)state;
    for (int pe = 0; pe < SLICES; pe++)
        for (size_t offset = 0; offset < SLICE; offset += 4095) {
            check_place(slices + pe * SLICE + offset, pe, SPACE_SLICE, offset);
            assert_ptr_equal(place_here(place_of(slices + pe * SLICE + offset)),
                             slices + pe * SLICE + offset);
        }
    for (int pe = 0; pe < SLICES; pe++)
        check_place(data_peers + pe * DATA + 9, pe, SPACE_DATA, 9);
    check_place(data + 9, ME, SPACE_DATA, 9);
    assert_ptr_equal(place_here(place_of(data + 9)), data + 9); // the own as the program sees it
    assert_ptr_equal(place_here((struct place){ME - 1, SPACE_DATA, 9}),
                     data_peers + (ME - 1) * DATA + 9);
    check_place(data + DATA - 1, ME, SPACE_DATA, DATA - 1);
    check_place(private, ME, SPACE_PRIVATE, (uintptr_t) private);
    assert_ptr_equal(place_here(place_of(private)), private);
    struct place other = place_of(private);
    other.pe = ME + 1;
    assert_null(place_here(other));
    world.data_peers = NULL; // static data is not symmetric among PEs
    assert_ptr_equal(place_here(place_of(data + 9)), data + 9);
    check_place(data_peers + 9, ME, SPACE_PRIVATE, (uintptr_t)data_peers + 9);
}

static void test_place_copy(void **state)
{
    char private[64];
    int needs = -7;
    (void)state;
    for (int i = 0; i < 64; i++)
    private[i] = (char)i;
    struct place from = place_of(private), to = place_of(slices + 4 * SLICE + 100);
    assert_int_equal(place_copy(to, from, 64, &needs), 0);
    assert_memory_equal(slices + 4 * SLICE + 100, private, 64);
    assert_int_equal(place_copy(place_of(slices + 4 * SLICE + 101), to, 63, &needs), 0); // overlaps
    assert_memory_equal(slices + 4 * SLICE + 101, private, 63);
    from.pe = 0; // private memory of somebody else, and nothing to copy
    assert_int_equal(place_copy(to, from, 0, &needs), 0);
    assert_int_equal(needs, -7);
}

// ---- Records of partners
static void test_records(void **state)
{
    (void)state;
    for (int pe = 0; pe < SLICES; pe++)
        assert_int_equal((uintptr_t)peer_of(pe) % CACHE_LINE, 0);
    assert_int_equal(peer_of(0)->sent, LIMIT_FIRST_NUMBER);
    assert_null(peer_of(0)->ring);
    peers_forget();
}

// ---- The word that says what a PE is doing
static void test_calls(void **state)
{
    static const int peers[] = {-1, 0, 1, 77, LIMIT_PES - 1};
    _Atomic uint64_t slot = 1;
    (void)state;
    for (int id = 0; id < CALL_COUNT; id++)
        for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
            uint64_t word = CALL_WORD(id, peers[i]);
            assert_int_equal(call_peer(word), peers[i]);
            assert_false(call_blocks(word));
            assert_true(call_blocks(word | CALL_BLOCKS));
            assert_string_equal(call_name(word), call_name(word | CALL_BLOCKS));
            const char *whose = id == CALL_wait || id == CALL_ct_wait ? "shoal_" : "shmem_";
            assert_int_equal(strncmp(call_name(word), whose, 6) == 0,
                             id != CALL_none && id != CALL_coll && id != CALL_send &&
                                 id != CALL_told);
        }
    assert_string_equal(call_name(CALL_WORD(CALL_put, 3)), "shmem_put");
    assert_string_equal(call_name(CALL_COUNT), "");
    assert_string_equal(call_name(UINT64_MAX), "");
    call_enter(CALL_put); // a thread without a slot: nothing happens
    call_slot = &slot;
    call_note(CALL_get, 4);
    assert_true(slot == CALL_WORD(CALL_get, 4));
    call_enter(CALL_barrier_all);
    assert_true(slot == (CALL_WORD(CALL_barrier_all, -1) | CALL_BLOCKS));
    call_leave();
    assert_true(slot == 0);
    call_slot = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_split),
        cmocka_unit_test_setup_teardown(test_peers, make_world, forget_world),
        cmocka_unit_test_setup_teardown(test_no_peers, make_world, forget_world),
        cmocka_unit_test_setup_teardown(test_places, make_world, forget_world),
        cmocka_unit_test_setup_teardown(test_place_copy, make_world, forget_world),
        cmocka_unit_test_setup_teardown(test_records, make_world, forget_world),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
