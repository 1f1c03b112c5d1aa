// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Partitioned Point-to-Point Communication".
//
// MPI_Psend_init tells the receiver of the message: {communicator, tag, partitions, bytes of each,
// tags of the parts}. The receiver pairs what it was told with its own calls of MPI_Precv_init,
// both in their order. From then on each partition of the sender is a message of its own:
//
//     sender       | part 0      | part 1      | part 2      |     sent by MPI_Pready
//     receiver     | partition 0        | partition 1        |     MPI_Parrived: parts 0 and 1
//
// with a tag of its own in the communicator's internal space. The receives for all of them are
// posted by MPI_Start, or, when that came first, as soon as the receiver is told. A message of no
// parts is done then.
#include "partitioned.h"

#include "check.h"
#include "coll.h"
#include "info.h"
#include "p2p.h"
#include "stats.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

struct partitioned;

struct part {
    struct partitioned *whole;
    struct request *request;
    _Atomic bool is_ready; // MPI_Pready was called
    _Atomic bool is_done;
};

struct partitioned {
    struct request request; // first
    bool is_send;
    void *buf;
    int partitions;
    MPI_Count count; // of elements in one
    struct type *type;
    int peer, tag;
    MPI_Count bytes; // of one partition on this side
    // The parts, which are the sender's partitions
    int parts, first_tag;
    MPI_Count part_bytes;
    struct part *part; // NULL: the receiver has not been told yet
    _Atomic int left, error;
    _Atomic MPI_Count received;
    char *copy; // of what is received, unless the type is dense
    // A receive that no sender has told of
    struct partitioned *next;
    int pe;
    bool is_started;
};

struct announcement {
    uint32_t context;
    int32_t tag, parts, first_tag;
    int64_t part_bytes;
};

struct announced { // that no receive has taken
    struct announced *next;
    int pe;
    struct announcement what;
};

static struct announced *announced, **last_announced = &announced;
static struct partitioned *expecting, **last_expecting = &expecting; // with a reference
static shim_lock lock; // of both lists, and of what is said of a receive in them
static _Atomic unsigned tags_used;

static int tag_of(const struct partitioned *p, int i)
{
    return TAG_PART + (int)(((unsigned)p->first_tag + (unsigned)i) % TAG_PART);
}

static struct part *new_parts(struct partitioned *p)
{
    struct part *part = calloc((size_t)p->parts + 1, sizeof *part); // not NULL without parts
    if (!part)
        shim_fatal("no memory for a message of %d partitions", p->parts);
    for (int i = 0; i < p->parts; i++)
        part[i].whole = p;
    return part;
}

// ---- Parts
static void part_done(struct request *r, void *arg)
{
    struct part *part = arg;
    struct partitioned *p = part->whole;
    MPI_Count from = (part - p->part) * p->part_bytes;
    if (r->error)
        atomic_store_explicit(&p->error, r->error, memory_order_relaxed);
    if (p->copy && r->bytes)
        type_unpack(p->type, p->buf, p->count * p->partitions, from, p->copy + from,
                    (size_t)r->bytes);
    atomic_fetch_add_explicit(&p->received, r->bytes, memory_order_relaxed);
    request_drop(r);
    // Pairs with the acquire load in has_arrived.
    atomic_store_explicit(&part->is_done, true, memory_order_release);
    if (atomic_fetch_sub_explicit(&p->left, 1, memory_order_acq_rel) == 1)
        request_complete(&p->request);
    else
        request_count_activity(); // for who waits for this part
}

static void send_part(struct partitioned *p, int i)
{
    struct part *part = &p->part[i];
    const char *from = (char *)p->buf + i * p->count * p->type->extent;
    stats_count(PARTITIONS);
    part->request = p2p_isend(p->request.comm, SPACE_COLL, from, p->count, p->type, p->peer,
                              tag_of(p, i), SEND_STANDARD);
    request_then(part->request, part_done, part);
}

static void post_part(struct partitioned *p, int i)
{
    struct part *part = &p->part[i];
    MPI_Count from = i * p->part_bytes, room = p->bytes * p->partitions - from;
    char *to = p->copy ? p->copy : type_at(p->type, p->buf);
    room = room < 0 ? 0 : room > p->part_bytes ? p->part_bytes : room;
    part->request = p2p_irecv(p->request.comm, SPACE_COLL, to + from, room, type_of(MPI_BYTE),
                              p->peer, tag_of(p, i));
    request_then(part->request, part_done, part);
}

static void post_parts(struct partitioned *p)
{
    int n = p->parts;
    if (n == 0)
        request_complete(&p->request);
    for (int i = 0; i < n; i++) // the last one done may end the request
        post_part(p, i);
}

// ---- Pairing
static bool agree(const struct partitioned *p, int pe, const struct announcement *a)
{
    return p->pe == pe && p->tag == a->tag && p->request.comm->context == a->context;
}

static void adopt(struct partitioned *p, const struct announcement *a)
{
    p->parts = a->parts;
    p->first_tag = a->first_tag;
    p->part_bytes = a->part_bytes;
    p->part = new_parts(p);
    atomic_store_explicit(&p->left, p->parts, memory_order_relaxed);
}

// Takes the oldest receive that waits for this announcement out of the list.
static struct partitioned *take_expecting(int pe, const struct announcement *a)
{
    for (struct partitioned **at = &expecting, *p; (p = *at); at = &p->next) {
        if (!agree(p, pe, a))
            continue;
        *at = p->next;
        if (!p->next)
            last_expecting = at;
        return p;
    }
    return NULL;
}

static struct announced *take_announced(const struct partitioned *p)
{
    for (struct announced **at = &announced, *a; (a = *at); at = &a->next) {
        if (!agree(p, a->pe, &a->what))
            continue;
        *at = a->next;
        if (!a->next)
            last_announced = at;
        return a;
    }
    return NULL;
}

static void keep_announced(int pe, const struct announcement *what)
{
    struct announced *a = malloc(sizeof *a);
    if (!a)
        shim_fatal("no memory for a partitioned message");
    *a = (struct announced){NULL, pe, *what};
    *last_announced = a;
    last_announced = &a->next;
}

static void on_announcement(const shoal_am_t *am)
{
    struct announcement what;
    bool is_started = false;
    memcpy(&what, am->payload, sizeof what);
    shim_lock_take(&lock);
    struct partitioned *p = take_expecting(am->from, &what);
    if (p) {
        adopt(p, &what);
        is_started = p->is_started;
    } else {
        keep_announced(am->from, &what);
    }
    shim_lock_give(&lock);
    if (is_started)
        post_parts(p);
    if (p)
        request_drop(&p->request);
}

int partitioned_up(void)
{
    return shoal_am_register(AM_PARTITIONED, on_announcement, NULL);
}

static void announce(const struct partitioned *p)
{
    struct announcement a = {p->request.comm->context, p->tag, p->parts, p->first_tag,
                             p->part_bytes};
    transfer_tell(p->pe, AM_PARTITIONED, 0, &a, sizeof a);
}

static void expect(struct partitioned *p)
{
    shim_lock_take(&lock);
    struct announced *a = take_announced(p);
    if (a) {
        adopt(p, &a->what);
    } else {
        request_keep(&p->request);
        *last_expecting = p;
        last_expecting = &p->next;
    }
    shim_lock_give(&lock);
    free(a);
}

// ---- Requests
static void reset_parts(struct partitioned *p)
{
    atomic_store_explicit(&p->error, MPI_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&p->received, 0, memory_order_relaxed);
    atomic_store_explicit(&p->left, p->parts, memory_order_relaxed);
    for (int i = 0; p->part && i < p->parts; i++) {
        atomic_store_explicit(&p->part[i].is_ready, false, memory_order_relaxed);
        atomic_store_explicit(&p->part[i].is_done, false, memory_order_relaxed);
    }
}

static int start(struct request *r)
{
    struct partitioned *p = (struct partitioned *)r;
    request_restart(r);
    r->is_held = true;
    request_keep(r);
    if (!p->is_send && p->peer == MPI_PROC_NULL) {
        request_complete(r);
        return MPI_SUCCESS;
    }
    shim_lock_take(&lock);
    reset_parts(p);
    bool is_paired = p->part;
    p->is_started = true;
    shim_lock_give(&lock);
    if (!p->is_send && is_paired)
        post_parts(p);
    if (p->is_send && p->parts == 0)
        request_complete(r);
    return MPI_SUCCESS;
}

static int finish(struct request *r)
{
    struct partitioned *p = (struct partitioned *)r;
    r->error = atomic_load_explicit(&p->error, memory_order_relaxed);
    if (!p->is_send)
        r->bytes = atomic_load_explicit(&p->received, memory_order_relaxed);
    return r->error;
}

static void release(struct request *r)
{
    struct partitioned *p = (struct partitioned *)r;
    type_drop(p->type);
    free(p->part);
    free(p->copy);
}

static const struct request_class partitioned_class = {
    .start = start, .cancel = coll_no_cancel, .finish = finish, .release = release};

static void init_send(struct partitioned *p)
{
    p->parts = p->partitions;
    p->part_bytes = p->bytes;
    p->first_tag = (int)(atomic_fetch_add_explicit(&tags_used, (unsigned)p->parts,
                                                   memory_order_relaxed) %
                         TAG_PART);
    p->part = new_parts(p);
    if (p->peer != MPI_PROC_NULL)
        announce(p);
}

static void init_recv(struct partitioned *p)
{
    MPI_Count total = p->bytes * p->partitions;
    p->request.source = p->peer;
    p->request.tag = p->peer == MPI_PROC_NULL ? MPI_ANY_TAG : p->tag;
    if (!p->type->is_dense && total && !(p->copy = malloc((size_t)total)))
        shim_fatal("no memory for a message of %lld bytes", (long long)total);
    if (p->peer != MPI_PROC_NULL)
        expect(p);
}

struct args {
    const void *buf;
    int partitions;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag;
    MPI_Info info;
};

static int init(const char *call, const struct args *a, MPI_Comm handle, bool is_send,
                MPI_Request *request)
{
    struct comm *comm;
    struct type *type;
    int error = check_comm(call, handle, &comm);
    if (!error)
        error = check_message(call, comm, a->peer, a->buf, a->count, a->datatype, &type);
    if (!error)
        error = check_rank(call, comm, a->peer);
    if (!error)
        error = check_tag(call, comm, a->tag);
    if (!error)
        error = info_check(a->info, comm, call, NULL);
    if (!error)
        error = check_pointer(call, comm, "request", request);
    if (error)
        return error;
    if (a->partitions < 0)
        return raise_on(comm, MPI_ERR_ARG, call, "%d partitions: the number must not be negative",
                        a->partitions);
    struct partitioned *p = request_new(sizeof *p, REQUEST_PARTITIONED, comm, &partitioned_class);
    p->request.is_persistent = true;
    p->request.is_active = false;
    p->is_send = is_send;
    p->buf = (void *)(uintptr_t)a->buf;
    p->partitions = a->partitions;
    p->count = a->peer == MPI_PROC_NULL ? 0 : a->count;
    p->type = type;
    type_keep(type);
    p->peer = a->peer;
    p->tag = a->tag;
    p->pe = a->peer == MPI_PROC_NULL ? MPI_PROC_NULL : group_pe(comm->peers, a->peer);
    p->bytes = p->count * type->size;
    (is_send ? init_send : init_recv)(p);
    *request = object_handle(p);
    return MPI_SUCCESS;
}

// The counts of both forms are MPI_Count.
#define INITS(SEND, RECV)                                                                          \
    MPI_DEFINE(int, SEND, const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, \
               int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)              \
    {                                                                                              \
        struct args args = {buf, partitions, count, datatype, dest, tag, info};                    \
        return init("MPI_" #SEND, &args, comm, true, request);                                     \
    }                                                                                              \
    MPI_DEFINE(int, RECV, void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,       \
               int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)            \
    {                                                                                              \
        struct args args = {buf, partitions, count, datatype, source, tag, info};                  \
        return init("MPI_" #RECV, &args, comm, false, request);                                    \
    }

INITS(Psend_init, Precv_init)
INITS(Psend_init_c, Precv_init_c)

// ---- Partitions
static int check_request(const char *call, MPI_Request handle, bool is_send, struct partitioned **p)
{
    struct request *r = request_of(handle);
    if (!r || r->kind != REQUEST_PARTITIONED || ((struct partitioned *)r)->is_send != is_send)
        return raise_on(NULL, MPI_ERR_REQUEST, call, "this is no request of MPI_P%s_init",
                        is_send ? "send" : "recv");
    *p = (struct partitioned *)r;
    return MPI_SUCCESS;
}

static int check_partition(const char *call, const struct partitioned *p, int partition)
{
    if (likely((unsigned)partition < (unsigned)p->partitions))
        return MPI_SUCCESS;
    return raise_on(p->request.comm, MPI_ERR_ARG, call, "partition %d: there are 0 to %d",
                    partition, p->partitions - 1);
}

static int check_send(const char *call, MPI_Request handle, struct partitioned **p)
{
    int error = check_request(call, handle, true, p);
    if (error || (*p)->request.is_active)
        return error;
    return raise_on((*p)->request.comm, MPI_ERR_REQUEST, call,
                    "the request is not active: call MPI_Start first");
}

static int ready(const char *call, struct partitioned *p, int partition)
{
    int error = check_partition(call, p, partition);
    if (error)
        return error;
    if (atomic_exchange_explicit(&p->part[partition].is_ready, true, memory_order_relaxed))
        return raise_on(p->request.comm, MPI_ERR_ARG, call, "partition %d is ready already",
                        partition);
    send_part(p, partition);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Pready, int partition, MPI_Request request)
{
    struct partitioned *p = NULL;
    int error = check_send("MPI_Pready", request, &p);
    return error ? error : ready("MPI_Pready", p, partition);
}

MPI_DEFINE(int, Pready_range, int partition_low, int partition_high, MPI_Request request)
{
    static const char call[] = "MPI_Pready_range";
    struct partitioned *p = NULL;
    int error = check_send(call, request, &p);
    if (!error)
        error = check_partition(call, p, partition_low);
    if (!error)
        error = check_partition(call, p, partition_high);
    if (!error && partition_low > partition_high)
        error = raise_on(p->request.comm, MPI_ERR_ARG, call, "partition_low %d > partition_high %d",
                         partition_low, partition_high);
    for (int i = partition_low; !error && i <= partition_high; i++)
        error = ready(call, p, i);
    return error;
}

MPI_DEFINE(int, Pready_list, int length, const int array_of_partitions[], MPI_Request request)
{
    static const char call[] = "MPI_Pready_list";
    struct partitioned *p = NULL;
    int error = check_send(call, request, &p);
    if (!error)
        error = check_count(call, p->request.comm, length);
    if (!error && length)
        error = check_pointer(call, p->request.comm, "array_of_partitions", array_of_partitions);
    for (int i = 0; !error && i < length; i++)
        error = check_partition(call, p, array_of_partitions[i]);
    for (int i = 0; !error && i < length; i++)
        error = ready(call, p, array_of_partitions[i]);
    return error;
}

static bool has_arrived(struct partitioned *p, int partition)
{
    if (!p->request.is_active || request_is_done(&p->request))
        return true;
    shim_lock_take(&lock);
    bool is_paired = p->part;
    shim_lock_give(&lock);
    if (!is_paired || !p->part_bytes)
        return false;
    MPI_Count from = partition * p->bytes, to = from + p->bytes;
    for (MPI_Count i = from / p->part_bytes; i * p->part_bytes < to; i++)
        if (i >= p->parts || !atomic_load_explicit(&p->part[i].is_done, memory_order_acquire))
            return false;
    return true;
}

MPI_DEFINE(int, Parrived, MPI_Request request, int partition, int *flag)
{
    static const char call[] = "MPI_Parrived";
    struct partitioned *p = NULL;
    int error = check_pointer(call, NULL, "flag", flag);
    if (!error && request != MPI_REQUEST_NULL)
        error = check_request(call, request, false, &p);
    if (!error && p && p->request.is_active)
        error = check_partition(call, p, partition);
    if (error)
        return error;
    *flag = !p || has_arrived(p, partition);
    if (*flag)
        return MPI_SUCCESS;
    progress_look();
    *flag = has_arrived(p, partition);
    return MPI_SUCCESS;
}
