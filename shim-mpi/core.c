// SPDX-License-Identifier: BSD-3-Clause
// Starting and ending the library. See core.h.
#include "core.h"

#include "agent.h"
#include "comm.h"
#include "error.h"
#include "info.h"
#include "op.h"
#include "outbox.h"
#include "p2p.h"
#include "partner.h"
#include "settings.h"
#include "stats.h"
#include "type.h"

#include <pthread.h>
#include <sched.h>
#include <shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic int shim_state = SHIM_BEFORE;
bool shim_threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, pe, npes;
static bool is_up; // also without users, until the process ends

int shim_pe(void)
{
    return pe;
}

// The launcher says so where there are several.
int shim_app(int *npes)
{
    const char *text = getenv("SHOAL_APP");
    int app = 0;
    *npes = shim_npes();
    if (text)
        sscanf(text, "%d:%d", &app, npes);
    return app;
}

int shim_npes(void)
{
    return npes;
}

// ---- Parts
SHIM_OWN int shim_own_part = -1;
_Atomic uint64_t shim_parts_ever;
static _Atomic uint64_t parts_taken; // bits, as these
static pthread_key_t part_key;       // of a thread that has one for itself: its bit
static bool has_part_key;

static void give_part(void *bit)
{
    shim_own_part = -1;
    atomic_fetch_and_explicit(&parts_taken, ~(uint64_t)(uintptr_t)bit, memory_order_release);
}

static void make_part_key(void)
{
    has_part_key = pthread_key_create(&part_key, give_part) == 0;
}

static uint64_t bit_of(int part)
{
    return UINT64_C(1) << part;
}

static int find_part(void)
{
    uint64_t taken = atomic_load_explicit(&parts_taken, memory_order_relaxed);
    int part;
    do {
        part = __builtin_ctzll(~taken);
        if (part == SHIM_SHARED)
            return SHIM_SHARED;
        // acquire: what the thread wrote there that had it
    } while (!atomic_compare_exchange_weak_explicit(&parts_taken, &taken, taken | bit_of(part),
                                                    memory_order_acquire, memory_order_relaxed));
    if (pthread_setspecific(part_key, (void *)(uintptr_t)bit_of(part)) == 0)
        return part;
    give_part((void *)(uintptr_t)bit_of(part));
    return SHIM_SHARED;
}

int shim_take_part(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_part_key);
    shim_own_part = has_part_key ? find_part() : SHIM_SHARED;
    atomic_fetch_or_explicit(&shim_parts_ever, bit_of(shim_own_part), memory_order_seq_cst);
    return shim_own_part;
}

void shim_lock_wait(shim_lock *l)
{
    do {
        for (int i = 0; i < 100 && atomic_load_explicit(&l->taken, memory_order_relaxed); i++)
            atomic_signal_fence(memory_order_seq_cst);
        if (atomic_load_explicit(&l->taken, memory_order_relaxed))
            sched_yield();
    } while (atomic_exchange_explicit(&l->taken, 1, memory_order_acquire));
}

static int start(void)
{
    uint64_t value = 0;
    int status = shoal_init();
    if (status)
        return error_of(status);
    shoal_query(SHOAL_Q_PE, 0, &value);
    pe = (int)value;
    shoal_query(SHOAL_Q_NPES, 0, &value);
    npes = (int)value;
    type_up();
    op_up();
    status = p2p_up();
    int error = status ? error_of(status) : comm_up();
    if (!error)
        info_up();
    return error;
}

static void start_agent(void)
{
    int error = agent_up(shim_settings.async);
    if (error)
        fprintf(stderr, "shoal: rank %d: SHOAL_MPI_ASYNC_PROGRESS: no thread: %s\n", pe,
                strerror(error));
}

int core_enter(bool threads)
{
    pthread_mutex_lock(&lock);
    shim_settings_read();
    bool is_first = !is_up;
    bool is_news = is_first || (threads && !shim_threads);
    if ((threads || shim_settings.async) && !shim_threads) // which others may read now
        shim_threads = true;
    int error = is_up ? MPI_SUCCESS : start();
    if (!error) {
        if (is_news) // others may be in the runtime
            shoal_threads(shim_threads ? SHOAL_THREADS_MANY : SHOAL_THREADS_ONE);
        is_up = true;
        if (is_first)
            start_agent();
        users++;
        shoal_finalized_by("MPI_Finalize");
        atomic_store_explicit(&shim_state, SHIM_UP, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

// With the lock.
static void end(void)
{
    agent_down();
    comm_down();
    p2p_down();
    stats_keep();
    shoal_finalize();
    outbox_down();  // handlers run until then, which may answer,
    partner_down(); // and credits come
    is_up = false;
}

static void end_unused(void)
{
    pthread_mutex_lock(&lock);
    if (users == 0 && is_up)
        end();
    pthread_mutex_unlock(&lock);
}

// While OpenSHMEM goes on the runtime does, and others may be behind, or further and in a session, and send
// something to this process: what takes it stays until OpenSHMEM ends.
void core_leave(bool for_good)
{
    outbox_wait_all();
    pthread_mutex_lock(&lock);
    if (--users == 0) {
        shoal_finalized_by(NULL);
        stats_print();
        if (for_good && shoal_finalize_after(end_unused) == SHOAL_OK)
            errhandler_initial();
        else if (for_good)
            end();
        atomic_store_explicit(&shim_state, SHIM_AFTER, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

// ---- Levels of threads
static const struct {
    int level;
    const char *name;
} levels[] = {{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
              {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
              {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
              {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

const char *thread_level_name(int level)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (levels[i].level == level)
            return levels[i].name;
    return NULL;
}

int thread_level_of(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(levels); i++)
        if (strcmp(levels[i].name, name) == 0)
            return levels[i].level;
    return -1;
}
