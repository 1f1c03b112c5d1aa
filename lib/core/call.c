// SPDX-License-Identifier: BSD-3-Clause
// Reading the word that call.h writes.
#include "call.h"

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
