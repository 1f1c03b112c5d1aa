// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Many patterns of MPI calls at many lengths, each briefly: to find those that another MPI is faster in.
// tests/bench/sweep compiles it with every MPI of the machine, runs them by turns and makes the table.
//   mpi_sweep PATTERN...   the patterns whose name matches one of these; lengths from SWEEP_MIN to SWEEP_MAX
// SWEEP_MS in the environment: ms a figure; SWEEP_UNUSED: data that nobody writes before or reads after.
// A length is what one rank sends to one other, or contributes; of data with gaps it is what moves.
#include "sweep_coll.h"
#include "sweep_p2p.h"
#include "sweep_win.h"

#include <fnmatch.h>

enum { FEWEST = 5 }; // calls at a time

// ---- what has no length

static void comm_dup(void)
{
    MPI_Comm made;
    MPI_Comm_dup(W, &made);
    MPI_Comm_free(&made);
}
static void comm_split(void)
{
    MPI_Comm made;
    MPI_Comm_split(W, me % 2, 0, &made);
    MPI_Comm_free(&made);
}
static void comm_create_group(void)
{
    MPI_Group all;
    MPI_Comm made;
    MPI_Comm_group(W, &all);
    MPI_Comm_create_group(W, all, 0, &made);
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
}
static void cart_create(void)
{
    MPI_Comm made;
    MPI_Cart_create(W, 1, &npes, &(int){1}, 0, &made);
    MPI_Comm_free(&made);
}
static void win_allocate(void)
{
    MPI_Win made;
    void *at;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, W, &at, &made);
    MPI_Win_free(&made);
}
static void win_create(void)
{
    MPI_Win made;
    MPI_Win_create(in, 4096, 1, MPI_INFO_NULL, W, &made);
    MPI_Win_free(&made);
}
static void intercomm(void)
{
    MPI_Comm half, both, made;
    if (npes < 2)
        return;
    MPI_Comm_split(W, me % 2, 0, &half);
    MPI_Intercomm_create(half, 0, W, !(me % 2), 0, &both);
    MPI_Intercomm_merge(both, me % 2, &made);
    MPI_Comm_free(&made);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}
static void type_made(void)
{
    MPI_Datatype made;
    MPI_Type_vector(16, 1, 2, MPI_DOUBLE, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&made);
}

// ---- one process

static void pack_gaps(void)
{
    int at = 0;
    MPI_Pack(out, doubles, column, staged, 2 * AT_MOST, &at, W);
}
static void unpack_gaps(void)
{
    int at = 0;
    MPI_Unpack(staged, n, &at, in, doubles, column, W);
}
CALL(reduce_local, MPI_Reduce_local(out, in, doubles, MPI_DOUBLE, MPI_SUM))
CALL(reduce_local_int, MPI_Reduce_local(out, in, doubles * 2, MPI_INT, MPI_MAX))
CALL(self_message, MPI_Sendrecv(out, n, MPI_BYTE, me, 0, in, n, MPI_BYTE, me, 0, W, NOTHING))
CALL(self_allreduce, MPI_Allreduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF))

// 100 looks for what comes only after them.
#define IN_VAIN(name, look)                                        \
    static void name(void)                                         \
    {                                                              \
        int flag, which;                                           \
        for (int i = 0; i < 4; i++)                                \
            MPI_Irecv(in + i, 1, MPI_BYTE, me, i, W, &request[i]); \
        for (int i = 0; i < 100; i++)                              \
            look;                                                  \
        for (int i = 0; i < 4; i++)                                \
            MPI_Send(out, 1, MPI_BYTE, me, i, W);                  \
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);              \
        (void)flag, (void)which;                                   \
    }
IN_VAIN(in_vain_test, MPI_Test(request, &flag, NOTHING))
IN_VAIN(in_vain_testany, MPI_Testany(1, request, &which, &flag, NOTHING))
IN_VAIN(in_vain_testall, MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE))
IN_VAIN(in_vain_iprobe, MPI_Iprobe(MPI_ANY_SOURCE, 9, W, &flag, NOTHING))

enum { SHORT = 1, ALL_RANKS = 2, EVEN = 4 }; // no length; of each of all ranks; an even number

#define P(name, flags)     \
    {                      \
#name, name, flags \
    }
static const struct pattern {
    const char *name;
    void (*call)(void);
    int flags;
} patterns[] = {
    P(ping, 0),
    P(ping_sync, 0),
    P(ping_buffered, 0),
    P(ping_gaps, 0),
    P(ping_to_gaps, 0),
    P(ping_from_gaps, 0),
    P(sendrecv, 0),
    P(sendrecv_replace, 0),
    P(exchange_1, 0),
    P(exchange_16, 0),
    P(exchange_sync, 0),
    P(exchange_waitany, 0),
    P(exchange_testsome, 0),
    P(exchange_late, 0),
    P(exchange_gaps, 0),
    P(persistent, 0),
    P(stream, 0),
    P(stream_blocking, 0),
    P(probed, 0),
    P(improbed, 0),
    P(to_zero, 0),
    P(all_to_all_by_messages, 0),
#if MPI_VERSION >= 4
    P(partitioned, 0),
#endif
    P(barrier, SHORT),
    P(bcast, 0),
    P(bcast_gaps, 0),
    P(reduce, 0),
    P(allreduce, 0),
    P(allreduce_int, 0),
    P(allreduce_inplace, 0),
    P(allreduce_user, 0),
    P(reduce_scatter, 0),
    P(reduce_scatter_block, 0),
    P(scan, 0),
    P(exscan, 0),
    P(gather, ALL_RANKS),
    P(gatherv, ALL_RANKS),
    P(scatter, ALL_RANKS),
    P(scatterv, ALL_RANKS),
    P(allgather, ALL_RANKS),
    P(allgather_inplace, ALL_RANKS),
    P(allgatherv, ALL_RANKS),
    P(alltoall, ALL_RANKS),
    P(alltoall_inplace, ALL_RANKS),
    P(alltoallv, ALL_RANKS),
    P(alltoallw, ALL_RANKS),
    P(ibarrier, SHORT),
    P(ibcast, 0),
    P(ireduce, 0),
    P(iallreduce, 0),
    P(iallgather, ALL_RANKS),
    P(iallgatherv, ALL_RANKS),
    P(ialltoall, ALL_RANKS),
    P(ialltoallv, ALL_RANKS),
    P(igather, ALL_RANKS),
    P(iscatter, ALL_RANKS),
    P(iscan, 0),
    P(ireduce_scatter, 0),
    P(iallreduce_8, ALL_RANKS),
    P(neighbor_alltoall, ALL_RANKS),
    P(neighbor_alltoallv, ALL_RANKS),
    P(neighbor_allgather, ALL_RANKS),
    P(ineighbor_alltoall, ALL_RANKS),
    P(inter_bcast, EVEN),
    P(inter_allreduce, EVEN),
    P(inter_alltoall, ALL_RANKS | EVEN),
    P(fence_put, 0),
    P(flush_put, 0),
    P(flush_get, 0),
    P(flush_accumulate, 0),
    P(flush_accumulate_int, 0),
    P(flush_accumulate_char, 0),
    P(flush_get_accumulate, 0),
    P(lock_put, 0),
    P(exclusive_put, 0),
    P(put_gaps, 0),
    P(own_put, 0),
    P(own_get, 0),
    P(own_accumulate, 0),
    P(own_put_gaps, 0),
    P(own_get_gaps, 0),
    P(own_put_16, 0),
    P(epoch_put, 0),
    P(comm_dup, SHORT),
    P(comm_split, SHORT),
    P(comm_create_group, SHORT),
    P(cart_create, SHORT),
    P(win_allocate, SHORT),
    P(win_create, SHORT),
    P(intercomm, SHORT),
    P(type_made, SHORT),
    P(in_vain_test, SHORT),
    P(in_vain_testany, SHORT),
    P(in_vain_testall, SHORT),
    P(in_vain_iprobe, SHORT),
    P(fetch_and_op, SHORT),
    P(lock_fetch_and_op, SHORT),
    P(compare_and_swap, SHORT),
    P(own_fetch_and_op, SHORT),
    P(pack_gaps, 0),
    P(unpack_gaps, 0),
    P(reduce_local, 0),
    P(reduce_local_int, 0),
    P(self_message, 0),
    P(self_allreduce, 0),
};

// As many calls as take some milliseconds, the fastest of several times.
static void measure(const struct pattern *p, double enough)
{
    double least = 0, spent = 0;
    int calls = FEWEST;
    for (int batch = 0, goes_on = 1; goes_on; batch++) {
        double ns;
        EACH_OF(calls, ns, (write_data(out, n), p->call(), read_data(in, n)));
        spent += ns * calls;
        if (batch > 0 && (least == 0 || ns < least)) // the first one warms up
            least = ns;
        if (ns * calls < enough / 20)
            calls = (int)(calls *
                          (enough / 20 / (ns * calls) > 10 ? 10 : 1 + enough / 20 / (ns * calls)));
        goes_on = (spent < enough && batch < 200) || batch < 3;
        MPI_Bcast(&calls, 1, MPI_INT, 0, W);
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, W);
    }
    tell_one(p->name, p->flags & SHORT ? -1 : n, least, "ns");
}

static void set_length(int bytes)
{
    n = bytes;
    doubles = n / 8;
    for (int i = 0; i < npes; i++) {
        counts[i] = n;
        displs[i] = i * n;
        types[i] = MPI_BYTE;
        shares[i] = doubles / npes + (i < doubles % npes);
    }
}

static void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &npes);
    if (npes > RANKS) {
        fprintf(stderr, "mpi_sweep: %d ranks are the most\n", RANKS);
        MPI_Abort(W, 2);
    }
    prefix = "sweep";
    is_used = !getenv("SWEEP_UNUSED");
    left = (me + npes - 1) % npes;
    right = (me + 1) % npes;
    size_t room = 2 * (size_t)AT_MOST;
    out = aligned_alloc(4096, room);
    in = aligned_alloc(4096, room);
    staged = aligned_alloc(4096, room);
    memset(out, 0, room);
    memset(in, 0, room);
    memset(staged, 0, room);
    MPI_Buffer_attach(malloc(room + (1 << 16)), (int)room + (1 << 16));
    MPI_Datatype dense;
    MPI_Type_contiguous(1, MPI_DOUBLE, &dense);
    MPI_Type_create_resized(dense, 0, GAP * 8, &column);
    MPI_Type_commit(&column);
    MPI_Cart_create(W, 1, &npes, &(int){1}, 0, &torus);
    MPI_Comm_dup(W, &twin);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, W, &exposed, &window);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, W, &exposed, &held);
    MPI_Win_lock_all(0, held);
    MPI_Win_create(malloc(room), (MPI_Aint)room, 1, MPI_INFO_NULL, W, &own);
    MPI_Win_lock_all(0, own);
    if (npes % 2 == 0) {
        MPI_Comm half;
        MPI_Comm_split(W, me % 2, 0, &half);
        MPI_Intercomm_create(half, 0, W, !(me % 2), 0, &halves);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    near_start(me);
    const char *min = getenv("SWEEP_MIN"), *max = getenv("SWEEP_MAX"), *ms = getenv("SWEEP_MS");
    for (const struct pattern *p = patterns; p < patterns + sizeof patterns / sizeof *patterns;
         p++) {
        int is_asked = argc < 2;
        for (int i = 1; i < argc; i++)
            is_asked |= fnmatch(argv[i], p->name, 0) == 0;
        if (!is_asked || ((p->flags & EVEN) && npes % 2))
            continue;
        for (int bytes = min ? atoi(min) : 8; bytes <= (max ? atoi(max) : AT_MOST / 2);
             bytes *= 8) {
            set_length(p->flags & SHORT ? 8 : bytes);
            if ((p->flags & ALL_RANKS) &&
                (size_t)n * (size_t)(npes > 8 ? npes : 8) > 2 * (size_t)AT_MOST)
                break;
            measure(p, (ms ? atof(ms) : 20) * 1e6);
            if (p->flags & SHORT)
                break;
        }
    }
    MPI_Win_unlock_all(held);
    MPI_Win_unlock_all(own);
    MPI_Win_free(&own);
    MPI_Win_free(&held);
    MPI_Win_free(&window);
    return MPI_Finalize();
}
