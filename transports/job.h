// SPDX-License-Identifier: BSD-3-Clause
// What the network transports do alike with what they are told at open.
#ifndef SHOAL_TRANSPORTS_JOB_H
#define SHOAL_TRANSPORTS_JOB_H

#include "compiler.h"
#include "log.h"
#include "transport.h"

// One line, "WHO: ...".
void job_log(const struct transport_job *job, const char *who, enum log_level level,
             const char *fmt, ...) PRINTF_LIKE(4, 5);

// What to do where a peer cannot be reached.
#define JOB_UNREACHED "look at routes and firewalls, or choose another network with SHOAL_INTERFACE"

// Over all but the last 8 bytes of n, which is a multiple of 8. Finds damage and things that are no
// address or key at all; it does not prove who wrote them.
uint64_t job_seal(const void *bytes, size_t n);

// Regions of other PEs that were imported: index to what the transport knows of it.
struct job_imports {
    struct job_import {
        int pe; // -1: free
        void *what;
    } * entry;
    int count;
};
int job_import_add(struct job_imports *imports, int pe, void *what); // the region; -1: no memory
void *job_import_find(const struct job_imports *imports, struct transport_remote at); // or NULL
void *job_import_remove(struct job_imports *imports, int region); // what, or NULL

#endif
