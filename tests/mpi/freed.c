// SPDX-License-Identifier: BSD-3-Clause
// Objects that are freed while something uses them live on for it, and are no argument any more: datatypes,
// communicators and operators that a thread frees while another one is in a call that waits; groups, operators
// and error handlers of which a handle is freed twice. After MPI_Finalize, which two threads call, no
// communicator, request or window of the program's is an argument.
// PES: 2 4
// ENV: SHOAL_MPI_INITIAL_ERRHANDLER=mpi_errors_return SHOAL_MPI_WINDOW=32k
#include "mpi_check.h"

#include <pthread.h>
#include <unistd.h>

enum { N = 1000, LONG = 200000 };
enum { GO = 7, DATA = 8 };

// ---- While another thread waits with them
static MPI_Comm pair, comm; // of ranks 0 and 1; that, or one of its own
static MPI_Datatype gaps;
static MPI_Op twice;
static int (*numbers)[2];
static _Atomic int freed;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i] + 1;
}

// The other rank sends, or takes part, when this one has freed what its first thread waits with, and used
// the memory for others.
static void *free_them(void *unused)
{
    MPI_Datatype others[16];
    MPI_Op ops[16];
    usleep(50000);
    OK(MPI_Type_free(&gaps));
    OK(MPI_Op_free(&twice));
    if (comm != pair)
        OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 16; i++) {
        OK(MPI_Type_contiguous(3, MPI_DOUBLE, &others[i]));
        OK(MPI_Op_create(add, 1, &ops[i]));
    }
    OK(MPI_Send(NULL, 0, MPI_INT, 1, GO, pair));
    for (int i = 0; i < 16; i++) {
        OK(MPI_Type_free(&others[i]));
        OK(MPI_Op_free(&ops[i]));
    }
    return unused;
}

static void wait_for_go(void)
{
    OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, pair, MPI_STATUS_IGNORE));
}

static void make(bool own_comm)
{
    comm = pair;
    if (own_comm)
        OK(MPI_Comm_dup(pair, &comm));
    OK(MPI_Type_vector(LONG, 1, 2, MPI_INT, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Op_create(add, 1, &twice));
}

static void unmake(MPI_Comm own)
{
    OK(MPI_Type_free(&gaps));
    OK(MPI_Op_free(&twice));
    if (own != pair)
        OK(MPI_Comm_free(&own));
}

// With the type with gaps or not; probed for or not.
static void receive(MPI_Comm own, bool has_gaps, bool probes)
{
    int n = has_gaps ? LONG : 1, wrong = 0;
    if (me == 1) {
        wait_for_go();
        for (int i = 0; i < n; i++)
            numbers[i][0] = i + 1;
        if (has_gaps)
            OK(MPI_Send(numbers, 1, gaps, 0, DATA, own));
        else
            OK(MPI_Send(numbers, 1, MPI_INT, 0, DATA, own));
        return;
    }
    memset(numbers, 0, LONG * sizeof *numbers);
    MPI_Message message;
    if (probes)
        OK(MPI_Mprobe(1, DATA, own, &message, MPI_STATUS_IGNORE));
    if (probes)
        OK(MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    else
        OK(MPI_Recv(numbers, 1, has_gaps ? gaps : MPI_INT, 1, DATA, own, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        wrong += numbers[i][0] != i + 1 || numbers[i][1] != 0;
    CHECK_EQ(wrong, 0);
}

static void reduce(int n)
{
    static int in[N], out[N];
    int wrong = 0;
    if (me == 1)
        wait_for_go();
    for (int i = 0; i < n; i++)
        in[i] = me + i;
    OK(MPI_Allreduce(in, out, n, MPI_INT, twice, pair));
    for (int i = 0; i < n; i++)
        wrong += out[i] != i + (i + 1) + 1;
    CHECK_EQ(wrong, 0);
}

static void one(int what, bool own_comm)
{
    pthread_t other;
    make(own_comm);
    MPI_Comm own = comm;
    if (me == 0)
        pthread_create(&other, NULL, free_them, NULL);
    switch (what) {
    case 0: receive(own, true, false); break;
    case 1: receive(own, false, false); break;
    case 2: receive(own, false, true); break;
    case 3: reduce(1); break;
    default: reduce(N); break;
    }
    if (me == 0)
        pthread_join(other, NULL);
    else
        unmake(own);
    OK(MPI_Barrier(pair));
}

// ---- Twice
#define WRONG(call, class) CHECK_EQ(class_of(call), class)

// The type lives on in another one.
static void types_twice(void)
{
    int size;
    MPI_Datatype part, whole, again;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &part));
    OK(MPI_Type_contiguous(3, part, &whole));
    again = part;
    OK(MPI_Type_free(&part));
    WRONG(MPI_Type_free(&again), MPI_ERR_TYPE);
    WRONG(MPI_Type_size(again, &size), MPI_ERR_TYPE);
    WRONG(MPI_Type_contiguous(2, again, &part), MPI_ERR_TYPE);
    WRONG(MPI_Type_get_envelope(again, &size, &size, &size, &size), MPI_ERR_TYPE);
    WRONG(MPI_Type_set_attr(again, MPI_TAG_UB, NULL), MPI_ERR_TYPE);
    OK(MPI_Type_size(whole, &size));
    CHECK_EQ(size, 3 * 2 * (int)sizeof(int));
    OK(MPI_Type_free(&whole));
}

// A receive is under way in it.
static void peer_freed(void)
{
    MPI_Comm peer, again, out;
    MPI_Request r;
    int x;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &peer));
    again = peer;
    OK(MPI_Irecv(&x, 1, MPI_INT, 0, 0, peer, &r));
    OK(MPI_Comm_free(&peer));
    WRONG(MPI_Intercomm_create(MPI_COMM_SELF, 0, again, 0, 0, &out), MPI_ERR_COMM);
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

// Sends what nobody receives, as far as it leaves without a receive. False: not all of it did.
static bool send_unheard(const char *bytes, int n, int times, MPI_Comm c)
{
    bool all = true;
    for (int i = 0; i < times; i++) {
        int flag;
        MPI_Request r;
        OK(MPI_Isend(bytes, n, MPI_CHAR, 1, 0, c, &r));
        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        if (!flag) {
            OK(MPI_Cancel(&r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        all = all && flag;
    }
    return all;
}

// Messages that nobody has received when their communicator is freed take no room of those to come, which is
// that of some 24.
static void messages_left(void)
{
    enum { EACH = 8, ROUNDS = 8 };
    static char bytes[1024];
    bool all = true;
    struct counter held = counter_start("held_back");
    for (int round = 0; round < 2 * ROUNDS; round++) {
        MPI_Comm some;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &some));
        if (me == 0 && round < ROUNDS)
            all = send_unheard(bytes, sizeof bytes, EACH, some) && all;
        for (int i = 0; i < EACH && me == 0 && round >= ROUNDS; i++)
            OK(MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 0, some));
        for (int i = 0; i < EACH && me == 1 && round >= ROUNDS; i++)
            OK(MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 0, some, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(some));
        OK(MPI_Comm_free(&some));
    }
    if (all) // none was held back before
        CHECK_EQ(counter_read(&held), 0);
    counter_end(&held);
}

// Messages come, and are cancelled by their sender, while their communicator is freed: another thread takes
// them in.
static _Atomic bool takes;

static void *take_in(void *unused)
{
    int flag;
    while (takes)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

static void messages_late(void)
{
    enum { ROUNDS = 200, EACH = 4 };
    pthread_t taker;
    takes = true;
    if (me == 0)
        CHECK(pthread_create(&taker, NULL, take_in, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request[EACH];
        MPI_Comm own;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
        for (int k = 0; k < EACH && me == 1; k++)
            OK(MPI_Issend(numbers, i % 3 * N, MPI_INT, 0, k, own, &request[k]));
        for (int k = 0; k < EACH && me == 1; k++)
            OK(MPI_Cancel(&request[k]));
        if (me == 1)
            OK(MPI_Waitall(EACH, request, MPI_STATUSES_IGNORE));
        OK(MPI_Comm_free(&own));
    }
    takes = false;
    if (me == 0)
        CHECK(pthread_join(taker, NULL) == 0);
}

static void groups_twice(void)
{
    int size = 0;
    MPI_Group g, same, again;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &same));
    again = g;
    OK(MPI_Group_free(&g));
    OK(MPI_Group_free(&same)); // as many as there were
    CHECK(g == MPI_GROUP_NULL && same == MPI_GROUP_NULL);
    same = again;
    WRONG(MPI_Group_free(&same), MPI_ERR_GROUP);
    WRONG(MPI_Group_size(again, &size), MPI_ERR_GROUP);
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_EQ(size, npes);
    g = MPI_GROUP_EMPTY;
    OK(MPI_Group_size(g, &size));
    CHECK_EQ(size, 0);
}

static void operators_twice(void)
{
    MPI_Op op, again;
    MPI_Request r;
    int in = 1, out = 0;
    OK(MPI_Op_create(add, 1, &op));
    again = op;
    OK(MPI_Iallreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD, &r));
    OK(MPI_Op_free(&op));
    op = again;
    WRONG(MPI_Op_free(&op), MPI_ERR_OP);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(out, npes + (npes - 1));
}

static void handler(MPI_Comm *c, int *error, ...)
{
    (void)c;
    freed += *error != 0;
}

static void handlers_twice(void)
{
    MPI_Errhandler mine, got, again;
    MPI_Comm c;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_set_errhandler(c, mine));
    OK(MPI_Comm_get_errhandler(c, &got));
    again = mine;
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Errhandler_free(&got));
    got = again;
    WRONG(MPI_Errhandler_free(&got), MPI_ERR_ERRHANDLER);
    WRONG(MPI_Comm_set_errhandler(MPI_COMM_WORLD, again), MPI_ERR_ERRHANDLER);
    freed = 0;
    WRONG(MPI_Send(NULL, -1, MPI_INT, 0, 0, c), MPI_ERR_COUNT);
    CHECK_EQ(freed, 1); // it lives on with c
    OK(MPI_Comm_free(&c));
}

// ---- After the end
static struct {
    MPI_Comm comm;
    MPI_Request pending, persistent;
    MPI_Win win;
    int to;
} late;

static void leave_some(void)
{
    static int memory[4];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &late.comm));
    OK(MPI_Irecv(&late.to, 1, MPI_INT, MPI_ANY_SOURCE, 99, late.comm, &late.pending));
    OK(MPI_Recv_init(&late.to, 1, MPI_INT, 0, 98, late.comm, &late.persistent));
    OK(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &late.win));
}

// Two threads at once: one of them does it.
static void *finalize(void *unused)
{
    int error = MPI_Finalize();
    if (error)
        CHECK_EQ(class_of(error), MPI_ERR_OTHER);
    freed += error == MPI_SUCCESS;
    return unused;
}

static void finalize_twice(void)
{
    pthread_t other;
    freed = 0;
    pthread_create(&other, NULL, finalize, NULL);
    finalize(NULL);
    pthread_join(other, NULL);
    CHECK_EQ(freed, 1);
}

#define LATE(call) WRONG(call, MPI_ERR_OTHER)

static void use_late(void)
{
    int flag, index, in = 1, out;
    MPI_Comm made;
    MPI_Request r = late.pending;
    LATE(MPI_Send(&in, 1, MPI_INT, 0, 0, late.comm));
    LATE(MPI_Recv(&in, 1, MPI_INT, 0, 0, late.comm, MPI_STATUS_IGNORE));
    LATE(MPI_Probe(0, 0, late.comm, MPI_STATUS_IGNORE));
    LATE(MPI_Iprobe(0, 0, late.comm, &flag, MPI_STATUS_IGNORE));
    LATE(MPI_Barrier(late.comm));
    LATE(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, late.comm));
    LATE(MPI_Comm_dup(late.comm, &made));
    LATE(MPI_Comm_free(&late.comm));
    LATE(MPI_Wait(&r, MPI_STATUS_IGNORE));
    LATE(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    LATE(MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE));
    LATE(MPI_Start(&late.persistent));
    LATE(MPI_Win_fence(0, late.win));
    LATE(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, late.win));
    LATE(MPI_Put(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, late.win));
    LATE(MPI_Win_free(&late.win));
    LATE(MPI_Finalize());
}

int main(void)
{
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    numbers = must_alloc(LONG * sizeof *numbers);
    OK(MPI_Comm_split(MPI_COMM_WORLD, me < 2 ? 0 : MPI_UNDEFINED, me, &pair));
    // The second time with the runtime's collectives.
    for (int round = 0; round < 2 && me < 2; round++)
        for (int what = 0; what < 5; what++)
            one(what, what == 1 || what == 2);
    if (me < 2)
        OK(MPI_Comm_free(&pair));
    types_twice();
    peer_freed();
    messages_left();
    messages_late();
    groups_twice();
    operators_twice();
    handlers_twice();
    leave_some();
    free(numbers);
    finalize_twice();
    use_late();
    return check_failures != 0;
}
