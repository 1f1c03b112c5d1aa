// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Point-to-Point Communication": sends and receives, blocking, nonblocking, persistent.
#include "bsend.h"
#include "check.h"
#include "eager.h"

// What a send names. The functions below are made for every mode, with int and with MPI_Count.
struct target {
    struct comm *comm;
    struct type *type;
};

// What nearly all calls look like, without a call: arguments that are all right and a buffer that is
// there. False: the checks below say whether something is wrong.
static inline bool is_usual(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                            struct target *with)
{
    struct comm *c = comm_of(comm);
    struct type *t = type_of(datatype);
    if (unlikely(!c || !t))
        return false;
    with->comm = c;
    with->type = t;
    MPI_Count bytes;
    return !comm_is_freed(c) && t->is_committed && count >= 0 &&
           !__builtin_mul_overflow(count, t->size, &bytes) && check_is_place(buf);
}

static inline bool is_rank(const struct comm *comm, int rank)
{
    return (unsigned)rank < (unsigned)comm->peers->size;
}

static inline bool is_tag(int tag)
{
    return (unsigned)tag <= TAG_UB;
}

static int check_send(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, struct target *to)
{
    int error = check_comm(call, comm, &to->comm);
    if (!error)
        error = check_message(call, to->comm, dest, buf, count, datatype, &to->type);
    if (!error)
        error = check_rank(call, to->comm, dest);
    return error ? error : check_tag(call, to->comm, tag);
}

static int check_recv(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      int source, int tag, MPI_Comm comm, struct target *from)
{
    int error = check_comm(call, comm, &from->comm);
    if (!error)
        error = check_message(call, from->comm, source, buf, count, datatype, &from->type);
    if (!error)
        error = check_source(call, from->comm, source);
    return error ? error : check_any_tag(call, from->comm, tag);
}

// An error of the operation itself.
static int raise_result(const char *call, struct comm *comm, int error)
{
    if (likely(!error))
        return MPI_SUCCESS;
    return raise_on_message(comm, error, call, MPI_UNDEFINED, MPI_UNDEFINED);
}

static NOINLINE int send_later(const char *call, const struct target *to, const void *buf,
                               MPI_Count count, int dest, int tag, enum send_mode mode)
{
    return raise_result(call, to->comm,
                        p2p_send_later(to->comm, SPACE_P2P, buf, count, to->type, dest, tag, mode));
}

static NOINLINE int send_checked(const char *call, const void *buf, MPI_Count count,
                                 MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                                 enum send_mode mode)
{
    struct target to;
    int error = check_send(call, buf, count, datatype, dest, tag, comm, &to);
    if (error)
        return error;
    if (mode == SEND_BUFFERED)
        return bsend(call, to.comm, buf, count, to.type, dest, tag);
    return raise_result(call, to.comm,
                        p2p_send(to.comm, SPACE_P2P, buf, count, to.type, dest, tag, mode));
}

static int isend_checked(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         int dest, int tag, MPI_Comm comm, enum send_mode mode,
                         MPI_Request *request)
{
    struct target to;
    int error = check_send(call, buf, count, datatype, dest, tag, comm, &to);
    if (!error)
        error = check_pointer(call, to.comm, "request", request);
    if (!error && mode == SEND_BUFFERED)
        error = bsend(call, to.comm, buf, count, to.type, dest, tag);
    if (error)
        return error;
    *request = object_handle(mode == SEND_BUFFERED ? request_done(dest == MPI_PROC_NULL)
                                                   : p2p_isend(to.comm, SPACE_P2P, buf, count,
                                                               to.type, dest, tag, mode));
    return MPI_SUCCESS;
}

static INLINE int send(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       int dest, int tag, MPI_Comm comm, enum send_mode mode)
{
    struct target to;
    if (mode != SEND_BUFFERED && mode != SEND_SYNCHRONOUS &&
        likely(is_usual(buf, count, datatype, comm, &to)) && likely(is_rank(to.comm, dest)) &&
        likely(is_tag(tag)))
        return likely(eager_send_now(to.comm, SPACE_P2P, buf, count, to.type,
                                     group_pe(to.comm->peers, dest), tag, LEAVE_WAITING))
                   ? MPI_SUCCESS
                   : send_later(call, &to, buf, count, dest, tag, mode);
    return send_checked(call, buf, count, datatype, dest, tag, comm, mode);
}

static int isend(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, enum send_mode mode, MPI_Request *request)
{
    struct target to;
    bool is_usual_one = mode != SEND_BUFFERED &&
                        likely(is_usual(buf, count, datatype, comm, &to)) &&
                        likely(is_rank(to.comm, dest)) && likely(is_tag(tag)) && likely(request);
    if (!is_usual_one)
        return isend_checked(call, buf, count, datatype, dest, tag, comm, mode, request);
    *request = object_handle(p2p_isend(to.comm, SPACE_P2P, buf, count, to.type, dest, tag, mode));
    return MPI_SUCCESS;
}

static int send_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, enum send_mode mode, MPI_Request *request)
{
    struct target to;
    int error = check_send(call, buf, count, datatype, dest, tag, comm, &to);
    if (!error)
        error = check_pointer(call, to.comm, "request", request);
    if (error)
        return error;
    *request = object_handle(
        mode == SEND_BUFFERED
            ? bsend_init(to.comm, buf, count, to.type, dest, tag)
            : p2p_send_init(to.comm, SPACE_P2P, buf, count, to.type, dest, tag, mode));
    return MPI_SUCCESS;
}

#define SENDS(SEND, ISEND, INIT, COUNT, mode)                                                      \
    MPI_DEFINE(int, SEND, const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag,  \
               MPI_Comm comm)                                                                      \
    {                                                                                              \
        return send("MPI_" #SEND, buf, count, datatype, dest, tag, comm, mode);                    \
    }                                                                                              \
    MPI_DEFINE(int, ISEND, const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, \
               MPI_Comm comm, MPI_Request *request)                                                \
    {                                                                                              \
        return isend("MPI_" #ISEND, buf, count, datatype, dest, tag, comm, mode, request);         \
    }                                                                                              \
    MPI_DEFINE(int, INIT, const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag,  \
               MPI_Comm comm, MPI_Request *request)                                                \
    {                                                                                              \
        return send_init("MPI_" #INIT, buf, count, datatype, dest, tag, comm, mode, request);      \
    }

SENDS(Send, Isend, Send_init, int, SEND_STANDARD)
SENDS(Send_c, Isend_c, Send_init_c, MPI_Count, SEND_STANDARD)
SENDS(Ssend, Issend, Ssend_init, int, SEND_SYNCHRONOUS)
SENDS(Ssend_c, Issend_c, Ssend_init_c, MPI_Count, SEND_SYNCHRONOUS)
SENDS(Rsend, Irsend, Rsend_init, int, SEND_READY)
SENDS(Rsend_c, Irsend_c, Rsend_init_c, MPI_Count, SEND_READY)
SENDS(Bsend, Ibsend, Bsend_init, int, SEND_BUFFERED)
SENDS(Bsend_c, Ibsend_c, Bsend_init_c, MPI_Count, SEND_BUFFERED)

static inline bool is_usual_recv(const void *buf, MPI_Count count, MPI_Datatype datatype,
                                 int source, int tag, MPI_Comm comm, struct target *from)
{
    return is_usual(buf, count, datatype, comm, from) &&
           (is_rank(from->comm, source) || source == MPI_ANY_SOURCE) &&
           (is_tag(tag) || tag == MPI_ANY_TAG);
}

static NOINLINE int recv_later(const char *call, const struct target *from, void *buf,
                               MPI_Count count, int source, int tag, MPI_Status *status)
{
    int error = p2p_recv_later(from->comm, SPACE_P2P, buf, count, from->type, source, tag, status);
    if (likely(!error))
        return MPI_SUCCESS;
    bool is_told = status != MPI_STATUS_IGNORE;
    return raise_on_message(from->comm, error, call, is_told ? status->MPI_SOURCE : source,
                            is_told ? status->MPI_TAG : tag);
}

static NOINLINE int recv_checked(const char *call, void *buf, MPI_Count count,
                                 MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                 MPI_Status *status)
{
    struct target from;
    int error = check_recv(call, buf, count, datatype, source, tag, comm, &from);
    return error ? error : recv_later(call, &from, buf, count, source, tag, status);
}

static INLINE int recv(const char *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                       int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct target from;
    if (likely(is_usual_recv(buf, count, datatype, source, tag, comm, &from)))
        return likely(
                   eager_recv_now(from.comm, SPACE_P2P, buf, count, from.type, source, tag, status))
                   ? MPI_SUCCESS
                   : recv_later(call, &from, buf, count, source, tag, status);
    return recv_checked(call, buf, count, datatype, source, tag, comm, status);
}

static int irecv(const char *call, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                 int tag, MPI_Comm comm, MPI_Request *request, bool persistent)
{
    struct target from;
    int error = MPI_SUCCESS;
    if (unlikely(!is_usual_recv(buf, count, datatype, source, tag, comm, &from)))
        error = check_recv(call, buf, count, datatype, source, tag, comm, &from);
    if (!error && unlikely(!request))
        error = check_pointer(call, from.comm, "request", request);
    if (error)
        return error;
    *request = object_handle((persistent ? p2p_recv_init : p2p_irecv)(
        from.comm, SPACE_P2P, buf, count, from.type, source, tag));
    return MPI_SUCCESS;
}

#define RECEIVES(RECV, IRECV, INIT, COUNT)                                                     \
    MPI_DEFINE(int, RECV, void *buf, COUNT count, MPI_Datatype datatype, int source, int tag,  \
               MPI_Comm comm, MPI_Status *status)                                              \
    {                                                                                          \
        return recv("MPI_" #RECV, buf, count, datatype, source, tag, comm, status);            \
    }                                                                                          \
    MPI_DEFINE(int, IRECV, void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, \
               MPI_Comm comm, MPI_Request *request)                                            \
    {                                                                                          \
        return irecv("MPI_" #IRECV, buf, count, datatype, source, tag, comm, request, false);  \
    }                                                                                          \
    MPI_DEFINE(int, INIT, void *buf, COUNT count, MPI_Datatype datatype, int source, int tag,  \
               MPI_Comm comm, MPI_Request *request)                                            \
    {                                                                                          \
        return irecv("MPI_" #INIT, buf, count, datatype, source, tag, comm, request, true);    \
    }

RECEIVES(Recv, Irecv, Recv_init, int)
RECEIVES(Recv_c, Irecv_c, Recv_init_c, MPI_Count)
