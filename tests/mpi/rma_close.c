// SPDX-License-Identifier: BSD-3-Clause
// Gets of many short blocks that lie close to each other, in memory that is not mapped here: what lies
// between them is not seen, in whatever order they are, from below the displacement and more than once;
// the type may be freed right after the call. So it is in a dynamic window when what was attached as one
// has become two, of which nobody was told; and where what lies between them cannot be read. Puts of as many
// leave what lies between them alone.
// PES: 2 3
#include "rma_check.h"

#include <shoal.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20, BLOCKS = 3000, LENGTH = 7, STEP = 64 };

static unsigned char *window, *out, *in;
static MPI_Win win;

static unsigned char there(int rank, size_t i)
{
    return (unsigned char)(rank * 101 + (int)(i * 13 + i / 255));
}

static void fill_window(void)
{
    for (size_t i = 0; i < BYTES; i++)
        window[i] = there(me, i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

// `blocks` of LENGTH bytes at `at` from the displacement, which is in the middle.
static void get(int blocks, const int at[], bool has_request)
{
    MPI_Datatype type;
    MPI_Request r;
    int other = (me + 1) % npes, n = blocks * LENGTH;
    memset(in, 0xEE, (size_t)n + 1);
    OK(MPI_Type_create_indexed_block(blocks, LENGTH, at, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    if (has_request) {
        OK(MPI_Rget(in, n, MPI_BYTE, other, BYTES / 2, 1, type, win, &r));
        OK(MPI_Type_free(&type));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Get(in, n, MPI_BYTE, other, BYTES / 2, 1, type, win));
        OK(MPI_Type_free(&type));
    }
    OK(MPI_Win_unlock(other, win));
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < LENGTH; k++)
            if (!CHECK_EQ(in[b * LENGTH + k], there(other, (size_t)(BYTES / 2 + at[b] + k))))
                return;
    CHECK_EQ(in[n], 0xEE);
}

static void get_all(void)
{
    static int at[BLOCKS];
    for (int i = 0; i < 4; i++) {
        for (int b = 0; b < BLOCKS; b++)
            at[b] = (b - BLOCKS / 2) * STEP; // from below on
        get(BLOCKS, at, i % 2);
        for (int b = 0; b < BLOCKS / 2; b++) { // backward
            int was = at[b];
            at[b] = at[BLOCKS - 1 - b];
            at[BLOCKS - 1 - b] = was;
        }
        get(BLOCKS, at, i % 2);
        for (int b = 0; b < BLOCKS; b++)
            at[b] = b % 10 * 3; // over each other
        get(BLOCKS, at, i % 2);
        for (int b = 0; b < BLOCKS; b++)
            at[b] = b * (BYTES / 2 / BLOCKS); // up to the end
        get(BLOCKS, at, i % 2);
        get(1, at, i % 2);
        int far[2] = {-BYTES / 2, BYTES / 2 - LENGTH};
        get(2, far, i % 2);
    }
}

// From the left neighbour, into the first half of the window.
static void put_all(void)
{
    MPI_Datatype type;
    int other = (me + 1) % npes, from = (me + npes - 1) % npes, blocks = BYTES / 2 / STEP;
    for (int i = 0; i < blocks * LENGTH; i++)
        out[i] = (unsigned char)(i + me);
    OK(MPI_Type_vector(blocks, LENGTH, STEP, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(out, blocks * LENGTH, MPI_BYTE, other, 1, 1, type, win));
    OK(MPI_Type_free(&type));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < BYTES; i++) {
        int k = (i - 1) % STEP, b = (i - 1) / STEP;
        bool is_put = i > 0 && b < blocks && k < LENGTH;
        unsigned char now = is_put ? (unsigned char)(b * LENGTH + k + from) : there(me, (size_t)i);
        if (!CHECK_EQ(window[i], now))
            return;
    }
    OK(MPI_Win_fence(0, win));
}

static void get_attached(MPI_Win dynamic, MPI_Aint theirs)
{
    MPI_Datatype type;
    int other = (me + 1) % npes, blocks = BYTES / STEP, n = blocks * LENGTH;
    OK(MPI_Type_vector(blocks, LENGTH, STEP, MPI_BYTE, &type));
    OK(MPI_Type_commit(&type));
    memset(in, 0xEE, (size_t)n);
    OK(MPI_Get(in, n, MPI_BYTE, other, theirs, 1, type, dynamic));
    OK(MPI_Win_flush(other, dynamic));
    OK(MPI_Type_free(&type));
    CHECK_EACH(i, n, in[i], there(other, (size_t)(i / LENGTH * STEP + i % LENGTH)));
}

static void attach_again(void)
{
    MPI_Win dynamic;
    MPI_Aint mine, theirs;
    window = must_alloc(BYTES);
    fill_window();
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    OK(MPI_Win_attach(dynamic, window, BYTES));
    OK(MPI_Get_address(window, &mine));
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, (me + npes - 1) % npes, 0, &theirs, 1, MPI_AINT,
                    (me + 1) % npes, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_lock_all(0, dynamic));
    get_attached(dynamic, theirs);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_detach(dynamic, window));
    OK(MPI_Win_attach(dynamic, window, BYTES / 2));
    OK(MPI_Win_attach(dynamic, window + BYTES / 2, BYTES / 2));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    get_attached(dynamic, theirs);
    OK(MPI_Win_unlock_all(dynamic));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&dynamic));
    free(window);
}

// Private memory of this node, where the kernel copies: whoever owns it would be hurt by a read of its own.
static bool is_read_by_kernel(void)
{
    uint64_t is_private = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_PRIVATE, (me + 1) % npes, &is_private), SHOAL_OK);
    return one_node() && is_private;
}

static void get_around_hole(void)
{
    enum { PAGE = 65536, N = 100 };
    static int at[2 * N];
    window = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(window != MAP_FAILED))
        return;
    OK(MPI_Win_create(window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    fill_window();
    CHECK_EQ(mprotect(window + BYTES / 2, PAGE, PROT_NONE), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int b = 0; b < N; b++) {
        at[b] = -(b + 1) * STEP;
        at[N + b] = PAGE + b * STEP;
    }
    for (int i = 0; i < 2; i++)
        get(2 * N, at, i);
    OK(MPI_Win_free(&win));
    CHECK_EQ(munmap(window, BYTES), 0);
}

int main(void)
{
    mpi_start();
    out = must_alloc(BYTES);
    in = must_alloc(BYTES);
    for (int allocated = 0; allocated < 2; allocated++) {
        if (allocated) {
            OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win));
        } else {
            window = must_alloc(BYTES);
            OK(MPI_Win_create(window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        }
        fill_window();
        get_all();
        OK(MPI_Barrier(MPI_COMM_WORLD));
        put_all();
        OK(MPI_Win_free(&win));
        if (!allocated)
            free(window);
    }
    attach_again();
    if (is_read_by_kernel())
        get_around_hole();
    free(in);
    free(out);
    return mpi_done();
}
