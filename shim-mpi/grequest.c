// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Generalized Requests": the program completes them, and tells by callbacks what a status
// says and how one is cancelled.
#include "check.h"
#include "request.h"

struct generalized {
    struct request request; // first
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
    _Atomic int ends; // of its two: it is complete, and its handle is gone
};

static int finish(struct request *r)
{
    struct generalized *g = (struct generalized *)r;
    MPI_Status status;
    status_empty(&status);
    r->error = g->query(g->state, &status);
    r->source = status.MPI_SOURCE;
    r->tag = status.MPI_TAG;
    r->bytes = status_bytes(&status);
    r->is_cancelled = status_is_cancelled(&status);
    return r->error;
}

static int cancel(struct request *r)
{
    struct generalized *g = (struct generalized *)r;
    return g->cancel(g->state, request_is_done(r));
}

// The second end calls free_fn.
static int end(struct request *r)
{
    struct generalized *g = (struct generalized *)r;
    return object_count(&g->ends, 1) ? g->free(g->state) : MPI_SUCCESS;
}

static const struct request_class generalized_class = {
    .finish = finish, .cancel = cancel, .give_up = end};

MPI_DEFINE(int, Grequest_start, MPI_Grequest_query_function *query_fn,
           MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn,
           void *extra_state, MPI_Request *request)
{
    static const char call[] = "MPI_Grequest_start";
    int error = check_pointer(call, NULL, "request", request);
    if (error)
        return error;
    if (!query_fn || !free_fn || !cancel_fn)
        return raise_on(NULL, MPI_ERR_ARG, call, "a callback function is NULL");
    struct generalized *g = request_new(sizeof *g, REQUEST_GENERALIZED, NULL, &generalized_class);
    g->query = query_fn;
    g->free = free_fn;
    g->cancel = cancel_fn;
    g->state = extra_state;
    g->request.is_held = true; // given back by MPI_Grequest_complete
    request_keep(&g->request);
    *request = object_handle(&g->request);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Grequest_complete, MPI_Request request)
{
    static const char call[] = "MPI_Grequest_complete";
    struct request *r = request_of(request);
    if (!r || r->kind != REQUEST_GENERALIZED)
        return raise_on(NULL, MPI_ERR_REQUEST, call, "this is no generalized request");
    if (request_is_done(r))
        return raise_on(NULL, MPI_ERR_REQUEST, call, "the request is complete already");
    int error = end(r); // before who waits sees that it is complete
    request_complete(r);
    return error ? raise_on(NULL, error, call, "the request's free function failed") : MPI_SUCCESS;
}
