// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and its family (MPI 5.0, "Pack and Unpack", "Canonical MPI_PACK and MPI_UNPACK"). Packed
// data is the stream of the type map and nothing else.
#include "check.h"
#include "type_external.h"

#include <limits.h>
#include <string.h>

// What the calls have in common: count elements at buf, and a packed buffer with a position.
struct packing {
    const char *call;
    struct comm *comm; // NULL: external32
    void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    void *packed;
    MPI_Count size, position;
};

static int check_datarep(const char *call, const char *datarep)
{
    if (!datarep || strcmp(datarep, "external32") != 0)
        return raise_on(NULL, MPI_ERR_UNSUPPORTED_DATAREP, call,
                        "datarep is \"%s\": \"external32\" is the only one",
                        datarep ? datarep : "");
    return MPI_SUCCESS;
}

// Bytes of count elements; -1: they do not fit.
static MPI_Count packed_size(const struct type *t, MPI_Count count, bool external)
{
    MPI_Count size = external ? external_size(t) : t->size, bytes;
    return size < 0 || __builtin_mul_overflow(count, size, &bytes) ? -1 : bytes;
}

// The bytes that will be moved.
static int packing_check(const struct packing *p, struct type **type, MPI_Count *bytes)
{
    int rc = check_count(p->call, p->comm, p->count);
    if (rc || (rc = check_type(p->call, p->comm, p->datatype, type)))
        return rc;
    if (p->size < 0 || p->position < 0 || p->position > p->size)
        return raise_on(p->comm, MPI_ERR_ARG, p->call,
                        "position is %lld in a packed buffer of %lld bytes", (long long)p->position,
                        (long long)p->size);
    *bytes = packed_size(*type, p->count, p->comm == NULL);
    if (*bytes < 0 || *bytes > p->size - p->position)
        return raise_on(
            p->comm, MPI_ERR_TRUNCATE, p->call,
            "%lld elements of %lld bytes do not fit the %lld bytes from position %lld on",
            (long long)p->count, (long long)(*type)->size, (long long)(p->size - p->position),
            (long long)p->position);
    if (*bytes > 0 && !p->packed)
        return raise_on(p->comm, MPI_ERR_BUFFER, p->call, "the packed buffer is NULL");
    if (*bytes > 0 && !p->buf && (*type)->what)
        return raise_on(p->comm, MPI_ERR_BUFFER, p->call,
                        "the buffer is MPI_BOTTOM, and %s has no absolute addresses",
                        (*type)->name);
    return MPI_SUCCESS;
}

// New position in p->position.
static int packing_move(struct packing *p, bool pack)
{
    struct type *t = NULL;
    MPI_Count bytes = 0;
    int rc = packing_check(p, &t, &bytes);
    if (rc || bytes == 0)
        return rc;
    char *at = (char *)p->packed + p->position;
    if (!p->comm && pack)
        external_pack(t, p->buf, p->count, at);
    else if (!p->comm)
        external_unpack(t, p->buf, p->count, at);
    else if (pack)
        type_pack(t, p->buf, p->count, 0, at, (size_t)bytes);
    else
        type_unpack(t, p->buf, p->count, 0, at, (size_t)bytes);
    p->position += bytes;
    return MPI_SUCCESS;
}

// ---- Native. The functions that take ints differ in the type of the position alone.
#define PACK(name, number)                                                                        \
    MPI_DEFINE(int, name, const void *inbuf, number incount, MPI_Datatype datatype, void *outbuf, \
               number outsize, number *position, MPI_Comm comm)                                   \
    {                                                                                             \
        struct packing p = {                                                                      \
            "MPI_" #name, NULL, (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize, 0}; \
        int rc = check_comm(p.call, comm, &p.comm);                                               \
        if (rc || (rc = check_pointer(p.call, p.comm, "position", position)))                     \
            return rc;                                                                            \
        p.position = *position;                                                                   \
        rc = packing_move(&p, true);                                                              \
        if (!rc)                                                                                  \
            *position = (number)p.position;                                                       \
        return rc;                                                                                \
    }
PACK(Pack, int)
PACK(Pack_c, MPI_Count)

#define UNPACK(name, number)                                                                      \
    MPI_DEFINE(int, name, const void *inbuf, number insize, number *position, void *outbuf,       \
               number outcount, MPI_Datatype datatype, MPI_Comm comm)                             \
    {                                                                                             \
        struct packing p = {                                                                      \
            "MPI_" #name, NULL, outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize, 0}; \
        int rc = check_comm(p.call, comm, &p.comm);                                               \
        if (rc || (rc = check_pointer(p.call, p.comm, "position", position)))                     \
            return rc;                                                                            \
        p.position = *position;                                                                   \
        rc = packing_move(&p, false);                                                             \
        if (!rc)                                                                                  \
            *position = (number)p.position;                                                       \
        return rc;                                                                                \
    }
UNPACK(Unpack, int)
UNPACK(Unpack_c, MPI_Count)

static int pack_size(const char *call, struct comm *comm, bool external, MPI_Count count,
                     MPI_Datatype datatype, MPI_Count *size)
{
    struct type *t = NULL;
    int rc = check_count(call, comm, count);
    if (rc || (rc = type_asked(call, comm, datatype, &t)))
        return rc;
    MPI_Count bytes = packed_size(t, count, external);
    if (bytes < 0)
        return raise_on(comm, MPI_ERR_VALUE_TOO_LARGE, call, "the size does not fit an MPI_Count");
    *size = bytes;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Pack_size, int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    static const char call[] = "MPI_Pack_size";
    struct comm *c = NULL;
    MPI_Count bytes = 0;
    int rc = check_comm(call, comm, &c);
    if (rc || (rc = check_pointer(call, c, "size", size)) ||
        (rc = pack_size(call, c, false, incount, datatype, &bytes)))
        return rc;
    *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Pack_size_c, MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm,
           MPI_Count *size)
{
    static const char call[] = "MPI_Pack_size_c";
    struct comm *c = NULL;
    int rc = check_comm(call, comm, &c);
    if (rc || (rc = check_pointer(call, c, "size", size)))
        return rc;
    return pack_size(call, c, false, incount, datatype, size);
}

// ---- external32. MPI_Aint and MPI_Count are the same.
static int pack_external(struct packing *p, const char *datarep, MPI_Count *position, bool pack)
{
    int rc = check_datarep(p->call, datarep);
    if (rc || (rc = check_pointer(p->call, NULL, "position", position)))
        return rc;
    p->position = *position;
    rc = packing_move(p, pack);
    if (!rc)
        *position = p->position;
    return rc;
}

MPI_DEFINE(int, Pack_external, const char *datarep, const void *inbuf, int incount,
           MPI_Datatype datatype, void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    struct packing p = {
        "MPI_Pack_external", NULL, (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize, 0};
    return pack_external(&p, datarep, position, true);
}

MPI_DEFINE(int, Pack_external_c, const char *datarep, const void *inbuf, MPI_Count incount,
           MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    struct packing p = {"MPI_Pack_external_c",
                        NULL,
                        (void *)(uintptr_t)inbuf,
                        incount,
                        datatype,
                        outbuf,
                        outsize,
                        0};
    return pack_external(&p, datarep, position, true);
}

MPI_DEFINE(int, Unpack_external, const char datarep[], const void *inbuf, MPI_Aint insize,
           MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    struct packing p = {"MPI_Unpack_external",    NULL,   outbuf, outcount, datatype,
                        (void *)(uintptr_t)inbuf, insize, 0};
    return pack_external(&p, datarep, position, false);
}

MPI_DEFINE(int, Unpack_external_c, const char datarep[], const void *inbuf, MPI_Count insize,
           MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype)
{
    struct packing p = {"MPI_Unpack_external_c",  NULL,   outbuf, outcount, datatype,
                        (void *)(uintptr_t)inbuf, insize, 0};
    return pack_external(&p, datarep, position, false);
}

static int pack_external_size(const char *call, const char *datarep, MPI_Count count,
                              MPI_Datatype datatype, MPI_Count *size)
{
    int rc = check_datarep(call, datarep);
    if (rc || (rc = check_pointer(call, NULL, "size", size)))
        return rc;
    return pack_size(call, NULL, true, count, datatype, size);
}

MPI_DEFINE(int, Pack_external_size, const char *datarep, int incount, MPI_Datatype datatype,
           MPI_Aint *size)
{
    return pack_external_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}

MPI_DEFINE(int, Pack_external_size_c, const char *datarep, MPI_Count incount, MPI_Datatype datatype,
           MPI_Count *size)
{
    return pack_external_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
