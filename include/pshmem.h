// SPDX-License-Identifier: BSD-3-Clause
// OpenSHMEM 1.6, section 10: every routine again under its name with a leading p (pshmem_putmem,
// pstart_pes, p_my_pe). The names without it are weak: a tool defines shmem_putmem itself and calls
// pshmem_putmem for the work. The type-generic names are macros and end in the shmem_ routine of the
// type, which is the one to replace. Types and constants come from shmem.h.
#ifndef SHOAL_PSHMEM_H
#define SHOAL_PSHMEM_H

#include <shmem.h>

#define SHOAL_DEPRECATED(TEXT)
#if defined __cplusplus && __cplusplus >= 201103L
#define SHOAL_NORETURN [[noreturn]]
#else
#define SHOAL_NORETURN __attribute__((noreturn))
#endif

#pragma GCC visibility push(default)
#if defined __cplusplus
extern "C" {
#endif

#define SHOAL_FN(name) p##name
#include <shoal_shmem_decl.h>
#undef SHOAL_FN

#if defined __cplusplus
}
#endif
#pragma GCC visibility pop

#undef SHOAL_DEPRECATED
#undef SHOAL_NORETURN

#endif
