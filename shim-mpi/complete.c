// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Communication Completion", "Multiple Completions", "Non-Destructive Test of status",
// and the rest of what is done with requests: free, cancel, start.
#include "check.h"
#include "p2p.h"

// A handle as these calls see it: NULL for MPI_REQUEST_NULL.
static int look_up(const char *call, MPI_Request handle, struct request **r)
{
    *r = NULL;
    if (handle == MPI_REQUEST_NULL || (likely(shim_is_up()) && (*r = request_of(handle))))
        return MPI_SUCCESS;
    if (!shim_is_up())
        return raise_not_up(call);
    return raise_on(NULL, MPI_ERR_REQUEST, call, "there is no such request");
}

static bool is_active(const struct request *r)
{
    return r && r->is_active;
}

// Ends a request that is done, has no error and nothing special about it, as nearly all. False: it is
// not such a one.
static inline bool collect_plain(struct request *r, MPI_Request *handle, MPI_Status *status)
{
    const struct request_class *class = r->class;
    if (unlikely(r->error || r->is_persistent || class->finish || class->give_up))
        return false;
    status_set(status, r->source, r->tag, r->bytes, r->is_cancelled);
    *handle = MPI_REQUEST_NULL;
    request_drop(r);
    return true;
}

// Ends a request that is done, and raises its error.
static int collect(const char *call, struct request *r, MPI_Request *handle, MPI_Status *status)
{
    if (likely(collect_plain(r, handle, status)))
        return MPI_SUCCESS;
    return request_collect_or_raise(call, r, handle, status);
}

static int check_one(const char *call, MPI_Request *request, struct request **r)
{
    int error = check_pointer(call, NULL, "request", request);
    return error ? error : look_up(call, *request, r);
}

MPI_DEFINE(int, Wait, MPI_Request *request, MPI_Status *status)
{
    struct request *r;
    int error = check_one("MPI_Wait", request, &r);
    if (error)
        return error;
    if (!is_active(r)) {
        status_empty(status);
        return MPI_SUCCESS;
    }
    p2p_wait(r);
    return collect("MPI_Wait", r, request, status);
}

MPI_DEFINE(int, Test, MPI_Request *request, int *flag, MPI_Status *status)
{
    struct request *r;
    int error = check_one("MPI_Test", request, &r);
    if (!error)
        error = check_pointer("MPI_Test", NULL, "flag", flag);
    if (error)
        return error;
    if (!is_active(r)) {
        *flag = 1;
        status_empty(status);
        return MPI_SUCCESS;
    }
    *flag = request_is_done(r) || (progress_look() && request_is_done(r));
    return *flag ? collect("MPI_Test", r, request, status) : MPI_SUCCESS;
}

// ---- Several
// What a look at them found.
struct look {
    int done;    // the first that is done; -1: none
    int pending; // how many are active and not done
};

static inline void note(struct look *look, int i, const struct request *r)
{
    if (!is_active(r))
        return;
    bool is_done = request_is_done(r);
    look->pending += !is_done;
    if (unlikely(is_done) && look->done < 0)
        look->done = i;
}

// The first look. After it all are known to be requests, or none.
static int check_many(const char *call, int count, const MPI_Request handles[], struct look *look)
{
    struct request *r;
    struct look found = {.done = -1}; // in registers
    int error = check_count(call, NULL, count);
    if (!error && count)
        error = check_pointer(call, NULL, "array_of_requests", handles);
    for (int i = 0; i < count && !error; i++)
        if (likely(!(error = look_up(call, handles[i], &r))))
            note(&found, i, r);
    *look = found;
    return error;
}

static struct request *at(const MPI_Request handles[], int i)
{
    return handles[i] == MPI_REQUEST_NULL ? NULL : (struct request *)handles[i];
}

static struct look look_again(int count, const MPI_Request handles[])
{
    struct look look = {.done = -1};
    for (int i = 0; i < count; i++)
        note(&look, i, at(handles, i));
    return look;
}

static inline void status_set_error(MPI_Status *status, int error)
{
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// Of several that are ended together, or looked at: where the first one belongs that failed.
struct failed {
    int error; // 0: none has
    struct request_place place;
};

static void note_failed(struct failed *failed, int error, struct request_place place)
{
    if (failed->error)
        request_leave(place);
    else
        *failed = (struct failed){error, place};
}

static NOINLINE int collect_special(struct request *r, MPI_Request *handle, MPI_Status *status,
                                    struct failed *failed)
{
    if (!is_active(r)) {
        status_empty(status);
        return MPI_SUCCESS;
    }
    struct request_place place = request_place(r);
    int error = request_collect(r, handle, status);
    if (unlikely(error))
        note_failed(failed, error, place);
    else
        request_leave(place);
    return error;
}

static inline int collect_of_many(struct request *r, MPI_Request *handle, MPI_Status *status,
                                  struct failed *failed)
{
    bool is_plain = likely(is_active(r)) && likely(collect_plain(r, handle, status));
    return is_plain ? MPI_SUCCESS : collect_special(r, handle, status, failed);
}

// Of status i, the last one so far. Statuses have errors only where some operation failed.
static void tell_error(MPI_Status statuses[], int i, int error, int *errors)
{
    if (likely(!error && !*errors))
        return;
    for (int k = 0; k < i && !*errors; k++)
        status_set_error(status_at(statuses, k), MPI_SUCCESS);
    *errors += error != MPI_SUCCESS;
    status_set_error(status_at(statuses, i), error);
}

static int raise_many(const char *call, int errors, const struct failed *failed)
{
    return likely(!errors) ? MPI_SUCCESS
                           : request_raise_many(call, failed->place, errors, failed->error);
}

// Waits for each in its turn.
static int collect_all(const char *call, int count, MPI_Request handles[], MPI_Status statuses[])
{
    struct failed failed = {0};
    int errors = 0;
    for (int i = 0; i < count; i++) {
        struct request *r = at(handles, i);
        if (is_active(r) && !request_is_done(r))
            p2p_wait(r);
        int error = collect_of_many(r, &handles[i], status_at(statuses, i), &failed);
        tell_error(statuses, i, error, &errors);
    }
    return raise_many(call, errors, &failed);
}

MPI_DEFINE(int, Waitall, int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    struct look look;
    int error = check_many("MPI_Waitall", count, array_of_requests, &look);
    if (error)
        return error;
    return collect_all("MPI_Waitall", count, array_of_requests, array_of_statuses);
}

MPI_DEFINE(int, Testall, int count, MPI_Request array_of_requests[], int *flag,
           MPI_Status *array_of_statuses)
{
    struct look look;
    int error = check_many("MPI_Testall", count, array_of_requests, &look);
    if (!error)
        error = check_pointer("MPI_Testall", NULL, "flag", flag);
    if (error)
        return error;
    if (look.pending && progress_look())
        look = look_again(count, array_of_requests);
    *flag = look.pending == 0;
    return *flag ? collect_all("MPI_Testall", count, array_of_requests, array_of_statuses)
                 : MPI_SUCCESS;
}

static int check_any(const char *call, int count, const MPI_Request handles[], const int *indx,
                     struct look *look)
{
    int error = check_many(call, count, handles, look);
    return error ? error : check_pointer(call, NULL, "indx", indx);
}

static void look_until_done(const char *call, int count, const MPI_Request handles[],
                            struct look *look)
{
    if (look->done >= 0 || !look->pending)
        return;
    struct idle idle = idle_start(call);
    while ((*look = look_again(count, handles)).done < 0)
        idle_step(&idle);
}

MPI_DEFINE(int, Waitany, int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    struct look look;
    int error = check_any("MPI_Waitany", count, array_of_requests, indx, &look);
    if (error)
        return error;
    look_until_done("MPI_Waitany", count, array_of_requests, &look);
    int i = look.done;
    *indx = i < 0 ? MPI_UNDEFINED : i;
    if (i >= 0)
        return collect("MPI_Waitany", at(array_of_requests, i), &array_of_requests[i], status);
    status_empty(status);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Testany, int count, MPI_Request array_of_requests[], int *indx, int *flag,
           MPI_Status *status)
{
    struct look look;
    int error = check_any("MPI_Testany", count, array_of_requests, indx, &look);
    if (!error)
        error = check_pointer("MPI_Testany", NULL, "flag", flag);
    if (error)
        return error;
    if (look.done < 0 && look.pending && progress_look())
        look = look_again(count, array_of_requests);
    int i = look.done;
    *indx = i < 0 ? MPI_UNDEFINED : i;
    *flag = i >= 0 || !look.pending;
    if (i >= 0)
        return collect("MPI_Testany", at(array_of_requests, i), &array_of_requests[i], status);
    if (!look.pending)
        status_empty(status);
    return MPI_SUCCESS;
}

// Those that are done; wait: until there is one.
static int some(const char *call, int count, MPI_Request handles[], int *outcount, int indices[],
                MPI_Status statuses[], bool wait)
{
    struct look look;
    struct failed failed = {0};
    int n = 0, errors = 0, error = check_many(call, count, handles, &look);
    if (!error)
        error = check_pointer(call, NULL, "outcount", outcount);
    if (!error && count)
        error = check_pointer(call, NULL, "array_of_indices", indices);
    if (error)
        return error;
    if (wait)
        look_until_done("MPI_Waitsome", count, handles, &look);
    else if (look.done < 0 && look.pending && progress_look())
        look = look_again(count, handles);
    for (int i = look.done; i >= 0 && i < count; i++) {
        struct request *r = at(handles, i);
        if (!is_active(r) || !request_is_done(r))
            continue;
        indices[n] = i;
        error = collect_of_many(r, &handles[i], status_at(statuses, n), &failed);
        tell_error(statuses, n++, error, &errors);
    }
    *outcount = look.done >= 0 || look.pending ? n : MPI_UNDEFINED;
    return raise_many(call, errors, &failed);
}

MPI_DEFINE(int, Waitsome, int incount, MPI_Request array_of_requests[], int *outcount,
           int array_of_indices[], MPI_Status *array_of_statuses)
{
    return some("MPI_Waitsome", incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses, true);
}

MPI_DEFINE(int, Testsome, int incount, MPI_Request array_of_requests[], int *outcount,
           int array_of_indices[], MPI_Status *array_of_statuses)
{
    return some("MPI_Testsome", incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses, false);
}

// ---- Looking without ending anything: an operation's error is told here, as where it is ended
static int peek(struct request *r, MPI_Status *status)
{
    if (!is_active(r)) {
        status_empty(status);
        return MPI_SUCCESS;
    }
    return request_report(r, status);
}

static int peek_one(const char *call, struct request *r, MPI_Status *status)
{
    int error = peek(r, status);
    return error ? request_raise(call, request_place(r), error) : MPI_SUCCESS;
}

static int peek_of_many(struct request *r, MPI_Status *status, struct failed *failed)
{
    int error = peek(r, status);
    if (error)
        note_failed(failed, error, request_place(r));
    return error;
}

MPI_DEFINE(int, Request_get_status, MPI_Request request, int *flag, MPI_Status *status)
{
    struct request *r;
    int error = check_one("MPI_Request_get_status", &request, &r);
    if (!error)
        error = check_pointer("MPI_Request_get_status", NULL, "flag", flag);
    if (error)
        return error;
    *flag = !is_active(r) || request_is_done(r) || (progress_look() && request_is_done(r));
    return *flag ? peek_one("MPI_Request_get_status", r, status) : MPI_SUCCESS;
}

MPI_DEFINE(int, Request_get_status_all, int count, const MPI_Request array_of_requests[], int *flag,
           MPI_Status *array_of_statuses)
{
    struct failed failed = {0};
    struct look look;
    int errors = 0,
        error = check_many("MPI_Request_get_status_all", count, array_of_requests, &look);
    if (!error)
        error = check_pointer("MPI_Request_get_status_all", NULL, "flag", flag);
    if (error)
        return error;
    if (look.pending && progress_look())
        look = look_again(count, array_of_requests);
    *flag = look.pending == 0;
    for (int i = 0; *flag && i < count; i++) {
        struct request *r = at(array_of_requests, i);
        tell_error(array_of_statuses, i, peek_of_many(r, status_at(array_of_statuses, i), &failed),
                   &errors);
    }
    return raise_many("MPI_Request_get_status_all", errors, &failed);
}

MPI_DEFINE(int, Request_get_status_any, int count, const MPI_Request array_of_requests[], int *indx,
           int *flag, MPI_Status *status)
{
    struct look look;
    int error = check_any("MPI_Request_get_status_any", count, array_of_requests, indx, &look);
    if (!error)
        error = check_pointer("MPI_Request_get_status_any", NULL, "flag", flag);
    if (error)
        return error;
    if (progress_look())
        look = look_again(count, array_of_requests);
    int i = look.done;
    *indx = i < 0 ? MPI_UNDEFINED : i;
    *flag = i >= 0 || !look.pending;
    if (!*flag)
        return MPI_SUCCESS;
    return peek_one("MPI_Request_get_status_any", i >= 0 ? at(array_of_requests, i) : NULL, status);
}

MPI_DEFINE(int, Request_get_status_some, int incount, const MPI_Request array_of_requests[],
           int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
    const char *call = "MPI_Request_get_status_some";
    struct look look;
    struct failed failed = {0};
    int n = 0, errors = 0, error = check_many(call, incount, array_of_requests, &look);
    if (!error)
        error = check_pointer(call, NULL, "outcount", outcount);
    if (!error && incount)
        error = check_pointer(call, NULL, "array_of_indices", array_of_indices);
    if (error)
        return error;
    if (progress_look())
        look = look_again(incount, array_of_requests);
    for (int i = look.done; i >= 0 && i < incount; i++) {
        struct request *r = at(array_of_requests, i);
        if (!is_active(r) || !request_is_done(r))
            continue;
        array_of_indices[n] = i;
        error = peek_of_many(r, status_at(array_of_statuses, n), &failed);
        tell_error(array_of_statuses, n++, error, &errors);
    }
    *outcount = look.done >= 0 || look.pending ? n : MPI_UNDEFINED;
    return raise_many(call, errors, &failed);
}

// ---- Free, cancel, start
MPI_DEFINE(int, Request_free, MPI_Request *request)
{
    struct request *r;
    int error = check_one("MPI_Request_free", request, &r);
    if (error)
        return error;
    if (!r)
        return raise_on(NULL, MPI_ERR_REQUEST, "MPI_Request_free",
                        "the request is MPI_REQUEST_NULL");
    if (r->kind == REQUEST_PARTITIONED && is_active(r) && !request_is_done(r))
        return raise_on(r->comm, MPI_ERR_REQUEST, "MPI_Request_free",
                        "a partitioned operation is under way");
    error = request_give_up(r, request); // what completes it has a reference of its own
    return error ? raise_on(NULL, error, "MPI_Request_free", "the request's free function failed")
                 : MPI_SUCCESS;
}

MPI_DEFINE(int, Cancel, MPI_Request *request)
{
    struct request *r;
    int error = check_one("MPI_Cancel", request, &r);
    if (error)
        return error;
    if (!r)
        return raise_on(NULL, MPI_ERR_REQUEST, "MPI_Cancel", "the request is MPI_REQUEST_NULL");
    if (is_active(r) && r->class->cancel)
        error = r->class->cancel(r);
    else if (is_active(r) && !request_is_done(r)) // of windows, flushes
        error = MPI_ERR_REQUEST;
    if (error == MPI_ERR_REQUEST)
        return raise_on(r->comm, error, "MPI_Cancel", "requests of its kind cannot be cancelled");
    return error ? raise_on(r->comm, error, "MPI_Cancel", "the request's cancel function failed")
                 : MPI_SUCCESS;
}

static int start(const char *call, MPI_Request handle)
{
    struct request *r;
    int error = look_up(call, handle, &r);
    if (error)
        return error;
    if (!r || !r->is_persistent || r->is_active)
        return raise_on(r ? r->comm : NULL, MPI_ERR_REQUEST, call, "%s",
                        r && r->is_persistent ? "the request is active already"
                                              : "the request is not persistent");
    error = r->class->start(r);
    return error ? raise_on(r->comm, error, call, "the operation could not be started") : error;
}

MPI_DEFINE(int, Start, MPI_Request *request)
{
    int error = check_pointer("MPI_Start", NULL, "request", request);
    return error ? error : start("MPI_Start", *request);
}

MPI_DEFINE(int, Startall, int count, MPI_Request array_of_requests[])
{
    struct look look;
    int error = check_many("MPI_Startall", count, array_of_requests, &look);
    for (int i = 0; i < count && !error; i++)
        error = start("MPI_Startall", array_of_requests[i]);
    return error;
}
