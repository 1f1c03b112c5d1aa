// SPDX-License-Identifier: BSD-3-Clause
// Exchanges among some processes of a communicator. See agree.h.
#include "agree.h"

#include "p2p.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct circle circle_of(struct comm *comm)
{
    return (struct circle){comm, NULL, comm->rank, comm->group->size, comm_next_tag(comm)};
}

int agree_leaders_tag(int tag)
{
    return TAG_LEADERS | tag;
}

// FNV-1a. Two texts of one number are confused only when processes that use both do so at once.
int agree_texted_tag(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return TAG_TEXTED | (int)((hash ^ hash >> 29) % TAG_TEXTED);
}

struct circle circle_named(struct comm *comm, struct group *members, int tag)
{
    return (struct circle){comm, members, members->rank, members->size, TAG_NAMED | tag};
}

struct circle circle_texted(struct comm *comm, struct group *members, const char *text)
{
    return (struct circle){comm, members, members->rank, members->size, agree_texted_tag(text)};
}

static int rank_of(const struct circle *c, int i)
{
    return c->members ? group_rank(c->comm->group, group_pe(c->members, i)) : i;
}

// ---- Messages of bytes
static struct request *send_start(struct comm *comm, int rank, int tag, const void *buf, size_t n)
{
    return p2p_isend(comm, SPACE_COLL, buf, (MPI_Count)n, type_of(MPI_BYTE), rank, tag,
                     SEND_STANDARD);
}

static int end(struct request *r)
{
    request_wait(r);
    int error = r->error;
    request_drop(r);
    return error;
}

static int receive(struct comm *comm, int rank, int tag, void *buf, size_t n)
{
    return p2p_recv(comm, SPACE_COLL, buf, (MPI_Count)n, type_of(MPI_BYTE), rank, tag,
                    MPI_STATUS_IGNORE);
}

static int swap(struct comm *comm, int to, int from, int tag, const void *out, size_t out_n,
                void *in, size_t in_n)
{
    struct request *r = send_start(comm, to, tag, out, out_n);
    int error = receive(comm, from, tag, in, in_n);
    int send_error = end(r);
    return error ? error : send_error;
}

int agree_swap(struct comm *comm, int rank, int tag, const void *out, size_t out_n, void *in,
               size_t in_n)
{
    return swap(comm, rank, rank, tag, out, out_n, in, in_n);
}

// Binomial tree: i (counted from the root) has its data from i without its highest bit.
int agree_bcast(const struct circle *c, int root, void *buf, size_t n)
{
    int i = (c->me - root + c->size) % c->size, bit = 1, error = MPI_SUCCESS;
    struct request *sent[sizeof(int) * CHAR_BIT];
    int count = 0;
    while (bit <= i)
        bit *= 2;
    if (i > 0)
        error = receive(c->comm, rank_of(c, (i - bit / 2 + root) % c->size), c->tag, buf, n);
    for (; i + bit < c->size; bit *= 2)
        sent[count++] = send_start(c->comm, rank_of(c, (i + bit + root) % c->size), c->tag, buf, n);
    while (count > 0) {
        int send_error = end(sent[--count]);
        error = error ? error : send_error;
    }
    return error;
}

// Bruck: after step k this process has the blocks of itself and of the 2^k - 1 after it.
int agree_allgather(const struct circle *c, const void *mine, size_t n, void *all)
{
    char *blocks = malloc((size_t)c->size * n + 1);
    int error = blocks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!error && n)
        memcpy(blocks, mine, n);
    for (int have = 1; have < c->size && !error; have *= 2) {
        int more = have < c->size - have ? have : c->size - have;
        error = swap(c->comm, rank_of(c, (c->me - have + c->size) % c->size),
                     rank_of(c, (c->me + have) % c->size), c->tag, blocks, (size_t)more * n,
                     blocks + (size_t)have * n, (size_t)more * n);
    }
    if (!error && n) {
        size_t after = (size_t)(c->size - c->me) * n;
        memcpy((char *)all + (size_t)c->me * n, blocks, after);
        memcpy(all, blocks + after, (size_t)c->me * n);
    }
    free(blocks);
    return error;
}

int agree_barrier(const struct circle *c)
{
    return agree_allgather(c, NULL, 0, NULL);
}

// ---- Routing: a record whose target is d members ahead goes forward by the bits of d.
struct records {
    char *at;
    size_t n, room, size;
};

static bool records_add(struct records *r, const void *record)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        char *grown = realloc(r->at, room * r->size);
        if (!grown)
            return false;
        r->at = grown;
        r->room = room;
    }
    memcpy(r->at + r->n++ * r->size, record, r->size);
    return true;
}

// Those that go on in this step are taken out of `here` and put into `gone`.
static bool divide(const struct circle *c, struct records *here, struct records *gone, int bit)
{
    size_t kept = 0;
    gone->n = 0;
    for (size_t i = 0; i < here->n; i++) {
        char *record = here->at + i * here->size;
        int target;
        memcpy(&target, record, sizeof target);
        if ((target - c->me + c->size) % c->size & bit) {
            if (!records_add(gone, record))
                return false;
        } else {
            memmove(here->at + kept++ * here->size, record, here->size);
        }
    }
    here->n = kept;
    return true;
}

static int route_step(const struct circle *c, struct records *here, struct records *gone, int bit)
{
    int to = rank_of(c, (c->me + bit) % c->size);
    int from = rank_of(c, (c->me - bit + c->size) % c->size);
    size_t more;
    int error = swap(c->comm, to, from, c->tag, &gone->n, sizeof gone->n, &more, sizeof more);
    if (error)
        return error;
    size_t n = here->n + more;
    char *grown = realloc(here->at, n ? n * here->size : 1);
    if (!grown)
        return MPI_ERR_NO_MEM;
    here->at = grown;
    here->room = n;
    error = swap(c->comm, to, from, c->tag, gone->at, gone->n * gone->size,
                 here->at + here->n * here->size, more * here->size);
    here->n = n;
    return error;
}

int agree_route(const struct circle *c, const void *records, size_t n, size_t size, void **came,
                size_t *came_n)
{
    struct records here = {.size = size}, gone = {.size = size};
    int error = MPI_SUCCESS;
    for (size_t i = 0; i < n && !error; i++)
        if (!records_add(&here, (const char *)records + i * size))
            error = MPI_ERR_NO_MEM;
    for (int bit = 1; bit < c->size && !error; bit *= 2)
        error = divide(c, &here, &gone, bit) ? route_step(c, &here, &gone, bit) : MPI_ERR_NO_MEM;
    free(gone.at);
    if (error) {
        free(here.at);
        return error;
    }
    *came = here.at;
    *came_n = here.n;
    return MPI_SUCCESS;
}
