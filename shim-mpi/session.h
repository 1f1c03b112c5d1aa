// SPDX-License-Identifier: BSD-3-Clause
// Sessions (MPI 5.0, "Process Initialization, Creation, and Management").
#ifndef SHOAL_MPI_SESSION_H
#define SHOAL_MPI_SESSION_H

#include "shim.h"

struct errhandler;

struct session {
    struct object head;
    struct errhandler *errhandler;
    int thread_level;
};

static inline struct session *session_of(MPI_Session h)
{
    return object_at(h, OBJECT_SESSION);
}

#endif
