// SPDX-License-Identifier: BSD-3-Clause
// "Library Setup, Exit, and Query Routines", and their deprecated forms.
#include "call.h"
#include "coll.h"
#include "ctx.h"
#include "log.h"
#include "pshmem.h"
#include "remote.h"
#include "world.h"

#include <string.h>

// The handles as variables too, for those who look symbols up; programs use the constants.
#undef SHMEM_CTX_DEFAULT
#undef SHMEM_TEAM_WORLD
#undef SHMEM_TEAM_SHARED
shmem_ctx_t SHMEM_CTX_DEFAULT = &shoal_ctx_default;
shmem_team_t SHMEM_TEAM_WORLD = &shoal_team_world;
shmem_team_t SHMEM_TEAM_SHARED = &shoal_team_shared;

// Every level is supported: calls are thread-safe as they are.
static int init(int requested)
{
    int entered = world_enter(WORLD_SHMEM);
    if (entered > 0)
        coll_barrier_world();
    else if (entered == 0)
        world.thread_level = requested;
    return entered < 0 ? -1 : 0;
}

void pshmem_init(void)
{
    if (init(SHMEM_THREAD_MULTIPLE))
        fatal("shmem_init: the library cannot start; the line above says why");
}
WEAK_TWIN(shmem_init);

int pshmem_init_thread(int requested, int *provided)
{
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        log_line(LOG_ERROR, LOG_BOOT, "shmem_init_thread: argument requested is %d, not one of "
                 "SHMEM_THREAD_*", requested);
        return -1;
    }
    if (init(requested))
        return -1;
    if (provided)
        *provided = world.thread_level;
    return 0;
}
WEAK_TWIN(shmem_init_thread);

void pshmem_query_thread(int *provided)
{
    check_up("shmem_query_thread");
    *provided = world.thread_level;
}
WEAK_TWIN(shmem_query_thread);

void pshmem_query_initialized(int *initialized)
{
    *initialized = world_is_up();
}
WEAK_TWIN(shmem_query_initialized);

void pshmem_finalize(void)
{
    check_up("shmem_finalize");
    call_enter(CALL_finalize);
    remote_flush_all();
    if (world.users[WORLD_SHMEM] > 1)
        coll_barrier_world();
    else
        world_end_shmem();
    world_leave(WORLD_SHMEM);
    call_leave();
}
WEAK_TWIN(shmem_finalize);

void pshmem_global_exit(int status)
{
    check_up("shmem_global_exit");
    world_global_exit(status);
}
extern __typeof(pshmem_global_exit) shmem_global_exit
    __attribute__((weak, alias("pshmem_global_exit")));

int pshmem_my_pe(void)
{
    if (unlikely(!world_is_up()))
        check_up("shmem_my_pe");
    return world.me;
}
WEAK_TWIN(shmem_my_pe);

int pshmem_n_pes(void)
{
    if (unlikely(!world_is_up()))
        check_up("shmem_n_pes");
    return world.npes;
}
WEAK_TWIN(shmem_n_pes);

int pshmem_pe_accessible(int pe)
{
    check_up("shmem_pe_accessible");
    return pe >= 0 && pe < world.npes;
}
WEAK_TWIN(shmem_pe_accessible);

int pshmem_addr_accessible(const void *addr, int pe)
{
    check_up("shmem_addr_accessible");
    return pe >= 0 && pe < world.npes && (world_in_heap(addr, 1) || world_in_data(addr, 1));
}
WEAK_TWIN(shmem_addr_accessible);

void *pshmem_ptr(const void *dest, int pe)
{
    check_up("shmem_ptr");
    if (!pshmem_addr_accessible(dest, pe) || !world_is_here(pe))
        return NULL;
    return pe == world.me ? (void *)dest : shared_at(dest, pe);
}
WEAK_TWIN(shmem_ptr);

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    check_up("shmem_team_ptr");
    if (team != SHMEM_TEAM_INVALID && team->magic != TEAM_MAGIC)
        fatal("shmem_team_ptr: %p is not a team, or a destroyed one", (void *)team);
    if (team == SHMEM_TEAM_INVALID || pe < 0 || pe >= team->set.size)
        return NULL;
    return pshmem_ptr(dest, set_pe(&team->set, pe));
}
WEAK_TWIN(shmem_team_ptr);

void pshmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
WEAK_TWIN(shmem_info_get_version);

void pshmem_info_get_name(char *name)
{
    _Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "fits the caller's buffer");
    strcpy(name, SHMEM_VENDOR_STRING);
}
WEAK_TWIN(shmem_info_get_name);

void pshmem_pcontrol(int level, ...)
{
    (void)level;
}
WEAK_TWIN(shmem_pcontrol);

// ---- Deprecated
void pstart_pes(int npes)
{
    (void)npes;
    if (!world_is_up()) // may be called again without effect; the exit finalizes
        pshmem_init();
}
WEAK_TWIN(start_pes);

int p_my_pe(void)
{
    return pshmem_my_pe();
}
WEAK_TWIN(_my_pe);

int p_num_pes(void)
{
    return pshmem_n_pes();
}
WEAK_TWIN(_num_pes);
