// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Regions over every kind of memory: all PEs put to and get from them through keys, remote
// pointers and, where there is one, the address here. Bytes beside those named stay as they are.
// region_*.c run this where private memory is reached in other ways.
#include "../check.h"

#include <alloca.h>
#include <shoal.h>
#include <sys/mman.h>

#ifdef FORBIDDEN
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// A filter under which the system calls FORBIDDEN[] fail with EPERM, as in some containers.
static bool forbid(void)
{
    static const long calls[] = FORBIDDEN;
    struct sock_filter code[8] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {.len = 1, .filter = code};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                           (unsigned)calls[i], 0, 1);
        code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
    }
    code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#endif

enum { BIG = 1 << 20, LOWER = 49152, STATIC_SIZE = 2 * LOWER, KINDS = 7 };
enum { HEAP, STATIC, ALLOC, MALLOC, STACK, MMAP, SHARED }; // SHARED: mapped, but not by us
static const bool is_reached[KINDS] = {[HEAP] = true, [STATIC] = true, [ALLOC] = true};

static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 31, 64, 65, 127, 1000, 4095, 4096, 4097, 16385};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static struct {
    shoal_key_t key;
    uint64_t base, size;
    shoal_rptr_t own; // without a key
} names[KINDS], theirs;
static unsigned char static_memory[STATIC_SIZE];
static unsigned char *memory[KINDS], *back, *want;
static size_t size_of[KINDS], big;
static shoal_region_t region[KINDS];

// Tiny limits make a transfer of a megabyte with help take long.
static size_t big_size(void)
{
    uint64_t most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &most), SHOAL_OK);
    return most < 1024 ? 1 << 16 : BIG;
}

static void *map(int flags)
{
    void *p = mmap(NULL, big + 4096, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

static void name_regions(void)
{
    for (int k = 0; k < KINDS; k++) {
        names[k].base = (uint64_t)(uintptr_t)memory[k];
        names[k].size = size_of[k];
        CHECK(memory[k] != NULL);
        CHECK_EQ(shoal_region_register(memory[k], size_of[k], &region[k]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[k], &names[k].key), SHOAL_OK);
        CHECK_EQ(shoal_rptr_own(memory[k], &names[k].own), is_reached[k] ? SHOAL_OK : SHOAL_EINVAL);
        CHECK_EQ(shoal_rptr_private(memory[k], &names[k].own),
                 is_reached[k] ? SHOAL_EINVAL : SHOAL_OK);
    }
    CHECK_EQ(shoal_rptr_private(NULL, &names[0].own), SHOAL_EINVAL);
    CHECK_EQ(shoal_rptr_private(memory[MALLOC], NULL), SHOAL_EINVAL);
    uint64_t key_size = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_KEY_SIZE, 0, &key_size), SHOAL_OK);
    CHECK_EQ(key_size, sizeof(shoal_key_t));
    shmem_barrier_all();
}

// A remote pointer made in one of the ways there are.
static shoal_rptr_t point(int kind, int pe, size_t offset, unsigned way)
{
    shoal_rptr_t r = {0};
    switch (way % 5) {
    case 0: CHECK_EQ(shoal_rptr(&theirs.key, offset, &r), SHOAL_OK); return r;
    case 1: CHECK_EQ(shoal_rptr_va(&theirs.key, theirs.base + offset, &r), SHOAL_OK); return r;
    case 2:
        CHECK_EQ(shoal_rptr(&theirs.key, theirs.size, &r), SHOAL_OK);
        return shoal_rptr_add(r, (ptrdiff_t)offset - (ptrdiff_t)theirs.size);
    case 3: return shoal_rptr_add(theirs.own, (ptrdiff_t)offset);
    case 4:
        if (kind == HEAP || kind == STATIC) {
            CHECK_EQ(shoal_rptr_symmetric(memory[kind] + offset, pe, &r), SHOAL_OK);
            return r;
        }
    }
    return point(kind, pe, offset, way + 1);
}

// Every size behind the last, with gaps; the sources are of all kinds too. They lie in the upper
// part of their region, what others put goes to the lower.
static void put_all(int kind, int pe, unsigned seed)
{
    size_t at = 5;
    for (unsigned i = 0; i < SIZES; at += sizes[i] + 3 + i, i++) {
        unsigned char *from = memory[(kind + (int)i) % KINDS] + LOWER + i;
        shoal_event_t done = {0}, *event[] = {&done};
        shoal_rptr_t to = point(kind, pe, at, i);
        fill(from, sizes[i], seed + i);
        CHECK_EQ(shoal_put(to, from, sizes[i], NULL, i % 2 ? &done : NULL), SHOAL_OK);
        if (i % 2)
            CHECK_EQ(shoal_wait(1, event, 1, NULL, NULL), SHOAL_OK);
        CHECK_EQ(shoal_get(back, to, sizes[i], NULL, NULL), SHOAL_OK);
        CHECK_MEM(back, from, sizes[i], "bytes put and got again");
    }
    CHECK_EQ(shoal_quiet(pe), SHOAL_OK);
}

static void check_all(int kind, unsigned seed)
{
    size_t at = 5;
    memset(want, 0, LOWER);
    for (unsigned i = 0; i < SIZES; at += sizes[i] + 3 + i, i++)
        fill(want + at, sizes[i], seed + i);
    CHECK_MEM(memory[kind], want, LOWER, "the region after the puts");
    memset(memory[kind], 0, LOWER);
}

// All but the ends of the region in one transfer, both ways.
static void move_big(int kind, int pe, int from_pe)
{
    size_t n = theirs.size - 5;
    shoal_rptr_t to = point(kind, pe, 2, 0);
    memory[kind][0] = memory[kind][1] = 200;
    memset(memory[kind] + 2 + n, 201, 3);
    fill(want, n, (unsigned)(me + kind));
    shmem_barrier_all();
    CHECK_EQ(shoal_put(to, want, n, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_get(back, to, n, NULL, NULL), SHOAL_OK);
    CHECK_MEM(back, want, n, "a big put got again");
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_barrier_all();
    fill(want, n, (unsigned)(from_pe + kind));
    CHECK_MEM(memory[kind] + 2, want, n, "a big put");
    CHECK(memory[kind][0] == 200 && memory[kind][1] == 200);
    CHECK_EACH(i, 3, memory[kind][2 + n + i], 201);
    memset(memory[kind], 0, size_of[kind]);
}

static void everybody_puts(int kind)
{
    for (int shift = 0; shift < npes; shift++) {
        int pe = (me + shift) % npes, from_pe = (me + npes - shift) % npes;
        shmem_getmem(&theirs, &names[kind], sizeof theirs, pe);
        put_all(kind, pe, (unsigned)me * 31);
        shmem_barrier_all();
        check_all(kind, (unsigned)from_pe * 31);
        shmem_barrier_all();
        if (shift == 1 % npes)
            move_big(kind, pe, from_pe);
        shmem_barrier_all();
    }
}

// Through shoal_direct where that gives an address, and to memory it gave us as a local buffer.
static void direct(int kind)
{
    int pe = right_pe();
    shoal_rptr_t r, rest;
    CHECK_EQ(shoal_rptr(&names[kind].key, 64, &r), SHOAL_OK);
    CHECK(shoal_direct(r, 4096) == memory[kind] + 64);
    shmem_getmem(&theirs, &names[kind], sizeof theirs, pe);
    r = point(kind, pe, 64, 0);
    unsigned char *here = shoal_direct(r, 4096);
    CHECK((here != NULL) == (is_reached[kind] || pe == me));
    CHECK(shoal_direct(r, theirs.size - 63) == NULL);
    CHECK_EQ(shoal_rptr(&theirs.key, theirs.size, &rest), SHOAL_OK);
    CHECK(shoal_direct(rest, 1) == NULL);
    if (here) {
        fill(here, 4096, (unsigned)me);
        CHECK_EQ(shoal_get(back, r, 4096, NULL, NULL), SHOAL_OK);
        CHECK_MEM(back, here, 4096, "stored directly");
        shmem_getmem(&theirs, &names[MMAP], sizeof theirs, pe); // private to private of one PE
        CHECK_EQ(shoal_put(point(MMAP, pe, 64, 0), here, 4096, NULL, NULL), SHOAL_OK);
    }
    shmem_barrier_all();
    fill(want, 4096, (unsigned)left_pe());
    if (is_reached[kind]) {
        CHECK_MEM(memory[kind] + 64, want, 4096, "stored directly by a peer");
        CHECK_MEM(memory[MMAP] + 64, want, 4096, "put from an address of shoal_direct");
    }
    shmem_barrier_all();
    memset(memory[kind], 0, LOWER);
    memset(memory[MMAP], 0, LOWER);
    shmem_barrier_all();
}

// What is known about how private memory is reached.
static void query(void)
{
    for (int pe = 0; pe < npes; pe++) {
        uint64_t is_private = 2, progress = 99, is_direct = 0;
        CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &is_direct), SHOAL_OK);
        CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, pe, &is_private), SHOAL_OK);
        CHECK_EQ(shoal_query(SHOAL_Q_PROGRESS, pe, &progress), SHOAL_OK);
        CHECK_EQ(is_direct, shmem_ptr(memory[0], pe) != NULL);
        if (is_direct)
            CHECK_EQ(progress & SHOAL_PROGRESS_PRIVATE, is_private ? 0 : SHOAL_PROGRESS_PRIVATE);
#ifdef WITH_HELP
        CHECK_EQ(is_private, pe == me);
#endif
    }
}

// shoal_alloc is not collective: each PE has other blocks, of any size, aligned.
static void alloc(void)
{
    unsigned char *block[40];
    for (int i = 0; i < 40; i++) {
        block[i] = i % npes == me ? NULL : shoal_alloc((size_t)i * 37 + 1);
        if (i % npes == me)
            continue;
        CHECK(block[i] != NULL && (uintptr_t)block[i] % 64 == 0);
        memset(block[i], i, (size_t)i * 37 + 1);
    }
    for (int i = 0; i < 40; i++) {
        if (block[i])
            CHECK_EACH(j, (size_t)i * 37 + 1, block[i][j], i);
        CHECK_EQ(shoal_free(block[i]), SHOAL_OK);
    }
    int local;
    CHECK_EQ(shoal_free(&local), SHOAL_EINVAL);
    CHECK(shoal_alloc(SIZE_MAX / 2) == NULL);
}

int main(void)
{
#ifdef FORBIDDEN
    if (!forbid())
        check_skip("seccomp filters cannot be installed here");
#endif
    check_start();
    big = big_size() + LOWER;
    back = must_alloc(big);
    want = must_alloc(big);
    memory[HEAP] = must_shmalloc(big);
    memory[STATIC] = static_memory;
    memory[ALLOC] = shoal_alloc(big);
    memory[MALLOC] = must_alloc(big);
    memory[STACK] = alloca(big);
    memory[MMAP] = map(MAP_PRIVATE);
    memory[SHARED] = map(MAP_SHARED);
    for (int k = 0; k < KINDS; k++) {
        size_of[k] = k == STATIC ? STATIC_SIZE : big;
        memset(memory[k], 0, size_of[k]);
    }
    name_regions();
    query();
    alloc();
    for (int k = 0; k < KINDS; k++) {
        everybody_puts(k);
        direct(k);
    }
    for (int k = 0; k < KINDS; k++)
        CHECK_EQ(shoal_region_deregister(region[k]), SHOAL_OK);
    CHECK_EQ(shoal_free(memory[ALLOC]), SHOAL_OK);
    return check_done();
}
