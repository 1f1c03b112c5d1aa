// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: atomics and accumulates.
#include "shoal_transfer.h"

#include "shoal_check.h"

#include "elements.h"
#include "region.h"

#include <string.h>

PUBLIC int shoal_atomic(shoal_rptr_t at, shoal_op_t op, shoal_type_t type, const void *a,
                        const void *b, void *fetch, const shoal_comp_t *comp, shoal_event_t *event)
{
    struct call c;
    size_t size = element_size(type);
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!element_can(op, type) || size > sizeof(uint64_t) || (!a && op != SHOAL_NOOP) ||
        (!b && op == SHOAL_CSWAP))
        return SHOAL_EINVAL;
    struct operation o = {.kind = SHOAL_WORK_ATOMIC,
                          .initiator = world.me,
                          .remote = at,
                          .op = op,
                          .type = type,
                          .has_local = fetch != NULL};
    if (a)
        memcpy(&o.a, a, size);
    if (b)
        memcpy(&o.b, b, size);
    if (fetch)
        o.local = place_of(fetch);
    int status = transfer_begin(&c, at, size, comp, event);
    if (!status)
        status = operation_aligned(&o);
    return status ? status : transfer_finish(&c, transfer_move(&c, &o));
}

static bool are_multiples(const struct strides *s, size_t size)
{
    bool ok = s->count[0] % size == 0;
    for (int i = 0; i < s->levels; i++)
        ok = ok && s->remote[i] % (ptrdiff_t)size == 0 && s->local[i] % (ptrdiff_t)size == 0;
    return ok;
}

PUBLIC int shoal_acc(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
                     const ptrdiff_t from_stride[], const size_t count[], int levels, shoal_op_t op,
                     shoal_type_t type, const void *scale, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct strides s = {to_stride, from_stride, count, levels};
    struct operation o = {.kind = OPERATION_ACC, .remote = to, .op = op, .type = type};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!transfer_strides_ok(&s) || !element_can(op, type) || op == SHOAL_CSWAP ||
        (scale && op != SHOAL_SUM) || !are_multiples(&s, element_size(type)))
        return SHOAL_EINVAL;
    if (scale) {
        o.value.success = 1;
        memcpy(&o.a, scale, element_size(type)); // a and b lie side by side: 16 bytes
    }
    int status = operation_aligned(&o);
    return status ? status : transfer_strided(&o, (void *)from, &s, comp, event);
}

static int fetch_each(struct call *c, struct operation *o, const char *in, char *old, size_t n,
                      size_t size)
{
    int status = SHOAL_OK;
    o->kind = SHOAL_WORK_ATOMIC;
    o->has_local = true;
    for (size_t i = 0; i < n && !status; i++) {
        if (in)
            memcpy(&o->a, in + i * size, size);
        o->local = place_of(old + i * size);
        status = transfer_move(c, o);
        o->remote.offset += size;
    }
    return status;
}

static int check_elements(const shoal_part_t part[], size_t parts, shoal_type_t type)
{
    size_t size = element_size(type);
    int status = SHOAL_OK;
    for (size_t i = 0; i < parts && !status; i++) {
        struct operation at = {.remote = part[i].remote, .type = type};
        status = part[i].n % size ? SHOAL_EINVAL : operation_aligned(&at);
    }
    return status;
}

// lock: NULL, or the word that the PE, of another node, holds meanwhile.
static int accumulate_parts(const shoal_rptr_t *lock, const shoal_part_t part[], size_t parts,
                            void *old, shoal_op_t op, shoal_type_t type, const shoal_comp_t *comp,
                            shoal_event_t *event)
{
    struct call c;
    size_t size = element_size(type);
    struct operation o = {.kind = old ? OPERATION_FETCH_ACC : OPERATION_ACC,
                          .initiator = world.me,
                          .op = op,
                          .type = type};
    if (lock) {
        o.is_locked = 1;
        o.comp.signal = *lock;
    }
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!element_can(op, type) || op == SHOAL_CSWAP || ((old || lock) && size > sizeof(uint64_t)))
        return SHOAL_EINVAL;
    int status = transfer_check(part, parts, !old || op != SHOAL_NOOP);
    if (!status)
        status = check_elements(part, parts, type);
    if (!status)
        status = transfer_begin(&c, part[0].remote, 0, comp, event);
    if (status)
        return status;
    if (!world_is_here(c.pe)) {
        o.local2 = place_of(old);
        transfer_move_far(&c, &o, part, parts);
        return transfer_finish(&c, SHOAL_OK);
    }
    char *to = old;
    for (size_t i = 0; i < parts && !status; i++) {
        struct operation one = operation_of_part(&o, &part[i]);
        if (!part[i].n) // without an address perhaps
            continue;
        status = old ? fetch_each(&c, &one, part[i].local, to, part[i].n / size, size)
                     : transfer_move(&c, &one);
        to = old ? to + part[i].n : NULL;
    }
    return transfer_finish(&c, status);
}

PUBLIC int shoal_accv(const shoal_part_t part[], size_t parts, void *old, shoal_op_t op,
                      shoal_type_t type, const shoal_comp_t *comp, shoal_event_t *event)
{
    return accumulate_parts(NULL, part, parts, old, op, type, comp, event);
}

PUBLIC int shoal_accv_locked(shoal_rptr_t lock, const shoal_part_t part[], size_t parts, void *old,
                             shoal_op_t op, shoal_type_t type, shoal_event_t *event)
{
    struct place at;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    int status = region_resolve(&lock, sizeof(uint64_t), &at);
    if (status)
        return status;
    if (world_is_here(at.pe) || at.space == SPACE_PRIVATE || at.offset % sizeof(uint64_t) ||
        !part || !parts || part->remote.pe != at.pe)
        return SHOAL_EINVAL;
    return accumulate_parts(&lock, part, parts, old, op, type, NULL, event);
}

PUBLIC int shoal_fetch_acc(shoal_rptr_t to, const void *in, void *old, size_t n, shoal_op_t op,
                           shoal_type_t type, const shoal_comp_t *comp, shoal_event_t *event)
{
    size_t size = element_size(type), bytes;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (size > sizeof(uint64_t) || (n && !old))
        return SHOAL_EINVAL;
    if (__builtin_mul_overflow(n, size, &bytes))
        return SHOAL_ERANGE;
    shoal_part_t all = {to, (void *)(uintptr_t)in, bytes};
    return shoal_accv(&all, 1, old, op, type, comp, event);
}

PUBLIC int shoal_op_register(int number, shoal_op_fn *fn, void *user, size_t size)
{
    return shoal_is_up() ? element_register(number, fn, user, size) : SHOAL_EINIT;
}
