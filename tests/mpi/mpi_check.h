// SPDX-License-Identifier: BSD-3-Clause
// Checks for MPI programs: those of tests/check.h, with rank and size of MPI_COMM_WORLD as me and
// npes. mpi_start() and mpi_done() stand for check_start() and check_done().
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include "../check.h"

#include <mpi.h>

#define OK(call) CHECK_EQ((call), MPI_SUCCESS)

static inline void mpi_start(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
}

static inline int mpi_done(void)
{
    OK(MPI_Finalize());
    unsigned failed = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
    return failed > 0;
}

// A counter of the library's (docs/mpi.md), from here on.
struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
};

static inline struct counter counter_start(const char *name)
{
    struct counter c;
    int index, n, provided;
    char full[64];
    snprintf(full, sizeof full, "shoal_%s", name);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_get_index(full, MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_session_create(&c.session));
    OK(MPI_T_pvar_handle_alloc(c.session, index, NULL, &c.handle, &n));
    OK(MPI_T_pvar_start(c.session, c.handle));
    return c;
}

static inline unsigned long long counter_read(const struct counter *c)
{
    unsigned long long n = 0;
    OK(MPI_T_pvar_read(c->session, c->handle, &n));
    return n;
}

static inline void counter_end(struct counter *c)
{
    OK(MPI_T_pvar_session_free(&c->session));
    OK(MPI_T_finalize());
}

// The class of an error code.
static inline int class_of(int error)
{
    int class = -1;
    MPI_Error_class(error, &class);
    return class;
}

#endif
