// SPDX-License-Identifier: BSD-3-Clause
// Windows (MPI 5.0, "One-Sided Communications").
//
// What a process needs of each member of a window is in a struct target, filled in once, when the
// window is made: where the member's memory is mapped here, or its remote pointer. Then a put is a
// store, or one call of the runtime, and nobody takes part but its origin.
//
// What members need of each other to synchronize is a struct control a member, in memory that all
// of them reach: words that only grow, changed by the runtime's atomics.
#ifndef SHOAL_MPI_WIN_H
#define SHOAL_MPI_WIN_H

#include "group.h"
#include "request.h"
#include "shim.h"

#include <pthread.h>
#include <shoal.h>

struct attributes;
struct comm;
struct errhandler;
struct gathered;
struct info;
struct rma_later;
struct type;

enum { BARRIER_ROUNDS = 32, LINE = 64 };

// Of one member, in its memory. Others change it; the owner waits for the words of the barrier and
// of its peers.
struct control {
    // The lock of MPI_Win_lock: readers and LOCK_WAITED, or LOCK_WRITER; and the queue of those who wait for it, of
    // whom the one whose ticket is served may take it (win_word.c).
    _Alignas(LINE) _Atomic uint64_t holders;
    _Atomic uint64_t tickets, served;
    // Held by whoever changes elements that no processor's atomic covers (rma_change.c).
    _Atomic uint64_t accumulate;
    // The table of a dynamic window (win_dynamic.c): odd while it changes.
    _Alignas(LINE) _Atomic uint64_t version;
    _Atomic uint64_t attached;   // entries,
    _Atomic uint64_t table[3];   // and the remote pointer to them
    _Alignas(LINE) _Atomic uint64_t arrived[BARRIER_ROUNDS];
    // Is somebody asking for the claims, and how many accumulates have come under the lock since that
    // could have gone by one (win_claim.c).
    _Alignas(LINE) _Atomic uint64_t asked;
    uint64_t few;
    // Of each peer: exposure epochs that it opened for this process, access epochs that it ended; has
    // it a claim, or how many have its threads?
    _Alignas(LINE) struct {
        _Atomic uint64_t posted, completed, claim;
    } peer[];
};

// How the memory of a window or of an attached region is reached.
enum memory {
    MEMORY_NONE,
    MEMORY_SHARED, // by load and store on a node: accumulates use the processor's atomics
    MEMORY_LOCKED, // the same, but accumulates go under the lock: a hint wants long ones to be fast
    MEMORY_PRIVATE // through a region: accumulates get, compute and put under the lock, or the target does
};

// A place in the memory of a member.
struct place {
    char *direct; // NULL: use the other
    shoal_rptr_t at;
    uint64_t va;      // the address at its owner
    uint64_t version; // of a dynamic window's table where it was found; 0: of another window
    enum memory memory;
};

// What target->access has while operations may go there.
enum {
    ACCESS_OPEN = 1,
    ACCESS_PASSIVE = 2,
    ACCESS_EXCLUSIVE = 4, // nobody else may be there: no atomics are needed
    ACCESS_HELD = 8,      // the lock is held, and given back at the end
    ACCESS_BY_NAME = 16,  // by MPI_Win_start or MPI_Win_lock
};

struct target {
    char *direct; // its window here; NULL: not reached by load and store, or a dynamic window
    size_t reach; // bytes of it that are: all or none
    MPI_Aint disp_unit;
    _Atomic uint8_t access;
    bool is_opening;  // a thread takes the lock for an epoch of MPI_Win_lock_all
    bool is_queried;  // the program has its address: MPI_Win_lock_all takes its lock at once
    bool has_claim;   // this process, of one thread in MPI
    enum memory memory;
    int next_touched; // in an epoch that opens targets as they are used, -1: the last
    _Atomic int under_way; // operations
    // Operations that have not begun (rma_gather.c).
    shim_lock gather_lock;
    struct gathered *_Atomic gathered; // NULL: none
    uint64_t flushes, row_after;       // row_after: flushes before a row of them began, and 1
    struct target *next_gathered;
    size_t size;
    uint64_t va;
    shoal_rptr_t at;
    struct control *control; // NULL: not reached by load and store
    shoal_rptr_t control_at;
    uint64_t posted, completed; // of its words in the own control: how many have been waited for
    struct attached_table *attached;
};

// The epochs of this process. A fence opens one that MPI_Win_lock and the like end again, as an
// epoch between fences is one only when it is used.
enum epoch { EPOCH_NONE, EPOCH_FENCE, EPOCH_START, EPOCH_LOCK, EPOCH_LOCK_ALL };

struct win {
    struct object head;
    struct errhandler *errhandler;
    struct attributes *attributes;
    // What MPI_Win_get_attr gives for MPI_WIN_BASE, _SIZE, _DISP_UNIT, _CREATE_FLAVOR, _MODEL; the
    // first is the base itself, the others are pointers to the values.
    const void *predefined[5];
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint win_size;
    int disp_unit, flavor, model;

    struct group *group;
    int rank, size;
    bool is_far;           // some member is reached through the runtime only
    bool is_near;          // all members are of this node
    bool is_alone;         // one member: nobody to be atomic against
    bool no_locks;         // a hint
    struct info *hints;
    void *memory;          // to be freed with the window; NULL: none
    bool is_memory_shared; // it is the runtime's
    shoal_region_t region; // of private memory, NULL: none
    struct control *control;

    shim_lock lock; // of what follows up to `started`
    enum epoch epoch;
    bool is_nocheck;       // MPI_Win_lock_all with MPI_MODE_NOCHECK
    bool has_queried;      // some target is_queried
    uint32_t lock_alls;    // epochs of MPI_Win_lock_all that there were
    int locked;            // by MPI_Win_lock
    int touched;           // first of the list of targets that were opened, -1: none
    struct group *started, *posted;
    uint64_t barriers;
    pthread_mutex_t dynamic_lock;
    struct attached_table *own_attached;
    struct { // operations that are under way after their call, in the order of the calls (rma_later.c)
        shim_lock lock;
        bool is_hooked;
        _Atomic int under_way, status; // status: of one that failed and has no request
        struct rma_later *first, **last;
        struct progress_hook hook;
    } later;
    struct { // the targets that have such (rma_gather.c)
        shim_lock lock;
        struct target *first;
        int targets;
        _Atomic uint64_t flushes; // of all targets
    } gather;
    struct target target[];
};

static inline struct win *win_of(MPI_Win h)
{
    return likely(shim_is_up()) ? object_at(h, OBJECT_WIN) : NULL;
}

// With what opens a target goes its lock: who sees it open sees what was stored under that before.
static inline uint8_t target_access(const struct target *t)
{
    return atomic_load_explicit(&t->access, memory_order_acquire);
}

static inline void target_set_access(struct target *t, unsigned bits)
{
    atomic_store_explicit(&t->access, (uint8_t)bits, memory_order_release);
}

// ---- Checks. An error code, raised on the window.
int win_check(const char *call, MPI_Win h, struct win **w);
int win_check_pointer(const char *call, struct win *w, const char *argument, const void *pointer);
int win_check_rank(const char *call, struct win *w, int rank); // or MPI_PROC_NULL
int win_raise_open(const char *call, struct win *w); // what ends the access epoch
// No access epoch is open: one between fences is none unless it was used. With w->lock held, or where no other
// thread may use the window.
bool win_is_between(const struct win *w);
// Opens target t in an epoch that opens them as they are used.
int win_open(const char *call, struct win *w, struct target *t);
// From now on the program may load and store there when it has locked it.
void win_give_address(struct win *w, struct target *t);

void win_drop(struct win *w); // a reference; requests have some

// ---- Words of controls (win_word.c). offset: of the word in the control.
#define CONTROL(word) offsetof(struct control, word)
void word_add(struct target *t, size_t offset, uint64_t n); // and wakes who waits at t for it
// At another node, after puts of these parts, which are copied. False: they are too many for a message.
bool word_add_after(struct target *t, size_t offset, uint64_t n, const shoal_part_t part[],
                    size_t parts);
void word_settle(struct win *w); // what was told here, or to others, and nobody has waited for, has come
int win_word_up(void);           // 0 or SHOAL_E*
void word_wait_own(_Atomic uint64_t *word, uint64_t least);
void accumulate_lock(struct target *t);
void accumulate_unlock(struct target *t);

// ---- Claims (win_claim.c): in a window of one node, who changes elements by the processor's atomics holds
// one at the target, or the lock of accumulates.
enum hold { HOLD_NOTHING, HOLD_CLAIM, HOLD_LOCK }; // until the end of an operation
enum hold claim_take(struct win *w, struct target *t);
void claim_give(struct win *w, struct target *t, enum hold hold);
void claim_drop(struct win *w, struct target *t); // of one that is kept
// With the lock held: has nobody one, so that atomics are not needed until the lock is given back?
bool claims_are_gone(struct win *w, struct target *t);

static inline bool claim_is_asked_for(const struct target *t)
{
    // relaxed: see win_claim.c.
    return atomic_load_explicit(&t->control->asked, memory_order_relaxed) != 0;
}

static inline enum hold words_hold(struct win *w, struct target *t)
{
    if (likely(!w->is_near || (t->has_claim && !claim_is_asked_for(t))))
        return HOLD_NOTHING;
    return claim_take(w, t);
}

// At the end of an epoch.
static inline void claim_leave(struct win *w, struct target *t)
{
    if (t->has_claim)
        claim_drop(w, t);
}

// Within one. Where there are threads, another may be about to use it.
static inline void claim_yield(struct win *w, struct target *t)
{
    if (t->has_claim && claim_is_asked_for(t) && !shim_threads)
        claim_drop(w, t);
}

static inline void words_let_go(struct win *w, struct target *t, enum hold hold)
{
    if (unlikely(hold != HOLD_NOTHING))
        claim_give(w, t, hold);
}

void win_barrier(struct win *w);
void lock_take(struct target *t, bool exclusive);
void lock_give(struct target *t, bool exclusive);
uint64_t lock_given(bool exclusive); // what that adds to the target's word `holders`, at another node
// All operations are complete at rank, -1: everywhere. An error code, raised on the window.
int win_flush(const char *call, struct win *w, int rank);
int rma_later_wait(struct win *w, int rank); // those under way: 0 or SHOAL_E*
void win_close_touched(struct win *w);

// How others reach own memory: *at of shared memory, else *region and *key; error: an error code.
enum memory memory_describe(void *base, size_t size, shoal_rptr_t *at, shoal_region_t *region,
                            shoal_key_t *key, int *error);

// ---- Dynamic windows: where address va of t is; how many of n bytes from there are in the same
// attached region, 0: none.
size_t attached_find(struct win *w, struct target *t, uint64_t va, size_t n, struct place *at);
void attached_forget(struct win *w, struct target *t); // what is known of t may be out of date
void attached_free(struct win *w);

// ---- Hints
int win_set_hints(struct win *w, const struct info *info); // 0, or MPI_ERR_NO_MEM
bool hint_is_true(const struct info *info, const char *key);

#endif
