// SPDX-License-Identifier: BSD-3-Clause
// Collective calls: checks, algorithms, and the blocking form. See coll.h.
#include "coll.h"

#include "check.h"
#include "coll_lane.h"
#include "topo.h"

// ---- What a kind of collective uses of a call
enum { ROOTED = 1, REDUCES = 2, INTRA_ONLY = 4, SCATTERS = 8 };
static const unsigned char traits[COLL_KINDS] = {
    [COLL_BCAST] = ROOTED,
    [COLL_GATHER] = ROOTED,
    [COLL_GATHERV] = ROOTED,
    [COLL_SCATTER] = ROOTED | SCATTERS,
    [COLL_SCATTERV] = ROOTED | SCATTERS,
    [COLL_REDUCE] = ROOTED | REDUCES,
    [COLL_ALLREDUCE] = REDUCES,
    [COLL_REDUCE_SCATTER] = REDUCES,
    [COLL_REDUCE_SCATTER_BLOCK] = REDUCES,
    [COLL_SCAN] = REDUCES | INTRA_ONLY,
    [COLL_EXSCAN] = REDUCES | INTRA_ONLY,
};

static bool has_trait(const struct coll_call *c, int trait)
{
    return traits[c->kind] & trait;
}

// ---- Checks
enum { FIRST_PAGE = 4096 }; // where no data is

static int check_block(const struct coll_call *c, const struct side *s, int i)
{
    MPI_Count count = number_at(s->counts, i);
    struct type *type = s->type;
    int error = check_count(c->name, c->comm, count);
    if (!error && s->form == SIDE_TYPED && (count || s->datatypes[i] != MPI_DATATYPE_NULL))
        error = check_type(c->name, c->comm, s->datatypes[i], &type);
    if (!error && count)
        error = check_bytes(c->name, c->comm, s->blocks, count, type);
    if (error || s->buf || !count || !type->size)
        return error;
    // MPI_BOTTOM is NULL as well: then displacements are addresses.
    struct block b = coll_block(s, i);
    if ((uintptr_t)b.buf + (uintptr_t)type->true_lb < FIRST_PAGE)
        return raise_on(c->comm, MPI_ERR_BUFFER, c->name, "the buffer is NULL");
    return MPI_SUCCESS;
}

static int check_arrays(const struct coll_call *c, const struct side *s)
{
    const char *missing = !s->counts.at                            ? "counts"
                          : !s->displs.at                          ? "displacements"
                          : s->form == SIDE_TYPED && !s->datatypes ? "datatypes"
                                                                   : NULL;
    if (!missing)
        return MPI_SUCCESS;
    return raise_on(c->comm, MPI_ERR_ARG, c->name, "the array of %s is NULL", missing);
}

static NOINLINE int check_blocks(const struct coll_call *c, struct side *s)
{
    int error = check_arrays(c, s);
    if (!error && s->form == SIDE_COUNTED)
        error = check_type(c->name, c->comm, s->datatype, &s->type);
    for (int i = 0; !error && i < s->blocks; i++)
        error = check_block(c, s, i);
    return error;
}

static inline int check_side(const struct coll_call *c, struct side *s, int blocks)
{
    s->blocks = blocks;
    if (!blocks)
        return MPI_SUCCESS;
    if (s->form != SIDE_EACH)
        return check_blocks(c, s);
    int error = check_buffer(c->name, c->comm, s->buf, s->count, s->datatype, &s->type);
    return error ? error : check_bytes(c->name, c->comm, blocks, s->count, s->type);
}

// Where the data begins, NULL: there is none, or it may lie in any order.
static const char *first_byte(const struct side *s)
{
    bool any = s->blocks && s->form == SIDE_EACH && s->count && s->type->size;
    return any ? (const char *)s->buf + s->type->true_lb : NULL;
}

// The same of the block that goes from this process to itself.
static const char *own_byte(const struct coll_call *c, const struct side *s)
{
    if (!s->blocks)
        return NULL;
    struct block b = coll_block(s, s->blocks > 1 ? c->rank : 0);
    return b.count && b.type->size ? (const char *)b.buf + b.type->true_lb : NULL;
}

static bool are_one(const struct coll_call *c)
{
    const char *first = first_byte(&c->send), *own;
    if (first && first == first_byte(&c->recv))
        return true;
    if (comm_is_inter(c->comm) || coll_is_of_neighbors(c))
        return false;
    own = own_byte(c, &c->send);
    return own && own == own_byte(c, &c->recv);
}

static int check_both(struct coll_call *c, int sent, int received)
{
    int error = check_side(c, &c->send, sent);
    if (!error)
        error = check_side(c, &c->recv, received);
    if (error || !are_one(c))
        return error;
    return raise_on(c->comm, MPI_ERR_BUFFER, c->name,
                    "both buffers are the same: MPI_IN_PLACE is for that, where it is allowed");
}

static bool is_root(const struct coll_call *c)
{
    return comm_is_inter(c->comm) ? c->root == MPI_ROOT : c->root == c->rank;
}

static int check_rooted(const struct coll_call *c)
{
    if (!has_trait(c, ROOTED))
        return MPI_SUCCESS;
    if (!comm_is_inter(c->comm))
        return check_root(c->name, c->comm, c->root);
    if (c->root == MPI_ROOT || c->root == MPI_PROC_NULL ||
        (unsigned)c->root < (unsigned)c->comm->remote->size)
        return MPI_SUCCESS;
    return raise_on(c->comm, MPI_ERR_ROOT, c->name,
                    "root %d: it must be MPI_ROOT, MPI_PROC_NULL or a rank of the remote group",
                    c->root);
}

// Does this process take part with its own data, or only lend its name (MPI_PROC_NULL)?
static bool takes_part(const struct coll_call *c)
{
    return !(comm_is_inter(c->comm) && has_trait(c, ROOTED) && c->root == MPI_PROC_NULL);
}

// Is the receive buffer of a reduction significant here?
static bool reduces_to(const struct coll_call *c)
{
    if (c->kind == COLL_EXSCAN && c->rank == 0)
        return side_in_place(&c->send);
    return !has_trait(c, ROOTED) || is_root(c);
}

// Sides that are not significant here may hold anything, MPI_IN_PLACE as well.
static int check_in_place(const struct coll_call *c)
{
    bool root = is_root(c), inter = comm_is_inter(c->comm), scatters = has_trait(c, SCATTERS);
    bool gathers = has_trait(c, ROOTED) && !scatters && c->kind != COLL_BCAST;
    bool sends = scatters ? root : !(gathers && root && inter);
    bool receives = has_trait(c, REDUCES) ? reduces_to(c)
                    : gathers             ? root
                                          : !(scatters && root && inter);
    bool may_send = c->kind != COLL_BCAST && !coll_is_of_neighbors(c) && !inter && !scatters &&
                    (!gathers || root);
    bool may_receive = scatters && root && !inter;
    if ((sends && side_in_place(&c->send) && !may_send) ||
        (receives && side_in_place(&c->recv) && !may_receive))
        return raise_on(c->comm, MPI_ERR_BUFFER, c->name, "MPI_IN_PLACE is not allowed here");
    return MPI_SUCCESS;
}

static int check_operator(struct coll_call *c)
{
    struct side *s = &c->recv; // count and type of both
    c->op = op_of(c->op_handle);
    if (!c->op)
        return raise_on(c->comm, MPI_ERR_OP, c->name, "there is no such operator");
    int error = check_type(c->name, c->comm, s->datatype, &s->type);
    if (error)
        return error;
    if (!op_takes(c->op, s->type))
        return raise_on(c->comm, MPI_ERR_OP, c->name,
                        "the operator is not defined for elements of this datatype");
    c->send.type = s->type;
    c->send.count = s->count;
    return MPI_SUCCESS;
}

static int check_elements(const struct coll_call *c, MPI_Count count)
{
    int error = check_count(c->name, c->comm, count);
    return error ? error : check_bytes(c->name, c->comm, c->peers, count, c->recv.type);
}

// Of a reduction: elements that this process gives, and of the result that it gets.
static int count_elements(const struct coll_call *c, MPI_Count *given, MPI_Count *got)
{
    struct numbers counts = c->recv.counts;
    *given = *got = c->recv.count;
    if (c->kind != COLL_REDUCE_SCATTER)
        return check_elements(c, c->recv.count);
    if (!counts.at)
        return raise_on(c->comm, MPI_ERR_ARG, c->name, "argument recvcounts is NULL");
    int error = MPI_SUCCESS;
    *given = 0;
    *got = number_at(counts, c->rank);
    for (int i = 0; i < c->size && !error; i++) {
        error = check_elements(c, number_at(counts, i));
        *given += number_at(counts, i);
    }
    return error;
}

static NOINLINE int check_reduction(struct coll_call *c)
{
    MPI_Count given, got;
    int error = check_operator(c);
    if (!error)
        error = count_elements(c, &given, &got);
    if (error || !c->recv.type->size)
        return error;
    bool in_place = side_in_place(&c->send), inter = comm_is_inter(c->comm);
    bool gives = given && !in_place && !(inter && c->root == MPI_ROOT && has_trait(c, ROOTED));
    bool gets = (in_place ? given : got) && reduces_to(c);
    if (c->recv.type->true_lb == 0 && ((gives && !c->send.buf) || (gets && !c->recv.buf)))
        return raise_on(c->comm, MPI_ERR_BUFFER, c->name, "a buffer is NULL");
    if (gives && gets && c->send.buf == c->recv.buf && !inter)
        return raise_on(c->comm, MPI_ERR_BUFFER, c->name,
                        "both buffers are the same: give MPI_IN_PLACE as the send buffer");
    return MPI_SUCCESS;
}

static int check_sides(struct coll_call *c)
{
    bool inter = comm_is_inter(c->comm), root = is_root(c);
    int send = 1, recv = c->peers;
    switch (c->kind) {
    case COLL_BARRIER: return MPI_SUCCESS;
    case COLL_BCAST: recv = 1, send = 0; break;
    case COLL_GATHER:
    case COLL_GATHERV:
        send = inter ? !root : !side_in_place(&c->send), recv = root ? c->peers : 0;
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        send = root ? c->peers : 0, recv = inter ? !root : !side_in_place(&c->recv);
        break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: send = !side_in_place(&c->send); break;
    default: send = side_in_place(&c->send) ? 0 : c->peers; break;
    }
    return check_both(c, send, recv);
}

static int check_neighbors(struct coll_call *c)
{
    int in, out;
    if (!c->comm->topology)
        return raise_on(c->comm, MPI_ERR_TOPOLOGY, c->name, "the communicator has no topology");
    topology_degrees(c->comm, &in, &out);
    bool gathers = c->kind == COLL_NEIGHBOR_ALLGATHER || c->kind == COLL_NEIGHBOR_ALLGATHERV;
    return check_both(c, gathers && out ? 1 : out, in);
}

int coll_check(struct coll_call *c)
{
    int error = check_comm(c->name, c->handle, &c->comm);
    if (error)
        return error;
    c->rank = c->comm->rank;
    c->size = c->comm->group->size;
    c->peers = c->comm->peers->size;
    if (comm_is_inter(c->comm) && (has_trait(c, INTRA_ONLY) || coll_is_of_neighbors(c)))
        return raise_on(c->comm, MPI_ERR_COMM, c->name, "not for an intercommunicator");
    error = check_rooted(c);
    if (error || !takes_part(c))
        return error;
    error = check_in_place(c);
    if (error)
        return error;
    return has_trait(c, REDUCES)     ? check_reduction(c)
           : coll_is_of_neighbors(c) ? check_neighbors(c)
                                     : check_sides(c);
}

// ---- Which algorithms
void coll_build(struct schedule *s, const struct coll_call *c)
{
    s->op = c->op;
    if (c->op && !c->recv.type->size)
        return; // nothing to combine, however many elements
    if (coll_is_of_neighbors(c)) {
        coll_neighbor(s, c);
        return;
    }
    if (comm_is_inter(c->comm)) {
        coll_inter(s, c);
        return;
    }
    switch (c->kind) {
    case COLL_BARRIER: coll_barrier(s, c); break;
    case COLL_BCAST: coll_bcast(s, c); break;
    case COLL_GATHER:
    case COLL_GATHERV: coll_gather(s, c); break;
    case COLL_SCATTER:
    case COLL_SCATTERV: coll_scatter(s, c); break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: coll_allgather(s, c); break;
    case COLL_REDUCE: coll_reduce(s, c); break;
    case COLL_ALLREDUCE: coll_allreduce(s, c); break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: coll_reduce_scatter(s, c); break;
    case COLL_SCAN:
    case COLL_EXSCAN: coll_scan(s, c); break;
    default: coll_alltoall(s, c); break;
    }
}

// ---- Blocking
static int result(const struct coll_call *c, int error)
{
    if (likely(!error))
        return MPI_SUCCESS;
    return raise_on(c->comm, error, c->name, "%s",
                    error == MPI_ERR_TRUNCATE ? "a part was longer than its receiver expected"
                    : error == MPI_ERR_NO_MEM ? "no memory for copies of all that its elements span"
                                              : "a message of it did not go through");
}

int coll_no_memory(const struct coll_call *c, size_t lacks)
{
    return raise_on(c->comm, MPI_ERR_NO_MEM, c->name,
                    "no memory for a copy of %zu bytes, which its elements span", lacks);
}

static int run_messages(const struct coll_call *c, size_t *lacks)
{
    struct schedule s;
    s.request.error = MPI_SUCCESS;
    schedule_init(&s, c->comm, coll_tag(c));
    s.waits = true;
    coll_build(&s, c);
    int error = schedule_run(&s);
    *lacks = s.lacks;
    schedule_free(&s);
    return error;
}

int coll_messages(const struct coll_call *c)
{
    size_t lacks;
    return run_messages(c, &lacks);
}

static bool is_alone(const struct coll_call *c)
{
    return c->size == 1 && !comm_is_inter(c->comm) && !coll_is_of_neighbors(c);
}

// Of one process: it gets what it gives.
static void run_alone(const struct coll_call *c)
{
    bool gets = c->kind != COLL_BARRIER && c->kind != COLL_BCAST && c->kind != COLL_EXSCAN;
    if (!gets || side_in_place(&c->send) || side_in_place(&c->recv))
        return;
    struct block to = coll_block(&c->recv, 0);
    if (c->kind == COLL_REDUCE_SCATTER)
        to.count = number_at(c->recv.counts, 0);
    struct block from = c->op ? (struct block){c->send.buf, to.count, to.type}
                              : coll_block(&c->send, 0);
    if (to.count && from.count)
        type_copy(to.type, to.buf, to.count, from.type, from.buf, from.count);
}

// Short, and without a schedule.
static bool run_now(const struct coll_call *c, int *error)
{
    if (comm_is_inter(c->comm))
        return false;
    switch (c->kind) {
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_SCATTER:
    case COLL_SCATTERV: return coll_rooted_now(c, error);
    case COLL_REDUCE: return coll_reduce_now(c, error);
    case COLL_SCAN:
    case COLL_EXSCAN: return coll_scan_now(c, error);
    default: return false;
    }
}

static INLINE int run(const struct coll_call *c)
{
    int error = MPI_SUCCESS;
    size_t lacks = 0;
    if (!coll_bcast_now(c, &error) && !coll_team_run(c, &error) && !coll_lane_run(c, &error) &&
        !run_now(c, &error))
        error = run_messages(c, &lacks);
    return lacks ? coll_no_memory(c, lacks) : result(c, error);
}

// Others may free its datatypes and operator meanwhile.
static NOINLINE int run_with_threads(struct coll_call *c)
{
    struct comm *comm = c->comm;
    object_keep(comm);
    coll_keep_types(&c->send);
    coll_keep_types(&c->recv);
    if (c->op)
        op_keep(c->op);
    int error = run(c);
    if (c->op)
        op_drop(c->op);
    coll_drop_types(&c->recv);
    coll_drop_types(&c->send);
    comm_free(comm);
    return error;
}

int coll_blocking(struct coll_call *c)
{
    int error = coll_check(c);
    if (error)
        return error;
    if (is_alone(c)) {
        run_alone(c);
        return MPI_SUCCESS;
    }
    return unlikely(shim_threads) ? run_with_threads(c) : run(c);
}
