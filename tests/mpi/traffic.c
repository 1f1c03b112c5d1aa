// SPDX-License-Identifier: BSD-3-Clause
// Random traffic against a model. All PEs draw the same messages for a round: from whom to whom, on
// which communicator, tag, length, mode and datatype of the sender. Each starts its sends, then
// receives what the model says is for it, each communicator in one of four ways (exact, any tag, any
// source, any of both) and each message by one of several calls. A message tells who sent it and as
// its how manyth: all must come, each once, whole, those of one sender in the order in which MPI's
// rules say. Sends are completed by a random mix of calls.
// ALSO: 16
// TIMEOUT: 120
#include "mpi_check.h"

enum { ROUNDS = 40, MESSAGES = 60, COMMS = 3, TAGS = 3, LARGEST = 150000, MOST_PES = 16 };

struct head {
    int from, number, tag,
        bytes; // number: among those of this sender to this receiver on this comm
    unsigned seed;
};

struct message {
    struct head head;
    int to, comm, mode, block; // block: bytes in one piece, of the sender's memory
};

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, PERSISTENT, PERSISTENT_SYNCHRONOUS, MODES };
enum policy { EXACT, ANY_TAG, ANY_SOURCE, ANY, POLICIES };
enum how { POSTED, BLOCKING, PROBED, MATCHED, POLLED, HOWS };

static MPI_Comm comms[COMMS];
static struct message all[MESSAGES];
static unsigned char *room;          // of MPI_Bsend
static unsigned char *out[MESSAGES]; // what was sent, until it is complete
static MPI_Request sends[MESSAGES];
static uint64_t common = 99, own;

static int draw(size_t n)
{
    return (int)rnd_below(&common, n);
}

static int rank_in(int comm, int pe)
{
    return comm == 1 ? npes - 1 - pe : pe;
}

static void plan(void)
{
    static const int bytes[] = {20, 21, 33, 64, 100, 1000, 2040, 2048, 2060, 5000, 20000, LARGEST};
    static int sent[MOST_PES][MOST_PES][COMMS];
    memset(sent, 0, sizeof sent);
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &all[i];
        int from = draw((size_t)npes);
        m->to = draw((size_t)npes);
        m->comm = draw(COMMS);
        m->mode = draw(MODES);
        m->block = 1 + draw(40);
        m->head = (struct head){.from = from,
                                .number = sent[from][m->to][m->comm]++,
                                .tag = draw(TAGS),
                                .bytes = bytes[draw(sizeof bytes / sizeof *bytes)],
                                .seed = (unsigned)rnd(&common)};
    }
}

// ---- Datatypes: whole blocks with gaps between them, and the rest in one piece behind.
static MPI_Datatype layout(int bytes, int block, int gap)
{
    MPI_Datatype blocks, type;
    int n = bytes / block;
    OK(MPI_Type_vector(n, block, block + gap, MPI_BYTE, &blocks));
    OK(MPI_Type_create_struct(2, (int[]){1, bytes - n * block},
                              (MPI_Aint[]){0, (MPI_Aint)n * (block + gap)},
                              (MPI_Datatype[]){blocks, MPI_BYTE}, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&blocks));
    return type;
}

static size_t place_of(int byte, int block, int gap)
{
    return (size_t)(byte / block) * (size_t)(block + gap) + (size_t)(byte % block);
}

static unsigned char byte_of(const struct head *h, int i)
{
    return i < (int)sizeof *h ? ((const unsigned char *)h)[i] : fill_byte(h->seed, (size_t)i);
}

// ---- Sending
static void start_send(int i)
{
    const struct message *m = &all[i];
    int gap = m->block % 3, to = rank_in(m->comm, m->to), tag = m->head.tag;
    MPI_Comm comm = comms[m->comm];
    MPI_Datatype type = layout(m->head.bytes, m->block, gap);
    unsigned char *data = out[i] = must_alloc((size_t)m->head.bytes * 4);
    for (int b = 0; b < m->head.bytes; b++)
        data[place_of(b, m->block, gap)] = byte_of(&m->head, b);
    switch ((enum mode)m->mode) {
    case STANDARD: OK(MPI_Isend(data, 1, type, to, tag, comm, &sends[i])); break;
    case SYNCHRONOUS: OK(MPI_Issend(data, 1, type, to, tag, comm, &sends[i])); break;
    case BUFFERED: OK(MPI_Ibsend(data, 1, type, to, tag, comm, &sends[i])); break;
    case PERSISTENT: OK(MPI_Send_init(data, 1, type, to, tag, comm, &sends[i])); break;
    default: OK(MPI_Ssend_init(data, 1, type, to, tag, comm, &sends[i])); break;
    }
    if (m->mode >= PERSISTENT)
        OK(MPI_Start(&sends[i]));
    OK(MPI_Type_free(&type));
}

static void finish_sends(void)
{
    MPI_Request r[MESSAGES];
    int n = 0, done = 0, index[MESSAGES], got;
    for (int i = 0; i < MESSAGES; i++)
        if (all[i].head.from == me)
            r[n++] = sends[i];
    while (done < n) {
        switch (rnd_below(&own, 4)) {
        case 0: OK(MPI_Waitany(n, r, index, MPI_STATUS_IGNORE)), got = index[0] >= 0; break;
        case 1: OK(MPI_Waitsome(n, r, &got, index, MPI_STATUSES_IGNORE)); break;
        case 2: OK(MPI_Testsome(n, r, &got, index, MPI_STATUSES_IGNORE)); break;
        default: OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE)), got = n - done; break;
        }
        done += got > 0 ? got : 0;
    }
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&r[i])); // persistent
    for (int i = 0; i < MESSAGES; i++) {
        free(out[i]);
        out[i] = NULL;
    }
}

// ---- Receiving
// The receives of one communicator, in the order of posting, and what came.
struct receive {
    int from, tag, how; // from, tag as given to MPI
    MPI_Request request;
    MPI_Status status;
    unsigned char *data;
};

static void check_whole(const struct receive *r)
{
    struct head h;
    int n = -1;
    memcpy(&h, r->data, sizeof h);
    OK(MPI_Get_count(&r->status, MPI_BYTE, &n));
    CHECK_EQ(n, h.bytes);
    for (int i = 0; i < n; i++)
        if (r->data[i] != byte_of(&h, i)) {
            CHECK_EQ(r->data[i], byte_of(&h, i));
            return;
        }
    CHECK_EQ(r->data[n], 0xee); // not one byte behind it
}

// Of two receives that could both have taken either message, the first has the first.
static void check_order(const struct receive *r, int n, int comm)
{
    bool seen[MESSAGES] = {false};
    int last[MOST_PES][TAGS];
    memset(last, -1, sizeof last);
    for (int k = 0; k < n; k++) {
        struct head h;
        int i = 0;
        memcpy(&h, r[k].data, sizeof h);
        while (i < MESSAGES && (memcmp(&all[i].head, &h, sizeof h) != 0 || all[i].to != me ||
                                all[i].comm != comm || seen[i]))
            i++;
        if (!CHECK(i < MESSAGES))
            return;
        seen[i] = true;
        CHECK_EQ(r[k].status.MPI_TAG, h.tag);
        CHECK_EQ(r[k].status.MPI_SOURCE, rank_in(comm, h.from));
        CHECK(h.number > last[h.from][h.tag]);
        for (int t = 0; t < TAGS; t++)
            if (t == h.tag || r[k].tag == MPI_ANY_TAG)
                last[h.from][t] = h.number;
    }
}

static void complete(struct receive *r, MPI_Comm comm)
{
    MPI_Message message;
    int flag = 0;
    switch ((enum how)r->how) {
    case POSTED: OK(MPI_Wait(&r->request, &r->status)); return;
    case MATCHED:
        OK(MPI_Mprobe(r->from, r->tag, comm, &message, &r->status));
        OK(MPI_Mrecv(r->data, LARGEST, MPI_BYTE, &message, &r->status));
        return;
    case PROBED: OK(MPI_Probe(r->from, r->tag, comm, &r->status)); break;
    case POLLED:
        while (!flag)
            OK(MPI_Iprobe(r->from, r->tag, comm, &flag, &r->status));
        break;
    default: r->status = (MPI_Status){.MPI_SOURCE = r->from, .MPI_TAG = r->tag};
    }
    OK(MPI_Recv(r->data, LARGEST, MPI_BYTE, r->status.MPI_SOURCE, r->status.MPI_TAG, comm,
                &r->status));
}

// The receives for the messages that the model sends here on this communicator.
static int make_receives(struct receive *r, int comm, enum policy policy)
{
    int n = 0;
    for (int i = 0; i < MESSAGES; i++) {
        if (all[i].to != me || all[i].comm != comm)
            continue;
        bool any_tag = policy == ANY_TAG || policy == ANY;
        bool any_source = policy == ANY_SOURCE || policy == ANY;
        r[n] = (struct receive){
            .from = any_source ? MPI_ANY_SOURCE : rank_in(comm, all[i].head.from),
            .tag = any_tag ? MPI_ANY_TAG : all[i].head.tag,
            .data = must_alloc(LARGEST + 1),
        };
        memset(r[n++].data, 0xee, LARGEST + 1);
    }
    return n;
}

// Posted ones come first: receives that are made later cannot take what is theirs.
static void post(struct receive *r, int n, MPI_Comm comm)
{
    int posted = (int)rnd_below(&own, (size_t)n + 1);
    for (int k = 0; k < n; k++) {
        r[k].how = k < posted ? POSTED : 1 + (int)rnd_below(&own, HOWS - 1);
        if (k < posted)
            OK(MPI_Irecv(r[k].data, LARGEST, MPI_BYTE, r[k].from, r[k].tag, comm, &r[k].request));
    }
}

static void exchange(void)
{
    static struct receive r[COMMS][MESSAGES];
    int n[COMMS];
    bool early = rnd_below(&own, 2);
    plan();
    for (int c = 0; c < COMMS; c++) {
        n[c] = make_receives(r[c], c, (enum policy)draw(POLICIES));
        if (early)
            post(r[c], n[c], comms[c]);
    }
    for (int i = 0; i < MESSAGES; i++)
        if (all[i].head.from == me)
            start_send(i);
    for (int c = 0; c < COMMS; c++) {
        if (!early)
            post(r[c], n[c], comms[c]);
        for (int k = 0; k < n[c]; k++)
            complete(&r[c][k], comms[c]);
        for (int k = 0; k < n[c]; k++)
            check_whole(&r[c][k]);
        check_order(r[c], n[c], c);
        for (int k = 0; k < n[c]; k++)
            free(r[c][k].data);
    }
    finish_sends();
    OK(MPI_Barrier(MPI_COMM_WORLD)); // or a receive from any source could take the next round's
}

int main(void)
{
    mpi_start();
    if (npes > MOST_PES)
        check_skip("made for at most 16 PEs");
    size_t bytes = (size_t)MESSAGES * (LARGEST + MPI_BSEND_OVERHEAD);
    room = must_alloc(bytes);
    own = 1000 + (uint64_t)me;
    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[1]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    OK(MPI_Buffer_attach(room, (int)bytes));
    for (int round = 0; round < ROUNDS && !check_failures; round++)
        exchange();
    OK(MPI_Buffer_detach(&room, &(int){0}));
    OK(MPI_Comm_free(&comms[1]));
    OK(MPI_Comm_free(&comms[2]));
    free(room);
    return mpi_done();
}
