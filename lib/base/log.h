// SPDX-License-Identifier: BSD-3-Clause
// Messages to stderr: one line each, written with one write(2), so that lines of different PEs
// never mix. Levels and topics are chosen with SHOAL_LOG, for example SHOAL_LOG=warn,heap:debug.
#ifndef SHOAL_BASE_LOG_H
#define SHOAL_BASE_LOG_H

#include "compiler.h"

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// One row a topic: X(identifier, name in SHOAL_LOG)
#define LOG_TOPICS(X) \
    X(BOOT, "boot")   \
    X(HEAP, "heap")   \
    X(DATA, "data")   \
    X(WAIT, "wait")   \
    X(TEAM, "team")   \
    X(COLL, "coll")   \
    X(RMA, "rma")     \
    X(LAUNCH, "launch")

#define X(id, name) LOG_##id,
enum log_topic { LOG_TOPICS(X) LOG_TOPIC_COUNT };
#undef X

// spec: "level" or "level,topic:level,...". Returns 0, or -1 when a word is unknown (which a warning names if
// `tells`: one process of a job does); the words before it count.
int log_configure(const char *spec, bool tells);

// What stands in front of every line after "shoal: ", e.g. "PE 3: ". At most 31 characters.
void log_set_ident(const char *ident);

bool log_enabled(enum log_level level, enum log_topic topic);
void log_line(enum log_level level, enum log_topic topic, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Called once by fatal() after its line is out, to tell the launcher; may be NULL.
void log_on_fatal(void (*tell)(void));
void log_backtrace_on_fatal(bool on);

// One line, a backtrace when asked for (SHOAL_BACKTRACE=1 or SHMEM_DEBUG), and the process ends
// with status 1 without running exit handlers. Safe in any thread.
_Noreturn void fatal(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
