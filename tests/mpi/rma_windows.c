// SPDX-License-Identifier: BSD-3-Clause
// What windows say of themselves: attributes, names, groups, hints, addresses of shared memory; and
// windows of odd sizes, units and groups, made and freed over and over; windows over memory of many
// kinds, one over the other, and over addresses that are used again.
// ALSO: 16
#include "rma_check.h"

#include <sys/mman.h>
#include <unistd.h>

static MPI_Comm node;
static int node_me, node_npes;

static void *attribute(MPI_Win win, int key)
{
    void *value = NULL;
    int flag = 0;
    OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(flag);
    return value;
}

static void check_attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    CHECK(attribute(win, MPI_WIN_BASE) == base);
    CHECK_EQ(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE), size);
    CHECK_EQ(*(int *)attribute(win, MPI_WIN_DISP_UNIT), unit);
    CHECK_EQ(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR), flavor);
    CHECK_EQ(*(int *)attribute(win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
}

static void attributes(void)
{
    static int x[10];
    MPI_Win win;
    void *p;
    OK(MPI_Win_create(x, sizeof x, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_attributes(win, x, sizeof x, 4, MPI_WIN_FLAVOR_CREATE);
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
    OK(MPI_Win_allocate(100 + me, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    check_attributes(win, p, 100 + me, 1, MPI_WIN_FLAVOR_ALLOCATE);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate_shared(100 + me, 2, MPI_INFO_NULL, node, &p, &win));
    check_attributes(win, p, 100 + me, 2, MPI_WIN_FLAVOR_SHARED);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    OK(MPI_Win_free(&win));
}

static void names_and_groups(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group mine, worlds;
    MPI_Win win;
    int n, result;
    OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_get_name(win, name, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Win_set_name(win, "my window"));
    OK(MPI_Win_get_name(win, name, &n));
    CHECK(!strcmp(name, "my window") && n == 9);
    OK(MPI_Win_get_group(win, &mine));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &worlds));
    OK(MPI_Group_compare(mine, worlds, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&worlds));
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    OK(MPI_Win_free(&win));
}

static void check_hint(MPI_Win win, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int flag, n = sizeof value;
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Info_get_string(info, key, &n, value, &flag));
    CHECK(flag);
    if (flag && strcmp(value, want))
        CHECK(!"the hint has its value"), fprintf(stderr, "%s is %s, not %s\n", key, value, want);
    OK(MPI_Info_free(&info));
}

static void hints(void)
{
    MPI_Info info;
    MPI_Win win;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "accumulate_ordering", "rar,waw"));
    OK(MPI_Info_set(info, "accumulate_ops", "nonsense"));
    OK(MPI_Info_set(info, "same_size", "true"));
    OK(MPI_Info_set(info, "mpi_accumulate_granularity", "64"));
    OK(MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &win));
    check_hint(win, "no_locks", "false");
    check_hint(win, "accumulate_ordering", "rar,waw");
    check_hint(win, "accumulate_ops", "same_op_no_op");
    check_hint(win, "same_size", "true");
    check_hint(win, "same_disp_unit", "false");
    check_hint(win, "mpi_accumulate_granularity", "64");
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Info_set(info, "no_locks", "true"));
    OK(MPI_Info_set(info, "accumulate_ordering", "none"));
    OK(MPI_Info_set(info, "accumulate_ops", "same_op"));
    OK(MPI_Win_set_info(win, info));
    check_hint(win, "no_locks", "true");
    check_hint(win, "accumulate_ordering", "none");
    check_hint(win, "accumulate_ops", "same_op");
    CHECK_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(class_of(MPI_Win_lock_all(0, win)), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_free(&win));
    OK(MPI_Info_free(&info));
}

// ---- Memory of others
static void check_query(MPI_Win win, int rank, MPI_Aint size, int unit, unsigned seed)
{
    MPI_Aint n = -1;
    int u = 0;
    unsigned char *p = NULL;
    OK(MPI_Win_shared_query(win, rank, &n, &u, &p));
    CHECK_EQ(n, size);
    CHECK_EQ(u, unit);
    for (MPI_Aint i = 0; p && i < n; i++)
        if (p[i] != fill_byte(seed, (size_t)i)) {
            CHECK(!"the neighbour's bytes");
            break;
        }
}

static MPI_Aint size_of(int rank)
{
    return rank % 3 == 1 ? 0 : 10 + rank;
}

static void shared(bool contiguous)
{
    MPI_Info info;
    MPI_Win win;
    unsigned char *p, *first, *other;
    MPI_Aint size;
    int unit;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true"));
    OK(MPI_Win_allocate_shared(size_of(node_me), 1 + node_me, info, node, &p, &win));
    OK(MPI_Info_free(&info));
    fill(p, (size_t)size_of(node_me), (unsigned)node_me);
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < node_npes; i++)
        check_query(win, i, size_of(i), 1 + i, (unsigned)i);
    check_query(win, MPI_PROC_NULL, size_of(0), 1, 0);
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
    MPI_Aint at = 0;
    for (int i = 0; i < node_npes && contiguous; i++) {
        OK(MPI_Win_shared_query(win, i, &size, &unit, &other));
        CHECK(size == 0 || other == first + at);
        at += size;
    }
    OK(MPI_Win_fence(0, win));
    // Stores are seen after a synchronization.
    OK(MPI_Win_shared_query(win, (node_me + 1) % node_npes, &size, &unit, &other));
    if (size)
        other[0] = (unsigned char)(100 + node_me);
    OK(MPI_Win_fence(0, win));
    if (size_of(node_me))
        CHECK_EQ(p[0], 100 + (node_me + node_npes - 1) % node_npes);
    OK(MPI_Win_free(&win));
}

// Also windows that other calls made, where their memory is shared.
static void query_all_flavors(void)
{
    unsigned char *p, private_memory[16];
    MPI_Win win;
    MPI_Aint size = -1;
    int unit, next = (node_me + 1) % node_npes;
    OK(MPI_Win_allocate(16, 2, MPI_INFO_NULL, node, &p, &win));
    fill(p, 16, (unsigned)node_me);
    OK(MPI_Win_fence(0, win));
    check_query(win, next, 16, 2, (unsigned)next);
    OK(MPI_Win_free(&win));
    OK(MPI_Alloc_mem(16, MPI_INFO_NULL, &p));
    OK(MPI_Win_create(p, 16, 4, MPI_INFO_NULL, node, &win));
    fill(p, 16, (unsigned)node_me);
    OK(MPI_Win_fence(0, win));
    check_query(win, next, 16, 4, (unsigned)next);
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(p));
    OK(MPI_Win_create(private_memory, 16, 4, MPI_INFO_NULL, node, &win));
    OK(MPI_Win_shared_query(win, next, &size, &unit, &p));
    if (next == node_me)
        CHECK(p == private_memory && size == 16);
    else
        CHECK(p == NULL && size == 0);
    OK(MPI_Win_free(&win));
}

// ---- Memory of the program's, in one window or several
// The neighbour's first word becomes value, and its second is incremented; it sees that in p.
static void use_window(MPI_Win win, const long *p, long value)
{
    const long one = 1;
    long words[2];
    int next = (me + 1) % npes, last = (me + npes - 1) % npes;
    long mine = value + me, second = p[1];
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&mine, 1, MPI_LONG, next, 0, 1, MPI_LONG, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, next, 1, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(p[0], value + last);
    CHECK_EQ(p[1], second + 1);
    OK(MPI_Get(words, 2, MPI_LONG, next, 0, 2, MPI_LONG, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQ(words[0], value + me);
    CHECK_EQ(words[1], second + 1); // all have done alike
}

static MPI_Win create(void *p, size_t bytes)
{
    MPI_Win win;
    OK(MPI_Win_create(p, (MPI_Aint)bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    return win;
}

// Which of the windows is freed first does not matter to the other.
static void several_over_one(void)
{
    enum { N = 16 };
    long *p = must_alloc(N * sizeof *p);
    for (int i = 0; i < 4; i++) {
        MPI_Win win[3];
        memset(p, 0, N * sizeof *p);
        win[0] = create(p, N * sizeof *p);
        win[1] = create(p, N * sizeof *p);
        win[2] = create(p + 8, (N - 8) * sizeof *p);
        use_window(win[0], p, 10);
        use_window(win[1], p, 20);
        use_window(win[2], p + 8, 30);
        OK(MPI_Win_free(&win[i % 2]));
        use_window(win[1 - i % 2], p, 40);
        OK(MPI_Win_free(&win[1 - i % 2]));
        use_window(win[2], p + 8, 50);
        OK(MPI_Win_free(&win[2]));
    }
    free(p);
}

static void pages_again(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 4 * page;
    int rounds = fewer(12);
    char *at = mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(at != MAP_FAILED))
        return;
    for (int i = 0; i < rounds; i++) {
        size_t bytes = page * (size_t)(1 + i % 4);
        long *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                       -1, 0);
        CHECK(p == (long *)at && p[1] == 0); // other pages, at the same address
        MPI_Win win = create(p, bytes);
        use_window(win, p, 100 * i);
        OK(MPI_Win_free(&win));
        OK(munmap(p, bytes));
    }
    munmap(at, most);
}

static void memory_again(void)
{
    int rounds = fewer(50);
    for (int i = 0; i < rounds; i++) {
        size_t bytes = (size_t)(16 + i * 37 % 3000) * sizeof(long);
        long *p = must_alloc(bytes), *shared;
        p[1] = 0;
        MPI_Win win = create(p, bytes);
        use_window(win, p, 7 * i);
        OK(MPI_Win_free(&win));
        free(p);
        OK(MPI_Alloc_mem(16 + i % 9 * 8, MPI_INFO_NULL, &shared));
        shared[1] = 0;
        win = create(shared, 16);
        use_window(win, shared, 8 * i);
        OK(MPI_Win_free(&win));
        OK(MPI_Free_mem(shared));
    }
}

// ---- Memory of another window: shared in one piece, which is of the first rank, or apart, or not
// asked to be shared
enum owner { ONE_PIECE, APART, ALLOCATED, OWNERS };

static void over_a_window(enum owner owner)
{
    MPI_Info info;
    MPI_Win under, win;
    MPI_Aint size;
    long *p, *other;
    int unit, next = (node_me + 1) % node_npes;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", owner == APART ? "true" : "false"));
    if (owner == ALLOCATED)
        OK(MPI_Win_allocate(64, 8, info, node, &p, &under));
    else
        OK(MPI_Win_allocate_shared(64, 8, info, node, &p, &under));
    OK(MPI_Info_free(&info));
    memset(p, 0, 64);
    win = create(p, 64);
    use_window(win, p, 60);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_create(p, 64, 8, MPI_INFO_NULL, node, &win));
    p[3] = node_me;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_shared_query(win, next, &size, &unit, &other));
    CHECK_EQ(size, 64);
    if (CHECK(other != NULL))
        CHECK_EQ(other[3], next);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_free(&under));
}

static void attached_of_a_window(enum owner owner)
{
    MPI_Win under, win;
    MPI_Aint mine, theirs;
    long *p, value = 77 + me;
    int next = (me + 1) % npes, last = (me + npes - 1) % npes;
    if (owner == ALLOCATED)
        OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, node, &p, &under));
    else
        OK(MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, node, &p, &under));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, p, 64));
    OK(MPI_Get_address(p, &mine));
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, last, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, next, theirs, 1, MPI_LONG, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(p[0], 77 + last);
    OK(MPI_Win_detach(win, p));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_free(&under));
}

// ---- Sizes and units of each process's own; a part of the processes
static void odd(void)
{
    MPI_Comm part;
    MPI_Win win;
    double *p, value = me + 0.5;
    int n, rank;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part));
    OK(MPI_Comm_size(part, &n));
    OK(MPI_Comm_rank(part, &rank));
    OK(MPI_Win_allocate((rank + 1) * 8, rank % 2 ? 8 : 1, MPI_INFO_NULL, part, &p, &win));
    OK(MPI_Comm_free(&part)); // the window lives on
    int next = (rank + 1) % n;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Put(&value, 1, MPI_DOUBLE, next, next % 2 ? next : next * 8, 1, MPI_DOUBLE, win));
    OK(MPI_Put(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win));
    OK(MPI_Put(NULL, 0, MPI_DOUBLE, next, 1000000, 0, MPI_DOUBLE, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win));
    int before = (rank + n - 1) % n; // its rank in the world: keys were negative
    CHECK_EQ(p[rank], (npes - 1 - (npes - 1 - me % 2) % 2 - 2 * before) + 0.5);
    OK(MPI_Win_free(&win));
}

static void again_and_again(void)
{
    for (int i = 0; i < 300; i++) {
        MPI_Win win, other;
        int *p, value = i + me;
        OK(MPI_Win_allocate(sizeof(int) * (size_t)(1 + i % 7), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p,
                            &win));
        OK(MPI_Win_create(p, sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
        OK(MPI_Win_fence(0, i % 2 ? win : other));
        OK(MPI_Put(&value, 1, MPI_INT, (me + 1) % npes, 0, 1, MPI_INT, i % 2 ? win : other));
        OK(MPI_Win_fence(0, i % 2 ? win : other));
        CHECK_EQ(*p, i + (me + npes - 1) % npes);
        OK(MPI_Win_free(&other));
        OK(MPI_Win_free(&win));
    }
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_rank(node, &node_me));
    OK(MPI_Comm_size(node, &node_npes));
    attributes();
    names_and_groups();
    hints();
    shared(true);
    shared(false);
    query_all_flavors();
    several_over_one();
    pages_again();
    memory_again();
    for (int owner = 0; owner < OWNERS; owner++) {
        over_a_window((enum owner)owner);
        attached_of_a_window((enum owner)owner);
    }
    odd();
    again_and_again();
    OK(MPI_Comm_free(&node));
    return mpi_done();
}
