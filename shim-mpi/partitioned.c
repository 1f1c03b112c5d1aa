// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Partitioned Point-to-Point Communication".
//
// MPI_Psend_init tells the receiver of the message: {communicator, tag, partitions, bytes of each,
// tags of the parts}. The receiver pairs what it was told with its own calls of MPI_Precv_init,
// both in their order (partitioned_pair.c). From then on each partition of the sender is a message of
// its own:
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
#include "partner.h"
#include "stats.h"

#include <stdlib.h>

// ---- Tags: of one sender none that a request which lives has as well
enum { FIRST_TAG = TAG_PART - 100 }; // no long run is the first to come round
static struct {
    shim_lock lock;
    uint64_t used; // by all there have been, TAG_PART at a lap
    struct partitioned *first;
} tags = {.used = FIRST_TAG};

// How far behind `first` its own begin.
static int tags_from(const struct partitioned *p, uint64_t first)
{
    return (int)(((uint64_t)p->first_tag + TAG_PART - first % TAG_PART) % TAG_PART);
}

// From where on `parts` are free: behind those that have some of them.
static uint64_t free_from(uint64_t first, int parts)
{
    for (const struct partitioned *p = tags.first; p;) {
        int behind = tags_from(p, first);
        bool overlaps = p->parts && (behind < parts || TAG_PART - behind < p->parts);
        first += overlaps ? (uint64_t)behind + (uint64_t)p->parts : 0;
        p = overlaps ? tags.first : p->live_next;
    }
    return first;
}

static void take_tags(struct partitioned *p)
{
    shim_lock_take(&tags.lock);
    uint64_t first = tags.used, lap = FIRST_TAG + (uint64_t)TAG_PART;
    if (first + (unsigned)p->parts > lap)
        first = free_from(first, p->parts);
    p->first_tag = (int)(first % TAG_PART);
    tags.used = first + (unsigned)p->parts;
    p->live_next = tags.first;
    p->live_at = &tags.first;
    if (p->live_next)
        p->live_next->live_at = &p->live_next;
    tags.first = p;
    shim_lock_give(&tags.lock);
}

static void give_tags(struct partitioned *p)
{
    if (!p->live_at)
        return;
    shim_lock_take(&tags.lock);
    *p->live_at = p->live_next;
    if (p->live_next)
        p->live_next->live_at = p->live_at;
    shim_lock_give(&tags.lock);
}

static int tag_of(const struct partitioned *p, int i)
{
    return TAG_PART + (int)(((unsigned)p->first_tag + (unsigned)i) % TAG_PART);
}

// ---- Parts
// A locked instruction would wait until the message before has left the processor's buffer.
static bool is_last(struct partitioned *p)
{
    return object_count(&p->left, -1) == 1;
}

static bool was_ready(struct part *part)
{
    if (shim_threads)
        return atomic_exchange_explicit(&part->is_ready, true, memory_order_relaxed);
    bool was = atomic_load_explicit(&part->is_ready, memory_order_relaxed);
    atomic_store_explicit(&part->is_ready, true, memory_order_relaxed);
    return was;
}

static void end_part(struct part *part)
{
    struct partitioned *p = part->whole;
    // Pairs with the acquire load in has_arrived.
    atomic_store_explicit(&part->is_done, true, memory_order_release);
    if (is_last(p))
        request_complete(&p->request);
    else
        request_count_activity(); // for who waits for this part
}

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
    end_part(part);
}

static void send_part(struct partitioned *p, int i)
{
    struct part *part = &p->part[i];
    const char *from = (char *)p->buf + i * p->count * p->type->extent;
    stats_count(PARTITIONS);
    if (p->pe >= 0 && p2p_send_now(p->request.comm, SPACE_COLL, from, p->count, p->type, p->pe,
                                   tag_of(p, i), LEAVE_GATHERED)) {
        end_part(part);
        return;
    }
    struct request *r = p2p_isend(p->request.comm, SPACE_COLL, from, p->count, p->type, p->peer,
                                  tag_of(p, i), SEND_STANDARD);
    request_then(r, part_done, part);
}

static void post_part(struct partitioned *p, int i)
{
    struct part *part = &p->part[i];
    MPI_Count from = i * p->part_bytes, room = p->bytes * p->partitions - from;
    char *to = p->copy ? p->copy : type_at(p->type, p->buf);
    room = room < 0 ? 0 : room > p->part_bytes ? p->part_bytes : room;
    struct request *r = p2p_irecv(p->request.comm, SPACE_COLL, to + from, room, type_of(MPI_BYTE),
                                  p->peer, tag_of(p, i));
    request_then(r, part_done, part);
}

void partitioned_post(struct partitioned *p)
{
    int n = p->parts;
    if (n == 0)
        request_complete(&p->request);
    for (int i = 0; i < n; i++) // the last one done may end the request
        post_part(p, i);
}

// ---- Requests
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
    bool is_paired = partitioned_begin(p);
    if (!p->is_send && is_paired)
        partitioned_post(p);
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
    else if (p->pe >= 0 && partner_of(p->pe)->is_far)
        shoal_am_push(); // what was gathered leaves
    return r->error;
}

static void release(struct request *r)
{
    struct partitioned *p = (struct partitioned *)r;
    give_tags(p);
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
    if (p->peer != MPI_PROC_NULL)
        take_tags(p);
    p->part = partitioned_new_parts(p);
    if (p->peer != MPI_PROC_NULL)
        partitioned_announce(p);
}

static void init_recv(struct partitioned *p)
{
    MPI_Count total = p->bytes * p->partitions;
    p->request.source = p->peer;
    p->request.tag = p->peer == MPI_PROC_NULL ? MPI_ANY_TAG : p->tag;
    if (!p->type->is_dense && total && !(p->copy = malloc((size_t)total)))
        shim_fatal("no memory for a message of %lld bytes", (long long)total);
    if (p->peer != MPI_PROC_NULL)
        partitioned_expect(p);
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
    if (a->peer != MPI_PROC_NULL &&
        (error = check_bytes(call, comm, a->partitions, a->count, type)))
        return error;
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
    if (was_ready(&p->part[partition]))
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
    if (!partitioned_is_paired(p) || !p->part_bytes)
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
    *flag = !p || has_arrived(p, partition) || (progress_look() && has_arrived(p, partition));
    return MPI_SUCCESS;
}
