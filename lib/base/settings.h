// SPDX-License-Identifier: BSD-3-Clause
// The settings of this process, read from the environment once. The table is settings_table.h.
#ifndef SHOAL_BASE_SETTINGS_H
#define SHOAL_BASE_SETTINGS_H

#include "settings_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef bool setting_FLAG;
typedef bool setting_BOOL;
typedef long setting_INT;
typedef long setting_NATURAL;
typedef long setting_COUNT;
typedef size_t setting_SIZE;
typedef const char *setting_TEXT;
typedef const char *setting_TRANSPORT;
typedef const char *setting_LAUNCHER;
typedef const char *setting_HANDLER;

#define X(field, env, type, def, meaning) setting_##type field;
struct settings {
    SETTINGS_TABLE(X)
};
#undef X

extern struct settings settings;

// Reads the environment. Returns 0, or -1 after one line that names the wrong setting and what it
// takes. Calling it again reads again.
int settings_read(void);

// Warns of SHOAL_ and SHMEM_ names in the environment that are no setting, naming the nearest one.
void settings_warn_unknown(void);

// A table for people: name, value, where the value came from, meaning.
void settings_print(FILE *out);

// 0: never.
static inline unsigned settings_host_timeout_ms(void)
{
    long most = 1000000;
    return 1000u * (unsigned)(settings.host_timeout < most ? settings.host_timeout : most);
}

// "1.5g", "20m", ".5k", "4096": bytes, rounded up. Returns 0 or -1.
int settings_parse_size(const char *text, size_t *bytes);

// Is text one of those in words, "this, that or that"?
bool settings_is_one_of(const char *words, const char *text);
extern const char settings_handlers[]; // MPI's predefined error handlers, as such words

#endif
