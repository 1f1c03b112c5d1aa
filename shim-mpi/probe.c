// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Probe and Cancel": probes, and receives of messages that a probe matched.
#include "check.h"
#include "match.h"
#include "p2p.h"

static struct arrived *message_of(MPI_Message h)
{
    return object_at(h, OBJECT_MESSAGE);
}

static int check_probe(const char *call, int source, int tag, MPI_Comm handle, struct comm **comm)
{
    int error = check_comm(call, handle, comm);
    if (!error)
        error = check_source(call, *comm, source);
    return error ? error : check_any_tag(call, *comm, tag);
}

// message NULL: the message stays where it is.
static bool look(struct comm *comm, int source, int tag, MPI_Message *message, MPI_Status *status)
{
    struct arrived *a;
    if (source == MPI_PROC_NULL) {
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        if (message)
            *message = MPI_MESSAGE_NO_PROC;
        return true;
    }
    if (!p2p_probe(comm, source, tag, status, message ? &a : NULL))
        return false;
    if (message)
        *message = (MPI_Message)a;
    return true;
}

static int probe(const char *call, int source, int tag, MPI_Comm handle, MPI_Message *message,
                 MPI_Status *status)
{
    struct comm *comm;
    int error = check_probe(call, source, tag, handle, &comm);
    if (error)
        return error;
    object_keep(comm); // which another thread may free meanwhile
    struct idle idle = idle_start(call);
    while (!look(comm, source, tag, message, status))
        idle_step(&idle);
    comm_free(comm);
    return MPI_SUCCESS;
}

static int iprobe(const char *call, int source, int tag, MPI_Comm handle, int *flag,
                  MPI_Message *message, MPI_Status *status)
{
    struct comm *comm;
    int error = check_probe(call, source, tag, handle, &comm);
    if (!error)
        error = check_pointer(call, comm, "flag", flag);
    if (error)
        return error;
    *flag = look(comm, source, tag, message, status) ||
            (progress_look() && look(comm, source, tag, message, status));
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Probe, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe("MPI_Probe", source, tag, comm, NULL, status);
}

MPI_DEFINE(int, Iprobe, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return iprobe("MPI_Iprobe", source, tag, comm, flag, NULL, status);
}

MPI_DEFINE(int, Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message,
           MPI_Status *status)
{
    int error = check_pointer("MPI_Mprobe", NULL, "message", message);
    return error ? error : probe("MPI_Mprobe", source, tag, comm, message, status);
}

MPI_DEFINE(int, Improbe, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
           MPI_Status *status)
{
    int error = check_pointer("MPI_Improbe", NULL, "message", message);
    return error ? error : iprobe("MPI_Improbe", source, tag, comm, flag, message, status);
}

static int imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Message *message, struct request **request)
{
    struct type *type = NULL;
    int error = check_pointer(call, NULL, "message", message);
    if (error)
        return error;
    struct arrived *a = message_of(*message);
    if (!a && *message != MPI_MESSAGE_NO_PROC)
        return raise_on(NULL, MPI_ERR_REQUEST, call, "there is no such message");
    if (a)
        error = check_buffer(call, a->comm, buf, count, datatype, &type);
    if (error)
        return error;
    *request = a ? p2p_imrecv(buf, count, type, a) : request_done(true);
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

static int mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Status *status)
{
    struct request *r;
    MPI_Request handle;
    int error = imrecv(call, buf, count, datatype, message, &r);
    if (error)
        return error;
    request_wait(r);
    return request_collect_or_raise(call, r, &handle, status);
}

static int imrecv_request(const char *call, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Message *message, MPI_Request *request)
{
    struct request *r;
    int error = check_pointer(call, NULL, "request", request);
    if (!error)
        error = imrecv(call, buf, count, datatype, message, &r);
    if (!error)
        *request = object_handle(r);
    return error;
}

MPI_DEFINE(int, Mrecv, void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
           MPI_Status *status)
{
    return mrecv("MPI_Mrecv", buf, count, datatype, message, status);
}

MPI_DEFINE(int, Mrecv_c, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
           MPI_Status *status)
{
    return mrecv("MPI_Mrecv_c", buf, count, datatype, message, status);
}

MPI_DEFINE(int, Imrecv, void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
           MPI_Request *request)
{
    return imrecv_request("MPI_Imrecv", buf, count, datatype, message, request);
}

MPI_DEFINE(int, Imrecv_c, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
           MPI_Request *request)
{
    return imrecv_request("MPI_Imrecv_c", buf, count, datatype, message, request);
}
