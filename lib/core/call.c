// SPDX-License-Identifier: BSD-3-Clause
// Reading the word that call.h writes.
#include "call.h"

#include "job.h"

#include <stdio.h>
#include <string.h>

TLS_FAST _Atomic uint64_t *call_slot;

#define X(id, name) name,
static const char *const names[] = {CALL_TABLE(X)};
#undef X
_Static_assert(ARRAY_LEN(names) == CALL_COUNT, "a name for every call");

const char *call_name(uint64_t word)
{
    uint16_t id = (uint16_t)word;
    return id < CALL_COUNT ? names[id] : "";
}

int call_peer(uint64_t word)
{
    return (int)(word >> 32) - 1;
}

_Bool call_blocks(uint64_t word)
{
    return (word & CALL_BLOCKS) != 0;
}

void call_describe(uint64_t word, const struct call_told *told, char *text, size_t size)
{
    bool is_told = (uint16_t)word == CALL_told;
    int n = is_told ? snprintf(text, size, "%.*s", (int)sizeof told->what, told->what)
                    : snprintf(text, size, "%s", call_name(word));
    if (n > 0 && (size_t)n < size && call_peer(word) >= 0)
        n += snprintf(text + n, size - (size_t)n, "%s PE %d", is_told ? "" : " to",
                      call_peer(word));
    if (is_told && n > 0 && (size_t)n < size && told->tag >= 0)
        snprintf(text + n, size - (size_t)n, " (tag %d)", (int)told->tag);
}

void call_tell(const char *what, int pe, int tag)
{
    if (!call_slot)
        return;
    struct call_told *told =
        &((struct pe_ctl *)(void *)((char *)call_slot - offsetof(struct pe_ctl, call)))->told;
    size_t n = strnlen(what, sizeof told->what - 1);
    memcpy(told->what, what, n);
    told->what[n] = 0;
    told->tag = tag;
    atomic_store_explicit(call_slot, CALL_WORD(CALL_told, pe) | CALL_BLOCKS, memory_order_relaxed);
}
