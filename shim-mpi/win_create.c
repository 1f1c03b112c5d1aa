// SPDX-License-Identifier: BSD-3-Clause
// Making and freeing windows of every flavor. Each process gets its own memory ready, writes down on
// a card how others reach it, and all exchange their cards: one allgather, and one more for the sizes
// of a window whose memory is one piece. A process that fails says so on its card, so that all fail.
#include "win.h"

#include "agree.h"
#include "attr.h"
#include "check.h"
#include "error.h"
#include "info.h"
#include "partner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct card {
    shoal_rptr_t control, at;
    shoal_key_t key;
    uint64_t va, size;
    int64_t disp_unit;
    enum memory memory;
    bool is_coarse; // accumulates there are for more than a word at a time: its owner's hint
    int error;
};

// The arguments of a call, whatever its flavor.
struct making {
    const char *call;
    int flavor;
    struct comm *comm;
    struct info *info;
    void *base; // of MPI_Win_create
    MPI_Aint size, disp_unit;
    void *baseptr; // of those that allocate: where to leave the address
    MPI_Win *win;
    size_t before; // bytes of lower ranks, where the memory is one piece
    bool is_one_piece;
    struct win *w;
    struct card card;
};

// ---- This process's part
static int take_control(struct making *m, int members)
{
    size_t n = sizeof(struct control) + (size_t)members * sizeof(((struct control *)0)->peer[0]);
    struct control *c = shoal_alloc(n);
    if (!c)
        return MPI_ERR_NO_MEM;
    memset(c, 0, n);
    m->w->control = c;
    return error_of(shoal_rptr_own(c, &m->card.control));
}

// Memory of the node's, or when there is none left, private memory.
static int allocate(struct making *m, size_t size, bool must_be_shared)
{
    struct win *w = m->w;
    size_t alignment = info_alignment(m->info);
    if (!alignment)
        return MPI_ERR_INFO_VALUE;
    if (size == 0 && !must_be_shared)
        size = 1; // an address of its own
    if (size == 0)
        return MPI_SUCCESS;
    w->memory = size + alignment > size ? shoal_alloc(size + alignment - INFO_ALIGNED) : NULL;
    w->is_memory_shared = w->memory != NULL;
    if (!w->memory && (must_be_shared || posix_memalign(&w->memory, alignment, size))) {
        w->memory = NULL;
        return MPI_ERR_NO_MEM;
    }
    uintptr_t at = (uintptr_t)w->memory;
    m->base = (char *)w->memory + (((at + alignment - 1) & ~(uintptr_t)(alignment - 1)) - at);
    return MPI_SUCCESS;
}

enum memory memory_describe(void *base, size_t size, shoal_rptr_t *at, shoal_region_t *region,
                            shoal_key_t *key, int *error)
{
    shoal_rptr_t last;
    *error = MPI_SUCCESS;
    if (size == 0)
        return MEMORY_NONE;
    if (shoal_rptr_own(base, at) == SHOAL_OK &&
        shoal_rptr_own((char *)base + size - 1, &last) == SHOAL_OK && last.pe == at->pe &&
        last.region == at->region && last.offset - at->offset == size - 1)
        return MEMORY_SHARED;
    int status = shoal_region_register(base, size, region);
    if (status == SHOAL_OK && (status = shoal_region_key(*region, key)) != SHOAL_OK)
        shoal_region_deregister(*region);
    if (status != SHOAL_OK) {
        *region = NULL;
        *error = status == SHOAL_EINVAL ? MPI_ERR_BUFFER : error_of(status);
        return MEMORY_NONE;
    }
    return MEMORY_PRIVATE;
}

// One piece for all: the first process allocates it.
static int allocate_piece(struct making *m)
{
    struct circle all = circle_of(m->comm);
    uint64_t mine = (uint64_t)m->size, sum = 0;
    uint64_t *sizes = malloc((size_t)all.size * sizeof *sizes);
    if (!sizes) // the others wait for this process: it cannot just say no
        shim_fatal("%s: no memory for the sizes of %d processes", m->call, all.size);
    int error = agree_allgather(&all, &mine, sizeof mine, sizes);
    for (int i = 0; i < all.size && !error; i++) {
        if (i == all.me)
            m->before = sum;
        if (__builtin_add_overflow(sum, sizes[i], &sum))
            error = MPI_ERR_SIZE;
    }
    free(sizes);
    if (!error && all.me == 0)
        error = allocate(m, sum, true);
    return error;
}

static int take_memory(struct making *m)
{
    int error = MPI_SUCCESS;
    if (m->is_one_piece)
        error = allocate_piece(m);
    else if (m->flavor == MPI_WIN_FLAVOR_ALLOCATE || m->flavor == MPI_WIN_FLAVOR_SHARED)
        error = allocate(m, (size_t)m->size, m->flavor == MPI_WIN_FLAVOR_SHARED);
    if (error || (m->is_one_piece && m->comm->rank != 0))
        return error;
    // The first process describes the one piece by its start alone.
    size_t n = m->is_one_piece ? m->w->memory != NULL : (size_t)m->size;
    m->card.va = (uintptr_t)m->base;
    m->card.memory = memory_describe(m->base, n, &m->card.at, &m->w->region, &m->card.key, &error);
    return error;
}

static bool wants_long_accumulates(const struct info *hints)
{
    char value[MPI_MAX_INFO_VAL];
    return strtoull(info_get(hints, "mpi_accumulate_granularity", value), NULL, 10) >
           sizeof(uint64_t);
}

static int prepare(struct making *m)
{
    int members = m->comm->group->size;
    m->card.size = (uint64_t)m->size;
    m->card.disp_unit = m->disp_unit;
    m->w = object_new(sizeof *m->w + (size_t)members * sizeof(struct target), OBJECT_WIN);
    if (!m->w)
        shim_fatal("%s: no memory for a window of %d processes", m->call, members);
    struct win *w = m->w;
    w->group = m->comm->group;
    object_keep(w->group);
    w->rank = m->comm->rank;
    w->size = members;
    w->is_near = partner_are_near(w->group);
    w->is_alone = members == 1;
    w->touched = -1;
    pthread_mutex_init(&w->dynamic_lock, NULL);
    int error = win_set_hints(w, m->info);
    if (!error && m->flavor == MPI_WIN_FLAVOR_SHARED && !w->is_near)
        error = MPI_ERR_RMA_SHARED;
    m->card.is_coarse = !error && wants_long_accumulates(w->hints);
    int control_error = take_control(m, members);
    int memory_error = take_memory(m); // in any case: it may be an exchange
    return error ? error : control_error ? control_error : memory_error;
}

// ---- What the cards say
static int target_fill(struct making *m, int i, const struct card *card, const shoal_rptr_t *piece)
{
    struct win *w = m->w;
    struct target *t = &w->target[i];
    t->size = card->size;
    t->disp_unit = (MPI_Aint)card->disp_unit;
    t->memory = card->size ? piece ? MEMORY_SHARED : card->memory : MEMORY_NONE;
    t->va = card->va;
    t->control_at = card->control;
    t->control = shoal_direct(card->control, sizeof *t->control);
    if (piece)
        t->at = *piece;
    else if (card->memory == MEMORY_SHARED)
        t->at = card->at;
    else if (card->memory == MEMORY_PRIVATE) {
        int status = shoal_rptr(&card->key, 0, &t->at);
        if (status != SHOAL_OK)
            return error_of(status);
    }
    if (t->memory == MEMORY_SHARED)
        t->direct = shoal_direct(t->at, t->size);
    else if (t->memory == MEMORY_PRIVATE && i == w->rank)
        t->direct = m->base;
    t->reach = t->direct ? t->size : 0;
    if (t->memory == MEMORY_SHARED && card->is_coarse)
        t->memory = MEMORY_LOCKED;
    if (piece)
        t->va = (uintptr_t)t->direct;
    w->is_far |= !t->control || (t->size && !t->direct);
    return MPI_SUCCESS;
}

static int fill(struct making *m, const struct card *cards)
{
    shoal_rptr_t piece = cards[0].at;
    int error = MPI_SUCCESS;
    for (int i = 0; i < m->w->size; i++)
        error = error ? error : cards[i].error;
    for (int i = 0; i < m->w->size && !error; i++) {
        error = target_fill(m, i, &cards[i], m->is_one_piece ? &piece : NULL);
        piece = shoal_rptr_add(piece, (ptrdiff_t)cards[i].size);
    }
    return error;
}

void win_drop(struct win *w)
{
    if (!object_drop(w))
        return;
    errhandler_drop(w->errhandler);
    object_end(w);
}

static void destroy(struct win *w)
{
    if (w->region)
        shoal_region_deregister(w->region);
    if (w->is_memory_shared)
        shoal_free(w->memory);
    else
        free(w->memory);
    attached_free(w);
    shoal_free(w->control);
    info_free(w->hints);
    group_free(w->group);
    pthread_mutex_destroy(&w->dynamic_lock);
    object_forget(w);
    win_drop(w);
}

static void give(struct making *m)
{
    struct win *w = m->w;
    if (m->is_one_piece)
        m->base = w->target[w->rank].direct;
    w->win_size = m->size;
    w->disp_unit = m->disp_unit < INT_MAX ? (int)m->disp_unit : INT_MAX;
    w->flavor = m->flavor;
    w->model = MPI_WIN_UNIFIED;
    w->predefined[0] = m->flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : m->base;
    w->predefined[1] = &w->win_size;
    w->predefined[2] = &w->disp_unit;
    w->predefined[3] = &w->flavor;
    w->predefined[4] = &w->model;
    if (m->baseptr)
        memcpy(m->baseptr, &m->base, sizeof m->base);
    *m->win = object_handle(w);
}

static int make(struct making *m)
{
    m->card.error = prepare(m);
    struct circle all = circle_of(m->comm);
    struct card *cards = malloc((size_t)all.size * sizeof *cards);
    if (!cards)
        shim_fatal("%s: no memory for a window of %d processes", m->call, all.size);
    int error = agree_allgather(&all, &m->card, sizeof m->card, cards);
    if (!error)
        error = fill(m, cards);
    free(cards);
    if (!error) {
        win_barrier(m->w); // all have the window before one of them can be through with it
        give(m);
        return MPI_SUCCESS;
    }
    destroy(m->w);
    return raise_on(
        m->comm, error, m->call, "%s",
        error == MPI_ERR_RMA_SHARED
            ? "the processes do not share memory: split the communicator by "
              "MPI_COMM_TYPE_SHARED"
        : error == MPI_ERR_NO_MEM
            ? "a process has not enough shared memory, of which SHMEM_SYMMETRIC_SIZE sets "
              "how much, or has registered all the private memory it can, 4096 pieces: "
              "that of MPI_Win_allocate needs no piece"
        : error == MPI_ERR_INFO_VALUE ? INFO_ALIGNMENT " is not a power of two"
                                      : "some process cannot take part");
}

// ---- Calls
static int check(struct making *m, MPI_Comm comm, MPI_Info info)
{
    int error = check_intra(m->call, comm, &m->comm);
    if (!error)
        error = info_check(info, m->comm, m->call, &m->info);
    if (!error)
        error = check_pointer(m->call, m->comm, "win", m->win);
    if (!error && m->size < 0)
        return raise_on(m->comm, MPI_ERR_SIZE, m->call, "size %lld is negative",
                        (long long)m->size);
    if (!error && m->disp_unit <= 0)
        return raise_on(m->comm, MPI_ERR_DISP, m->call, "disp_unit %lld is not positive",
                        (long long)m->disp_unit);
    return error;
}

static int create(const char *call, void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                  MPI_Comm comm, MPI_Win *win)
{
    struct making m = {.call = call,
                       .flavor = MPI_WIN_FLAVOR_CREATE,
                       .base = base,
                       .size = size,
                       .disp_unit = disp_unit,
                       .win = win};
    int error = check(&m, comm, info);
    if (!error && !base && size > 0)
        return raise_on(m.comm, MPI_ERR_BUFFER, call, "base is NULL, with %lld bytes",
                        (long long)size);
    return error ? error : make(&m);
}

static int create_allocated(const char *call, int flavor, MPI_Aint size, MPI_Aint disp_unit,
                            MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct making m = {.call = call,
                       .flavor = flavor,
                       .size = size,
                       .disp_unit = disp_unit,
                       .baseptr = baseptr,
                       .win = win};
    int error = check(&m, comm, info);
    if (!error)
        error = check_pointer(call, m.comm, "baseptr", baseptr);
    m.is_one_piece = flavor == MPI_WIN_FLAVOR_SHARED &&
                     !hint_is_true(m.info, "alloc_shared_noncontig");
    return error ? error : make(&m);
}

MPI_DEFINE(int, Win_create, void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
           MPI_Win *win)
{
    return create("MPI_Win_create", base, size, disp_unit, info, comm, win);
}

MPI_DEFINE(int, Win_create_c, void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
           MPI_Comm comm, MPI_Win *win)
{
    return create("MPI_Win_create_c", base, size, disp_unit, info, comm, win);
}

#define ALLOCATES(X)                      \
    X(Win_allocate, int, ALLOCATE)        \
    X(Win_allocate_c, MPI_Aint, ALLOCATE) \
    X(Win_allocate_shared, int, SHARED)   \
    X(Win_allocate_shared_c, MPI_Aint, SHARED)
#define X(name, unit, flavor)                                                                 \
    MPI_DEFINE(int, name, MPI_Aint size, unit disp_unit, MPI_Info info, MPI_Comm comm,        \
               void *baseptr, MPI_Win *win)                                                   \
    {                                                                                         \
        return create_allocated("MPI_" #name, MPI_WIN_FLAVOR_##flavor, size, disp_unit, info, \
                                comm, baseptr, win);                                          \
    }
ALLOCATES(X)
#undef X

MPI_DEFINE(int, Win_create_dynamic, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct making m = {.call = "MPI_Win_create_dynamic",
                       .flavor = MPI_WIN_FLAVOR_DYNAMIC,
                       .disp_unit = 1,
                       .win = win};
    int error = check(&m, comm, info);
    return error ? error : make(&m);
}

MPI_DEFINE(int, Win_free, MPI_Win *win)
{
    static const char call[] = "MPI_Win_free";
    struct win *w;
    int error = check_pointer(call, NULL, "win", win);
    if (!error)
        error = win_check(call, *win, &w);
    if (error)
        return error;
    if (w->posted)
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "an epoch is open: MPI_Win_wait ends it");
    if (!win_is_between(w))
        return win_raise_open(call, w);
    error = attributes_delete(OBJECT_WIN, *win, &w->attributes);
    if (error)
        return raise_on_win(w, error, call, "the delete function of an attribute failed");
    error = win_flush(call, w, -1);
    word_settle(w);
    win_barrier(w);
    destroy(w);
    *win = MPI_WIN_NULL;
    return error;
}
