// SPDX-License-Identifier: BSD-3-Clause
// Nodes in words, for messages.
#ifndef SHOAL_CORE_HOST_H
#define SHOAL_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_TEXT 160

// "host b (PEs 4 to 7)"; virtual nodes are "node 1 (PE 3)". The text is in `text`, HOST_TEXT bytes.
const char *host_describe(int node, char *text);
const char *host_of(int pe, char *text); // "PE 5 on host b"

// The first line about something that all PEs of this node find wrong is written and the process
// ends; the others end after it, silently.
_Noreturn void host_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Is there a network interface of this name, or with an address in this subnet?
bool host_has_interface(const char *text);
// "eth0 10.1.0.4, lo 127.0.0.1", as much as there is room for. Returns text.
const char *host_interfaces(char *text, size_t size);

void host_report_bindings(void); // one line: where this PE may run

#endif
