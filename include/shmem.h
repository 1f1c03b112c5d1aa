// SPDX-License-Identifier: BSD-3-Clause
// OpenSHMEM 1.6 for C99, C11 and C++11, as the library Shoal provides it.
//
// In the order of the specification: constants (section 6), handles (7), configuration types (9.4.3,
// 9.9.1), then the routines of sections 9 and 10, which live in shoal_shmem_decl.h together with
// what they promise, and the type-generic names (shoal_generics.h). shoal_types.h has the types.
// Names other than the specification's begin with SHOAL_ or shoal_.
//
// Define SHMEM_WARN_DEPRECATED before the first include to have the compiler report the use of
// routines that the specification deprecates. Define SHOAL_NO_GENERICS to leave the type-generic names
// out; a tool that defines shmem_sync or shmem_wait_until itself needs that (or parentheses around
// the name), because in C11 they are also function-like macros.
#ifndef SHOAL_SHMEM_H
#define SHOAL_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#include <shoal_types.h>

// ---------------------------------------------------------------------------------------------
// 6 Library constants. All may be used in #if, apart from the string and the handles.

// Version of the specification, and the library's name (9.1.11, 9.1.12).
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 256
#define SHMEM_VENDOR_STRING "Shoal 0.1.0"

// Thread levels, ascending (9.2).
#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

// Hints of shmem_malloc_with_hints (9.3.5).
#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L

// Mask bit of shmem_team_config_t (9.4.3) and the team that is none.
#define SHMEM_TEAM_NUM_CONTEXTS 1L
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)

// Options of a context (9.5.1) and the context that is none.
#define SHMEM_CTX_PRIVATE 1L
#define SHMEM_CTX_SERIALIZED 2L
#define SHMEM_CTX_NOSTORE 4L
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)

// Mask bit of shmem_ctx_session_config_t and option of a session (9.9).
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L
#define SHMEM_CTX_SESSION_BATCH 1L

// What a put does to its signal (9.8.2).
#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

// Comparisons (9.11).
#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

// Work arrays of the active-set collectives, in elements; deprecated since 1.5.
#define SHMEM_SYNC_VALUE 0
#define SHMEM_SYNC_SIZE 4
#define SHMEM_BARRIER_SYNC_SIZE 4
#define SHMEM_BCAST_SYNC_SIZE 4
#define SHMEM_COLLECT_SYNC_SIZE 4
#define SHMEM_ALLTOALL_SYNC_SIZE 4
#define SHMEM_ALLTOALLS_SYNC_SIZE 4
#define SHMEM_REDUCE_SYNC_SIZE 4
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

// Spellings deprecated since 1.3.
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

// ---------------------------------------------------------------------------------------------
// double _Complex and float _Complex, which C++ compilers know only as an extension.
__extension__ typedef double _Complex shoal_complexd;
__extension__ typedef float _Complex shoal_complexf;

// 9.4, 9.5 Opaque handles; comparable, and copied by value.
typedef struct shoal_team *shmem_team_t;
typedef struct shoal_ctx *shmem_ctx_t;

// 9.4.3 What to reserve for a new team. num_contexts: contexts that exist at the same time; 0 when
// its mask bit is not set.
typedef struct {
    int num_contexts;
} shmem_team_config_t;

// 9.9.1 What to expect of a session. total_ops: the most RMA calls in it; SIZE_MAX when its mask bit
// is not set.
typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

#if defined SHMEM_WARN_DEPRECATED
#define SHOAL_DEPRECATED(TEXT) __attribute__((deprecated(TEXT)))
#else
#define SHOAL_DEPRECATED(TEXT)
#endif

#if defined __cplusplus && __cplusplus >= 201103L
#define SHOAL_NORETURN [[noreturn]]
#elif !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define SHOAL_NORETURN _Noreturn
#else
#define SHOAL_NORETURN __attribute__((noreturn))
#endif

#pragma GCC visibility push(default)
#if defined __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// 7 Library handles: the world team, the PEs of this node (all that shmem_ptr reaches), and the
// context of the routines that name none. Addresses, so that they may initialize static objects; the
// variables of the same names serve those who look symbols up at run time.
extern shmem_team_t SHMEM_TEAM_WORLD;
extern shmem_team_t SHMEM_TEAM_SHARED;
extern shmem_ctx_t SHMEM_CTX_DEFAULT;
extern struct shoal_team shoal_team_world, shoal_team_shared;
extern struct shoal_ctx shoal_ctx_default;
#define SHMEM_TEAM_WORLD (&shoal_team_world)
#define SHMEM_TEAM_SHARED (&shoal_team_shared)
#define SHMEM_CTX_DEFAULT (&shoal_ctx_default)

#define SHOAL_FN(name) name
#include <shoal_shmem_decl.h>
#undef SHOAL_FN

#if defined __cplusplus
}
#endif
#pragma GCC visibility pop

#if !defined SHOAL_NO_GENERICS
#include <shoal_generics.h>
#endif

#undef SHOAL_DEPRECATED
#undef SHOAL_NORETURN

#endif
