// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows: each process keeps a table of what it has attached, in memory that all reach. An
// origin has a copy of it, and looks at the table's version each time whether the copy is still true.
// Version, count and place of the table are read as one by looking at the version before and after.
#include "check.h"
#include "error.h"
#include "win.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct attached {
    uint64_t va, size;
    enum memory memory;
    shoal_rptr_t at;
    shoal_key_t key;
    shoal_region_t region; // of its owner
    char *direct;          // where it is here: of a copy
};

// A copy, sorted by address; or the owner's own list, in which case `shared` is what others read. What
// is attached with no bytes can be detached again, and is not among them.
struct attached_table {
    uint64_t version;
    size_t n, room;
    struct attached *entry;
    size_t n_empty;
    void **empty; // where they begin
    struct attached *shared;
    size_t shared_room;
};

void attached_free(struct win *w)
{
    for (int i = -1; i < w->size; i++) {
        struct attached_table *table = i < 0 ? w->own_attached : w->target[i].attached;
        if (!table)
            continue;
        for (size_t k = 0; i < 0 && k < table->n; k++)
            if (table->entry[k].region)
                shoal_region_deregister(table->entry[k].region);
        if (table->shared)
            shoal_free(table->shared);
        free(table->empty);
        free(table->entry);
        free(table);
    }
}

// The first entry that ends behind va.
static size_t place_of(const struct attached_table *table, uint64_t va)
{
    size_t low = 0, high = table->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct attached *e = &table->entry[middle];
        if (e->va + e->size <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- The owner's side, under dynamic_lock
static bool reserve(struct attached_table *table, size_t n)
{
    if (n > table->room) {
        size_t room = table->room ? 2 * table->room : 8;
        struct attached *grown = realloc(table->entry, room * sizeof *grown);
        if (!grown)
            return false;
        table->entry = grown;
        table->room = room;
    }
    return true;
}

// Room in shared memory for n entries; the old one is freed when it is no longer the table.
static bool reserve_shared(struct attached_table *table, size_t n, struct attached **old)
{
    *old = NULL;
    if (n <= table->shared_room)
        return true;
    struct attached *grown = shoal_alloc(table->room * sizeof *grown);
    if (!grown)
        return false;
    *old = table->shared;
    table->shared = grown;
    table->shared_room = table->room;
    return true;
}

// Copies that others may read meanwhile: word by word, as an atomic is what they are to them.
static void words_copy(void *to, const void *from, size_t n)
{
    _Atomic uint64_t *out = to;
    const _Atomic uint64_t *in = from;
    for (size_t i = 0; i < n / sizeof *out; i++)
        atomic_store_explicit(&out[i], atomic_load_explicit(&in[i], memory_order_relaxed),
                              memory_order_relaxed);
}
_Static_assert(sizeof(struct attached) % sizeof(uint64_t) == 0, "entries are whole words");

static void publish(struct win *w)
{
    struct attached_table *table = w->own_attached;
    struct control *c = w->control;
    shoal_rptr_t at = {0};
    uint64_t words[3];
    if (table->shared)
        shoal_rptr_own(table->shared, &at);
    memcpy(words, &at, sizeof words);
    // Odd from here on; release: nobody who sees what follows sees an even version before it.
    uint64_t version = atomic_load_explicit(&c->version, memory_order_relaxed);
    atomic_store_explicit(&c->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    words_copy(table->shared, table->entry, table->n * sizeof *table->entry);
    atomic_store_explicit(&c->attached, table->n, memory_order_relaxed);
    words_copy(c->table, words, sizeof words);
    atomic_store_explicit(&c->version, version + 2, memory_order_release);
}
_Static_assert(sizeof(shoal_rptr_t) == 3 * sizeof(uint64_t), "a remote pointer is three words");

static int attach_empty(struct attached_table *table, void *base)
{
    void **grown = realloc(table->empty, (table->n_empty + 1) * sizeof *grown);
    if (!grown)
        return MPI_ERR_NO_MEM;
    table->empty = grown;
    grown[table->n_empty++] = base;
    return MPI_SUCCESS;
}

static bool detach_empty(struct attached_table *table, const void *base)
{
    for (size_t i = 0; i < table->n_empty; i++)
        if (table->empty[i] == base) {
            table->empty[i] = table->empty[--table->n_empty];
            return true;
        }
    return false;
}

static int attach(struct win *w, void *base, size_t size)
{
    struct attached_table *table = w->own_attached;
    struct attached *old;
    if (!table && !(table = w->own_attached = calloc(1, sizeof *table)))
        return MPI_ERR_NO_MEM;
    if (size == 0)
        return attach_empty(table, base);
    size_t i = place_of(table, (uintptr_t)base);
    if (i < table->n && table->entry[i].va < (uintptr_t)base + size)
        return MPI_ERR_RMA_ATTACH;
    if (!reserve(table, table->n + 1) || !reserve_shared(table, table->n + 1, &old))
        return MPI_ERR_NO_MEM;
    struct attached new = {.va = (uintptr_t)base, .size = size, .direct = base};
    int error;
    new.memory = memory_describe(base, size, &new.at, &new.region, &new.key, &error);
    if (!error) {
        memmove(table->entry + i + 1, table->entry + i, (table->n++ - i) * sizeof new);
        table->entry[i] = new;
    }
    publish(w);
    if (old)
        shoal_free(old);
    return error;
}

static int check_dynamic(const char *call, MPI_Win win, struct win **w)
{
    int error = win_check(call, win, w);
    if (!error && (*w)->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return raise_on_win(*w, MPI_ERR_RMA_FLAVOR, call, "the window is not dynamic");
    return error;
}

MPI_DEFINE(int, Win_attach, MPI_Win win, void *base, MPI_Aint size)
{
    static const char call[] = "MPI_Win_attach";
    struct win *w;
    int error = check_dynamic(call, win, &w);
    if (error)
        return error;
    if (size < 0)
        return raise_on_win(w, MPI_ERR_SIZE, call, "size %lld is negative", (long long)size);
    if (!base && size > 0)
        return raise_on_win(w, MPI_ERR_BASE, call, "base is NULL");
    pthread_mutex_lock(&w->dynamic_lock);
    error = attach(w, base, (size_t)size);
    pthread_mutex_unlock(&w->dynamic_lock);
    if (!error)
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_RMA_ATTACH, call, "%s",
                        error == MPI_ERR_RMA_ATTACH
                            ? "some of it is attached already"
                            : "no memory, or 4096 pieces are registered, the most there can be");
}

MPI_DEFINE(int, Win_detach, MPI_Win win, const void *base)
{
    static const char call[] = "MPI_Win_detach";
    struct win *w;
    int error = check_dynamic(call, win, &w);
    if (error)
        return error;
    pthread_mutex_lock(&w->dynamic_lock);
    struct attached_table *table = w->own_attached;
    size_t i = table ? place_of(table, (uintptr_t)base) : 0;
    bool found = table && i < table->n && table->entry[i].va == (uintptr_t)base;
    shoal_region_t region = found ? table->entry[i].region : NULL;
    if (found) {
        memmove(table->entry + i, table->entry + i + 1, (--table->n - i) * sizeof *table->entry);
        publish(w);
    }
    found = found || (table && detach_empty(table, base));
    pthread_mutex_unlock(&w->dynamic_lock);
    if (region)
        shoal_region_deregister(region);
    if (found)
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_RMA_ATTACH, call, "no attached memory begins at base");
}

// ---- The origin's side, under its own dynamic_lock
static void read_words(struct target *t, shoal_rptr_t from, void *to, size_t n)
{
    const void *here = shoal_direct(from, n);
    int status = SHOAL_OK;
    if (here)
        words_copy(to, here, n);
    else if (n)
        status = shoal_get(to, from, n, NULL, NULL);
    if (status != SHOAL_OK)
        shim_fatal("what PE %d has attached cannot be read: %s", t->control_at.pe,
                   shoal_strerror(status));
}

static uint64_t read_version(struct target *t)
{
    uint64_t version;
    if (likely(t->control != NULL)) // acquire: what is read next is no older
        return atomic_load_explicit(&t->control->version, memory_order_acquire);
    read_words(t, shoal_rptr_add(t->control_at, CONTROL(version)), &version, sizeof version);
    return version;
}

static void resolve(struct attached *e, bool is_own)
{
    char *direct = e->direct; // as its owner has it
    e->direct = NULL;
    if (e->memory == MEMORY_SHARED)
        e->direct = shoal_direct(e->at, e->size);
    else if (e->memory == MEMORY_PRIVATE && is_own)
        e->direct = direct;
    if (e->memory == MEMORY_PRIVATE && shoal_rptr(&e->key, 0, &e->at) != SHOAL_OK)
        e->memory = MEMORY_NONE; // detached since: the version has changed
}

static bool refresh(struct win *w, struct target *t, uint64_t version)
{
    struct attached_table *table = t->attached;
    struct {
        uint64_t n;
        shoal_rptr_t at;
    } head;
    _Static_assert(sizeof head == 4 * sizeof(uint64_t), "as in the control");
    read_words(t, shoal_rptr_add(t->control_at, CONTROL(attached)), &head, sizeof head);
    atomic_thread_fence(memory_order_acquire);
    if (version & 1 || read_version(t) != version)
        return false;
    if (head.n > table->room) {
        struct attached *grown = realloc(table->entry, head.n * sizeof *grown);
        if (!grown)
            shim_fatal("no memory for the %llu regions that a process has attached",
                       (unsigned long long)head.n);
        table->entry = grown;
        table->room = head.n;
    }
    if (head.n)
        read_words(t, head.at, table->entry, head.n * sizeof *table->entry);
    atomic_thread_fence(memory_order_acquire);
    if (read_version(t) != version)
        return false;
    for (size_t i = 0; i < head.n; i++)
        resolve(&table->entry[i], t == &w->target[w->rank]);
    table->n = head.n;
    table->version = version;
    return true;
}

// How many of n bytes at va are within e.
static size_t within(const struct attached *e, uint64_t va, size_t n)
{
    return e->size - (va - e->va) < n ? e->size - (va - e->va) : n;
}

static const struct attached *search(const struct attached_table *table, uint64_t va)
{
    size_t i = place_of(table, va);
    const struct attached *e = &table->entry[i];
    return i < table->n && va >= e->va && e->memory != MEMORY_NONE ? e : NULL;
}

// A target on another node is asked for its version only when the copy does not have the place: what
// was detached since is refused where it is used (SHOAL_EKEY), if anything can still tell.
static const struct attached *find(struct win *w, struct target *t, uint64_t va, size_t n)
{
    struct attached_table *table = t->attached;
    const struct attached *e = t->control ? NULL : search(table, va);
    if (e && within(e, va, n) == n)
        return e;
    uint64_t version = read_version(t);
    while (version != table->version && !refresh(w, t, version)) {
        sched_yield(); // it changes now
        version = read_version(t);
    }
    return search(table, va);
}

size_t attached_find(struct win *w, struct target *t, uint64_t va, size_t n, struct place *at)
{
    pthread_mutex_lock(&w->dynamic_lock);
    if (!t->attached && !(t->attached = calloc(1, sizeof *t->attached)))
        shim_fatal("no memory for what rank %d has attached", (int)(t - w->target));
    const struct attached *e = find(w, t, va, n);
    size_t found = e ? within(e, va, n) : 0;
    if (found)
        *at = (struct place){.direct = e->direct ? e->direct + (va - e->va) : NULL,
                             .at = shoal_rptr_add(e->at, (ptrdiff_t)(va - e->va)),
                             .va = va,
                             .version = t->attached->version,
                             .memory = e->memory};
    pthread_mutex_unlock(&w->dynamic_lock);
    return found;
}

void attached_forget(struct win *w, struct target *t)
{
    pthread_mutex_lock(&w->dynamic_lock);
    if (t->attached) {
        t->attached->n = 0;
        t->attached->version = UINT64_MAX;
    }
    pthread_mutex_unlock(&w->dynamic_lock);
}
